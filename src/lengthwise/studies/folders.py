"""Where a study is kept: a folder somebody names, or the one of that name below `runs/`."""

from __future__ import annotations

from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.registry import nearest
from lengthwise.studies.store import INDEX, RUNS

HOME = Path("runs")


def study_folder(name: str | Path, home: Path = HOME) -> Path:
    """The folder of a study: `name` itself where it is a study's folder, else `runs/NAME`."""
    if not str(name).strip():
        raise UsageError(f"the name of the study is empty; give a study's folder or its name below {home}/")
    places = (Path(name), home / name)
    for holds in (_has_index, _has_runs):
        for folder in places:
            if holds(folder):
                return folder
    known = study_names(home)
    listed = f"{home}/ holds {', '.join(known)}" if known else f"{home}/ holds none yet"
    raise UsageError(
        f"there is no study {str(name)!r}; {nearest(str(name), known)}{listed}; `lengthwise study --list` names more"
    )


def study_names(home: Path = HOME) -> list[str]:
    """The studies below a folder, by name."""
    try:
        return sorted(folder.name for folder in home.iterdir() if _has_index(folder) or _has_runs(folder))
    except OSError:
        return []


def _has_index(folder: Path) -> bool:
    try:
        return (folder / INDEX).is_file()
    except (OSError, ValueError):  # a name too long, or with a zero byte in it, names no folder
        return False


def _has_runs(folder: Path) -> bool:
    """A study that lost its index can still be found, to have it rebuilt."""
    try:
        return (folder / RUNS).is_dir()
    except (OSError, ValueError):
        return False
