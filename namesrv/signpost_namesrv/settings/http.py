"""The settings of the HTTP side; its port is in Network."""

import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from .kinds import Flag, Group, Key, MaybeFile, Names, Positive

_URL = re.compile(r"https?://[^\s/?#@]+/?")


def _urls(values: tuple[str, ...]) -> tuple[str, ...]:
    for url in values:
        if not _URL.fullmatch(url):
            raise ValueError(f"{url} is not like http://host:port")
    return tuple(url.rstrip("/") for url in values)


_Host = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\s/,;]*$")]


class Http(Group):
    """Who may use the HTTP port, and how much of it."""

    http_token_file: Annotated[
        MaybeFile,
        Key(
            "Bearer tokens, one on each line, read again when they change; none: no writing.",
            expects="a path",
        ),
    ] = None
    http_reads_need_token: Annotated[
        Flag, Key("Reading needs a token too; health, addresses and the console's page do not.")
    ] = False
    http_max_connections: Annotated[
        Positive, Key("Further HTTP connections are closed at once.", "connections")
    ] = 1024
    http_max_watchers: Annotated[
        Positive, Key("Watchers and long polls at a time; further ones are told to wait.")
    ] = 256
    advertise_address: Annotated[
        _Host,
        Key(
            "Address that /rocketmq/nsaddr gives to clients; empty: the one that was asked.",
            expects="an IP address or a host name",
        ),
    ] = ""


class Peers(Group):
    """The other name servers of the cluster: asked for their digests, never for routes."""

    peer_urls: Annotated[
        Names,
        AfterValidator(_urls),
        Key("HTTP sides of the other name servers.", expects="URLs: http://a:8080,http://b:8080"),
    ] = ()
    peer_service: Annotated[
        _Host,
        Key(
            "DNS name behind which all name servers are, resolved again and again.",
            expects="a host name, with or without :port",
        ),
    ] = ""
    peer_poll_seconds: Annotated[Positive, Key("How often peers are asked.", "s")] = 5
    disagree_after_seconds: Annotated[
        Positive,
        Key("Routes that differ for longer than this disagree; a beat is 30 s.", "s"),
    ] = 35
