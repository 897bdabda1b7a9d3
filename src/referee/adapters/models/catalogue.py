"""From the name of a model, as the user gives it, to the model."""

from __future__ import annotations

from referee.adapters.models.provider import Endpoint, ProviderModel
from referee.adapters.models.recorded import RecordedModel, RecordingModel
from referee.adapters.models.scripted import ScriptedModel
from referee.ports import Model


def open_model(name: str, endpoint: Endpoint | None = None, record: str | None = None) -> Model:
    """`scripted:FILE`, `recorded:FILE`, or `PROVIDER:NAME` at `endpoint`; with `record`, replies go into that file.

    Opens no connection. Raises `UsageError` if a file or the name is wrong.
    """
    kind, _, rest = name.partition(":")
    model: Model
    if kind == "scripted":
        model = ScriptedModel(rest)
    elif kind == "recorded":
        model = RecordedModel(rest)
    else:
        model = ProviderModel(name, endpoint)
    return RecordingModel(model, record) if record else model
