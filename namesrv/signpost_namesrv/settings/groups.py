"""The settings of the server itself, group by group; security.py and stock.py hold the others."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .kinds import (
    Count,
    File,
    Flag,
    Group,
    Key,
    Lower,
    MaybeFile,
    Names,
    Port,
    Positive,
    Whole,
)

_PROPERTY = "com.rocketmq.remoting."


class Network(Group):
    """Sockets and their limits."""

    bind_address: Annotated[
        str,
        StringConstraints(strip_whitespace=True, pattern=r"^[^\s/]+$"),
        Key("Address that both ports listen on.", expects="an IP address or a host name"),
    ] = "0.0.0.0"  # noqa: S104 - the stock default; a name server is there to be reached
    listen_port: Annotated[Port, Key("Port of the remoting protocol; 0: any free one.")] = 9876
    http_port: Annotated[
        Whole, Field(ge=-1, le=65535), Key("Port of the HTTP side; 0: any free one, -1: off.")
    ] = 8080
    server_socket_backlog: Annotated[
        Positive,
        Key(
            "Connections that wait to be accepted; brokers all return at once.",
            "connections",
            also=(_PROPERTY + "socket.backlog",),
        ),
    ] = 1024
    server_socket_snd_buf_size: Annotated[
        Count,
        Key(
            "Send buffer of a socket; 0: the kernel's own sizing.",
            "bytes",
            also=(_PROPERTY + "socket.sndbuf.size",),
        ),
    ] = 0
    server_socket_rcv_buf_size: Annotated[
        Count,
        Key(
            "Receive buffer of a socket; 0: the kernel's own sizing.",
            "bytes",
            also=(_PROPERTY + "socket.rcvbuf.size",),
        ),
    ] = 0
    write_buffer_high_water_mark: Annotated[
        Count,
        Key(
            "Unsent answers at which a connection is no longer read; 0: a built-in mark.",
            "bytes",
            also=(_PROPERTY + "write.buffer.high.water.mark",),
        ),
    ] = 0
    write_buffer_low_water_mark: Annotated[
        Count,
        Key(
            "Unsent answers at which it is read again; 0: a built-in mark.",
            "bytes",
            also=(_PROPERTY + "write.buffer.low.water.mark",),
        ),
    ] = 0
    server_channel_max_idle_time_seconds: Annotated[
        Count, Key("A connection silent for so long is closed; 0: never.", "s")
    ] = 120
    max_connections: Annotated[
        Positive,
        Key("Further connections are closed at once: memory stays bounded.", "connections"),
    ] = 20_000
    max_frame_bytes: Annotated[
        Whole,
        Field(ge=1024, le=2**30),
        Key(
            "A longer frame closes its connection.",
            "bytes",
            also=(_PROPERTY + "frameMaxLength",),
        ),
    ] = 16_777_216
    max_header_bytes: Annotated[
        Whole, Field(ge=256, le=2**24 - 1), Key("A longer header closes its connection.", "bytes")
    ] = 65_536
    write_stall_timeout_seconds: Annotated[
        Positive, Key("A peer that reads nothing for so long is closed.", "s")
    ] = 30
    peer_timeout_seconds: Annotated[
        Positive,
        Key("A vanished peer is found after so long: TCP keep-alive and user timeout.", "s"),
    ] = 30


class Routes(Group):
    """What the routing tables do."""

    scan_not_active_broker_interval: Annotated[
        Whole, Field(ge=10, le=3_600_000), Key("How often expired brokers are looked for.", "ms")
    ] = 5000
    support_acting_master: Annotated[
        Flag, Key("Show the smallest slave as master of a group that lost its own.", live=True)
    ] = False
    notify_min_broker_id_changed: Annotated[
        Flag, Key("Tell a group's brokers when its smallest live id changes.", live=True)
    ] = False
    delete_topic_with_broker_registration: Annotated[
        Flag, Key("Drop topics that a broker no longer lists when it registers.", live=True)
    ] = False
    return_order_topic_config_to_broker: Annotated[
        Flag, Key("Answer a registration with the order topics.", live=True)
    ] = True
    order_message_enable: Annotated[
        Flag, Key("Put a topic's order configuration into its route.", live=True)
    ] = False
    enable_all_topic_list: Annotated[
        Flag, Key("Answer requests for the list of all topics.", live=True)
    ] = True
    enable_topic_list: Annotated[
        Flag, Key("Answer requests for lists of some topics: by cluster, unit, system.", live=True)
    ] = True
    change_log_size: Annotated[
        Positive, Key("Changes kept for watchers that come back.", "changes")
    ] = 16_384


class Warmup(Group):
    """When a fresh server starts to give out routes."""

    need_wait_for_service: Annotated[
        Flag, Key("Give out no routes until warm, so that no client sees half of them.", live=True)
    ] = False
    wait_seconds_for_service: Annotated[Count, Key("Warm after so long at the latest.", "s")] = 45
    expected_brokers: Annotated[
        Names,
        Key(
            "Warm as soon as all of these have registered; empty: not known.",
            expects="names such as a,b or cluster/a,cluster/b",
        ),
    ] = ()


class Files(Group):
    """Where things lie on disk."""

    rocketmq_home: Annotated[
        MaybeFile, Key("Only reported to admin tools; ROCKETMQ_HOME sets it too.", expects="a path")
    ] = None
    kv_config_path: Annotated[
        File, Key("The KV configuration, in the stock format.", expects="a path")
    ] = Path("~/namesrv/kvConfig.json")
    config_store_path: Annotated[
        File,
        Key("Only reported to admin tools; -c FILE sets it too.", expects="a path"),
    ] = Path("~/namesrv/namesrv.properties")


class Logging(Group):
    """What is written to standard output."""

    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Lower,
        Key("The least important line that is written."),
    ] = "info"
    log_format: Annotated[
        Literal["text", "json"], Lower, Key("Lines for people or for collectors.")
    ] = "text"


class Shutdown(Group):
    """How the server leaves."""

    shutdown_wait_time_seconds: Annotated[
        Count, Key("Longest time from SIGTERM to the exit.", "s")
    ] = 30
    enable_shutdown_gracefully: Annotated[
        Flag,
        Key("Use that time to the full, so that clients move away first; off: leave once idle."),
    ] = False
