"""All settings of the sidecar as one frozen model."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from signpost_namesrv.settings.arguments import WHERE, Arguments
from signpost_namesrv.settings.catalogue import Setting, catalogue
from signpost_namesrv.settings.given import Given
from signpost_namesrv.settings.groups import Logging
from signpost_namesrv.settings.kinds import Group
from signpost_namesrv.settings.problems import Conflict, Problem
from signpost_namesrv.settings.scheme import Loaded, Scheme
from signpost_namesrv.settings.sources import from_environment, from_file

from .groups import Carrying, ClientTls, Declared, Discovery, Draining, Listening


class SidecarSettings(Group):
    """Everything that can be set, in typed groups."""

    listening: Listening = Listening()
    discovery: Discovery = Discovery()
    carrying: Carrying = Carrying()
    declared: Declared = Declared()
    draining: Draining = Draining()
    tls: ClientTls = ClientTls()
    logging: Logging = Logging()


CATALOGUE: Mapping[str, Setting] = MappingProxyType(catalogue(SidecarSettings))
"""Every setting by its key."""

LoadedSidecarSettings = Loaded[SidecarSettings]

_SOURCES = ("namesrvAddr", "namesrvDns", "namesrvService", "namesrvAddressServer", "namesrvFile")


def _conflicts(settings: SidecarSettings) -> Iterator[Conflict]:
    found, tls = settings.discovery, settings.tls
    named = (
        found.namesrv_addr,
        found.namesrv_dns,
        found.namesrv_service,
        found.namesrv_address_server,
        found.namesrv_file,
    )
    if not any(named):
        yield Conflict(
            _SOURCES, "no name server could be found", f"set one of {', '.join(_SOURCES)}"
        )
    for ours, other in (("certPath", "keyPath"), ("keyPath", "certPath")):
        given = {"certPath": tls.cert_path, "keyPath": tls.key_path}
        if given[ours] and not given[other]:
            keys = (f"tls.client.{ours}", f"tls.client.{other}")
            yield Conflict(keys, "certificate and key come in pairs", f"set {keys[1]} too")
    carrying = settings.carrying
    if carrying.reconnect_first_millis > carrying.reconnect_longest_millis:
        longest = carrying.reconnect_longest_millis
        yield Conflict(
            ("reconnectFirstMillis", "reconnectLongestMillis"),
            f"above reconnectLongestMillis={longest}",
            "lower it, or raise the other",
        )
    listening = settings.listening
    if listening.listen_port > 0 and listening.listen_port == listening.http_port:
        yield Conflict(
            ("httpPort", "listenPort"), "the same port as listenPort", "give each its own"
        )


SCHEME = Scheme(SidecarSettings, CATALOGUE, _conflicts)


def load(arguments: Arguments, environment: Mapping[str, str]) -> LoadedSidecarSettings:
    """Read all places; SettingsError with every problem when anything is wrong."""
    found: list[Given | Problem] = []
    if arguments.file is not None:
        found += from_file(Path(arguments.file), "-c", WHERE)
    found += [*from_environment(environment, CATALOGUE), *arguments.given]
    problems = [item for item in found if isinstance(item, Problem)]
    return SCHEME.make(
        (item for item in found if isinstance(item, Given)),
        earlier=[*arguments.problems, *problems],
    )
