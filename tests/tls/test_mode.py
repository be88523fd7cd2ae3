"""The first byte decides, as in the stock server."""

import pytest

from signpost_namesrv.tls import TlsMode, Verdict, judge

HELLO, FRAME = 0x16, 0x00
DISABLED, PERMISSIVE, ENFORCING = TlsMode.DISABLED, TlsMode.PERMISSIVE, TlsMode.ENFORCING


@pytest.mark.parametrize(
    ("mode", "first", "has_certificate", "verdict"),
    [
        (DISABLED, FRAME, False, Verdict.PLAIN),
        (DISABLED, HELLO, False, Verdict.REFUSE_DISABLED),
        (PERMISSIVE, FRAME, True, Verdict.PLAIN),
        (PERMISSIVE, HELLO, True, Verdict.TLS),
        (PERMISSIVE, FRAME, False, Verdict.PLAIN),
        (PERMISSIVE, HELLO, False, Verdict.REFUSE_NO_CERTIFICATE),
        (ENFORCING, FRAME, True, Verdict.REFUSE_PLAIN),
        (ENFORCING, HELLO, True, Verdict.TLS),
    ],
)
def test_the_first_byte_decides(
    mode: TlsMode, first: int, has_certificate: bool, verdict: Verdict
) -> None:
    assert judge(mode, first, has_certificate) is verdict
    assert verdict.refused == verdict.name.startswith("REFUSE")
