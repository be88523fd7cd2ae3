"""Kubernetes' amounts, as far as Spark wants them in its own way. Pure."""

import math
from decimal import Decimal

_UNITS = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{unit: Decimal(1000) ** power for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", 1)},
}
MIB = 1024**2


def amount(text: str) -> Decimal:
    """The number that an amount stands for, such as 1073741824 for 1Gi."""
    number = text.rstrip("kKMGTPEim")
    unit = text[len(number) :]
    return Decimal(number) * _UNITS[unit]


def mib(text: str) -> int:
    """An amount of memory in whole MiB."""
    return int(amount(text) / MIB)


def cores(text: str) -> int:
    """An amount of processor time in whole cores, one at least."""
    return max(1, math.ceil(amount(text)))
