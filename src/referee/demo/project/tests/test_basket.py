import pytest

from cornershop.basket import Basket
from cornershop.catalogue import Article, Catalogue, UnknownArticle


def test_same_article_is_one_line(basket: Basket) -> None:
    basket.add("TEA")
    basket.add("tea", 2)
    assert [(line.article.code, line.quantity) for line in basket] == [("TEA", 3)]


def test_remove_some_and_all(basket: Basket) -> None:
    basket.add("CUP", 3)
    basket.remove("CUP")
    assert [line.quantity for line in basket] == [2]
    basket.remove("CUP", 2)
    assert list(basket) == []


def test_remove_too_many(basket: Basket) -> None:
    basket.add("CUP")
    with pytest.raises(ValueError):
        basket.remove("CUP", 2)


def test_weight(basket: Basket) -> None:
    basket.add("TEA", 2)
    basket.add("POT")
    assert basket.weight == 1140


def test_unknown_article(basket: Basket) -> None:
    with pytest.raises(UnknownArticle):
        basket.add("HAT")


def test_catalogue_is_sorted_by_name(catalogue: Catalogue) -> None:
    assert [a.code for a in catalogue] == ["TIN", "CUP", "TEA", "POT"]
    assert len(catalogue) == 4


def test_catalogue_refuses_duplicates(catalogue: Catalogue) -> None:
    with pytest.raises(ValueError):
        catalogue.add(Article("tea", "Black tea", 5_00, 100))
