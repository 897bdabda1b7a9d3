"""What is shown of other languages' installations and caches, and what never is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.adapters.toolchains import find
from referee.ports import Toolchain


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A home folder, a folder of programs and a repository."""
    for name in ("home", "bin", "repo"):
        (tmp_path / name).mkdir()
    return tmp_path


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    return path


def found(machine: Path, *paths: str, **more: str) -> Toolchain:
    environ = {"HOME": str(machine / "home"), "PATH": str(machine / "bin"), **more}
    (toolchain,) = find(str(machine / "repo"), paths, environ)
    return toolchain


def targets(toolchain: Toolchain) -> dict[str, str]:
    return {m.target: m.source for m in toolchain.mounts}


def test_a_repository_of_none_of_these_languages_needs_nothing(machine: Path) -> None:
    assert find(str(machine / "repo"), ("a.py", "docs/package.json.md"), {}) == ()


def test_every_packages_node_modules_is_shown_but_no_link_and_nothing_of_the_repositorys_own(machine: Path) -> None:
    repo = machine / "repo"
    for name in ("node_modules", "web/node_modules", "kept/node_modules", "elsewhere"):
        (repo / name).mkdir(parents=True)
    (repo / "linked").mkdir()
    (repo / "linked/node_modules").symlink_to(machine / "home")
    paths = [f"{p}package.json" for p in ("", "web/", "kept/", "linked/")]
    toolchain = found(machine, *paths, "kept/node_modules/own.js")
    assert targets(toolchain) == {f"{repo}/{p}node_modules": f"{repo}/{p}node_modules" for p in ("", "web/")}
    assert all(m.layered for m in toolchain.mounts)
    assert "no node on your PATH" in toolchain.note


def test_a_node_in_the_home_folder_is_shown_with_its_installation_only(machine: Path) -> None:
    real = program(machine / "home/.nvm/v20/bin/node")
    (machine / "bin/node").symlink_to(real)
    toolchain = found(machine, "package.json")
    assert targets(toolchain) == {str(machine / "home/.nvm/v20"): str(machine / "home/.nvm/v20")}
    assert toolchain.path == (str(real.parent),)
    assert toolchain.note == ""


@pytest.mark.parametrize("place", ["home/bin/node", "bin/node"])
def test_no_installation_shows_the_folder_that_the_home_or_the_repository_is_in(machine: Path, place: str) -> None:
    real = program(machine / place)
    if place != "bin/node":
        (machine / "bin/node").symlink_to(real)
    assert targets(found(machine, "package.json")) == {}


def test_a_program_of_the_repositorys_is_not_the_users_choice(machine: Path) -> None:
    real = program(machine / "repo/tools/bin/node")
    (machine / "bin/node").symlink_to(real)
    assert "no node on your PATH" in found(machine, "package.json").note


def test_cargo_is_taken_from_the_toolchain_that_rustup_would_start(machine: Path) -> None:
    launcher = program(machine / "home/.cargo/bin/rustup")
    for path in (machine / "bin/cargo", machine / "bin/rustup"):
        path.symlink_to(launcher)
    chains = machine / "home/.rustup/toolchains"
    for name in ("stable-x86_64-unknown-linux-gnu", "1.70.0-x86_64-unknown-linux-gnu"):
        program(chains / name / "bin/cargo")
    (machine / "home/.rustup/settings.toml").write_text('default_toolchain = "stable-x86_64-unknown-linux-gnu"\n')
    assert found(machine, "Cargo.toml").path == (str(chains / "stable-x86_64-unknown-linux-gnu/bin"),)
    (machine / "repo/rust-toolchain.toml").write_text('[toolchain]\nchannel = "1.70.0"\n')
    pinned = found(machine, "Cargo.toml", "rust-toolchain.toml")
    assert pinned.path == (str(chains / "1.70.0-x86_64-unknown-linux-gnu/bin"),)
    (machine / "repo/rust-toolchain").write_text("nightly\n")
    missing = found(machine, "Cargo.toml", "rust-toolchain")
    assert (missing.path, missing.note) == (
        (),
        "the Rust toolchain nightly is not installed; run: rustup toolchain install nightly",
    )


def test_cargos_crates_are_shown_and_its_credentials_are_not(machine: Path) -> None:
    home = machine / "home/.cargo"
    for name in ("registry", "git"):
        (home / name).mkdir(parents=True)
    (home / "credentials.toml").write_text("[registry]\ntoken = 'hunter2'\n")
    (home / "config.toml").write_text("[build]\njobs = 2\n")
    shown = targets(found(machine, "Cargo.toml"))
    assert set(shown) == {"/tmp/cargo/registry", "/tmp/cargo/git", "/tmp/cargo/config.toml"}
    (home / "config.toml").write_text("[registries.x]\ntoken = 'hunter2'\n")
    secret = found(machine, "Cargo.toml")
    assert "/tmp/cargo/config.toml" not in targets(secret)
    assert "holds a secret" in secret.note


def test_gos_modules_are_shown_where_they_really_are(machine: Path) -> None:
    (machine / "home/go/pkg/mod").mkdir(parents=True)
    assert targets(found(machine, "go.mod"))["/tmp/go-modules"] == f"{machine}/home/go/pkg/mod"
    (machine / "elsewhere").mkdir()
    moved = found(machine, "sub/go.mod", GOMODCACHE=str(machine / "elsewhere"))
    assert targets(moved)["/tmp/go-modules"] == f"{machine}/elsewhere"


def test_roots_compiled_go_packages_are_not_shown_to_somebody_who_cannot_add_to_them(machine: Path) -> None:
    (machine / "home/.cache/go-build").mkdir(parents=True)
    shown = targets(found(machine, "go.mod"))
    assert ("/tmp/go-build" in shown) is (os.geteuid() != 0)
