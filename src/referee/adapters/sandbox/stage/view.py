"""The file system a command sees: nothing of the host but what is listed, and one bounded place to write to."""

from __future__ import annotations

import os
import stat

from . import kernel, places, system
from .request import Bind, Lower, Request

_READ_ONLY = kernel.ATTR_RDONLY | kernel.ATTR_NOSUID | kernel.ATTR_NODEV
_PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV
_BLOCK, _LEAST_INODES, _MOST_INODES = 4096, 16_384, 1_000_000
# Writable places, all in one tmpfs, so that one size bounds them together.
_WRITABLE = {"/tmp": ("tmp", 0o1777), "/dev/shm": ("shm", 0o1777), system.HOME: ("home", 0o700)}  # noqa: S108
BASE, STAGE = "/run/referee/base", "/run/referee/stage"  # where a serving process finds them


class Sources:
    """Detached copies of every host path a view needs, taken while those paths can be reached."""

    def __init__(self, request: Request) -> None:
        self.system = system.clones()
        self.binds = [(b, kernel.clone_tree(b.source, _READ_ONLY)) for b in _needed(request)]
        self.lower = kernel.clone_tree(request.lower.path, _READ_ONLY) if request.lower else -1


def _needed(request: Request) -> list[Bind]:
    """The binds that show something new, outer ones first."""
    shown = [b for b in request.binds if not (b.source == b.target and places.inside(b.target, "/usr"))]
    if request.kind == "serve":
        shown.append(Bind(request.stage, STAGE))
    return sorted(shown, key=lambda b: b.target.count("/"))


class View:
    """A root being put together under /tmp of the old one, which this namespace alone sees."""

    def __init__(self, request: Request, sources: Sources) -> None:
        self._request, self._sources = request, sources
        self._sealed: list[int] = []
        self._pins: set[str] = set()

    def enter(self) -> None:
        """Build the root and make it the only one there is."""
        self._ground()
        system.build("root", self._sources.system, os.getuid(), os.getgid())
        self._root = self._seal("root")
        for path, (name, mode) in _WRITABLE.items():
            os.mkdir(f"scratch/{name}")
            os.chmod(f"scratch/{name}", mode)
            self._show(f"scratch/{name}", path, kernel.ATTR_NOSUID | kernel.ATTR_NODEV)
        if self._request.lower:
            self._overlay(self._request.lower)
        for bind, tree in self._sources.binds:
            self._hang(tree, bind.target, _is_folder(tree))
        if self._request.lower:
            self._protect(self._request.lower)
        for fd in self._sealed:
            kernel.set_attributes(fd, kernel.ATTR_RDONLY, recursive=False)
            os.close(fd)
        os.chdir("root")
        kernel.pivot_root(".", ".")
        kernel.detach(".")
        os.chdir("/")

    def _ground(self) -> None:
        size = self._request.bounds.disk
        inodes = min(max(size // _BLOCK, _LEAST_INODES), _MOST_INODES)
        kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        kernel.mount("tmpfs", "/tmp", "tmpfs", _PLAIN, "mode=755,size=1m")  # noqa: S108
        os.chdir("/tmp")  # noqa: S108
        for name in ("root", "scratch", "lower", "pins", "overlay"):
            os.mkdir(name)
        kernel.mount("tmpfs", "root", "tmpfs", _PLAIN, "mode=755,size=16m")
        kernel.mount("tmpfs", "scratch", "tmpfs", _PLAIN, f"mode=755,size={size},nr_inodes={inodes}")

    def _seal(self, path: str) -> int:
        """Open the mount at `path`; it becomes read-only when the view is complete."""
        fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._sealed.append(fd)
        return fd

    def _show(self, path: str, target: str, attributes: int) -> None:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        self._hang(kernel.clone_open(fd, attributes), target, folder=True)
        os.close(fd)

    def _hang(self, tree: int, target: str, folder: bool) -> None:
        self._pin(target)
        place = places.make(self._root, target, folder)
        kernel.attach(tree, place)
        os.close(place)
        os.close(tree)

    def _pin(self, target: str) -> None:
        """Make the way to a mount point inside a writable place a mount itself: such folders cannot be renamed."""
        for area in _WRITABLE:
            if not places.inside(target, area):
                continue
            first = area + "/" + target[len(area) + 1 :].split("/")[0]
            if first == target or first in self._pins:
                return
            self._pins.add(first)
            name = f"pins/{len(self._pins)}"
            os.mkdir(name)
            self._show(name, first, kernel.ATTR_NOSUID | kernel.ATTR_NODEV)
            self._sealed.append(places.find(self._root, first))

    def _overlay(self, lower: Lower) -> None:
        place = os.open("lower", os.O_PATH | os.O_CLOEXEC)
        kernel.attach(self._sources.lower, place)
        os.close(place)
        os.mkdir("scratch/upper")
        os.mkdir("scratch/work")
        self._mount_points(lower)
        options = "lowerdir=lower,upperdir=scratch/upper,workdir=scratch/work,userxattr"
        kernel.mount("overlay", "overlay", "overlay", _PLAIN, options)
        if os.statvfs("overlay").f_flag & os.ST_RDONLY:
            raise places.Unfit("the kernel mounted the overlay read-only")
        serving = self._request.kind == "serve"
        self._show("overlay", lower.mount_at, _READ_ONLY if serving else kernel.ATTR_NOSUID | kernel.ATTR_NODEV)
        if serving:
            self._show("lower", BASE, _READ_ONLY)

    def _mount_points(self, lower: Lower) -> None:
        """Make mount points below the base in the upper layer, which is ours whoever owns the base."""
        upper = os.open("scratch/upper", os.O_PATH | os.O_CLOEXEC)
        for bind, tree in self._sources.binds:
            if places.inside(bind.target, lower.mount_at):
                inner = bind.target[len(lower.mount_at.rstrip("/")) + 1 :]
                os.close(places.make(upper, inner, _is_folder(tree)))
        os.close(upper)

    def _protect(self, lower: Lower) -> None:
        """Show the protected paths from the base itself, read-only, over the overlay."""
        below = os.open("lower", os.O_PATH | os.O_CLOEXEC)
        above = places.find(self._root, lower.mount_at)
        for path in lower.protected:
            source, place = places.find(below, path), places.find(above, path)
            tree = kernel.clone_open(source, _READ_ONLY)
            kernel.attach(tree, place)
            for fd in (source, place, tree):
                os.close(fd)
        os.close(below)
        os.close(above)


def _is_folder(fd: int) -> bool:
    return stat.S_ISDIR(os.fstat(fd).st_mode)
