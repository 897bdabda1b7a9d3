import pytest

from cornershop import money


@pytest.mark.parametrize(
    ("amount", "rate", "expected"), [(1000, 10, 100), (999, 5, 50), (10, 5, 1), (9, 5, 0), (0, 50, 0)]
)
def test_percent_rounds_half_up(amount: int, rate: int, expected: int) -> None:
    assert money.percent(amount, rate) == expected


@pytest.mark.parametrize(("amount", "text"), [(0, "0.00"), (5, "0.05"), (123450, "1,234.50"), (-250, "-2.50")])
def test_show(amount: int, text: str) -> None:
    assert money.show(amount) == text


@pytest.mark.parametrize(("text", "amount"), [("12", 1200), ("12.5", 1250), (" 1,234.50 ", 123450)])
def test_parse(text: str, amount: int) -> None:
    assert money.parse(text) == amount


@pytest.mark.parametrize("text", ["", "-1", "1.234", "1.x", "a"])
def test_parse_refuses(text: str) -> None:
    with pytest.raises(ValueError):
        money.parse(text)
