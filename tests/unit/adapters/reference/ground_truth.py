"""What Python itself says of a package's public functions, beside what was read from its source."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import os
import pkgutil
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from referee.adapters.reference import read
from referee.domain.documented import FUNCTION, Documented, Reference


def differences(package: str, reader: Callable[[str, str], Reference] = read) -> tuple[int, list[str]]:
    """How many public functions were compared, and in what they differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = importlib.import_module(package)
        folder = os.path.dirname(str(root.__file__)) if hasattr(root, "__path__") else str(root.__file__)
        said = {t.name: t for t in reader(folder, os.path.dirname(folder)).things}
        truth = dict(_functions(root))
    found = []
    for name, (function, scope) in truth.items():
        thing = said.get(name)
        if thing is None or thing.kind != FUNCTION:
            found.append(f"{name} is missing")
        else:
            found += [f"{name}: {words}" for words in _compared(thing, function, scope)]
    return len(truth), found


def _functions(root: types.ModuleType) -> Iterator[tuple[str, tuple[types.FunctionType, dict[str, Any]]]]:
    for module in _modules(root):
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
                continue
            if isinstance(value, type) and value.__name__ == name:
                yield from _methods(module, value, f"{module.__name__}.{name}")
            elif (function := _plain(value)) and function.__name__ == name:
                yield f"{module.__name__}.{name}", (function, {})
    for name in getattr(root, "__all__", ()):
        if (function := _plain(getattr(root, name, None))) and function.__module__.split(".")[0] == root.__name__:
            yield f"{root.__name__}.{name}", (function, {})


def _methods(module: types.ModuleType, cls: type, path: str) -> Iterator[tuple[str, tuple[Any, dict[str, Any]]]]:
    for name, value in vars(cls).items():
        if name.startswith("_") and name != "__init__":
            continue
        function = _plain(value)
        written = f"{cls.__qualname__}.{name}"
        if function and function.__module__ == module.__name__ and function.__qualname__ == written:
            yield f"{path}.{name}", (function, dict(vars(cls)))
        elif isinstance(value, type) and value.__qualname__ == written:
            yield from _methods(module, value, f"{path}.{name}")


def _modules(root: types.ModuleType) -> Iterator[types.ModuleType]:
    yield root
    for found in pkgutil.walk_packages(getattr(root, "__path__", []), f"{root.__name__}.", onerror=lambda _: None):
        if any(part.startswith("_") for part in found.name.split(".")):
            continue
        try:
            yield importlib.import_module(found.name)
        except BaseException:
            continue


def _plain(value: Any) -> types.FunctionType | None:
    """The function as it was written, under what decorators made of it; None if there is none in a file."""
    if isinstance(value, staticmethod | classmethod | functools.partialmethod):
        value = value.__func__ if not isinstance(value, functools.partialmethod) else None
    value = inspect.unwrap(value) if callable(value) else value
    if not isinstance(value, types.FunctionType) or not os.path.isfile(value.__code__.co_filename):
        return None
    return value


def _compared(thing: Documented, function: types.FunctionType, scope: dict[str, Any]) -> Iterator[str]:
    mangled = f"_{function.__qualname__.split('.')[-2].lstrip('_')}__" if "." in function.__qualname__ else "\0"
    wanted = [
        ("__" + p.name.removeprefix(mangled) if p.name.startswith(mangled) else p.name, p.kind.description)
        for p in inspect.signature(function).parameters.values()
    ]
    have = [(p.name, p.kind) for p in thing.parameters]
    if wanted != have:
        yield f"parameters are {wanted}, not {have}"
        return
    names = {**function.__globals__, **scope}
    for parameter, truth in zip(thing.parameters, inspect.signature(function).parameters.values(), strict=True):
        if (parameter.default is None) != (truth.default is truth.empty):
            yield f"{parameter.name} has the default {truth.default!r}, not {parameter.default}"
        elif parameter.default is not None and not _same(parameter.default, truth.default, names):
            yield f"{parameter.name} = {truth.default!r}, not {parameter.default}"
    pairs = [(p.name, p.annotation) for p in thing.parameters] + [("return", thing.returns)]
    for name, written in pairs:
        annotations = {n.replace(mangled, "__"): a for n, a in function.__annotations__.items()}
        truth = annotations.get(name)
        if (written is None) != (name not in annotations):
            yield f"{name} is annotated {truth!r}, not {written}"
        elif written is not None and not _meant(written, truth, names):
            yield f"{name}: {truth!r}, not {written}"


def _same(written: str, value: Any, names: dict[str, Any]) -> bool:
    try:
        made = eval(written, names)
    except Exception:
        return True
    if made is value or repr(made) == repr(value):
        return True
    # A default made anew, such as `object()`, is told apart by where it lies alone.
    return type(made) is type(value) and " at 0x" in repr(value)


def _meant(written: str, value: Any, names: dict[str, Any]) -> bool:
    if not isinstance(value, str):
        return _same(written, value, names)
    tree = ast.parse(f"({written})", mode="eval").body
    quoted = isinstance(tree, ast.Constant) and tree.value == value
    return quoted or ast.dump(tree) == ast.dump(ast.parse(f"({value})", mode="eval").body)
