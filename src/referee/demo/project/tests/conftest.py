import pytest

from cornershop.basket import Basket
from cornershop.catalogue import Article, Catalogue


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue(
        [
            Article("TEA", "Green tea", 6_50, 120),
            Article("POT", "Teapot", 32_00, 900),
            Article("CUP", "Cup", 4_00, 250),
            Article("TIN", "Biscuit tin", 10_00, 400),
        ]
    )


@pytest.fixture
def basket(catalogue: Catalogue) -> Basket:
    return Basket(catalogue)
