"""Settings from everywhere: default, file, environment, command line; the last one counts."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .arguments import WHERE, Arguments
from .given import Given
from .model import CATALOGUE, SCHEME, LoadedSettings
from .problems import Problem
from .sources import from_environment, from_file

_TLS_FILE = "tls.config.file"


def load(arguments: Arguments, environment: Mapping[str, str]) -> LoadedSettings:
    """Read all places; SettingsError with every problem when anything is wrong."""
    file: list[Given | Problem] = []
    if arguments.file is not None:
        # A stock server reports the file it was started with.
        file.append(Given("configStorePath", arguments.file, f"{WHERE} -c"))
        file += from_file(Path(arguments.file), "-c", WHERE)
    home = environment.get("ROCKETMQ_HOME")
    stock = [Given("rocketmqHome", home, "environment ROCKETMQ_HOME")] if home else []
    later = [*stock, *from_environment(environment, CATALOGUE), *arguments.given]
    tls = _from_tls_file([*file, *later])
    found = [*file, *tls, *later]
    problems = [item for item in found if isinstance(item, Problem)]
    return SCHEME.make(
        (item for item in found if isinstance(item, Given)),
        earlier=[*arguments.problems, *problems],
    )


def _from_tls_file(found: Iterable[Given | Problem]) -> Iterator[Given | Problem]:
    named = Given(_TLS_FILE, CATALOGUE[_TLS_FILE].default, "default")
    for item in found:
        if isinstance(item, Given) and item.key == _TLS_FILE:
            named = item
    path = Path(named.text.strip())
    if named.where == "default" and not path.exists():
        return
    for item in from_file(path, _TLS_FILE, named.where):
        if isinstance(item, Given) and (not item.key.startswith("tls.") or item.key == _TLS_FILE):
            what, remedy = "has no place in a file of tls.* keys", "move it to the file of -c"
            yield Problem(item.key, None, item.where, what, remedy)
        else:
            yield item
