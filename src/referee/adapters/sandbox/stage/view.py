"""The file system a command sees: nothing of the host but what is listed, and one bounded place to write to."""

from __future__ import annotations

import os
import stat

from . import held, kernel, places, system
from .request import Bind, Lower, Request

READ_ONLY = kernel.ATTR_RDONLY | kernel.ATTR_NOSUID | kernel.ATTR_NODEV
_PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV
# Writable places, all in one tmpfs, so that one size bounds them together.
_WRITABLE = {"/tmp": ("tmp", 0o1777), "/dev/shm": ("shm", 0o1777), system.HOME: ("home", 0o700)}  # noqa: S108
BASE, STAGE = "/run/referee/base", "/run/referee/stage"  # where a serving process finds them


_PLACE = "/sys"  # hidden by the view while it is put together; nothing shown comes from there


class View:
    """A root put together out of sight of the old one: what never changes first, a request's own part later."""

    def __init__(self) -> None:
        self._sealed: list[int] = []
        self._pins: set[str] = set()
        self._root = -1

    def prepare(self) -> None:
        """Build what every request needs."""
        kernel.mount("tmpfs", _PLACE, _PLAIN, "mode=755,size=1m")
        os.chdir(_PLACE)
        for name in ("root", "scratch", "lower", "pins", "pins/nothing", "overlay"):
            os.mkdir(name)
        kernel.mount("tmpfs", "root", _PLAIN, "mode=755,size=16m")
        system.build("root")
        self._root = self._seal("root")

    def enter(self, request: Request, handed: list[int]) -> None:
        """Add a request's part and make this the only root there is."""
        lower, binds = _trees(request, handed)
        self._scratch(request.bounds.disk)
        if request.lower:
            self._overlay(request.lower, lower, binds, serving=request.kind == "serve")
        for number, (bind, tree) in enumerate(binds):
            folder = _is_folder(tree)
            if bind.layered and folder:
                # A warm process shows it as it is: its jobs each get a layer of their own.
                tree = tree if request.kind == "serve" else _layered(tree, number)
            elif folder and request.kind != "call":  # whose folders are the warm process's, covered already
                tree = _covered(tree, number)
            self._hang(tree, bind.target, folder)
        if request.lower:
            self._protect(request.lower)
        for fd in self._sealed:
            kernel.set_attributes(fd, kernel.ATTR_RDONLY, recursive=False)
            os.close(fd)
        os.chdir("root")
        kernel.pivot_root(".", ".")
        kernel.detach(".")
        os.chdir("/")

    def _scratch(self, size: int) -> None:
        inodes = held.most_inodes(size)
        kernel.mount("tmpfs", "scratch", _PLAIN, f"mode=755,size={size},nr_inodes={inodes}")
        for path, (name, mode) in _WRITABLE.items():
            os.mkdir(f"scratch/{name}")
            os.chmod(f"scratch/{name}", mode)
            self._show(f"scratch/{name}", path, kernel.ATTR_NOSUID | kernel.ATTR_NODEV)

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
        place = places.make(self._root, places.below_root(target), folder)
        kernel.attach(tree, place)
        os.close(place)
        os.close(tree)

    def _pin(self, target: str) -> None:
        """Make the way to a mount point inside a writable place a mount itself: such folders cannot be renamed."""
        for area in _WRITABLE:
            if not places.inside(target, area):
                continue
            first = area + "/" + target[len(area) + 1 :].split("/")[0]
            known = first in self._pins
            self._pins.add(first)
            if known or first == target:  # a mount already: one more over it would hide it
                return
            name = f"pins/{len(self._pins)}"
            os.mkdir(name)
            self._show(name, first, kernel.ATTR_NOSUID | kernel.ATTR_NODEV)
            self._sealed.append(places.find(self._root, places.below_root(first)))

    def _overlay(self, lower: Lower, tree: int, binds: list[tuple[Bind, int]], serving: bool) -> None:
        place = os.open("lower", os.O_PATH | os.O_CLOEXEC)
        kernel.attach(tree, place)
        os.close(place)
        os.mkdir("scratch/upper")
        os.mkdir("scratch/work")
        _mount_points(lower.mount_at, binds)
        options = "lowerdir=lower,upperdir=scratch/upper,workdir=scratch/work,userxattr"
        kernel.mount("overlay", "overlay", _PLAIN, options)
        if os.statvfs("overlay").f_flag & os.ST_RDONLY:
            raise places.Unfit("the kernel mounted the overlay read-only")
        self._show("overlay", lower.mount_at, READ_ONLY if serving else kernel.ATTR_NOSUID | kernel.ATTR_NODEV)
        if serving:
            self._show("lower", BASE, READ_ONLY)

    def _protect(self, lower: Lower) -> None:
        """Show the protected paths from the base itself, read-only, over the overlay."""
        below = os.open("lower", os.O_PATH | os.O_CLOEXEC)
        above = places.find(self._root, places.below_root(lower.mount_at))
        for path in lower.protected:
            source, place = places.find(below, path), places.find(above, path)
            tree = kernel.clone_open(source, READ_ONLY)
            kernel.attach(tree, place)
            for fd in (source, place, tree):
                os.close(fd)
        os.close(below)
        os.close(above)


