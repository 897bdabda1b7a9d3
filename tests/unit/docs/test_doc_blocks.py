"""Every block of code in the documents can be what it says it is: commands parse, settings load, Python compiles."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from pages import DOCUMENTS, Block, blocks, without_blocks
from typer.main import get_command

from referee.cli.app import app
from referee.config import load
from referee.config.keys import KEYS

BLOCKS = tuple(blocks())
COMMAND = re.compile(r"(?:^|&& |exec )(?:\$ )?(?:\S*/)?(?:\./dev )?referee(?= )(.*)$", re.MULTILINE)
SHELL_ENDS = ("|", "&&", ";", ">", "<", "&")
AT_ONCE = {"--version", "--install-completion", "--show-completion"}  # done while they are read
SETTINGS = {name.partition(".")[0] for name in KEYS} | {"tool"}


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each call of referee in a piece of shell."""
    for found in COMMAND.finditer(text.replace("\\\n", " ")):
        line = re.split(r"\s{2,}(?:#|\()", found[1])[0]
        words = shlex.split(line, comments=True)
        ends = [n for n, word in enumerate(words) if word in SHELL_ENDS or word[0] in "|>;"]
        words = [w for w in (words[: ends[0]] if ends else words) if w not in AT_ONCE]
        if words:
            yield words


@cache
def program() -> Any:
    """The commands as a tree; made once, for that takes a while."""
    return get_command(app)


def parse(words: list[str]) -> None:
    """Read the arguments as the program would, without doing anything. Raises what the program would say."""
    command: Any = program()
    context = command.make_context("referee", list(words))
    while hasattr(command, "commands"):
        _, command, words = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(command.name, list(words), parent=context)


def kind(block: Block) -> str:
    """The language, guessed from the text where the block does not say."""
    if block.language:
        return block.language
    first = block.text.lstrip()[:1]
    return {"{": "json", "[": "toml"}.get(first, "python" if block.text.startswith(("def ", "from ")) else "sh")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: b.place)
def test_a_block_is_what_it_says(block: Block, tmp_path: Path) -> None:
    language = kind(block)
    if language == "json":
        json.loads(block.text)
    elif language == "toml":
        settings(block.text, tmp_path)
    elif language == "yaml":
        assert yaml.safe_load(block.text)
    elif language == "python":
        python(block.text)
    else:
        assert language in ("sh", "console", "text", "diff"), "say which language this is"
        for words in commands(block.text):
            if words[:1] != ["ARGS"]:
                parse(words)


def settings(text: str, folder: Path) -> None:
    """Settings of ours must load; a file of another program's must only be one."""
    if tomllib.loads(text).keys() <= SETTINGS:
        (folder / "own.toml").write_text(text)
        load(str(folder), variables={}, user_file=str(folder / "own.toml"))


def python(text: str) -> None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "referee":
            module = importlib.import_module(str(node.module))
            assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if d != "CHANGELOG.md"])
def test_commands_named_in_prose_exist(document: str) -> None:
    known = program().commands
    for words in re.findall(r"`referee ([^`]+)`", without_blocks(document)):
        for name in re.split(r"[ |\\]", words.strip())[0].split(","):
            assert name in known or not name.islower() or name.startswith("-"), f"`referee {words}`"


def test_the_blocks_are_found() -> None:
    """A control: were none found, every test above would pass."""
    called = [words for block in BLOCKS if kind(block) in ("sh", "console") for words in commands(block.text)]
    assert len(BLOCKS) > 60 and len(called) > 95
    assert {"fix", "check", "docs", "bench"} <= {words[0] for words in called}
    with pytest.raises(Exception, match="No such option"):
        parse(["fix", "--max-stepz", "3"])
    with pytest.raises(Exception, match="No such command"):
        parse(["fxi"])
