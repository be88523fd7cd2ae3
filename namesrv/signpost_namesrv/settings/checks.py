"""Settings that are good one by one and do not go together."""

from collections.abc import Collection, Iterator

from .groups import Network
from .http import Http
from .problems import Conflict
from .security import Access, Tls


def conflicts(
    network: Network, tls: Tls, access: Access, http: Http, live: Collection[str]
) -> Iterator[Conflict]:
    """Every conflict; `live` are the keys that may change while the server runs."""
    yield from _network(network)
    yield from _tls(tls)
    yield from _access(access, tls, live)
    if http.http_reads_need_token and http.http_token_file is None:
        yield Conflict(
            ("httpReadsNeedToken", "httpTokenFile"),
            "nobody could read without a token",
            "set httpTokenFile too",
        )


def _network(network: Network) -> Iterator[Conflict]:
    low, high = network.write_buffer_low_water_mark, network.write_buffer_high_water_mark
    if 0 < high < low:
        yield Conflict(
            ("writeBufferLowWaterMark", "writeBufferHighWaterMark"),
            f"above writeBufferHighWaterMark={high}",
            "lower it, or raise the other",
        )
    if network.max_header_bytes > network.max_frame_bytes:
        yield Conflict(
            ("maxHeaderBytes", "maxFrameBytes"),
            f"above maxFrameBytes={network.max_frame_bytes}, which holds the header",
            "lower it, or raise the other",
        )
    if network.listen_port > 0 and network.listen_port == network.http_port:
        yield Conflict(
            ("httpPort", "listenPort"), "the same port as listenPort", "give each its own"
        )


def _tls(tls: Tls) -> Iterator[Conflict]:
    if tls.server_mode == "disabled":
        return
    cert, key = "tls.server.certPath", "tls.server.keyPath"
    if tls.server_mode == "enforcing" and not tls.cert_path and not tls.key_path:
        yield Conflict(
            ("tls.server.mode", cert, key), "needs a certificate", f"set {cert} and {key}"
        )
    if tls.cert_path and not tls.key_path:
        yield Conflict((cert, key), "a certificate without its key", f"set {key} too")
    if tls.key_path and not tls.cert_path:
        yield Conflict((key, cert), "a key without its certificate", f"set {cert} too")
    if tls.need_client_auth == "none":
        return
    auth, trust = "tls.server.need.client.auth", "tls.server.trustCertPath"
    if not tls.trust_cert_path:
        yield Conflict((auth, trust), "nothing to verify clients against", f"set {trust} too")
    if tls.server_mode == "permissive" and not tls.cert_path and not tls.key_path:
        yield Conflict(
            (auth, cert, key), "needs TLS, and so a certificate", f"set {cert} and {key}"
        )


def _access(access: Access, tls: Tls, live: Collection[str]) -> Iterator[Conflict]:
    if fixed := [key for key in access.config_update_keys if key not in live]:
        yield Conflict(
            ("configUpdateKeys",),
            f"{', '.join(fixed)} cannot change while the server runs",
            f"choose from {', '.join(sorted(live))}",
        )
    if access.admin_cert_names and (
        tls.server_mode == "disabled" or tls.need_client_auth == "none"
    ):
        yield Conflict(
            ("adminCertNames", "tls.server.mode", "tls.server.need.client.auth"),
            "no client would show a certificate",
            "set tls.server.need.client.auth to optional or require, with TLS on",
        )
