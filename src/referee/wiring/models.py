"""From the name of a model to the model."""

from __future__ import annotations

from pydantic import SecretStr

from referee.adapters.clock import SystemClock
from referee.adapters.models.paced import PacedModel
from referee.adapters.models.recorded import RecordedModel
from referee.adapters.models.scripted import ScriptedModel
from referee.config import DATABASE, Config, secret
from referee.domain.errors import UsageError
from referee.plugins import Plugin, plugins
from referee.ports import Model

ADVERSARY = "adversary:"  # each of its answers is for the unmodified tree, so that one does not spoil the next


def open_model(name: str, config: Config) -> Model:
    """A model by `provider:name`, `scripted:FILE`, `recorded:FILE` `adversary:FILE` (a simulation), or a plugin's."""
    provider, _, rest = name.partition(":")
    if provider == "scripted":
        return ScriptedModel(rest)
    if provider == "recorded":
        return RecordedModel(rest)
    if name.startswith(ADVERSARY):
        from referee.evals.adversary import AdversaryModel, read_plan  # only experiments play with it

        plan = read_plan(rest)
        return AdversaryModel(plan, open_model(plan.inner, config) if plan.inner else None)
    if provider in (added := plugins("models")):
        return opened(added[provider], name)
    from referee.adapters.models.prices import stated
    from referee.adapters.models.provider import Endpoint, ProviderModel

    models = config.models
    price = stated(",".join(str(p) for p in models.price)) if models.price else None
    key = secret(models.api_key_env) if models.api_key_env else None
    sealed = SecretStr(key) if key else None
    model = ProviderModel(name, Endpoint(base_url=models.base_url or None, api_key=sealed, price=price))
    per_minute = models.pace(provider)
    return model if per_minute is None else _paced(model, provider, per_minute)


def _paced(model: Model, provider: str, per_minute: int) -> Model:
    """The model under a limit. Raises `UsageError` where there is no database in which workers could keep it."""
    address = secret(DATABASE)
    if address is None:
        raise UsageError(f"models.per_minute is kept in a database; set {DATABASE}, or leave the limit out")
    from referee.adapters.engine.pace import Pace  # a driver that few need

    return PacedModel(model, Pace(address, provider, per_minute).reserve, SystemClock())


def opened(plugin: Plugin, name: str) -> Model:
    """The model that a plugin makes of `name`. Raises `UsageError` if what it makes is none."""
    model = plugin.load()(name)
    if not all(hasattr(model, part) for part in ("name", "price", "call")):
        raise UsageError(f"{plugin.package} made no model of {name}: a model has name, price() and call()")
    return model  # type: ignore[no-any-return]
