"""Amounts are whole cents, so that nothing is lost in rounding."""

from __future__ import annotations


def percent(amount: int, rate: int) -> int:
    """`rate` percent of `amount`, rounded half up."""
    return (amount * rate + 50) // 100


def show(amount: int) -> str:
    """An amount the way a till prints it: 1,234.50."""
    sign = "-" if amount < 0 else ""
    units, cents = divmod(abs(amount), 100)
    return f"{sign}{units:,}.{cents:02d}"


def parse(text: str) -> int:
    """The amount a person typed: "12", "12.5", "1,234.50". Raises ValueError otherwise."""
    units, _, cents = text.strip().replace(",", "").partition(".")
    if not units.isdigit() or len(cents) > 2 or (cents and not cents.isdigit()):
        raise ValueError(f"not an amount: {text!r}")
    return int(units) * 100 + int(cents.ljust(2, "0") or 0)
