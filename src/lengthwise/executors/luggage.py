"""The files of a folder as data that travels to a node without a shared file system, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from lengthwise.errors import UsageError
from lengthwise.files import check_inside, replace_file


def files_in(folder: Path) -> dict[str, bytes]:
    """The files below a folder by their names in it, but hidden ones, in the order in which they were last changed. No
    files where there is no folder."""
    found = [(path.stat().st_mtime_ns, path) for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    names = ((path.relative_to(folder), path) for _, path in sorted(found))
    return {name.as_posix(): path.read_bytes() for name, path in names if not any(p[0] == "." for p in name.parts)}


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder hold these files, written one by one in their order, each whole, and none but hidden ones besides:
    what was changed last is there last, so a file that says that all is there does not come before the others."""
    for name in files:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or any(part[0] == "." or "\\" in part for part in parts):
            raise UsageError(f"a job left a file with the name {name!r}, which does not lie in its folder")
    for name, content in files.items():
        place = folder / name
        check_inside(place.parent, folder).mkdir(parents=True, exist_ok=True)
        with replace_file(place) as part:
            part.write_bytes(content)
    for name in files_in(folder).keys() - files.keys():
        (folder / name).unlink()
