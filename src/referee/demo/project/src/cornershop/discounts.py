"""Quantity discounts and vouchers."""

from __future__ import annotations

from dataclasses import dataclass

from cornershop import money
from cornershop.basket import Line

# From this quantity on, this many percent off the line.
TIERS = ((10, 5), (50, 12))


@dataclass(frozen=True)
class Voucher:
    """A share in percent, or a fixed amount in cents; only for orders of at least `minimum`."""

    percent: int = 0
    amount: int = 0
    minimum: int = 0


def line_total(line: Line) -> int:
    """What a line costs after its quantity discount."""
    full = line.article.price * line.quantity
    rate = 0
    for quantity, discount in TIERS:
        if line.quantity >= quantity:
            rate = discount
    return full - money.percent(full, rate)


def voucher_value(voucher: Voucher | None, goods: int) -> int:
    """What a voucher takes off `goods`; never more than the goods cost."""
    if voucher is None or goods < voucher.minimum:
        return 0
    value = voucher.amount or money.percent(goods, voucher.percent)
    return min(value, goods)
