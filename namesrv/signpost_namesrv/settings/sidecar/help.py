"""What `signpost-sidecar -h` prints."""

from signpost_namesrv.settings.describe import describe

from .model import SCHEME

_HEAD = """\
Usage: signpost-sidecar [-c FILE] [--KEY VALUE ...]
       signpost-sidecar drain [URL]

Stands beside a RocketMQ broker as its name server, namesrvAddr=127.0.0.1:9876, and carries what
the broker says to every name server there is, as they come and go.

  -c, --configFile FILE    read settings from a properties file
  -p, --printConfigItem    print every setting, its value and where that came from, and exit
  -h, --help               print this, and exit
      --version            print the version, and exit
  drain                    for preStop: ask the running sidecar, at URL (http://127.0.0.1:8081),
                           to drain the broker, and return when it has left every name server

A setting is found in four places, the later over the earlier: its default, KEY=VALUE in FILE,
the environment variable SIGNPOST_KEY, the option --KEY VALUE (or --KEY=VALUE). A word in
camelCase or with.dots is written WITH_UNDERSCORES in the environment: namesrvAddr is
SIGNPOST_NAMESRV_ADDR. Settings below are shown with their defaults.
"""

_FOOT = """\
Examples
  signpost-sidecar --namesrvDns namesrv-all.mq.svc:9876
  signpost-sidecar --namesrvService mq/namesrv
  signpost-sidecar --namesrvAddr '10.0.0.1:9876;10.0.0.2:9876' -p

Signals
  SIGTERM, SIGINT    drain, then exit; a second one: exit at once

Exit codes
  0  stopped when asked to, drained, or printed what was asked for
  1  could not start or go on, or (drain) the sidecar could not be reached
  2  a setting is wrong: standard error names each, where it stands and what to do
"""


def help_text() -> str:
    """The whole of -h."""
    return "\n".join([_HEAD, describe(SCHEME), _FOOT])
