"""The TCP server: bytes from sockets into wire, commands to dispatch, answers back."""
