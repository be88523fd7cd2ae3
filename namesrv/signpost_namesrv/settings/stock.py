"""Settings of the stock server that have no effect here: read, reported, otherwise ignored."""

from typing import Annotated

from pydantic import SecretStr

from .kinds import Flag, Group, Key, Whole

_PROPERTY = "com.rocketmq.remoting."

_POOL = Key("Thread pools and their queues: one event loop serves every request.", effect=False)
_NETTY = Key("Switches of the Java network library.", effect=False)
_TEST = Key("Asking another environment for a missing route: not done.", effect=False)
_CONTROLLER = Key("The broker controller: run it on its own.", effect=False)
_CLIENT = Key("The outgoing connections of a Java server.", effect=False)


def _client(name: str = "", prop: str = "") -> Key:
    return Key(_CLIENT.why, name=name, also=(_PROPERTY + prop,) if prop else (), effect=False)


def _controller(name: str) -> Key:
    return Key(_CONTROLLER.why, name=name, effect=False)


class Stock(Group):
    """Known so that a stock file is read unchanged; without effect here."""

    client_request_thread_pool_nums: Annotated[Whole, _POOL] = 8
    client_request_thread_pool_queue_capacity: Annotated[Whole, _POOL] = 50_000
    default_thread_pool_nums: Annotated[Whole, _POOL] = 16
    default_thread_pool_queue_capacity: Annotated[Whole, _POOL] = 10_000
    un_register_broker_queue_capacity: Annotated[Whole, _POOL] = 3000
    server_worker_threads: Annotated[Whole, _POOL] = 8
    server_callback_executor_threads: Annotated[Whole, _POOL] = 0
    server_selector_threads: Annotated[Whole, _POOL] = 3
    server_oneway_semaphore_value: Annotated[Whole, _POOL] = 256
    server_async_semaphore_value: Annotated[Whole, _POOL] = 64

    server_netty_worker_group_enable: Annotated[Flag, _NETTY] = True
    server_pooled_byte_buf_allocator_enable: Annotated[
        Flag, Key(_NETTY.why, also=(_PROPERTY + "nettyPooledByteBufAllocatorEnable",), effect=False)
    ] = True
    use_epoll_native_selector: Annotated[Flag, _NETTY] = False

    cluster_test: Annotated[Flag, _TEST] = False
    product_env_name: Annotated[str, _TEST] = "center"

    enable_controller_in_namesrv: Annotated[Flag, _CONTROLLER] = False
    controller_type: Annotated[str, _CONTROLLER] = "DLedger"
    controller_thread_pool_nums: Annotated[Whole, _CONTROLLER] = 16
    controller_request_thread_pool_queue_capacity: Annotated[Whole, _CONTROLLER] = 50_000
    controller_dleger_group: Annotated[str, _controller("controllerDLegerGroup")] = ""
    controller_dleger_peers: Annotated[str, _controller("controllerDLegerPeers")] = ""
    controller_dleger_self_id: Annotated[str, _controller("controllerDLegerSelfId")] = ""
    controller_store_path: Annotated[str, _CONTROLLER] = ""
    mapped_file_size: Annotated[Whole, _CONTROLLER] = 2**30
    elect_master_max_retry_count: Annotated[Whole, _CONTROLLER] = 3
    enable_elect_unclean_master: Annotated[Flag, _CONTROLLER] = False
    process_read_event: Annotated[Flag, _CONTROLLER] = False
    notify_broker_role_changed: Annotated[Flag, _CONTROLLER] = True
    scan_inactive_master_interval: Annotated[Whole, _CONTROLLER] = 5000
    metrics_exporter_type: Annotated[str, _CONTROLLER] = "DISABLE"
    metrics_grpc_exporter_target: Annotated[str, _CONTROLLER] = ""
    # It may carry an authorization header.
    metrics_grpc_exporter_header: Annotated[SecretStr, _CONTROLLER] = SecretStr("")
    metric_grpc_exporter_time_out_in_mills: Annotated[Whole, _CONTROLLER] = 3000
    metric_grpc_exporter_interval_in_mills: Annotated[Whole, _CONTROLLER] = 60_000
    metric_logging_exporter_interval_in_mills: Annotated[Whole, _CONTROLLER] = 10_000
    metrics_prom_exporter_port: Annotated[Whole, _CONTROLLER] = 5557
    metrics_prom_exporter_host: Annotated[str, _CONTROLLER] = ""
    metrics_label: Annotated[str, _CONTROLLER] = ""
    metrics_in_delta: Annotated[Flag, _CONTROLLER] = False
    jraft_election_timeout_ms: Annotated[Whole, _controller("jRaftElectionTimeoutMs")] = 1000
    jraft_scan_wait_timeout_ms: Annotated[Whole, _controller("jRaftScanWaitTimeoutMs")] = 1000
    jraft_snapshot_interval_secs: Annotated[Whole, _controller("jRaftSnapshotIntervalSecs")] = 3600
    jraft_group_id: Annotated[str, _controller("jRaftGroupId")] = "jRaft-Controller"
    jraft_server_id: Annotated[str, _controller("jRaftServerId")] = "localhost:9880"
    jraft_init_conf: Annotated[str, _controller("jRaftInitConf")] = (
        "localhost:9880,localhost:9881,localhost:9882"
    )
    jraft_controller_rpc_addr: Annotated[str, _controller("jRaftControllerRPCAddr")] = (
        "localhost:9770,localhost:9771,localhost:9772"
    )

    client_worker_threads: Annotated[Whole, _client(prop="client.worker.size")] = 4
    client_callback_executor_threads: Annotated[Whole, _CLIENT] = 2
    client_oneway_semaphore_value: Annotated[Whole, _client(prop="clientOnewaySemaphoreValue")] = (
        65_535
    )
    client_async_semaphore_value: Annotated[Whole, _client(prop="clientAsyncSemaphoreValue")] = (
        65_535
    )
    connect_timeout_millis: Annotated[Whole, _client(prop="client.connect.timeout")] = 3000
    channel_not_active_interval: Annotated[Whole, _CLIENT] = 60_000
    scan_available_name_srv: Annotated[Flag, _CLIENT] = True
    client_channel_max_idle_time_seconds: Annotated[
        Whole, _client(prop="client.channel.maxIdleTimeSeconds")
    ] = 120
    client_socket_snd_buf_size: Annotated[Whole, _CLIENT] = 0
    client_socket_rcv_buf_size: Annotated[Whole, _CLIENT] = 0
    client_pooled_byte_buf_allocator_enable: Annotated[Flag, _CLIENT] = False
    client_close_socket_if_timeout: Annotated[Flag, _client(prop="client.closeSocketIfTimeout")] = (
        True
    )
    use_tls: Annotated[Flag, _client("useTLS")] = False
    socks_proxy_config: Annotated[SecretStr, _CLIENT] = SecretStr("")
    disable_callback_executor: Annotated[Flag, _CLIENT] = False
    disable_netty_worker_group: Annotated[Flag, _CLIENT] = False
    max_reconnect_interval_time_seconds: Annotated[Whole, _CLIENT] = 60
    enable_reconnect_for_go_away: Annotated[Flag, _CLIENT] = True
    tls_enable: Annotated[Flag, _client("tls.enable")] = False
    tls_client_key_path: Annotated[str, _client("tls.client.keyPath")] = ""
    tls_client_key_password: Annotated[SecretStr, _client("tls.client.keyPassword")] = SecretStr("")
    tls_client_cert_path: Annotated[str, _client("tls.client.certPath")] = ""
    tls_client_auth_server: Annotated[Flag, _client("tls.client.authServer")] = False
    tls_client_trust_cert_path: Annotated[str, _client("tls.client.trustCertPath")] = ""


