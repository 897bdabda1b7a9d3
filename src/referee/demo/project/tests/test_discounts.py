import pytest

from cornershop.basket import Line
from cornershop.catalogue import Catalogue
from cornershop.discounts import Voucher, line_total, voucher_value


@pytest.mark.parametrize(
    ("quantity", "expected"), [(1, 400), (9, 3600), (10, 3800), (49, 18620), (50, 17600), (60, 21120)]
)
def test_quantity_discount(catalogue: Catalogue, quantity: int, expected: int) -> None:
    assert line_total(Line(catalogue.find("CUP"), quantity)) == expected


@pytest.mark.parametrize(
    ("voucher", "goods", "expected"),
    [
        (None, 1000, 0),
        (Voucher(percent=20), 1000, 200),
        (Voucher(amount=300), 1000, 300),
        (Voucher(amount=300), 200, 200),
        (Voucher(percent=20, minimum=1000), 1000, 200),
        (Voucher(percent=20, minimum=1000), 999, 0),
    ],
)
def test_voucher_value(voucher: Voucher | None, goods: int, expected: int) -> None:
    assert voucher_value(voucher, goods) == expected
