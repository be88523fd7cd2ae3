"""One resource at a time: look it up, bring it about, count what came of it."""

from __future__ import annotations

import logging
import time
from contextlib import suppress

from signpost_operator.api import ApiError, Manifest, NotFoundError
from signpost_operator.api.kinds import BROKER, NAME_SERVER_CLUSTER
from signpost_operator.apply import OwnerGoneError
from signpost_operator.status import refused_status
from signpost_operator.store import Ref

from . import brokers, nameservers
from .common import NotAppliedError, conclude, now
from .world import World

KINDS = {kind.name: kind for kind in (NAME_SERVER_CLUSTER, BROKER)}

log = logging.getLogger("signpost.reconcile")


async def reconcile(world: World, ref: Ref) -> float | None:
    """In how many seconds to look again; whatever is raised means soon, and later each time."""
    held = world.resources.get(ref)
    if held is None:
        return None
    body = held.body
    if "deletionTimestamp" in body["metadata"]:
        return None
    began, outcome = time.perf_counter(), "failed"
    try:
        if ref.kind == NAME_SERVER_CLUSTER.name:
            done = await nameservers.reconcile(world, ref, body)
        else:
            done = await brokers.reconcile(world, ref, body)
        outcome = done.outcome
    except (NotFoundError, OwnerGoneError):
        # Deleted meanwhile; the watch will say so.
        outcome = "gone"
        return None
    except NotAppliedError:
        raise
    except ApiError as error:
        log.warning("not reconciled: %s", error, extra={"resource": " ".join(ref)})
        raise
    except Exception as error:
        world.log_bug(ref, error)
        await _blame(world, body, error)
        raise
    finally:
        world.metrics.reconciles.labels(ref.kind, outcome).inc()
        world.metrics.seconds.labels(ref.kind).observe(time.perf_counter() - began)
    return done.again


async def _blame(world: World, body: Manifest, error: Exception) -> None:
    """A mistake of ours shows in the resource, too: its owner waits for something."""
    why = f"the operator failed at this: {type(error).__name__}: {error}"
    generation = body["metadata"].get("generation", 0)
    told = refused_status(body.get("status") or {}, generation, why, now(), "OperatorError")
    with suppress(ApiError):
        await conclude(world, KINDS[body["kind"]], body, told)
