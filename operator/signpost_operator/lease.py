"""Which replica works: the holder of a Lease, as Kubernetes' own controllers do it.

Kopf's peering would need a CRD of its own and a different priority for each replica.
"""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import UTC, datetime

from .api import Api, ApiError, ConflictError, Manifest
from .api.kinds import LEASE

log = logging.getLogger("signpost.lease")


class LeaseLostError(Exception):
    """Another replica may be working by now: this one must not."""


class Lease:
    """One replica's view of the Lease. Other replicas' clocks are never compared with ours."""

    def __init__(self, api: Api, namespace: str, name: str, identity: str, seconds: float) -> None:
        self._api = api
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._seconds = seconds
        self._seen: tuple[object, ...] = ()
        self._seen_at = 0.0
        self._renewed_at = 0.0

    async def acquire(self) -> None:
        """Return once this replica is the leader."""
        told = ""
        while True:
            try:
                holder = await self._try()
            except ApiError as error:
                holder = f"unknown ({error})"
            if holder == self._identity:
                log.info("leading", extra={"identity": self._identity})
                return
            if holder != told:
                log.info("standing by", extra={"identity": self._identity, "leader": holder})
                told = holder
            await asyncio.sleep(self._seconds / 10)

    async def keep(self) -> None:
        """Renew until cancelled; LeaseLostError when that has not worked for too long."""
        while True:
            await asyncio.sleep(self._seconds / 3)
            try:
                async with asyncio.timeout(self._seconds / 3):
                    holder = await self._try()
            except (ApiError, TimeoutError) as error:
                if time.monotonic() - self._renewed_at > self._seconds * 0.8:
                    raise LeaseLostError(f"the Lease could not be renewed: {error}") from error
                continue
            if holder != self._identity:
                raise LeaseLostError(f"{holder} holds the Lease now")

    async def release(self) -> None:
        """Let the next replica take over at once."""
        try:
            lease = await self._api.find(LEASE, self._namespace, self._name)
            if lease and lease["spec"].get("holderIdentity") == self._identity:
                lease["spec"] |= {"holderIdentity": "", "renewTime": _now()}
                await self._api.replace(LEASE.path(self._namespace, self._name), lease)
        except ApiError as error:
            log.info("the Lease was not released: %s", error)

    async def _try(self) -> str:
        """Take or renew the Lease if that can be done; who holds it now."""
        lease = await self._api.find(LEASE, self._namespace, self._name)
        try:
            if lease is None:
                await self._api.create(LEASE.path(self._namespace), self._fresh())
            elif not self._may_take(lease["spec"]):
                return str(lease["spec"].get("holderIdentity"))
            else:
                lease["spec"] = self._taken(lease["spec"])
                await self._api.replace(LEASE.path(self._namespace, self._name), lease)
        except ConflictError:
            return "another replica"
        self._renewed_at = time.monotonic()
        return self._identity

    def _may_take(self, spec: Manifest) -> bool:
        """It is ours, free, or has not moved for as long as it lasts, by our own clock."""
        holder = spec.get("holderIdentity")
        now, seen = time.monotonic(), (holder, spec.get("renewTime"))
        if seen != self._seen:
            self._seen, self._seen_at = seen, now
        lasts = float(spec.get("leaseDurationSeconds") or self._seconds)
        return not holder or holder == self._identity or now - self._seen_at > lasts

    def _taken(self, spec: Manifest) -> Manifest:
        mine = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._seconds)),
            "renewTime": _now(),
        }
        if spec.get("holderIdentity") != self._identity:
            mine["acquireTime"] = mine["renewTime"]
            mine["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + 1
        return {**spec, **mine}

    def _fresh(self) -> Manifest:
        return {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.name,
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": self._taken({"leaseTransitions": -1}),
        }


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
