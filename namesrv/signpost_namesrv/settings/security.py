"""The settings that guard the door: TLS and who may administer."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from .kinds import File, Flag, Group, Key, Lower, MaybeFile, Names, Networks


class Tls(Group):
    """TLS on the remoting port. The keys are the stock server's system properties."""

    server_mode: Annotated[
        Literal["disabled", "permissive", "enforcing"],
        Lower,
        Key(
            "permissive takes TLS (given a certificate) and plain on one port.",
            name="tls.server.mode",
        ),
    ] = "permissive"
    need_client_auth: Annotated[
        Literal["none", "optional", "require"],
        Lower,
        Key(
            "Whether clients show a certificate; one that is shown is always verified.",
            name="tls.server.need.client.auth",
        ),
    ] = "none"
    key_path: Annotated[
        MaybeFile, Key("Private key, PEM.", name="tls.server.keyPath", expects="a path")
    ] = None
    key_password: Annotated[
        SecretStr,
        Key("Password of the private key; never shown.", name="tls.server.keyPassword"),
    ] = SecretStr("")
    cert_path: Annotated[
        MaybeFile, Key("Certificate chain, PEM.", name="tls.server.certPath", expects="a path")
    ] = None
    trust_cert_path: Annotated[
        MaybeFile,
        Key(
            "Authorities that sign clients' certificates, PEM.",
            name="tls.server.trustCertPath",
            expects="a path",
        ),
    ] = None
    config_file: Annotated[
        File,
        Key(
            "More tls.* keys, read when the file is there.",
            name="tls.config.file",
            expects="a path",
        ),
    ] = Path("/etc/rocketmq/tls.properties")
    auth_client: Annotated[
        Flag,
        Key(
            "Verification cannot be turned off: see tls.server.need.client.auth.",
            name="tls.server.authClient",
            effect=False,
        ),
    ] = False
    test_mode_enable: Annotated[
        Flag,
        Key(
            "No certificate is made up: give one, or none.",
            name="tls.test.mode.enable",
            effect=False,
        ),
    ] = False


DEFAULT_UPDATE_KEYS = (
    "enableAllTopicList",
    "enableTopicList",
    "needWaitForService",
    "notifyMinBrokerIdChanged",
    "orderMessageEnable",
    "returnOrderTopicConfigToBroker",
)


class Access(Group):
    """Who may change things over the wire."""

    config_update_enabled: Annotated[
        Flag, Key("Let admin tools change settings; off because it was abused before.")
    ] = False
    config_update_keys: Annotated[
        Names,
        Key(
            "The only settings that they may change.", expects="keys that may change while running"
        ),
    ] = DEFAULT_UPDATE_KEYS
    config_black_list: Annotated[
        Names, Key("Never changed over the wire, whatever else is allowed.", expects="keys: a;b")
    ] = ("configBlackList", "configStorePath", "kvConfigPath")
    admin_addresses: Annotated[
        Networks,
        Key(
            "Client addresses that may write KV, delete topics, wipe permissions; empty: all.",
            expects="IP addresses or networks such as 10.0.0.0/8,::1",
        ),
    ] = ()
    admin_cert_names: Annotated[
        Names,
        Field(max_length=1000),
        Key(
            "Names in client certificates that may do so; empty: not asked.",
            expects="certificate names: a,b",
        ),
    ] = ()
