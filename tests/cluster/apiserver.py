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
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.cluster.kube import Kube, RefusedError, UnreachableError

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

    def __init__(
        self,
        programs: Path,
        folder: Path,
        users: Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> None:
        """`users` can log in beside the administrator and may do nothing until bound to a role.

        `flags` are further ones for kube-apiserver.
        """
        self._flags = dict(flags or {})
        self._programs = programs
        self._folder = folder
        self._tokens = {user: secrets.token_hex(16) for user in (ADMIN, *users)}
        self._port, self._etcd_port, peer_port, self._manager_port = free_ports(4)
        self._peer_port = peer_port
        self.url = f"https://127.0.0.1:{self._port}"
        self.certificate = str(folder / "tls" / "apiserver.crt")
        """Serving, self-signed: what clients trust."""
        self._daemons: dict[str, Daemon] = {}

    def kube(self, user: str = ADMIN) -> Kube:
        """A client for one of the users."""
        tls = ssl.create_default_context(cafile=self.certificate)
        return Kube(self.url, self._tokens[user], tls)

    def kubeconfig(self, user: str = ADMIN, server: str = "") -> Path:
        """A kubeconfig file for one of the users; `server` may name a proxy in front."""
        cluster = {"server": server or self.url}
        if not server:
            cluster["certificate-authority"] = self.certificate
        path = self._folder / f"{user}-{urlsplit(server).port or 'direct'}.kubeconfig"
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

    def make_admin(self, user: str) -> None:
        """Let one of the users do everything."""
        group = "rbac.authorization.k8s.io"
        binding = {
            "metadata": {"name": f"test-{user}"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        }
        self.kube().call("POST", f"/apis/{group}/v1/clusterrolebindings", binding)

    def kubectl(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """What the administrator's kubectl says."""
        config = self.kubeconfig()
        return subprocess.run(
            [str(self._programs / "kubectl"), f"--kubeconfig={config}", *arguments],
            input=stdin, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def restart_server(self) -> None:
        """Kill kube-apiserver and start it anew on the same port and the same data."""
        self._daemons["kube-apiserver"].kill()
        self._start_server()
        self.await_ready()

    def await_ready(self) -> None:
        """Wait until every check of kube-apiserver says that it can serve."""
        server = self._daemons["kube-apiserver"]

        def ready() -> bool:
            assert server.running(), f"kube-apiserver ended:\n{_end(server.log)}"
            if not Path(self.certificate).exists():
                return False
            try:
                return bool(self.kube().get("/readyz") == "ok")
            except (UnreachableError, RefusedError):
                return False

        wait_until(ready, "kube-apiserver is ready", BOOT_SECONDS)

    def pids(self) -> dict[str, int]:
        """The process ids, for measurements."""
        return {name: daemon.child.pid for name, daemon in self._daemons.items()}

    def __enter__(self) -> Self:
        try:
            self._write_files()
            self._start_etcd()
            self._start_server()
            self.await_ready()
            self._start_manager()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in reversed(self._daemons.values()):
            daemon.kill()

    def _start(self, program: str, **flags: object) -> None:
        words = [f"--{name.replace('_', '-')}={value}" for name, value in flags.items()]
        log = self._folder / f"{program}.log"
        self._daemons[program] = Daemon(log, [self._programs / program, *words])

    def _start_etcd(self) -> None:
        client = f"http://127.0.0.1:{self._etcd_port}"
        peer = f"http://127.0.0.1:{self._peer_port}"
        self._start(
            "etcd",
            data_dir=self._folder / "etcd",
            log_level="warn",
            unsafe_no_fsync="true",
            listen_client_urls=client,
            advertise_client_urls=client,
            listen_peer_urls=peer,
            initial_advertise_peer_urls=peer,
            initial_cluster=f"default={peer}",
        )

    def _start_server(self) -> None:
        key = self._folder / "service-accounts.key"
        self._start(
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
            **self._flags,
        )

    def _start_manager(self) -> None:
        self._start(
            "kube-controller-manager",
            kubeconfig=self.kubeconfig(),
            service_account_private_key_file=self._folder / "service-accounts.key",
            use_service_account_credentials="true",
            leader_elect="false",
            bind_address="127.0.0.1",
            secure_port=self._manager_port,
            # Nothing here is worth a throttle.
            kube_api_qps=300,
            kube_api_burst=600,
        )
        # They work once the default service account exists.
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
                serialization.PrivateFormat.TraditionalOpenSSL,
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
