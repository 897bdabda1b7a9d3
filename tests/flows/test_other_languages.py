"""Node, cargo and go projects build and test inside, offline and without any setting."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import small

from referee import api
from referee.config import load
from referee.ports import Execution


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(bool(small.lacking(program)), reason=small.lacking(program))


def inside(repo: Path, *argv: str) -> Execution:
    return api.sandbox(argv, str(repo), load(str(repo), variables={}, user_file=""))


@needs("npm")
def test_node_finds_packages_and_tools_may_keep_caches_beside_them(tmp_path: Path) -> None:
    files = {
        ".gitignore": "node_modules/\n",
        "web/package.json": '{"name": "web", "scripts": {"test": "tool && node --test"}}',
        "web/a.test.js": "require('node:test')('a', () => { if (require('dep') !== 7) throw Error('no') })\n",
    }
    repo = small.build(tmp_path / "repo", files)
    modules = repo / "web/node_modules"
    for name in ("dep", ".bin"):
        (modules / name).mkdir(parents=True)
    (modules / "dep/index.js").write_text("module.exports = 7\n")
    (modules / ".bin/tool").write_text("#!/bin/sh\nmkdir node_modules/.cache && echo kept > node_modules/.cache/x\n")
    (modules / ".bin/tool").chmod(0o755)
    ended = inside(repo, "sh", "-c", "cd web && npm test")
    assert ended.exit_code == 0, ended.stdout + ended.stderr
    assert not (modules / ".cache").exists()


@needs("cargo")
def test_cargo_builds_with_crates_fetched_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = '[package]\nname = "{}"\nversion = "0.1.0"\nedition = "2021"\n'
    crate = small.build(
        tmp_path / "crate", {"Cargo.toml": manifest.format("seven"), "src/lib.rs": "pub fn seven() -> i32 { 7 }\n"}
    )
    files = {
        ".gitignore": "target/\n",
        "Cargo.toml": manifest.format("app") + f'[dependencies]\nseven = {{ git = "file://{crate}" }}\n',
        "src/lib.rs": "#[test]\nfn t() { assert_eq!(seven::seven(), 7) }\n",
    }
    repo = small.build(tmp_path / "repo", files)
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))
    environ = {**os.environ, "CARGO_TARGET_DIR": str(tmp_path / "target")}
    subprocess.run(["cargo", "fetch", "-q"], cwd=repo, env=environ, check=True)
    (tmp_path / "cargo/credentials.toml").write_text("[registry]\ntoken = 'hunter2'\n")
    shutil.rmtree(crate)
    ended = inside(repo, "cargo", "test", "--lib")
    assert ended.exit_code == 0, ended.stderr
    assert b"1 passed" in ended.stdout
    assert not (repo / "target").exists()
    assert inside(repo, "sh", "-c", "ls -R /tmp/cargo | grep -c credentials").stdout == b"0\n"


@needs("go")
def test_go_builds_with_modules_fetched_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, module = tmp_path / "proxy/example.org/seven/@v", "module example.org/seven\n\ngo 1.18\n"
    proxy.mkdir(parents=True)
    (proxy / "list").write_text("v1.0.0\n")
    (proxy / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
    (proxy / "v1.0.0.mod").write_text(module)
    with zipfile.ZipFile(proxy / "v1.0.0.zip", "w") as archive:
        archive.writestr("example.org/seven@v1.0.0/go.mod", module)
        archive.writestr("example.org/seven@v1.0.0/seven.go", "package seven\n\nfunc Seven() int { return 7 }\n")
    files = {
        "svc/go.mod": "module svc\n\ngo 1.18\n\nrequire example.org/seven v1.0.0\n",
        "svc/a_test.go": 'package svc\n\nimport (\n\t"testing"\n\n\t"example.org/seven"\n)\n\n'
        "func TestSeven(t *testing.T) {\n\tif seven.Seven() != 7 {\n\t\tt.Fail()\n\t}\n}\n",
    }
    repo = small.build(tmp_path / "repo", files)
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    own = {"GOPROXY": f"file://{tmp_path}/proxy", "GONOSUMDB": "*", "GOFLAGS": "-modcacherw -mod=mod"}
    subprocess.run(["go", "mod", "download", "all"], cwd=repo / "svc", env={**os.environ, **own}, check=True)
    ended = inside(repo, "sh", "-c", "cd svc && go test -vet=off ./...")
    assert ended.exit_code == 0, ended.stdout + ended.stderr
