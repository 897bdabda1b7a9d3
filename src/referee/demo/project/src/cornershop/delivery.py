"""What delivery costs."""

from __future__ import annotations

FREE_FROM = 50_00

# Up to this many grams, this many cents.
BANDS = ((500, 2_90), (2_000, 4_90), (10_000, 7_90))
PER_EXTRA_KILO = 80


def charge(weight: int, value: int) -> int:
    """Delivery for a parcel of `weight` grams, free if the customer pays enough for what is in it."""
    if weight == 0 or value >= FREE_FROM:
        return 0
    for limit, price in BANDS:
        if weight <= limit:
            return price
    heaviest, price = BANDS[-1]
    extra_kilos = -(-(weight - heaviest) // 1_000)
    return price + extra_kilos * PER_EXTRA_KILO
