"""What a customer wants to buy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cornershop.catalogue import Article, Catalogue


@dataclass(frozen=True)
class Line:
    """A number of the same article."""

    article: Article
    quantity: int


class Basket:
    """Lines in the order in which their articles were first added."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._quantities: dict[str, int] = {}

    def add(self, code: str, quantity: int = 1) -> None:
        if quantity < 1:
            raise ValueError("add at least one")
        key = self._catalogue.find(code).code
        self._quantities[key] = self._quantities.get(key, 0) + quantity

    def remove(self, code: str, quantity: int = 1) -> None:
        key = self._catalogue.find(code).code
        left = self._quantities.get(key, 0) - quantity
        if left < 0:
            raise ValueError(f"there are not {quantity} of {key} in the basket")
        if left:
            self._quantities[key] = left
        else:
            del self._quantities[key]

    def __iter__(self) -> Iterator[Line]:
        for key, quantity in self._quantities.items():
            yield Line(self._catalogue.find(key), quantity)

    @property
    def weight(self) -> int:
        """Grams of everything together."""
        return sum(line.article.weight * line.quantity for line in self)
