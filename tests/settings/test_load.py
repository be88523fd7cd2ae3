"""Where values come from, and which one counts."""

from ipaddress import ip_network
from pathlib import Path

import pytest

from signpost_namesrv.settings import (
    CATALOGUE,
    LoadedSettings,
    Settings,
    SettingsError,
    load,
    parse_arguments,
)


def loaded(*words: str, **environment: str) -> LoadedSettings:
    return load(parse_arguments(words), environment)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "namesrv.properties"


def test_nothing_given() -> None:
    result = loaded()
    assert result.settings == Settings()
    assert set(result.origins) == set(CATALOGUE)
    assert set(result.origins.values()) == {"default"}
    assert result.without_effect == ()


def test_the_later_place_counts(file: Path) -> None:
    file.write_text("listenPort=1\nhttpPort=2\nmaxConnections=3\n\nlogLevel=error\n")
    result = loaded(
        "-c", str(file), "--listenPort", "11", SIGNPOST_LISTEN_PORT="21", SIGNPOST_HTTP_PORT="22"
    )
    network = result.settings.network
    assert (network.listen_port, network.http_port, network.max_connections) == (11, 22, 3)
    assert result.origins["listenPort"] == "command line"
    assert result.origins["httpPort"] == "environment SIGNPOST_HTTP_PORT"
    assert result.origins["maxConnections"] == f"file {file}:3"
    assert result.origins["logLevel"] == f"file {file}:5"
    assert result.origins["bindAddress"] == "default"


@pytest.mark.parametrize(
    "words",
    [
        ["--httpPort", "-1"],
        ["--httpPort=-1"],
        ["--httpPort", "7", "--httpPort", "-1"],
        ["--logFormat=json", "--httpPort", "-1", "--logLevel", "debug"],
    ],
)
def test_flags(words: list[str]) -> None:
    assert loaded(*words).settings.network.http_port == -1


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("listenPort", " 9877 ", 9877),
        ("listenPort", "0", 0),
        ("listenPort", "+0077", 77),
        ("bindAddress", "127.0.0.1  ", "127.0.0.1"),
        ("bindAddress", "::", "::"),
        ("enableTopicList", "FALSE", False),
        ("enableTopicList", " true\t", True),
        ("scanNotActiveBrokerInterval", "10000", 10_000),
        ("com.rocketmq.remoting.frameMaxLength", "33554432", 33_554_432),
        ("com.rocketmq.remoting.socket.backlog", "7", 7),
        ("expectedBrokers", "a, C/b;;a", ("a", "C/b")),
        ("configBlackList", "configBlackList;x", ("configBlackList", "x")),
        (
            "adminAddresses",
            "10.0.0.0/8,192.0.2.7 ::1",
            (ip_network("10.0.0.0/8"), ip_network("192.0.2.7"), ip_network("::1")),
        ),
        ("kvConfigPath", "/data/kv.json", Path("/data/kv.json")),
        ("kvConfigPath", "~/kv.json", Path.home() / "kv.json"),
        ("rocketmqHome", "", None),
        ("tls.server.mode", "DISABLED", "disabled"),
        ("tls.server.trustCertPath", "/tls/ca.crt", Path("/tls/ca.crt")),
        ("logLevel", "Warning", "warning"),
        ("controllerDLegerPeers", "n0-a:1;n1-b:2", "n0-a:1;n1-b:2"),
    ],
)
def test_values_read_alike_everywhere(key: str, text: str, value: object, file: Path) -> None:
    setting = next(s for s in CATALOGUE.values() if key in (s.key, *s.about.also))
    file.write_text(f"{key}={text}\n")
    for result in (
        loaded("-c", str(file)),
        loaded(f"--{key}={text}"),
        load(parse_arguments([]), {setting.variable: text}),
    ):
        assert result.settings.value(setting.key) == value


@pytest.mark.parametrize(
    ("key", "variable"),
    [
        ("listenPort", "SIGNPOST_LISTEN_PORT"),
        ("serverSocketSndBufSize", "SIGNPOST_SERVER_SOCKET_SND_BUF_SIZE"),
        ("tls.server.keyPath", "SIGNPOST_TLS_SERVER_KEY_PATH"),
        ("tls.server.need.client.auth", "SIGNPOST_TLS_SERVER_NEED_CLIENT_AUTH"),
        ("controllerDLegerGroup", "SIGNPOST_CONTROLLER_DLEGER_GROUP"),
        ("useTLS", "SIGNPOST_USE_TLS"),
    ],
)
def test_variables(key: str, variable: str) -> None:
    assert CATALOGUE[key].variable == variable


