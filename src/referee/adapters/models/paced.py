"""A model that is not called more often than it may be."""

from __future__ import annotations

from collections.abc import Callable

from referee.domain.errors import WorldFault
from referee.ports import Clock, Model, ModelReply, ModelRequest, Price


class PacedModel:
    """`model`, each of whose calls first waits as many seconds as `reserve` says."""

    def __init__(self, model: Model, reserve: Callable[[], float], clock: Clock) -> None:
        self._model, self._reserve, self._clock = model, reserve, clock

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    def price(self) -> Price | None:
        """The price of the model."""
        return self._model.price()

    def call(self, request: ModelRequest) -> ModelReply:
        """Ask when it is this call's turn. Raises `WorldFault` if that is later than the request can wait."""
        wait = self._reserve()
        left = request.timeout_seconds - wait
        if left <= 0:
            raise WorldFault(
                f"{self.name} may be called in {wait:.0f} s only, for others come first (models.per_minute); "
                f"that is longer than this call may take"
            )
        if wait > 0:
            self._clock.sleep(wait)
        return self._model.call(request.model_copy(update={"timeout_seconds": left}))
