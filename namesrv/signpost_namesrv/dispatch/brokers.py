"""What brokers ask: registration, departure, heartbeat, data version, member group."""

import zlib
from collections.abc import Generator, Hashable

from signpost_namesrv import logs
from signpost_namesrv.routes import registration, removal
from signpost_namesrv.routes.model import BrokerKey, Registration
from signpost_namesrv.wire.bodies import (
    BrokerMemberGroup,
    BrokerMemberGroupBody,
    KvTable,
    by_key,
    decode_data_version,
    legacy_json,
    present,
    standard_json,
)
from signpost_namesrv.wire.codes import ResponseCode
from signpost_namesrv.wire.command import Command
from signpost_namesrv.wire.registration import decode_registration

from .convert import mapping_from, version_body, version_from
from .replies import answer, flag, ok, optional_int, required, required_int
from .state import ORDER_NAMESPACE, Peer, State

log = logs.get("brokers")

Work = Generator[None, None, Command]


def register(state: State, request: Command, peer: Peer) -> Command | Work:
    """REGISTER_BROKER. One that says what the last one said costs no reading of its body."""
    key = BrokerKey(required(request, "clusterName"), required(request, "brokerAddr"))
    required(request, "brokerName")
    required_int(request, "brokerId")
    fingerprint = _fingerprint(request)
    if fingerprint is not None:
        renewed = registration.renew(
            state.tables, key, fingerprint, peer.connection, state.now_ms()
        )
        if renewed is not None:
            return _registered(state, request, renewed)
    return _register(state, request, peer, fingerprint)


def _register(state: State, request: Command, peer: Peer, fingerprint: Hashable) -> Work:
    checksum = optional_int(request, "bodyCrc32")
    if checksum and checksum != zlib.crc32(request.body) & 0x7FFFFFFF:
        return answer(request, ResponseCode.SYSTEM_ERROR, "crc32 not match", fields={})
    body = yield from decode_registration(
        request.body, compressed=flag(request, "compressed"), version=request.version
    )
    acting_master = request.field("enableActingMaster")
    done = yield from enrol(
        state,
        Registration(
            cluster=required(request, "clusterName"),
            name=required(request, "brokerName"),
            broker_id=required_int(request, "brokerId"),
            address=required(request, "brokerAddr"),
            ha_address=request.field("haServerAddr"),
            zone=request.field("__ZONE_NAME"),
            timeout_ms=optional_int(request, "heartbeatTimeoutMillis"),
            acting_master=None if acting_master is None else acting_master.lower() == "true",
            data_version=version_from(body.data_version),
            topics=body.topics,
            mappings=[mapping_from(topic, m) for topic, m in body.mappings.items()],
            filter_servers=body.filter_servers,
            connection=peer.connection,
            fingerprint=fingerprint,
        ),
        peer.address,
    )
    return _registered(state, request, done)


def enrol(state: State, reg: Registration, peer: str) -> registration.Registering:
    """Apply a registration, whichever way it came, and tell those whom it concerns."""
    done = yield from registration.register(state.tables, state.policy, reg, state.now_ms())
    _log_registration(reg, peer, done)
    for change in done.notifications:
        state.notify(change)
    return done


def _log_registration(reg: Registration, peer: str, done: registration.Registered) -> None:
    if done.accepted and not done.first:
        return  # the tables' own log tells what a repeated one changed
    fields = {
        "cluster": reg.cluster,
        "broker": reg.name,
        "id": reg.broker_id,
        "address": reg.address,
        "topics": len(reg.topics),
        "peer": peer,
    }
    if done.accepted:
        log.info("broker registered", **fields)
    elif done.conflict:
        log.warning("broker refused: another with a newer state has its id", **fields)
    else:
        log.warning("broker refused: its first registration has one topic only", **fields)


def _registered(state: State, request: Command, done: registration.Registered) -> Command:
    """A conflicting broker is not told of its refusal, as with stock name servers."""
    if not done.accepted and not done.conflict:
        return answer(request, ResponseCode.SYSTEM_ERROR, "register broker failed", fields={})
    fields = {}
    if done.ha_address is not None:
        fields["haServerAddr"] = done.ha_address
    if done.master_address is not None:
        fields["masterAddr"] = done.master_address
    order = None
    if state.reads.return_order_config:
        order = state.kv.namespace(ORDER_NAMESPACE)
    body = b"" if order is None else standard_json(KvTable(by_key(order)))
    return ok(request, fields, body)


def _fingerprint(request: Command) -> Hashable:
    """Equal for two registrations with the same fields and body.

    The checksum is the sender's own: when it is the one that was verified last time and the
    length is the same too, reading 2 MB again would teach nothing.
    """
    if not optional_int(request, "bodyCrc32"):
        return None
    fields = frozenset((request.fields or {}).items())
    return hash(fields), len(request.body), request.version


def unregister(state: State, request: Command, peer: Peer) -> Work:
    """UNREGISTER_BROKER."""
    departure = removal.Departure(
        cluster=request.field("clusterName") or "",
        name=request.field("brokerName") or "",
        broker_id=optional_int(request, "brokerId") or 0,
        address=request.field("brokerAddr") or "",
    )
    yield from remove(state, [departure], "unregistered")
    return ok(request)


def remove(
    state: State, departures: list[removal.Departure], reason: str
) -> Generator[None, None, None]:
    """Remove brokers, all for one reason, and tell those that are left."""
    if not departures:
        return
    state.stats.departures[reason] += len(departures)
    for broker in departures:
        log.info(
            "broker removed",
            reason=reason,
            cluster=broker.cluster,
            broker=broker.name,
            id=broker.broker_id,
            address=broker.address,
        )
    changes = yield from removal.remove(state.tables, state.policy, departures, state.now_ms())
    for change in changes:
        state.notify(change)


def heartbeat(state: State, request: Command, peer: Peer) -> Command:
    """BROKER_HEARTBEAT."""
    registration.heartbeat(state.tables, _key(request), state.now_ms())
    return ok(request)


def query_data_version(state: State, request: Command, peer: Peer) -> Command:
    """QUERY_DATA_VERSION: must the broker send its topics again? It counts as a heartbeat."""
    key = _key(request)
    changed = True
    if request.body:
        version = version_from(decode_data_version(request.body))
        changed = registration.version_changed(state.tables, key, version)
    registration.heartbeat(state.tables, key, state.now_ms())
    live = state.tables.live.get(key)
    body = b"" if live is None else standard_json(version_body(live.data_version))
    return ok(request, {"changed": "true" if changed else "false"}, body)


def member_group(state: State, request: Command, peer: Peer) -> Command:
    """GET_BROKER_MEMBER_GROUP; names are echoed as they came. The odd remark is stock."""
    name = request.field("brokerName")
    group = None if name is None else state.tables.groups.get(name)
    members = BrokerMemberGroup(
        broker_addrs={} if group is None else by_key(group.addresses),
        broker_name=present(name),
        cluster=present(request.field("clusterName")),
    )
    body = legacy_json(BrokerMemberGroupBody(members))
    return answer(request, ResponseCode.SUCCESS, "not set any response code", body=body)


def _key(request: Command) -> BrokerKey:
    return BrokerKey(required(request, "clusterName"), required(request, "brokerAddr"))
