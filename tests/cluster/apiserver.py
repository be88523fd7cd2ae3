"""A Kubernetes API on loopback: etcd, kube-apiserver and kube-controller-manager, no node.

Deployments make pods that stay Pending, because no kubelet runs them; garbage collection,
namespaces, admission and RBAC are the real ones.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.cluster.kube import Kube, UnreachableError

BOOT_SECONDS = 60.0
STOP_SECONDS = 20.0
ISSUER = "https://kubernetes.default.svc"
ADMIN = "admin"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_until(
    condition: Callable[[], object], what: str, seconds: float = 30.0, every: float = 0.05
) -> None:
    """Return when the condition holds; fail, naming what was awaited, when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(every)


class Daemon:
    """A child process whose output goes to a file; ended by its own process id."""

    def __init__(
        self, log: Path, command: Sequence[str | Path], env: Mapping[str, str] | None = None
    ) -> None:
        self.log = log
        with log.open("ab") as output:
            self.child = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | (env or {}),
            )

    def running(self) -> bool:
        return self.child.poll() is None

    def stop(self) -> int:
        """Ask it to end, as Kubernetes does, and wait for it."""
        self.child.terminate()
        try:
            return self.child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        """End it at once, without a last word."""
        self.child.kill()
        return self.child.wait()


class ApiServer:
    """The three processes, the users that may call them, and their kubeconfig files."""

    def __init__(self, programs: Path, folder: Path, users: Sequence[str] = ()) -> None:
        """`users` can log in beside the administrator and may do nothing until bound to a role."""
        self._programs = programs
        self._folder = folder
        self._tokens = {user: secrets.token_hex(16) for user in (ADMIN, *users)}
        self._port, self._etcd_port, peer_port, self._manager_port = free_ports(4)
        self.url = f"https://127.0.0.1:{self._port}"
        self._write_files()
        client = f"http://127.0.0.1:{self._etcd_port}"
        peer = f"http://127.0.0.1:{peer_port}"
        self._etcd = self._start(
            "etcd", data_dir=folder / "etcd", log_level="warn", unsafe_no_fsync="true",
            listen_client_urls=client, advertise_client_urls=client,
            listen_peer_urls=peer, initial_advertise_peer_urls=peer,
            initial_cluster=f"default={peer}",
        )  # fmt: skip
        self._server = self._start_server()
        self.await_ready()
        self.has_controllers = (programs / "kube-controller-manager").exists()
        self._manager = self._start_manager() if self.has_controllers else None
        if self.has_controllers:
            self._await_controllers()

    def kube(self, user: str = ADMIN) -> Kube:
        """A client for one of the users."""
        tls = ssl.create_default_context(cafile=str(self._folder / "tls" / "apiserver.crt"))
        return Kube(self.url, self._tokens[user], tls)

    def kubeconfig(self, user: str = ADMIN, server: str = "") -> Path:
        """A kubeconfig file for one of the users; `server` may name a proxy in front."""
        cluster = {"server": server or self.url}
        if not server:
            cluster["certificate-authority"] = str(self._folder / "tls" / "apiserver.crt")
        path = self._folder / f"{user}-{'proxied' if server else 'direct'}.kubeconfig"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self._tokens[user]}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            "current-context": "test",
        }
        path.write_text(json.dumps(document))
        return path

    def kubectl(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """What the administrator's kubectl says."""
        config = self.kubeconfig()
        return subprocess.run(
            [str(self._programs / "kubectl"), f"--kubeconfig={config}", *arguments],
            input=stdin, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def restart_server(self) -> None:
        """Stop kube-apiserver and start it anew on the same port and the same data."""
        self._server.stop()
        self._server = self._start_server()
        self.await_ready()

    def await_ready(self) -> None:
        """Wait until every check of kube-apiserver says that it can serve."""
        certificate = self._folder / "tls" / "apiserver.crt"

        def ready() -> bool:
            assert self._server.running(), f"kube-apiserver ended:\n{_end(self._server.log)}"
            if not certificate.exists():
                return False
            try:
                return bool(self.kube().get("/readyz") == "ok")
            except UnreachableError:
                return False

        wait_until(ready, "kube-apiserver is ready", BOOT_SECONDS)

    def pids(self) -> dict[str, int]:
        """The process ids, for measurements."""
        daemons = {"etcd": self._etcd, "kube-apiserver": self._server}
        if self._manager:
            daemons["kube-controller-manager"] = self._manager
        return {name: daemon.child.pid for name, daemon in daemons.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._manager:
            self._manager.kill()
        self._server.kill()
        self._etcd.kill()

    def _start(self, program: str, **flags: object) -> Daemon:
        words = [f"--{name.replace('_', '-')}={value}" for name, value in flags.items()]
        return Daemon(self._folder / f"{program}.log", [self._programs / program, *words])

    def _start_server(self) -> Daemon:
        key = self._folder / "service-accounts.key"
        return self._start(
            "kube-apiserver",
            etcd_servers=f"http://127.0.0.1:{self._etcd_port}",
            bind_address="127.0.0.1",
            advertise_address="127.0.0.1",
            endpoint_reconciler_type="none",
            secure_port=self._port,
            cert_dir=self._folder / "tls",
            token_auth_file=self._folder / "tokens.csv",
            authorization_mode="RBAC",
            service_account_issuer=ISSUER,
            service_account_key_file=key,
            service_account_signing_key_file=key,
            service_cluster_ip_range="10.96.0.0/16",
            shutdown_delay_duration="0s",
        )

    def _start_manager(self) -> Daemon:
        return self._start(
            "kube-controller-manager",
            kubeconfig=self.kubeconfig(),
            service_account_private_key_file=self._folder / "service-accounts.key",
            use_service_account_credentials="true",
            leader_elect="false",
            bind_address="127.0.0.1",
            secure_port=self._manager_port,
        )

    def _await_controllers(self) -> None:
        """The controllers work once the default service account exists."""
        path = "/api/v1/namespaces/default/serviceaccounts"
        wait_until(
            lambda: self.kube().items(path), "the controllers of Kubernetes work", BOOT_SECONDS
        )

    def _write_files(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        (self._folder / "service-accounts.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        lines = [
            f"{token},{user},{user},{'system:masters' if user == ADMIN else 'signpost:tests'}\n"
            for user, token in self._tokens.items()
        ]
        (self._folder / "tokens.csv").write_text("".join(lines))


def _end(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-30:])
