"""Sessions in memory: handshakes, data, names, and peers that misbehave."""

import ssl

import pytest
from cryptography import x509
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signpost_namesrv.tls import ClientAuth, TlsError, TlsFiles, TlsSession, load_context
from signpost_namesrv.tls.session import HANDSHAKE_LIMIT

from .conftest import DAY, Authority, Client, Issued, Pki


def server_context(pki: Pki, client_auth: ClientAuth = ClientAuth.NONE) -> ssl.SSLContext:
    files = TlsFiles(pki.cert, pki.key, "", pki.trust, client_auth)
    return load_context(files).context


def connect(
    pki: Pki, auth: ClientAuth = ClientAuth.NONE, who: Issued | None = None
) -> tuple[TlsSession, Client]:
    session, client = TlsSession(server_context(pki, auth)), Client(pki.client_context(who))
    client.shake_hands(session)
    return session, client


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("size", [1, 100, 16_384, 16_385, 1 << 20])
def test_data_passes_both_ways(pki: Pki, version: ssl.TLSVersion, size: int) -> None:
    context = pki.client_context()
    context.minimum_version = context.maximum_version = version
    session, client = TlsSession(server_context(pki)), Client(context)
    client.shake_hands(session)
    data = bytes(i % 251 for i in range(size))
    encrypted = client.encrypt(data)
    assert size < 100 or data[:100] not in encrypted
    assert session.feed(encrypted) == data
    assert client.decrypt(session.encrypt(data)) == data
    assert session.outgoing() == b""


def test_bytes_may_come_one_by_one(pki: Pki) -> None:
    session, client = TlsSession(server_context(pki)), Client(pki.client_context())
    while flight := client.handshake_step():
        for byte in flight:
            assert session.feed(bytes([byte])) == b""
            client.incoming.write(session.outgoing())
    assert session.handshake_done
    plain = b"".join(session.feed(bytes([byte])) for byte in client.encrypt(b"hello"))
    assert plain == b"hello"


def test_data_right_behind_the_handshake_is_not_lost(pki: Pki) -> None:
    session, client = TlsSession(server_context(pki)), Client(pki.client_context())
    session.feed(client.handshake_step())
    client.incoming.write(session.outgoing())
    data = b"x" * (HANDSHAKE_LIMIT * 2)
    assert session.feed(client.handshake_step() + client.encrypt(data)) == data
    assert client.decrypt(session.encrypt(b"pong")) == b"pong"


def test_never_more_plaintext_than_bytes_came_in(pki: Pki) -> None:
    session, client = connect(pki)
    encrypted = client.encrypt(bytes(300_000))
    pieces = [session.feed(encrypted[i : i + 50_000]) for i in range(0, len(encrypted), 50_000)]
    assert b"".join(pieces) == bytes(300_000)
    assert max(map(len, pieces)) <= 50_000 + 16_384 + 256


@pytest.mark.parametrize("auth", [ClientAuth.OPTIONAL, ClientAuth.REQUIRE])
def test_a_verified_client_has_names(pki: Pki, auth: ClientAuth) -> None:
    session, client = connect(pki, auth, pki.client)
    assert session.peer_names == (
        "broker-a",
        "broker-a.mq.svc",
        "spiffe://cluster.local/ns/mq/sa/broker",
    )
    assert session.feed(client.encrypt(b"hi")) == b"hi"


def test_a_certificate_that_is_not_asked_for_gives_no_names(pki: Pki) -> None:
    session, _ = connect(pki, ClientAuth.NONE, pki.client)
    assert session.peer_names == ()


def test_optional_means_that_none_is_fine(pki: Pki) -> None:
    session, _ = connect(pki, ClientAuth.OPTIONAL, None)
    assert session.peer_names == ()


@pytest.mark.parametrize("auth", [ClientAuth.OPTIONAL, ClientAuth.REQUIRE])
def test_a_client_of_another_authority_is_refused(pki: Pki, auth: ClientAuth) -> None:
    stranger = Authority("Other CA").issue("broker-a")
    with pytest.raises(TlsError, match="client certificate: unable to get local issuer"):
        connect(pki, auth, stranger)


def test_an_expired_client_is_refused(pki: Pki) -> None:
    late = pki.authority.issue("broker-a", not_before=-2 * DAY, not_after=-DAY)
    with pytest.raises(TlsError, match="client certificate: certificate has expired"):
        connect(pki, ClientAuth.REQUIRE, late)


def test_no_certificate_where_one_is_required(pki: Pki) -> None:
    session = TlsSession(server_context(pki, ClientAuth.REQUIRE))
    client = Client(pki.client_context())
    with pytest.raises(TlsError, match="peer did not return a certificate"):
        client.shake_hands(session)
    assert not session.handshake_done
    client.incoming.write(session.outgoing())
    with pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"):
        client.ssl.read(1)


def test_one_certificate_can_be_trusted_by_itself(pki: Pki) -> None:
    pki.trust.write_bytes(pki.client.pem)
    session, _ = connect(pki, ClientAuth.REQUIRE, pki.client)
    assert session.peer_names[0] == "broker-a"
    other = pki.authority.issue("broker-b", [x509.DNSName("broker-b")])
    with pytest.raises(TlsError, match="client certificate"):
        connect(pki, ClientAuth.REQUIRE, other)