REPORTED = tuple(
    """
    bindAddress clientRequestThreadPoolNums clientRequestThreadPoolQueueCapacity clusterTest
    configBlackList configStorePath defaultThreadPoolNums defaultThreadPoolQueueCapacity
    deleteTopicWithBrokerRegistration enableAllTopicList enableControllerInNamesrv
    enableShutdownGracefully enableTopicList kvConfigPath listenPort needWaitForService
    notifyMinBrokerIdChanged orderMessageEnable productEnvName returnOrderTopicConfigToBroker
    rocketmqHome scanNotActiveBrokerInterval serverAsyncSemaphoreValue
    serverCallbackExecutorThreads serverChannelMaxIdleTimeSeconds serverNettyWorkerGroupEnable
    serverOnewaySemaphoreValue serverPooledByteBufAllocatorEnable serverSelectorThreads
    serverSocketBacklog serverSocketRcvBufSize serverSocketSndBufSize serverWorkerThreads
    shutdownWaitTimeSeconds supportActingMaster unRegisterBrokerQueueCapacity
    useEpollNativeSelector waitSecondsForService writeBufferHighWaterMark
    writeBufferLowWaterMark
    """.split()  # noqa: SIM905 - forty quoted lines would say no more
)
"""The keys that a stock server reports to admin tools, in its order."""
