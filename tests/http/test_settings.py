"""The settings of the HTTP side, from the command line to the options."""

import pytest

from signpost_namesrv.app import translate
from signpost_namesrv.settings import SettingsError, load, parse_arguments


def test_settings_become_options() -> None:
    words = ["--httpTokenFile", "/etc/token", "--httpReadsNeedToken", "true"]
    words += ["--peerUrls", "http://a:8080/,http://[::1]:81", "--peerService", "ns.default"]
    words += ["--disagreeAfterSeconds", "60", "--httpMaxWatchers", "3"]
    made = translate.http(
        load(parse_arguments(words), {"SIGNPOST_ADVERTISE_ADDRESS": "10.0.0.7"}).settings, 1, 2
    )
    assert str(made.token_file) == "/etc/token"
    assert made.reads_need_token
    assert made.advertise_address == "10.0.0.7"
    assert (made.remoting_port, made.peers.default_port) == (1, 2)
    assert made.peers.urls == ("http://a:8080", "http://[::1]:81")
    assert made.peers.service == "ns.default"
    assert (made.peers.disagree_after, made.max_watchers) == (60, 3)


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["--httpReadsNeedToken", "true"], "httpReadsNeedToken"),
        (["--peerUrls", "a:8080"], "peerUrls"),
        (["--peerUrls", "http://user:secret@a"], "peerUrls"),
        (["--peerService", "a/b"], "peerService"),
        (["--advertiseAddress", "a b"], "advertiseAddress"),
    ],
)
def test_what_cannot_work_is_named(words: list[str], key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(parse_arguments(words), {})
    assert [problem.key for problem in caught.value.problems] == [key]
