from cornershop.basket import Basket
from cornershop.checkout import quote
from cornershop.discounts import Voucher


def test_small_order_pays_for_delivery(basket: Basket) -> None:
    basket.add("TEA", 2)
    assert quote(basket).total == 13_00 + 2_90


def test_large_order_is_delivered_free(basket: Basket) -> None:
    basket.add("POT", 2)
    priced = quote(basket)
    assert (priced.goods, priced.delivery) == (64_00, 0)


def test_small_voucher_keeps_delivery_free(basket: Basket) -> None:
    basket.add("POT", 2)
    assert quote(basket, Voucher(amount=5_00)).total == 59_00


def test_voucher_for_everything_costs_nothing(basket: Basket) -> None:
    basket.add("CUP", 2)
    assert quote(basket, Voucher(amount=20_00)).total == 0


def test_voucher_can_bring_delivery_back(basket: Basket) -> None:
    basket.add("POT")
    basket.add("TIN", 2)
    priced = quote(basket, Voucher(percent=20))
    assert (priced.goods, priced.voucher) == (52_00, 10_40)
    assert (priced.delivery, priced.total) == (4_90, 46_50)


def test_fixed_voucher_can_bring_delivery_back(basket: Basket) -> None:
    basket.add("POT", 2)
    basket.add("TEA")
    priced = quote(basket, Voucher(amount=25_00))
    assert (priced.delivery, priced.total) == (4_90, 50_40)