def test_no_two_settings_share_a_name() -> None:
    variables = [setting.variable for setting in CATALOGUE.values()]
    spellings = [name for s in CATALOGUE.values() for name in (s.key, *s.about.also)]
    assert len(set(variables)) == len(variables)
    assert len(set(spellings)) == len(spellings)
    assert len(CATALOGUE) == sum(len(s.model_fields) for s in {s.model for s in CATALOGUE.values()})


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("SIGNPOST_CACHE", "/var/cache"),
        ("SIGNPOST_NS_SERVICE_HOST", "10.0.0.1"),
        ("SIGNPOST_NS_SERVICE_PORT", "9876"),
        ("SIGNPOST_NS_SERVICE_PORT_REMOTING", "9876"),
        ("SIGNPOST_NS_PORT", "tcp://10.0.0.1:9876"),
        ("SIGNPOST_NS_PORT_9876_TCP", "tcp://10.0.0.1:9876"),
        ("SIGNPOST_NS_PORT_9876_TCP_ADDR", "10.0.0.1"),
        ("SIGNPOST_NS_PORT_9876_TCP_PROTO", "tcp"),
        # A Service named signpost-http, or signpost-listen, hides behind a setting's variable.
        ("SIGNPOST_HTTP_PORT", "tcp://10.0.0.1:80"),
        ("SIGNPOST_LISTEN_PORT", "tcp://10.0.0.1:80"),
        ("PATH", "/bin"),
    ],
)
def test_variables_that_are_no_settings(variable: str, text: str) -> None:
    assert load(parse_arguments([]), {variable: text}).settings == Settings()


def test_rocketmq_home() -> None:
    result = loaded(ROCKETMQ_HOME="/opt/rocketmq")
    assert result.settings.files.rocketmq_home == Path("/opt/rocketmq")
    assert result.origins["rocketmqHome"] == "environment ROCKETMQ_HOME"
    result = loaded(ROCKETMQ_HOME="/opt/rocketmq", SIGNPOST_ROCKETMQ_HOME="/opt/other")
    assert result.settings.files.rocketmq_home == Path("/opt/other")


def test_the_file_is_reported_as_on_a_stock_server(file: Path) -> None:
    file.write_text("")
    result = loaded("-c", str(file))
    assert result.settings.files.config_store_path == file
    assert result.origins["configStorePath"] == "command line -c"
    file.write_text("configStorePath=/elsewhere")
    assert loaded("-c", str(file)).settings.files.config_store_path == Path("/elsewhere")


def test_settings_without_effect_are_named_once_each(file: Path) -> None:
    file.write_text("serverWorkerThreads=8\nlistenPort=1\nenableControllerInNamesrv=true\n")
    result = loaded("-c", str(file), "--serverWorkerThreads", "9")
    assert sorted(result.without_effect) == ["enableControllerInNamesrv", "serverWorkerThreads"]
    assert result.settings.stock.server_worker_threads == 9


STOCK_FILE = r"""
# A file as it may lie beside a Java name server.
rocketmqHome = /opt/rocketmq
kvConfigPath = /data/kvConfig.json
listenPort   : 9876
bindAddress 0.0.0.0
serverWorkerThreads=8
serverCallbackExecutorThreads=0
serverSelectorThreads=3
serverOnewaySemaphoreValue=256
serverChannelMaxIdleTimeSeconds=120
useEpollNativeSelector=true
configBlackList=configBlackList;\
                kvConfigPath
enableControllerInNamesrv=true
controllerType=jRaft
jRaftServerId=localhost:9880
controllerDLegerPeers=n0-127.0.0.1:9878;n1-127.0.0.1:9868
controllerStorePath=/data/DledgerController
clientWorkerThreads=4
"""


def test_a_stock_file_is_read_unchanged(file: Path) -> None:
    file.write_text(STOCK_FILE)
    result = loaded("-c", str(file))
    assert result.settings.access.config_black_list == ("configBlackList", "kvConfigPath")
    assert "listenPort" not in result.without_effect
    assert "jRaftServerId" in result.without_effect


class TestTlsFile:
    def test_its_place_is_after_the_file(self, file: Path, tmp_path: Path) -> None:
        tls = tmp_path / "tls.properties"
        tls.write_text("tls.server.keyPath=/b/key\ntls.server.certPath=/b/crt\ntls.enable=true\n")
        file.write_text(f"tls.server.keyPath=/a/key\ntls.config.file={tls}\n")
        result = loaded("-c", str(file), SIGNPOST_TLS_SERVER_CERT_PATH="/c/crt")
        assert result.settings.tls.key_path == Path("/b/key")
        assert result.origins["tls.server.keyPath"] == f"file {tls}:1"
        assert result.settings.tls.cert_path == Path("/c/crt")

    def test_other_keys_have_no_place_there(self, tmp_path: Path) -> None:
        tls = tmp_path / "tls.properties"
        tls.write_text("tls.server.mode=disabled\nlistenPort=1\n")
        with pytest.raises(SettingsError) as caught:
            loaded(f"--tls.config.file={tls}")
        assert [problem.key for problem in caught.value.problems] == ["listenPort"]

    def test_one_that_is_named_must_be_there(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"tls\.config\.file=.*cannot be read"):
            loaded(f"--tls.config.file={tmp_path / 'missing'}")
