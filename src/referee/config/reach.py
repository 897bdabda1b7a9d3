"""What sandboxed commands may reach of the network: names, and headers that are added outside."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, field_validator, model_validator

from referee.domain.destination import HTTP, HTTPS, Destination, Injection, NotAName, destination
from referee.domain.value import Value

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _domain(text: str) -> str:
    try:
        found = destination(text)
    except NotAName as wrong:
        raise ValueError(f"{wrong}; name one host as example.org or example.org:8443, without patterns") from None
    return found.host if found.port == HTTPS else found.words


Domain = Annotated[str, AfterValidator(_domain)]


class Inject(Value):
    """A header for one domain; its value is `format` around what the variable `value_env` holds outside.

    The domain must be in `allow_domains` too, or nothing leads there.
    """

    domain: Domain
    header: str
    value_env: str
    format: str = "{}"

    @field_validator("domain")
    @classmethod
    def _secure(cls, text: str) -> str:
        if destination(text).port == HTTP:
            raise ValueError("a header is only added over TLS, never on port 80; name the TLS port")
        return text

    @field_validator("value_env")
    @classmethod
    def _named(cls, text: str) -> str:
        if not _VARIABLE.fullmatch(text):
            raise ValueError("give the name of an environment variable, not the secret itself")
        return text

    @model_validator(mode="after")
    def _usable(self) -> Inject:
        _ = self.injection  # which checks header and format
        return self

    @property
    def injection(self) -> Injection:
        """The same for the proxy."""
        return Injection(header=self.header, variable=self.value_env, form=self.format)


def _one_each(inject: tuple[Inject, ...]) -> tuple[Inject, ...]:
    if len({i.domain for i in inject}) < len(inject):
        raise ValueError("give one header per domain")
    return inject


class Reach(Value):
    """What isolates commands, and the domains that `referee sandbox` and the checks named in `checks` may connect to.

    `backend` is `auto` for the best that this machine has; no domain may be connected to by default.
    """

    backend: Literal["auto", "userns", "bubblewrap", "container", "landlock", "bare"] = "auto"

    allow_domains: tuple[Domain, ...] = ()
    inject: Annotated[tuple[Inject, ...], AfterValidator(_one_each)] = ()
    checks: tuple[str, ...] = ()

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """The domains with what is added for each."""
        added = {i.domain: i.injection for i in self.inject}
        places = ((name, destination(name)) for name in self.allow_domains)
        return tuple(p.model_copy(update={"injection": added.get(name)}) for name, p in places)
