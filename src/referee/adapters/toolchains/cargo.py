"""Rust: cargo's toolchain without rustup's launcher, and the crates fetched so far."""

from __future__ import annotations

import os
import re
import tomllib
from typing import Any

from referee.adapters.toolchains.place import Place
from referee.ports import Mount, Toolchain

HOME, TARGET = "/tmp/cargo", "/tmp/cargo-target"  # noqa: S108 - as seen inside, private to each command
_FETCHED = ("registry", "git")  # never credentials.toml, which lies beside them
_SECRET = re.compile(rb"(token|password|secret|credential)[\w-]*\s*=", re.I)
_ENV = {
    "CARGO_HOME": HOME, "CARGO_TARGET_DIR": TARGET, "CARGO_NET_OFFLINE": "true", "CARGO_INCREMENTAL": "0",
    "CARGO_TERM_COLOR": "never",
}  # fmt: skip


def find(place: Place, folders: tuple[str, ...]) -> Toolchain:
    """Cargo and rustc; builds go to a folder of the command's own."""
    home = place.under_home("CARGO_HOME", ".cargo")
    mounts = [
        Mount(source=f"{home}/{name}", target=f"{HOME}/{name}", layered=True)
        for name in _FETCHED
        if os.path.isdir(f"{home}/{name}")
    ]
    notes = []
    config = f"{home}/config.toml"
    if os.path.isfile(config) and mounts:
        with open(config, "rb") as file:
            secret = bool(_SECRET.search(file.read(1 << 20)))
        if secret:
            notes.append(f"{config} holds a secret, so commands do not see it")
        else:
            mounts.append(Mount(source=config, target=f"{HOME}/config.toml"))
    prefix, why = _toolchain(place)
    if why:
        notes.append(why)
    shown = place.installation(prefix) if prefix else ()
    return Toolchain(
        name="cargo",
        mounts=(*shown, *mounts),
        path=(f"{prefix}/bin",) if shown else (),
        env=_ENV,
        note="; ".join(notes),
    )


def _toolchain(place: Place) -> tuple[str, str]:
    """The folder with bin/cargo in it, or why there is none to show."""
    program = place.program("cargo")
    if not program:
        return "", "there is no cargo on your PATH"
    real = os.path.realpath(program)
    prefix = os.path.dirname(os.path.dirname(real))
    if os.path.basename(real) == "cargo" and not os.path.exists(os.path.join(os.path.dirname(program), "rustup")):
        return prefix, ""
    chains = os.path.join(place.under_home("RUSTUP_HOME", ".rustup"), "toolchains")
    wanted = _wanted(place)
    names = sorted(os.listdir(chains)) if os.path.isdir(chains) else []
    for name in names:
        if wanted and (name == wanted or name.startswith(wanted + "-")):
            return os.path.join(chains, name), ""
    if wanted:
        return "", f"the Rust toolchain {wanted} is not installed; run: rustup toolchain install {wanted}"
    return "", "rustup names no toolchain; run: rustup default stable"


def _wanted(place: Place) -> str:
    """The toolchain the repository asks for, else the user's default."""
    for name in ("rust-toolchain.toml", "rust-toolchain"):
        if name in place.tracked:
            text = _text(os.path.join(place.root, name))
            named = _toml(text).get("toolchain", {})
            channel = named.get("channel") if isinstance(named, dict) else None
            return str(channel or text.strip().partition("\n")[0])
    settings = os.path.join(place.under_home("RUSTUP_HOME", ".rustup"), "settings.toml")
    chosen = place.environ.get("RUSTUP_TOOLCHAIN") or _toml(_text(settings)).get("default_toolchain", "")
    return str(chosen)


def _text(path: str) -> str:
    if os.path.islink(path) or not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(1 << 16)


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}  # the old form of rust-toolchain is a bare name
