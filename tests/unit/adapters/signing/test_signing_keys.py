"""Whose signature it is: a local key that only its owner can read, and SSH keys that a file lists."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from referee.adapters.signing import Keyring
from referee.domain.errors import UsageError, WorldFault
from referee.domain.question import Answer, Asking, Demand, Question

NEEDS_SSH = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def question(summary: str = "send it", demand: Demand | None = None) -> Question:
    return Question(
        id="q-1", run_id="r", kind=Asking.SIGNATURE, summary=summary, shown="s", action="a", action_digest="d",
        demand=demand or Demand(), asked_at="2026-01-01T00:00:00+00:00", expires_at="2026-01-02T00:00:00+00:00",
    ).sealed()  # fmt: skip


def key(folder: Path, name: str) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
    subprocess.run(command, check=True)
    return folder / name


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ann's and Bob's keys, who are allowed, and Eve's, who is not."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ann", "bob", "eve"):
        key(folder, name)
    lines = [f"{n}@example.invalid {(folder / f'{n}.pub').read_text()}" for n in ("ann", "bob")]
    (folder / "allowed_signers").write_text("".join(lines))
    (folder / "allowed_signers").chmod(0o644)
    return folder


def test_the_local_key_is_private_and_signs_only_what_it_signed(tmp_path: Path) -> None:
    ring = Keyring(str(tmp_path / "new" / "folder"))
    signed = ring.sign(question(), 0.0)
    assert ring.objection(question(), signed) == ""
    made = tmp_path / "new" / "folder" / "signing.key"
    assert made.stat().st_mode & 0o777 == 0o600 and len(list(made.parent.iterdir())) == 1
    other = Answer(**{**signed.model_dump(), "digest": question("send more").digest})
    for forged in (
        other,
        signed.model_copy(update={"text": "no"}),
        signed.model_copy(update={"signature": "é"}),
        signed.model_copy(update={"by": "somebody"}),
    ):
        assert ring.objection(question(), forged) != ""
    elsewhere = Keyring(str(tmp_path / "elsewhere"))
    assert "no local key" in elsewhere.objection(question(), signed)


def test_a_local_key_that_others_could_read_is_refused(tmp_path: Path) -> None:
    ring = Keyring(str(tmp_path))
    ring.sign(question(), 0.0)
    (tmp_path / "signing.key").chmod(0o644)
    with pytest.raises(WorldFault, match="chmod 600"):
        ring.sign(question(), 0.0)
    (tmp_path / "signing.key").chmod(0o600)
    (tmp_path / "signing.key").write_bytes(b"short")
    with pytest.raises(WorldFault, match="damaged"):
        ring.sign(question(), 0.0)


def test_a_local_key_does_not_do_where_ssh_is_demanded(tmp_path: Path) -> None:
    ring = Keyring(str(tmp_path))
    signed = ring.sign(question(), 0.0)
    for demand in (Demand(ssh=True), Demand(persons=2)):
        with pytest.raises(UsageError, match="--ssh-key FILE"):
            ring.sign(question(demand=demand), 0.0)
        assert "SSH key" in ring.objection(question(demand=demand), signed)


@NEEDS_SSH
def test_an_ssh_key_of_an_allowed_signer_counts_for_exactly_this_question(keys: Path) -> None:
    ring = Keyring(str(keys))
    signed = ring.sign(question(demand=Demand(ssh=True)), 0.0, str(keys / "ann"))
    assert signed.by == "ann@example.invalid"
    assert ring.objection(question(demand=Demand(ssh=True)), signed) == ""
    for change in ({"by": "bob@example.invalid"}, {"by": ""}, {"text": "no"}, {"digest": "0" * 64}, {"signature": ""}):
        assert ring.objection(question(), signed.model_copy(update=change)) != ""


@NEEDS_SSH
def test_a_key_that_is_not_listed_cannot_sign_and_does_not_count(keys: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not among the allowed signers"):
        Keyring(str(keys)).sign(question(), 0.0, str(keys / "eve"))
    lines = (keys / "allowed_signers").read_text() + f"eve {(keys / 'eve.pub').read_text()}"
    theirs = tmp_path / "theirs"
    theirs.write_text(lines)
    theirs.chmod(0o644)
    signed = Keyring(str(keys), str(theirs)).sign(question(), 0.0, str(keys / "eve"))
    assert Keyring(str(keys)).objection(question(), signed) != ""


@NEEDS_SSH
def test_one_key_is_one_person_whatever_names_its_line_matches(keys: Path, tmp_path: Path) -> None:
    signers = tmp_path / "signers"
    signers.write_text(f"*@example.invalid {(keys / 'ann.pub').read_text()}")
    signers.chmod(0o644)
    ring = Keyring(str(keys), str(signers))
    signed = ring.sign(question(), 0.0, str(keys / "ann"))
    assert ring.objection(question(), signed) == ""
    assert ring.objection(question(), signed.model_copy(update={"by": "bob@example.invalid"})) != ""


@NEEDS_SSH
def test_who_may_sign_is_not_for_others_to_write(keys: Path, tmp_path: Path) -> None:
    signers = tmp_path / "signers"
    signers.write_text((keys / "allowed_signers").read_text())
    signers.chmod(0o666)
    with pytest.raises(UsageError, match="changed by others"):
        Keyring(str(keys), str(signers)).sign(question(), 0.0, str(keys / "ann"))
    with pytest.raises(UsageError, match="one line per person"):
        Keyring(str(keys), str(tmp_path / "none")).sign(question(), 0.0, str(keys / "ann"))
    with pytest.raises(UsageError, match="there is no key"):
        Keyring(str(keys)).sign(question(), 0.0, str(tmp_path / "none"))
