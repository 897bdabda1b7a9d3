from cornershop.basket import Basket
from cornershop.discounts import Voucher
from cornershop.invoice import WIDTH, render, row


def test_rows_fill_the_paper() -> None:
    assert row("Tea", 650) == "Tea" + " " * 33 + "6.50"
    assert len(row("A very long name of an article that does not fit", 123456)) == WIDTH


def test_quantity_discount_shows_on_the_line(basket: Basket) -> None:
    basket.add("CUP", 10)
    assert render(basket).splitlines()[0] == row("10 x Cup", 38_00)


def test_invoice_of_a_small_order(basket: Basket) -> None:
    basket.add("TEA", 2)
    assert render(basket).splitlines() == [
        row("2 x Green tea", 13_00),
        "-" * WIDTH,
        row("Goods", 13_00),
        row("Delivery", 2_90),
        row("Total", 15_90),
    ]


def test_invoice_with_a_voucher(basket: Basket) -> None:
    basket.add("POT", 2)
    assert render(basket, Voucher(amount=5_00)).splitlines()[2:] == [
        row("Goods", 64_00),
        row("Voucher", -5_00),
        "Free delivery",
        row("Total", 59_00),
    ]
