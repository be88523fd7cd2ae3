"""A sidecar, made from its settings."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from signpost_namesrv.settings.sidecar import SidecarSettings
from signpost_namesrv.settings.sidecar.groups import ClientTls, Discovery
from signpost_namesrv.sidecar.discovery.addresses import AddressError, parse_list, split
from signpost_namesrv.sidecar.discovery.polled import AddressServer, Written
from signpost_namesrv.sidecar.discovery.resolved import Resolved
from signpost_namesrv.sidecar.discovery.slices import Service, Slices
from signpost_namesrv.sidecar.discovery.source import Fixed, Source
from signpost_namesrv.sidecar.link import Dialling
from signpost_namesrv.sidecar.listener import Bounds
from signpost_namesrv.sidecar.sidecar import Options, Sidecar
from signpost_namesrv.tls import ReloadingTls, TlsClientFiles, open_client_tls

DEFAULT_PORT = 9876


class BuildError(Exception):
    """The settings ask for what is not there."""


def build(settings: SidecarSettings, tls: ReloadingTls | None) -> Sidecar:
    """Make it inside its event loop."""
    try:
        sources = list(find(settings.discovery, os.environ))
    except (AddressError, OSError) as e:
        raise BuildError(str(e)) from e
    return Sidecar(options(settings, tls), sources)


def options(settings: SidecarSettings, tls: ReloadingTls | None) -> Options:
    """Settings as the sidecar wants them."""
    listening, carrying = settings.listening, settings.carrying
    return Options(
        host=listening.bind_address,
        port=listening.listen_port,
        bounds=Bounds(
            max_frame=listening.max_frame_bytes, max_connections=listening.max_connections
        ),
        dialling=Dialling(
            connect_timeout=carrying.request_timeout_millis / 1000,
            request_timeout=carrying.request_timeout_millis / 1000,
            tls=(lambda: None) if tls is None else (lambda: tls.context),
            server_name=settings.tls.server_name or None,
        ),
        answer_wait=carrying.answer_wait_millis / 1000,
        register_timeout=carrying.register_timeout_millis / 1000,
        reconnect_first=carrying.reconnect_first_millis / 1000,
        reconnect_longest=carrying.reconnect_longest_millis / 1000,
        linger=settings.discovery.linger_seconds,
        drain_wait=settings.draining.drain_wait_seconds,
        full_again=carrying.full_again_seconds,
        memory=carrying.memory_file,
        broker_probe=carrying.broker_probe,
        declared=settings.declared.declared_file,
        beat_seconds=settings.declared.beat_seconds,
    )


def open_tls(tls: ClientTls) -> ReloadingTls | None:
    """The client's TLS, or None for plain; TlsConfigError when a file is wrong."""
    if not tls.enable:
        return None
    return open_client_tls(
        TlsClientFiles(
            trust_cert_path=tls.trust_cert_path,
            cert_path=tls.cert_path,
            key_path=tls.key_path,
            key_password=tls.key_password.get_secret_value(),
            verify_server=tls.auth_server,
            check_hostname=bool(tls.server_name),
        )
    )


def find(discovery: Discovery, environment: Mapping[str, str]) -> Iterator[Source]:
    """The sources of name servers."""
    if discovery.namesrv_addr:
        yield Fixed(parse_list(";".join(discovery.namesrv_addr)))
    if discovery.namesrv_dns:
        host, port = split(discovery.namesrv_dns, DEFAULT_PORT)
        yield Resolved(host, port, discovery.dns_longest_seconds)
    if discovery.namesrv_service:
        yield Slices(_service(discovery, environment))
    if discovery.namesrv_address_server:
        yield AddressServer(discovery.namesrv_address_server, discovery.address_server_seconds)
    if discovery.namesrv_file:
        yield Written(discovery.namesrv_file)


def _service(discovery: Discovery, environment: Mapping[str, str]) -> Service:
    text, account = discovery.namesrv_service, discovery.service_account_dir
    namespace, slash, name = text.rpartition("/")
    name, port = split(name, DEFAULT_PORT)
    if not slash:
        namespace = _own_namespace(account)
    api = discovery.kubernetes_api
    if not api:
        host = environment.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
        api_port = environment.get("KUBERNETES_SERVICE_PORT", "443")
        api = f"https://[{host}]:{api_port}" if ":" in host else f"https://{host}:{api_port}"
    return Service(api, namespace, name, port, account)


def _own_namespace(account: Path) -> str:
    return (account / "namespace").read_text().strip()
