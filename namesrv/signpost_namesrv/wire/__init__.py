"""The remoting protocol as bytes: frames, headers and bodies. No sockets, no routes, no clock."""
