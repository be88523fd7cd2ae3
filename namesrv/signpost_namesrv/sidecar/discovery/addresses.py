"""Addresses of name servers as text: `host:port`, lists of them. Pure."""

import ipaddress
import re

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


class AddressError(ValueError):
    """Not an address; the message says what is."""


def address(host: str, port: int) -> str:
    """One address; IPv6 gets its brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split(text: str, default_port: int | None = None) -> tuple[str, int]:
    """Host and port of an address, checked."""
    host, colon, port = text.rpartition(":")
    if default_port is not None and (not colon or (":" in host and not host.endswith("]"))):
        host, port = text, str(default_port)
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536 and _is_host(bare)):
        raise AddressError(f"{text!r} is not host:port")
    return bare, int(port)


def parse_list(text: str) -> tuple[str, ...]:
    """A list as brokers, clients and address servers write it: `a:9876;b:9876`."""
    parts = [part for part in re.split(r"[;,\s]+", text) if part]
    return tuple(dict.fromkeys(address(*split(part)) for part in parts))


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            return False
        return True
    return len(host) <= 253 and _HOST.fullmatch(host) is not None
