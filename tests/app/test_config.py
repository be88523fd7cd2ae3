"""Settings that change while the server runs: not unless allowed, never beyond the list."""

import pytest

from signpost_namesrv.app.config import RunningConfig
from signpost_namesrv.dispatch.state import ConfigRefusedError
from signpost_namesrv.settings import Settings, load, parse_arguments


def running(*words: str) -> tuple[RunningConfig, list[Settings]]:
    """The configuration, and the settings that were put into force so far."""
    config = RunningConfig(load(parse_arguments(words), {}).settings)
    applied: list[Settings] = []
    config.on_change(applied.append)
    return config, applied


def test_off_by_default() -> None:
    config, applied = running()
    with pytest.raises(ConfigRefusedError, match="configUpdateEnabled"):
        config.update("orderMessageEnable=true")
    assert len(applied) == 1
    assert "orderMessageEnable=false" in config.text()


@pytest.mark.parametrize(
    "text",
    [
        "kvConfigPath=/x",
        "configStorePath=/x",
        "configUpdateKeys=kvConfigPath",
        "configUpdateEnabled=false",
        "listenPort=1",
        "unheardOf=1",
        "orderMessageEnable=true\nkvConfigPath=/x",
        "orderMessageEnable=true\nkvConfigPath\\u003d/x",
        "orderMessageEnable=maybe",
    ],
)
def test_what_is_not_listed_is_refused_whole(text: str) -> None:
    config, applied = running("--configUpdateEnabled", "true")
    with pytest.raises(ConfigRefusedError):
        config.update(text)
    assert len(applied) == 1
    assert not applied[0].routes.order_message_enable


def test_a_black_list_is_stronger_than_the_list() -> None:
    black = ("--configBlackList", "orderMessageEnable,kvConfigPath,configStorePath")
    config, applied = running("--configUpdateEnabled", "true", *black)
    with pytest.raises(ConfigRefusedError):
        config.update("orderMessageEnable=true")
    assert len(applied) == 1


def test_what_is_listed_is_put_into_force() -> None:
    config, applied = running("--configUpdateEnabled", "true")
    config.update("orderMessageEnable = true\n# a comment\n")
    assert [s.routes.order_message_enable for s in applied] == [False, True]
    assert "orderMessageEnable=true" in config.text()
