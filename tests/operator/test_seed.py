"""The one line of Python that a name server's pod starts with, run as the pod runs it."""

import subprocess
import sys
from pathlib import Path

from signpost_operator.desired import name_servers
from tests.operator.made import CONTEXT, cluster, container, one


def run(seed: Path, kept: Path) -> None:
    deployment = one(name_servers(cluster(), CONTEXT), "Deployment")
    _, option, code, *_ = container(deployment, "kv")["command"]
    subprocess.run([sys.executable, option, code, str(seed), str(kept)], check=True, timeout=30)


def test_the_copy_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "seed").write_text("copy")
    run(tmp_path / "seed", tmp_path / "kept")
    assert (tmp_path / "kept").read_text() == "copy"


def test_what_a_pod_already_has_stays(tmp_path: Path) -> None:
    (tmp_path / "seed").write_text("copy")
    (tmp_path / "kept").write_text("newer")
    run(tmp_path / "seed", tmp_path / "kept")
    assert (tmp_path / "kept").read_text() == "newer"


def test_without_a_copy_there_is_nothing_to_do(tmp_path: Path) -> None:
    run(tmp_path / "seed", tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
