"""What to type so that a backend becomes usable on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from referee.adapters.sandbox.stage import kernel

SYSCTLS = (
    "kernel.apparmor_restrict_unprivileged_userns", "kernel.unprivileged_userns_clone", "user.max_user_namespaces",
)  # fmt: skip
_INSTALLERS = {
    "apt-get": "sudo apt-get install", "dnf": "sudo dnf install", "zypper": "sudo zypper install",
    "pacman": "sudo pacman -S", "apk": "sudo apk add",
}  # fmt: skip
_PROFILE = "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict"


def sysctls() -> dict[str, str]:
    """The settings that decide who may make user namespaces; those that this kernel has."""
    found = {}
    for name in SYSCTLS:
        path = "/proc/sys/" + name.replace(".", "/")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found[name] = file.read().strip()
    return found


def installing(package: str) -> str:
    """The command that installs `package` here."""
    known = next((command for program, command in _INSTALLERS.items() if shutil.which(program)), "")
    return f"{known} {package}" if known else f"install the package {package}"


def advice(backend: str, settings: Mapping[str, str]) -> str:
    """The command, or in words the change, that would make `backend` work under these `settings`."""
    if backend == "userns":
        return _namespaces(settings)
    if backend == "bubblewrap":
        return _bubblewrap(settings)
    if backend == "container":
        return _container()
    if backend == "landlock":
        if kernel.landlock_version():
            return "install Python where every user may read it, not in root's home, or run referee as an ordinary user"
        return "Linux 5.13 or newer, with landlock first in its list of security modules (kernel parameter lsm=)"
    return ""


def _namespaces(settings: Mapping[str, str]) -> str:
    wanted = {SYSCTLS[0]: ("1", "0"), SYSCTLS[1]: ("0", "1"), SYSCTLS[2]: ("0", "15000")}
    commands = [f"sudo sysctl -w {n}={good}" for n, (bad, good) in wanted.items() if settings.get(n) == bad]
    if commands:
        return " && ".join(commands) + " (until the next boot; a file in /etc/sysctl.d keeps it)"
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return (
            "start this container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, "
            "or run referee outside of it"
        )
    return "let this user make user namespaces and mount in them: a security module of this machine forbids it"


def _bubblewrap(settings: Mapping[str, str]) -> str:
    commands = [] if shutil.which("bwrap") else [installing("bubblewrap")]
    if settings.get(SYSCTLS[0]) == "1":
        if not os.path.exists(_PROFILE):
            commands.append(installing("apparmor-profiles"))
        commands += [f"sudo ln -s {_PROFILE} /etc/apparmor.d/", "sudo systemctl reload apparmor"]
    return " && ".join(commands) or _namespaces(settings)


def _container() -> str:
    installed = [program for program in ("podman", "docker") if shutil.which(program)]
    if not installed:
        return installing("podman")
    if installed == ["docker"]:
        return "sudo systemctl start docker, and sudo usermod -aG docker $USER for an ordinary user, or " + installing(
            "podman"
        )
    return "podman run --rm must work for this user; it says why it does not"