def test_a_client_that_does_not_trust_the_server_is_reported(pki: Pki) -> None:
    stranger = ssl.create_default_context(cadata=Authority("Other CA").pem.decode())
    session, client = TlsSession(server_context(pki)), Client(stranger)
    session.feed(client.handshake_step())
    client.incoming.write(session.outgoing())
    with pytest.raises(ssl.SSLCertVerificationError):
        client.ssl.do_handshake()
    with pytest.raises(TlsError, match="alert unknown ca"):
        session.feed(client.outgoing.read())


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_old_versions_are_refused(pki: Pki) -> None:
    context = pki.client_context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    session = TlsSession(server_context(pki))
    with pytest.raises(TlsError, match="unsupported protocol"):
        session.feed(Client(context).handshake_step())
    assert session.outgoing(), "an alert tells the client why"


@pytest.mark.parametrize(
    "first",
    [
        b"\x16\x03\x01garbage that is no record at all",
        b"\x16\x03\x01\x00\x05hello",
        b"\x16\x03\x01\xff\xff" + bytes(0xFFFF),
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_garbage_instead_of_a_hello(pki: Pki, first: bytes) -> None:
    session = TlsSession(server_context(pki))
    with pytest.raises(TlsError) as e:
        session.feed(first)
    assert 0 < len(str(e.value)) < 100
    with pytest.raises(TlsError):
        session.feed(b"more")
    with pytest.raises(TlsError):
        session.encrypt(b"more")
    assert session.outgoing() or session.close() == b""


def test_garbage_after_the_hello(pki: Pki) -> None:
    session, client = TlsSession(server_context(pki)), Client(pki.client_context())
    session.feed(client.handshake_step())
    with pytest.raises(TlsError):
        session.feed(b"\x00\x01garbage")


def test_garbage_after_the_handshake(pki: Pki) -> None:
    session, client = connect(pki)
    record = bytearray(client.encrypt(b"hello"))
    record[-1] ^= 1
    with pytest.raises(TlsError, match="bad record mac"):
        session.feed(bytes(record))
    assert session.outgoing(), "the peer is told"


def test_garbage_behind_good_data_fails_the_session(pki: Pki) -> None:
    session, client = connect(pki)
    with pytest.raises(TlsError):
        session.feed(client.encrypt(b"hello") + b"\x00garbage")


def test_an_endless_handshake_is_cut_off(pki: Pki) -> None:
    session = TlsSession(server_context(pki))
    # A hello that claims to be as long as OpenSSL would wait for, in records of one byte.
    hello = b"\x01\x01\xff\xff" + bytes(HANDSHAKE_LIMIT)
    records = b"".join(b"\x16\x03\x01\x00\x01" + bytes([byte]) for byte in hello)
    assert session.feed(records[: HANDSHAKE_LIMIT - 6]) == b""
    with pytest.raises(TlsError, match="no handshake within"):
        session.feed(records[HANDSHAKE_LIMIT - 6 : HANDSHAKE_LIMIT + 6])


def test_hanging_up_during_the_handshake(pki: Pki) -> None:
    session, client = TlsSession(server_context(pki)), Client(pki.client_context())
    hello = client.handshake_step()
    session.feed(hello[: len(hello) // 2])
    with pytest.raises(TlsError, match="hung up during the handshake"):
        session.feed_eof()


def test_hanging_up_without_goodbye_is_the_end_and_no_error(pki: Pki) -> None:
    session, _ = connect(pki)
    session.feed_eof()
    assert session.eof


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_peer_that_half_closes_can_still_be_answered(pki: Pki, version: ssl.TLSVersion) -> None:
    context = pki.client_context()
    context.minimum_version = context.maximum_version = version
    session, client = TlsSession(server_context(pki)), Client(context)
    client.shake_hands(session)
    last = client.encrypt(b"last words")
    with pytest.raises(ssl.SSLWantReadError):
        client.ssl.unwrap()
    assert session.feed(last + client.outgoing.read()) == b"last words"
    assert session.eof
    assert session.feed(b"anything after that") == b""
    assert session.encrypt(b"answer") != b""
    assert session.close() != b""


def test_close_says_goodbye_once(pki: Pki) -> None:
    session, client = connect(pki)
    client.incoming.write(session.close())
    assert client.ssl.read(1) == b"", "the client sees an orderly end"
    assert session.close() == b""
    with pytest.raises(TlsError, match="closed"):
        session.encrypt(b"x")


def test_nothing_is_encrypted_before_the_handshake(pki: Pki) -> None:
    session = TlsSession(server_context(pki))
    with pytest.raises(TlsError, match="handshake is not done"):
        session.encrypt(b"secret")
    assert session.close() == b""


def test_no_tickets_are_handed_out(pki: Pki) -> None:
    session, client = connect(pki)
    assert client.decrypt(session.encrypt(b"x")) == b"x"
    assert client.ssl.session
    assert not client.ssl.session.has_ticket


# Where in a flight, how much of it goes, and what comes in its place. Fractions, since the
# flights of a real handshake vary in length from run to run.
EDITS = st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1), st.binary(max_size=40))


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(EDITS, min_size=1, max_size=5))
def test_whatever_is_cut_or_inserted_ends_in_the_data_or_a_tls_error(
    pki: Pki, edits: list[tuple[float, float, bytes] | None]
) -> None:
    session, client = TlsSession(server_context(pki)), Client(pki.client_context())
    for edit in edits:
        try:
            flight = client.handshake_step() or client.encrypt(b"frame")
        except ssl.SSLError:
            return  # the client gave up
        if edit:
            at = int(edit[0] * len(flight))
            flight = flight[:at] + edit[2] + flight[at + int(edit[1] * (len(flight) - at)) :]
        try:
            assert session.feed(flight) in {b"", b"frame"}
        except TlsError:
            return
        client.incoming.write(session.outgoing())
