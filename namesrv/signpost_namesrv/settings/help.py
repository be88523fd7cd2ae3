"""What `signpost-namesrv -h` prints."""

from .describe import describe
from .model import SCHEME

_HEAD = """\
Usage: signpost-namesrv [-c FILE] [--KEY VALUE ...]

A RocketMQ name server. Stock brokers, clients and admin tools talk to it as to the Java one;
people, dashboards and other programs read the same routes over HTTP.

  -c, --configFile FILE    read settings from a properties file; a stock namesrv.properties
                           will do as it is
  -p, --printConfigItem    print every setting, its value and where that came from, and exit
  -h, --help               print this, and exit
      --version            print the version, and exit

A setting is found in four places, the later over the earlier: its default, KEY=VALUE in FILE,
the environment variable SIGNPOST_KEY, the option --KEY VALUE (or --KEY=VALUE). A word in
camelCase or with.dots is written WITH_UNDERSCORES in the environment: listenPort is
SIGNPOST_LISTEN_PORT, tls.server.keyPath is SIGNPOST_TLS_SERVER_KEY_PATH. Lists are written
with commas. Settings below are shown with their defaults.
"""

_FOOT = """\
Examples
  signpost-namesrv                                  all defaults, port 9876
  signpost-namesrv -c namesrv.properties -p         what would this file do?
  signpost-namesrv --listenPort 9877 --httpPort -1  another port, no HTTP
  SIGNPOST_LOG_FORMAT=json signpost-namesrv         lines for a collector

Environment
  SIGNPOST_...     settings, as above; one that names no setting stops the start, except those
                   that Kubernetes makes for Services whose name starts with signpost-
  ROCKETMQ_HOME    rocketmqHome, as for a stock server

Exit codes
  0  stopped when asked to, or printed what was asked for
  1  could not start or go on: the log says why
  2  a setting is wrong: standard error names each, where it stands and what to do
"""


def help_text() -> str:
    """The whole of -h."""
    return "\n".join([_HEAD, describe(SCHEME), _FOOT])
