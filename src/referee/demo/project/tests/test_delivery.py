import pytest

from cornershop.delivery import charge


@pytest.mark.parametrize(
    ("weight", "price"),
    [(0, 0), (1, 290), (500, 290), (501, 490), (2000, 490), (10000, 790), (10001, 870), (12000, 950)],
)
def test_charge_by_weight(weight: int, price: int) -> None:
    assert charge(weight, 1000) == price


@pytest.mark.parametrize(("value", "price"), [(4999, 490), (5000, 0), (9000, 0)])
def test_free_from_a_value_on(value: int, price: int) -> None:
    assert charge(1500, value) == price
