"""What brokers said, kept on disk: a sidecar that starts again need not wait for their next beat.

The file is a row of frames, one full registration each. It lies beside the pod, not in it for
long: a file of brokers that are gone is found out by looking for their processes.
"""

from collections.abc import Iterable
from pathlib import Path

from signpost_namesrv import logs
from signpost_namesrv.wire.codes import RequestCode
from signpost_namesrv.wire.command import Command, decode_frame, encode_frame
from signpost_namesrv.wire.errors import FrameError
from signpost_namesrv.wire.frames import FrameCutter

log = logs.get("memory")

_LARGEST = 256 * 1024 * 1024


class Memory:
    """Blocks; call it in a thread."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def save(self, registrations: Iterable[Command]) -> None:
        """Replace what was kept. A disk that fails costs the memory, nothing else."""
        part = self._path.with_name(self._path.name + ".part")
        try:
            with part.open("wb") as file:
                file.writelines(encode_frame(command) for command in registrations)
            part.replace(self._path)
        except OSError as e:
            log.warning("registrations not kept", path=str(self._path), reason=str(e))

    def load(self) -> list[Command]:
        """What was kept; nothing when it makes no sense."""
        try:
            data = self._path.read_bytes()
            frames = list(FrameCutter(_LARGEST, 1 << 20).feed(data))
            commands = [decode_frame(frame) for frame in frames]
        except FileNotFoundError:
            return []
        except (OSError, FrameError) as e:
            log.warning("kept registrations not read", path=str(self._path), reason=str(e))
            return []
        return [c for c in commands if c.code == RequestCode.REGISTER_BROKER]
