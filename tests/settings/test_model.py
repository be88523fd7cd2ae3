"""The model itself: what a stock server reports, and changes at run time."""

import re

import pytest
from pydantic import ValidationError

from signpost_namesrv.settings import CATALOGUE, Settings, SettingsError
from signpost_namesrv.settings.groups import Files, Network

STOCK_DEFAULTS = """\
bindAddress=0.0.0.0
clientRequestThreadPoolNums=8
clientRequestThreadPoolQueueCapacity=50000
clusterTest=false
configBlackList=configBlackList;configStorePath;kvConfigPath
configStorePath=/home/namesrv/namesrv.properties
defaultThreadPoolNums=16
defaultThreadPoolQueueCapacity=10000
deleteTopicWithBrokerRegistration=false
enableAllTopicList=true
enableControllerInNamesrv=false
enableShutdownGracefully=false
enableTopicList=true
kvConfigPath=/home/namesrv/kvConfig.json
listenPort=9876
needWaitForService=false
notifyMinBrokerIdChanged=false
orderMessageEnable=false
productEnvName=center
returnOrderTopicConfigToBroker=true
rocketmqHome=/opt/rocketmq
scanNotActiveBrokerInterval=5000
serverAsyncSemaphoreValue=64
serverCallbackExecutorThreads=0
serverChannelMaxIdleTimeSeconds=120
serverNettyWorkerGroupEnable=true
serverOnewaySemaphoreValue=256
serverPooledByteBufAllocatorEnable=true
serverSelectorThreads=3
serverSocketBacklog=1024
serverSocketRcvBufSize=0
serverSocketSndBufSize=0
serverWorkerThreads=8
shutdownWaitTimeSeconds=30
supportActingMaster=false
unRegisterBrokerQueueCapacity=3000
useEpollNativeSelector=false
waitSecondsForService=45
writeBufferHighWaterMark=0
writeBufferLowWaterMark=0
"""


def test_stock_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home")
    settings = Settings().with_updates({"rocketmqHome": "/opt/rocketmq"})
    assert settings.stock_properties() == STOCK_DEFAULTS


def test_a_value_cannot_add_a_line_to_them() -> None:
    settings = Settings().with_updates({"productEnvName": "x\nlistenPort=1"})
    assert "productEnvName=x\\nlistenPort=1\n" in settings.stock_properties()


def test_updates() -> None:
    before = Settings(network=Network(listen_port=1))
    after = before.with_updates({"enableTopicList": "false", "waitSecondsForService": "7"})
    assert after.network.listen_port == 1
    assert after.routes.enable_topic_list is False
    assert after.warmup.wait_seconds_for_service == 7
    assert before.routes.enable_topic_list is True


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        ({"enableTopicLst": "true"}, "update: enableTopicLst=true: unknown key; did you mean enab"),
        ({"enableTopicList": "1"}, "update: enableTopicList=1: not true or false"),
        ({"tls.server.mode": "enforcing"}, "needs a certificate"),
    ],
)
def test_bad_updates(updates: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        Settings().with_updates(updates)


def test_frozen() -> None:
    with pytest.raises(ValidationError):
        Settings().network.listen_port = 1


def test_the_password_stays_secret() -> None:
    settings = Settings().with_updates({"tls.server.keyPassword": " hush "})
    assert settings.tls.key_password.get_secret_value() == " hush "
    assert "hush" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_no_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(self: object) -> None:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.expanduser", homeless)
    with pytest.raises(ValidationError):
        Files()


def test_every_setting_is_explained() -> None:
    for setting in CATALOGUE.values():
        assert setting.about.why.endswith("."), setting.key
        assert setting.expects, setting.key
        assert setting.parse(setting.default) == Settings().value(setting.key), setting.key


def test_only_switches_change_at_run_time() -> None:
    live = {key for key, setting in CATALOGUE.items() if setting.about.live}
    assert set(Settings().access.config_update_keys) <= live
    assert all(isinstance(Settings().value(key), bool) for key in live)
