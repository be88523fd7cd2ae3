"""The route tables: register, look up, expire, changes. No sockets; time comes in as an argument.

What may take long is a generator that yields at good moments to do something else. Its caller
runs one such generator at a time, to its end, and may look things up in between.
"""
