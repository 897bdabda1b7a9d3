"""From a basket to what the customer pays."""

from __future__ import annotations

from dataclasses import dataclass

from cornershop import delivery, discounts
from cornershop.basket import Basket
from cornershop.discounts import Voucher


@dataclass(frozen=True)
class Quote:
    """The parts of a price, all in cents."""

    goods: int
    voucher: int
    delivery: int

    @property
    def total(self) -> int:
        return self.goods - self.voucher + self.delivery


def quote(basket: Basket, voucher: Voucher | None = None) -> Quote:
    """Price a basket: quantity discounts first, then the voucher, then delivery."""
    goods = sum(discounts.line_total(line) for line in basket)
    taken_off = discounts.voucher_value(voucher, goods)
    to_pay = goods - taken_off
    if to_pay == 0:
        return Quote(goods, taken_off, 0)
    return Quote(goods, taken_off, delivery.charge(basket.weight, goods))
