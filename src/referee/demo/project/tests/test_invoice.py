from cornershop.basket import Basket
from cornershop.checkout import quote
from cornershop.discounts import Voucher
from cornershop.invoice import WIDTH, render, row


def test_rows_fill_the_paper() -> None:
    assert row("Tea", 650) == "Tea" + " " * 33 + "6.50"
    assert len(row("A very long name of an article that does not fit", 123456)) == WIDTH


def test_small_order_pays_for_delivery(basket: Basket) -> None:
    basket.add("TEA", 2)
    assert quote(basket).total == 13_00 + 2_90


def test_large_order_is_delivered_free(basket: Basket) -> None:
    basket.add("POT", 2)
    assert render(basket).splitlines()[-2:] == ["Free delivery", row("Total", 64_00)]


def test_small_voucher_keeps_delivery_free(basket: Basket) -> None:
    basket.add("POT", 2)
    assert quote(basket, Voucher(amount=5_00)).total == 59_00


def test_voucher_for_everything_costs_nothing(basket: Basket) -> None:
    basket.add("CUP", 2)
    assert quote(basket, Voucher(amount=20_00)).total == 0


def test_quantity_discount_shows_on_the_line(basket: Basket) -> None:
    basket.add("CUP", 10)
    assert render(basket).splitlines()[0] == row("10 x Cup", 38_00)


def test_voucher_can_bring_delivery_back(basket: Basket) -> None:
    basket.add("POT")
    basket.add("TIN", 2)
    assert render(basket, Voucher(percent=20)).splitlines()[-4:] == [
        row("Goods", 52_00),
        row("Voucher", -10_40),
        row("Delivery", 4_90),
        row("Total", 46_50),
    ]


def test_fixed_voucher_can_bring_delivery_back(basket: Basket) -> None:
    basket.add("POT", 2)
    basket.add("TEA")
    priced = quote(basket, Voucher(amount=25_00))
    assert (priced.delivery, priced.total) == (4_90, 50_40)
