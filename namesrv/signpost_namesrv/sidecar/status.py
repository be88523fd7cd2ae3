"""What the sidecar knows, as plain values for people and machines."""

from typing import Any

from .discovery.roster import Listing
from .drain import Phase
from .endpoint import Endpoint
from .record import BrokerId, Record
from .sidecar import Sidecar


def phase(sidecar: Sidecar) -> Phase:
    """How far a departure has come; one that ended is over when a broker has come since."""
    if sidecar.drain.phase is Phase.DRAINED and sidecar.carrier.records:
        return Phase.SERVING
    return sidecar.drain.phase


def readiness(sidecar: Sidecar) -> tuple[bool, str]:
    """Whether every broker is registered with at least one name server, and with how many."""
    endpoints = sidecar.fleet.endpoints
    if phase(sidecar) is not Phase.SERVING:
        return False, phase(sidecar).value
    brokers = list(sidecar.carrier.records)
    if not brokers:
        return False, f"no broker has registered; {len(endpoints)} name servers are known"
    counts = {b: sum(e.up and e.knows(b) for e in endpoints) for b in brokers}
    text = "; ".join(
        f"{broker.name}/{broker.id} is registered with {count} of {len(endpoints)} name servers"
        for broker, count in counts.items()
    )
    return all(counts.values()), text


def status(sidecar: Sidecar) -> dict[str, Any]:
    """Everything."""
    now = sidecar.now()
    ready, text = readiness(sidecar)
    return {
        "phase": phase(sidecar).value,
        "ready": ready,
        "readiness": text,
        "brokers": [_broker(sidecar, now, *item) for item in sidecar.carrier.records.items()],
        "endpoints": [_endpoint(sidecar, now, endpoint) for endpoint in sidecar.fleet.endpoints],
        "discovery": [_source(now, *item) for item in sidecar.roster.listings.items()],
        "registrations": {
            "full": sidecar.teller.sums.full,
            "increments": sidecar.teller.sums.increments,
            "queries": sidecar.teller.sums.queries,
            "bytesSaved": sidecar.teller.sums.bytes_saved,
        },
        "declared": _declared(sidecar),
    }


def _broker(sidecar: Sidecar, now: float, broker: BrokerId, record: Record) -> dict[str, Any]:
    return {
        "cluster": broker.cluster,
        "name": broker.name,
        "id": broker.id,
        "address": broker.address,
        "topics": len(record.table.topics),
        "generation": record.generation,
        "readOnly": record.read_only,
        "beatAgeSeconds": round(now - record.last_beat, 3),
        "connected": broker in sidecar.carrier.owners,
    }


def _endpoint(sidecar: Sidecar, now: float, endpoint: Endpoint) -> dict[str, Any]:
    return {
        "address": endpoint.address,
        "state": endpoint.state.value,
        "listed": endpoint.address not in sidecar.roster.leaving,
        "beatAgeSeconds": _age(endpoint.last_beat, now),
        "brokers": sum(endpoint.knows(broker) for broker in sidecar.carrier.records),
        "catchUps": endpoint.catch_ups,
        "connects": endpoint.connects,
        "failures": endpoint.failures,
        "lastError": endpoint.last_error,
    }


def _source(now: float, name: str, listing: Listing) -> dict[str, Any]:
    return {
        "source": name,
        "addresses": list(listing.addresses),
        "ageSeconds": _age(listing.since, now),
        "failures": listing.failures,
        "error": listing.error,
    }


def _declared(sidecar: Sidecar) -> dict[str, Any] | None:
    declaring = sidecar.declaring
    if declaring is None:
        return None
    brokers = [
        {"name": broker.name, "healthy": pulse.healthy, "registered": pulse.registered}
        for broker, pulse in declaring.pulses.items()
    ]
    return {"error": declaring.error, "brokers": brokers}


def _age(since: float | None, now: float) -> float | None:
    return None if since is None else round(now - since, 3)
