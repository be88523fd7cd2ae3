"""What can be wrong with bytes from a peer."""


class WireError(Exception):
    """The bytes are not what the protocol says; the message names the part and the value."""


class FrameError(WireError):
    """A frame that cannot be cut or decoded: the stream behind it is lost, so the peer must go."""


class BodyError(WireError):
    """A body that does not fit its request: the peer is told, the connection stays."""
