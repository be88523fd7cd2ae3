"""Calling kubectl."""

import json
import shutil
import subprocess
from typing import Any


class KubectlError(Exception):
    """Kubectl could not do what was asked; the message is its own."""


class Kubectl:
    """One user's kubectl, in one namespace."""

    def __init__(
        self, namespace: str | None = None, context: str | None = None, config: str | None = None
    ) -> None:
        flags = {"--namespace": namespace, "--context": context, "--kubeconfig": config}
        self._flags = [f"{flag}={value}" for flag, value in flags.items() if value]

    def get(self, *words: str) -> list[dict[str, Any]]:
        """The objects that `kubectl get` finds."""
        found = self._json("get", *words, "--output=json")
        items = found.get("items", [found])
        return [item for item in items if isinstance(item, dict)]

    def ask(self, namespace: str, pod: str, port: int, path: str) -> Any:
        """What a pod answers over HTTP, by way of the API server."""
        return self._json(
            "get", f"--raw=/api/v1/namespaces/{namespace}/pods/{pod}:{port}/proxy{path}"
        )

    def execute(self, namespace: str, pod: str, container: str, *command: str) -> str:
        """What a command says that is run in a container."""
        where = [f"--namespace={namespace}", pod, f"--container={container}"]
        return self._run("exec", *where, "--", *command)

    def _json(self, *words: str) -> Any:
        text = self._run(*words)
        try:
            return json.loads(text)
        except ValueError as error:
            raise KubectlError(f"not JSON: {text[:200]}") from error

    def _run(self, *words: str) -> str:
        program = shutil.which("kubectl")
        if program is None:
            raise KubectlError("there is no kubectl on the PATH")
        # Flags go first: what follows `--` is the command's own.
        command = [program, *self._flags, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise KubectlError(done.stderr.strip() or f"kubectl ended with {done.returncode}")
        return done.stdout