def _trees(request: Request, handed: list[int]) -> tuple[int, list[tuple[Bind, int]]]:
    """Copies of the mounts to show: of the base, and of each bind."""
    paths = [*([request.lower.path] if request.lower else []), *(b.source for b in request.binds)]
    trees = handed if request.handed else [kernel.clone_tree(p, READ_ONLY) for p in paths]
    lower = trees.pop(0) if request.lower else -1
    return lower, list(zip(request.binds, trees))  # noqa: B905 - Python 3.9 knows no `strict`


def _layered(tree: int, number: int) -> int:
    """The folder `tree` under a layer that is writable at its top, which is ours whoever owns the rest."""
    upper, work = f"scratch/u-{number}", f"scratch/w-{number}"
    os.mkdir(upper)
    os.mkdir(work)
    return _overlaid(tree, number, f"upperdir={upper},workdir={work}", kernel.ATTR_NOSUID | kernel.ATTR_NODEV)


def _covered(tree: int, number: int) -> int:
    """The folder `tree` as it is, but for its sockets: through an overlay nobody can connect to the host's."""
    return _overlaid(tree, number, "", READ_ONLY)


def _overlaid(tree: int, number: int, above: str, attributes: int) -> int:
    lower, over = f"pins/l-{number}", f"pins/o-{number}"
    for name in (lower, over):
        os.mkdir(name)
    place = os.open(lower, os.O_PATH | os.O_CLOEXEC)
    kernel.attach(tree, place)
    os.close(place)
    os.close(tree)
    # Without a layer above, the kernel wants two below.
    options = f"lowerdir={lower},{above}" if above else f"lowerdir={lower}:pins/nothing"
    kernel.mount("overlay", over, _PLAIN, f"{options},userxattr")
    fd = os.open(over, os.O_PATH | os.O_CLOEXEC)
    made = kernel.clone_open(fd, attributes)
    os.close(fd)
    return made


def _mount_points(mount_at: str, binds: list[tuple[Bind, int]]) -> None:
    """Make mount points below the base in the upper layer, which is ours whoever owns the base."""
    upper = os.open("scratch/upper", os.O_PATH | os.O_CLOEXEC)
    for bind, tree in binds:
        if places.inside(bind.target, mount_at):
            inner = bind.target[len(mount_at.rstrip("/")) + 1 :].rstrip("/")
            os.close(places.make(upper, inner, _is_folder(tree)))
    os.close(upper)


def _is_folder(fd: int) -> bool:
    return stat.S_ISDIR(os.fstat(fd).st_mode)
