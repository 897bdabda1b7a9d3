"""B6: every way we know to change a protected path from inside, each shown to work where nothing protects it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sandbox_boxes import ROOT, Box, patched, shown

from referee.domain.errors import WorldFault

FILES = {"src/mod.py": "x = 1\n", "tests/test_mod.py": "ORIGINAL\n"}
T = "tests/test_mod.py"
UNTOUCHED = b"ORIGINAL\ntest_mod.py\n"

# Attacks that need nothing but write permission; the control runs the very same script.
PLAIN = {
    "write": f"echo pwn > {T}",
    "chmod and write": f"chmod 666 {T}; echo pwn > {T}",
    "append": f"echo pwn >> {T}",
    "truncate": f": > {T}",
    "unlink": f"rm -f {T}",
    "create sibling": "echo pwn > tests/conftest.py",
    "rename file": f"mv {T} tests/other.py",
    "rename over file": f"echo pwn > new; mv -f new {T}",
    "rename folder": "mv tests elsewhere; mkdir tests; echo pwn > tests/test_mod.py",
    "rename over folder": "mkdir evil; echo pwn > evil/test_mod.py; rm -rf tests; mv -T evil tests",
    "symlink swap": "mkdir evil; echo pwn > evil/test_mod.py; rm -rf tests; ln -sfn evil tests",
    "remove everything": 'rm -rf "$PWD"/* ',
    "rename parent": 'd=$PWD; mv "$d" "$d-moved" && mkdir -p "$d/tests" && echo pwn > "$d/tests/test_mod.py"',
    "hard link and write": f"ln {T} link && echo pwn > link",
    "open for writing by descriptor": f"exec 9<{T}; echo pwn > /proc/self/fd/9",
    "through the root of another process": f'echo pwn > "/proc/$$/root$PWD/{T}"',
    "through the working folder of another process": f"echo pwn > /proc/$$/cwd/{T}",
}

# Attacks with privileged calls; the control runs them in a mount namespace of its own, as its root.
_CONTROL = "mount --bind tests tests && mount -o remount,ro,bind tests && cd . &&"
PRIVILEGED = {
    "umount": f"umount tests; umount -l tests; echo pwn > {T}",
    "remount writable": f"mount -o remount,rw,bind tests; echo pwn > {T}",
    "bind over": "mkdir evil; echo pwn > evil/test_mod.py; mount --bind evil tests",
    "tmpfs over": "mount -t tmpfs none tests",
    "enter the namespace of init": f"nsenter -t 1 -m sh -c 'echo pwn > {ROOT}/{T}'; umount -l tests; echo pwn > {T}",
    "become root": f"su -c 'umount -l tests' < /dev/null || umount -l tests; echo pwn > {T}",
    "make a device": f"mknod disk b 254 0 && umount -l tests && echo pwn > {T}",
}


def aftermath(box: Box, attack: str) -> bytes:
    """What the protected path looks like after `attack`, from where it always was."""
    base = box.base(FILES, protected=("tests",))
    ended = box.sh(
        f'here=$PWD; ({attack}) >/dev/null 2>&1; cd /; cat "$here/{T}"; ls "$here/tests"', base=base, cwd=ROOT
    )
    assert Path(base.path, T).read_text() == "ORIGINAL\n"
    return ended.stdout


@pytest.mark.parametrize("attack", PLAIN.values(), ids=PLAIN)
def test_plain_attack(box: Box, attack: str) -> None:
    assert aftermath(box, attack) == UNTOUCHED


@pytest.mark.parametrize("attack", PLAIN.values(), ids=PLAIN)
def test_plain_attack_works_unprotected(bare: Box, attack: str) -> None:
    assert aftermath(bare, attack) != UNTOUCHED


@pytest.mark.parametrize("attack", PRIVILEGED.values(), ids=PRIVILEGED)
def test_privileged_attack(box: Box, attack: str) -> None:
    assert aftermath(box, attack) == UNTOUCHED


@pytest.mark.parametrize("attack", PRIVILEGED.values(), ids=PRIVILEGED)
def test_privileged_attack_works_with_privileges(bare: Box, attack: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("the control mounts as root, in a mount namespace of its own")
    inside = attack.replace(f"{ROOT}/", "").replace("nsenter -t 1 -m ", "").replace("'", "'\\''")
    looked = f"cat {T}; ls tests"
    script = f"unshare -m sh -c '{_CONTROL} ({inside}) >/dev/null 2>&1; {looked}'"
    ended = bare.sh(script, base=bare.base(FILES), cwd=ROOT)
    assert ended.stdout != UNTOUCHED


def test_a_single_protected_file_and_its_folders(box: Box) -> None:
    """A file can be protected alone; then the folders above it cannot be moved away from under it."""
    base = box.base({"a/b/keep.py": "ORIGINAL\n", "a/b/free.py": "x\n"}, protected=("a/b/keep.py",))
    attack = (
        "echo y > a/b/free.py; echo pwn > a/b/keep.py; rm -rf a/b/keep.py; mv a/b/keep.py k; mv a/b a/c; mv a z;"
        "mkdir -p a/b; echo pwn > a/b/keep.py; cat a/b/keep.py"
    )
    ended = box.sh(f"({attack}) 2>/dev/null", base=base, cwd=ROOT)
    assert ended.stdout == b"ORIGINAL\n"
    assert box.sh("echo y > a/b/free.py && cat a/b/free.py", base=base, cwd=ROOT).stdout == b"y\n"


def test_folders_on_the_way_to_a_base_below_tmp_cannot_be_renamed(box: Box) -> None:
    if box.name.startswith("bubblewrap"):
        pytest.skip("bubblewrap cannot pin such folders; its base is protected, the folders above it are not")
    base = box.base(FILES, protected=("tests",), mount_at="/tmp/one/two/project")
    attack = "mv /tmp/one /tmp/evil; mv /tmp/one/two /tmp/one/evil; mkdir -p /tmp/one/two/project/tests"
    ended = box.sh(
        f"({attack}) 2>/dev/null; cat /tmp/one/two/project/{T}; ls /tmp", base=base, cwd="/tmp/one/two/project"
    )
    assert ended.stdout == b"ORIGINAL\none\n"


@pytest.mark.parametrize("swap", ("leaf", "folder", "absent"))
def test_a_protected_path_that_is_not_real_stops_the_start(box: Box, swap: str) -> None:
    """A symlinked `tests` would make a read-only bind land on its target; one that is absent could be created later."""
    base = box.base({"real/tests/test_mod.py": "x"}, protected=("a/tests",))
    assert Path(base.path).is_dir()
    if swap == "leaf":
        Path(base.path, "a").mkdir()
        Path(base.path, "a/tests").symlink_to("../real/tests")
    elif swap == "folder":
        Path(base.path, "a").symlink_to("real")
    with pytest.raises(WorldFault, match=r"a/tests"):
        box.run("true", base=base)
    fine = box.base({"a/tests/test_mod.py": "x"}, protected=("a/tests",))
    assert box.run("true", base=fine).exit_code == 0


def test_a_protected_special_file_stops_the_start(box: Box) -> None:
    base = box.base({"a": ""}, protected=("pipe",))
    os.mkfifo(Path(base.path, "pipe"))
    with pytest.raises(WorldFault, match="pipe"):
        box.run("true", base=base)


def test_a_patch_does_not_reach_protected_paths(box: Box) -> None:
    base = box.base(FILES, protected=("tests",))
    for path in (T, "tests/new.py"):
        with pytest.raises(WorldFault, match="tests/"):
            box.run("true", base=base, patch=patched({path: "pwn"}), cwd=ROOT)


def test_a_patch_follows_no_link(box: Box, bare: Box, tmp_path: Path) -> None:
    """Case D9: through a linked folder it is refused; a linked file, dangling or not, is replaced and not followed."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o777)
    for each in (box, bare):
        base = each.base(FILES)
        Path(base.path, "folder").symlink_to(outside)
        Path(base.path, "dangling").symlink_to(outside / "target")
        with pytest.raises(WorldFault, match="folder/new"):
            each.run("true", base=base, patch=patched({"folder/new": "pwn"}), cwd=ROOT)
        script = "cat dangling; test -L dangling || echo real"
        ended = each.sh(script, base=base, patch=patched({"dangling": "x\n"}), cwd=ROOT)
        assert ended.stdout == b"x\nreal\n"
    assert list(outside.iterdir()) == []


