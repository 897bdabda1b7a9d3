"""Invoices as plain text."""

from __future__ import annotations

from cornershop import discounts, money
from cornershop.basket import Basket
from cornershop.checkout import quote
from cornershop.discounts import Voucher

WIDTH = 40


def row(label: str, amount: int) -> str:
    """A label on the left and an amount on the right, cut to the width of the paper."""
    figure = money.show(amount)
    room = WIDTH - len(figure) - 1
    return f"{label[:room]:<{room}} {figure}"


def render(basket: Basket, voucher: Voucher | None = None) -> str:
    """The whole invoice, one row per line of the basket and per part of the price."""
    priced = quote(basket, voucher)
    rows = []
    for line in basket:
        label = f"{line.quantity} x {line.article.name}"
        rows.append(row(label, discounts.line_total(line)))
    rows.append("-" * WIDTH)
    rows.append(row("Goods", priced.goods))
    if priced.voucher:
        rows.append(row("Voucher", -priced.voucher))
    rows.append(row("Delivery", priced.delivery) if priced.delivery else "Free delivery")
    rows.append(row("Total", priced.total))
    return "\n".join(rows) + "\n"
