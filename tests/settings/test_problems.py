"""What is said when something is wrong: everything at once, each with its place and remedy."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from signpost_namesrv.settings import Problem, SettingsError, load, parse_arguments


def problems(*words: str, environment: Mapping[str, str] | None = None) -> tuple[Problem, ...]:
    with pytest.raises(SettingsError) as caught:
        load(parse_arguments(words), environment or {})
    return caught.value.problems


def only(*words: str, environment: Mapping[str, str] | None = None) -> str:
    (problem,) = problems(*words, environment=environment)
    return str(problem)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("listenPrt", "listenPort"),
        ("listen-port", "listenPort"),
        ("LISTEN_PORT", "listenPort"),
        ("tls.server.keypath", "tls.server.keyPath"),
        ("enableAllTopicsList", "enableAllTopicList"),
        ("com.rocketmq.remoting.frameMaxLen", "com.rocketmq.remoting.frameMaxLength"),
    ],
)
def test_unknown_keys(written: str, meant: str) -> None:
    expected = f"command line: {written}=1: unknown key; did you mean {meant}?"
    assert only(f"--{written}=1") == expected


def test_an_unknown_key_unlike_any_other() -> None:
    assert only("--qqq=1") == "command line: qqq=1: unknown key; take it out; -h lists all keys"


@pytest.mark.parametrize(
    ("key", "text", "what"),
    [
        ("listenPort", "abc", "not a whole number from 0 to 65535"),
        ("listenPort", "65536", "not a whole number from 0 to 65535"),
        ("listenPort", "-1", "not a whole number from 0 to 65535"),
        ("listenPort", "", "not a whole number from 0 to 65535"),
        ("listenPort", "9_876", "not a whole number from 0 to 65535"),
        ("listenPort", "9876.0", "not a whole number from 0 to 65535"),
        ("listenPort", "٣", "not a whole number from 0 to 65535"),
        ("httpPort", "-2", "not a whole number from -1 to 65535"),
        ("maxConnections", "0", "not a whole number from 1 to 2147483647 (connections)"),
        ("scanNotActiveBrokerInterval", "1", "not a whole number from 10 to 3600000 (ms)"),
        ("bindAddress", "a b", "not an IP address or a host name"),
        ("bindAddress", "", "not an IP address or a host name"),
        ("enableTopicList", "yes", "not true or false"),
        ("enableTopicList", "1", "not true or false"),
        ("logLevel", "loud", "not one of debug, info, warning, error"),
        ("tls.server.mode", "on", "not one of disabled, permissive, enforcing"),
        ("adminAddresses", "10.0.0.1/8", "not IP addresses or networks such as 10.0.0.0/8,::1"),
        ("adminAddresses", "localhost", "not IP addresses or networks such as 10.0.0.0/8,::1"),
        ("kvConfigPath", "", "not a path"),
        ("kvConfigPath", "a\0b", "not a path"),
        ("serverWorkerThreads", "x", "not a whole number"),
    ],
)
def test_bad_values(key: str, text: str, what: str) -> None:
    (problem,) = problems(f"--{key}={text}")
    assert (problem.key, problem.value, problem.where) == (key, text, "command line")
    assert problem.what == what
    assert problem.remedy.startswith("mend it, or leave it out for the default, ")


def test_all_at_once(tmp_path: Path) -> None:
    file = tmp_path / "ns.properties"
    file.write_text("listenPrt=1\n\nhttpPort=x\nb=\\u1\n")
    found = problems(
        "-c",
        str(file),
        "--logLevel=x",
        "stray",
        "--tls.server.mode=enforcing",
        "--maxConnections",
        environment={"SIGNPOST_LISTEN_PRT": "1", "SIGNPOST_HTTP_PORT": "y"},
    )
    assert sorted((problem.where, problem.key) for problem in found) == [
        ("command line", "--maxConnections"),
        ("command line", "logLevel"),
        ("command line", "stray"),
        ("command line", "tls.server.mode"),
        ("environment", "SIGNPOST_LISTEN_PRT"),
        ("environment SIGNPOST_HTTP_PORT", "httpPort"),
        (f"file {file}:1", "listenPrt"),
        (f"file {file}:3", "httpPort"),
        (f"file {file}:4", "b"),
    ]


def test_a_mistake_counts_even_when_overridden(tmp_path: Path) -> None:
    file = tmp_path / "ns.properties"
    file.write_text("listenPort=x\n")
    assert f"file {file}:1: listenPort=x: " in only("-c", str(file), "--listenPort=1")


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("SIGNPOST_LISTEN_PRT", "1", "did you mean SIGNPOST_LISTEN_PORT?"),
        ("SIGNPOST_LISTN_PORT", "1", "did you mean SIGNPOST_LISTEN_PORT?"),
        ("SIGNPOST_", "1", "unknown key; take it out"),
        ("SIGNPOST_NONSENSE", "1", "unknown key; take it out"),
        ("SIGNPOST_LISTEN_PORT", "x", "environment SIGNPOST_LISTEN_PORT: listenPort=x: not a"),
    ],
)
def test_the_environment(variable: str, text: str, said: str) -> None:
    assert said in only(environment={variable: text})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-c"], "command line: -c: no value follows; write -c VALUE"),
        (
            ["--listenPort"],
            "command line: --listenPort: no value follows; write --listenPort VALUE",
        ),
        (["--listenPort", "--httpPort=1"], "command line: --listenPort: no value follows"),
        (["--listenPort", "-p"], "command line: --listenPort: no value follows"),
        (["-x"], "command line: -x: not an option; see -h"),
        (["--"], "command line: --: not an option; see -h"),
        (["9876"], "command line: 9876: not an option; see -h"),
    ],
)
def test_the_command_line(words: list[str], said: str) -> None:
    assert only(*words).startswith(said)


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_file_that_cannot_be_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path if kind == "folder" else tmp_path / "missing"
    assert only("-c", str(path)).startswith(f"command line: -c={path}: cannot be read: ")


@pytest.mark.parametrize(
    "word", ["tls.server.keyPassword", "tls.server.keyPasswrd", "tls.server.keyPssword", "myToken"]
)
def test_passwords_are_not_repeated(word: str) -> None:
    found = problems(f"--{word}=hush", "--listenPort=x")
    assert not any("hush" in f"{problem} {problem!r}" for problem in found)


def test_a_problem_stays_on_one_short_line() -> None:
    text = only("--listenPort=\x1b[2J\n" + "9" * 5000)
    assert text.isprintable()
    assert len(text) < 400


CERT = ["--tls.server.certPath=c", "--tls.server.keyPath=k"]
TRUST = "--tls.server.trustCertPath=t"
ENFORCING = "--tls.server.mode=enforcing"
REQUIRE = "--tls.server.need.client.auth=require"
OPTIONAL = "--tls.server.need.client.auth=optional"


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (["--writeBufferHighWaterMark=1", "--writeBufferLowWaterMark=2"], ["writeBufferLowW"]),
        (["--maxFrameBytes=2048", "--maxHeaderBytes=4096"], ["maxHeaderBytes"]),
        (["--listenPort=8080"], ["httpPort"]),
        ([ENFORCING], ["tls.server.mode"]),
        ([ENFORCING, CERT[0]], ["tls.server.certPath"]),
        ([CERT[0]], ["tls.server.certPath"]),
        ([CERT[1]], ["tls.server.keyPath"]),
        ([*CERT, REQUIRE], ["tls.server.need.client.auth"]),
        ([*CERT, OPTIONAL], ["tls.server.need.client.auth"]),
        ([REQUIRE, TRUST], ["tls.server.need.client.auth"]),
        (["--adminCertNames=a"], ["adminCertNames"]),
        (["--adminCertNames=a", "--tls.server.mode=disabled", REQUIRE], ["adminCertNames"]),
        (["--configUpdateKeys=kvConfigPath"], ["configUpdateKeys"]),
        (["--configUpdateKeys=nonsense"], ["configUpdateKeys"]),
        # What could not be read is not held against its neighbours.
        ([ENFORCING, *CERT, "--tls.server.certPath=\0"], ["tls.server.certPath"]),
        (["--writeBufferHighWaterMark=x", "--writeBufferLowWaterMark=2"], ["writeBufferHighW"]),
    ],
)
def test_what_does_not_go_together(words: list[str], keys: list[str]) -> None:
    found = problems(*words)
    assert len(found) == len(keys)
    assert all(problem.key.startswith(key) for problem, key in zip(found, keys, strict=True))


@pytest.mark.parametrize(
    "words",
    [
        ["--writeBufferHighWaterMark=2", "--writeBufferLowWaterMark=2"],
        ["--writeBufferLowWaterMark=2"],
        ["--listenPort=0", "--httpPort=0"],
        [*CERT, ENFORCING, REQUIRE, TRUST, "--adminCertNames=a"],
        ["--tls.server.mode=disabled", REQUIRE],
        ["--tls.server.mode=disabled", CERT[0]],
        ["--configUpdateKeys=supportActingMaster"],
        ["--configUpdateKeys="],
    ],
)
def test_what_goes_together(words: list[str]) -> None:
    load(parse_arguments(words), {})