def test_no_user_namespace_can_be_made(box: Box, bare: Box) -> None:
    """Inside one, a process would be free to mount again, and most kernel flaws start there."""
    assert bare.sh("unshare -Ur true && echo made").stdout == b"made\n"
    assert box.sh("unshare -Ur true && echo made; unshare -m true && echo made").stdout == b""


@pytest.mark.parametrize("path", ("../evil", "/etc/evil", "a/../../evil", "a//b", "./a", ""))
def test_a_patch_with_a_climbing_path_is_refused(box: Box, bare: Box, path: str) -> None:
    for each in (box, bare):
        with pytest.raises(WorldFault, match="not a plain path"):
            each.run("true", base=each.base(FILES), patch=patched({path: "pwn"}), cwd=ROOT)


def test_hooks_and_configuration_written_inside_stay_inside(box: Box) -> None:
    """Cases D1, D2: what a later git on the host would run never reaches the host."""
    base = box.base({"vendor/lib/.git/config": "[core]\n", "vendor/lib/.git/hooks/sample": ""})
    script = (
        "cd vendor/lib/.git && echo 'touch /tmp/pwn' > hooks/post-checkout && chmod +x hooks/post-checkout &&"
        "echo '[core] fsmonitor = touch /tmp/pwn' >> config && echo done"
    )
    assert box.sh(script, base=base, cwd=ROOT).stdout == b"done\n"
    assert sorted(os.listdir(f"{base.path}/vendor/lib/.git/hooks")) == ["sample"]
    assert Path(base.path, "vendor/lib/.git/config").read_text() == "[core]\n"


def test_mounts_cannot_be_written(box: Box) -> None:
    where = box.write_all(f"deps-{len(box.made)}", {"lib.py": "ORIGINAL\n"})
    attack = (
        "echo pwn > /opt/deps/lib.py; rm -rf /opt/deps/*; mount -o remount,rw /opt/deps; echo pwn > /opt/deps/lib.py"
    )
    ended = box.sh(f"({attack}) 2>/dev/null; cat /opt/deps/lib.py", mounts=(shown(where, "/opt/deps"),))
    assert ended.stdout == b"ORIGINAL\n"
    assert Path(where, "lib.py").read_text() == "ORIGINAL\n"
