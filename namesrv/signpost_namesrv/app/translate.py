"""Settings, as the rooms want them."""

from signpost_namesrv.dispatch.state import RoutePolicy
from signpost_namesrv.http import Options, PeerOptions
from signpost_namesrv.routes.model import Policy
from signpost_namesrv.server.limits import Limits
from signpost_namesrv.settings import Settings
from signpost_namesrv.settings.groups import Network, Routes
from signpost_namesrv.settings.security import Tls
from signpost_namesrv.tls import ClientAuth, TlsFiles, server_files


def limits(network: Network) -> Limits:
    """What peers may take."""
    built_in = Limits()
    low = network.write_buffer_low_water_mark
    high = network.write_buffer_high_water_mark or max(built_in.write_high, 2 * low)
    return Limits(
        max_connections=network.max_connections,
        max_frame=network.max_frame_bytes,
        max_header=network.max_header_bytes,
        max_buffered=max(built_in.max_buffered, network.max_frame_bytes),
        write_high=high,
        write_low=low or min(built_in.write_low, high // 2),
        write_stall=network.write_stall_timeout_seconds,
        idle=network.server_channel_max_idle_time_seconds,
        peer_timeout=network.peer_timeout_seconds,
    )


def policy(routes: Routes) -> Policy:
    """What the rules of registration and removal depend on."""
    return Policy(
        support_acting_master=routes.support_acting_master,
        notify_min_id_change=routes.notify_min_broker_id_changed,
        delete_with_registration=routes.delete_topic_with_broker_registration,
    )


def reads(routes: Routes) -> RoutePolicy:
    """What the read side depends on."""
    return RoutePolicy(
        order_message=routes.order_message_enable,
        return_order_config=routes.return_order_topic_config_to_broker,
        all_topic_list=routes.enable_all_topic_list,
        topic_list=routes.enable_topic_list,
    )


def tls_files(tls: Tls) -> TlsFiles | None:
    """The files of the server's certificate."""
    return server_files(
        cert_path=tls.cert_path,
        key_path=tls.key_path,
        key_password=tls.key_password.get_secret_value(),
        trust_cert_path=tls.trust_cert_path,
        client_auth=ClientAuth(tls.need_client_auth),
    )


def http(settings: Settings, remoting_port: int, http_port: int) -> Options:
    """What the HTTP side may use and take."""
    group, peers = settings.http, settings.peers
    return Options(
        token_file=group.http_token_file,
        reads_need_token=group.http_reads_need_token,
        advertise_address=group.advertise_address,
        remoting_port=remoting_port,
        peers=PeerOptions(
            urls=peers.peer_urls,
            service=peers.peer_service,
            default_port=http_port,
            poll=peers.peer_poll_seconds,
            disagree_after=peers.disagree_after_seconds,
        ),
        max_connections=group.http_max_connections,
        max_watchers=group.http_max_watchers,
    )
