"""The errors of this room: one for a connection, one for the configuration."""


class TlsError(Exception):
    """This connection's TLS failed; the text is a short reason. Send what is left and close."""


class TlsConfigError(Exception):
    """Certificate, key or trust bundle cannot be used; the text names the file and the remedy."""
