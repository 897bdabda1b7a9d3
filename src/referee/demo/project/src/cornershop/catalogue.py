"""What the shop sells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


class UnknownArticle(LookupError):
    """There is no such article."""


@dataclass(frozen=True)
class Article:
    """One thing on the shelf: price in cents, weight in grams."""

    code: str
    name: str
    price: int
    weight: int


class Catalogue:
    """Articles by code; codes are compared without regard to case."""

    def __init__(self, articles: Iterable[Article] = ()) -> None:
        self._articles: dict[str, Article] = {}
        for article in articles:
            self.add(article)

    def add(self, article: Article) -> None:
        key = article.code.upper()
        if key in self._articles:
            raise ValueError(f"{article.code} is listed twice")
        if article.price <= 0:
            raise ValueError(f"{article.code} has no price")
        self._articles[key] = article

    def find(self, code: str) -> Article:
        try:
            return self._articles[code.upper()]
        except KeyError:
            raise UnknownArticle(code) from None

    def __iter__(self) -> Iterator[Article]:
        return iter(sorted(self._articles.values(), key=lambda article: article.name))

    def __len__(self) -> int:
        return len(self._articles)
