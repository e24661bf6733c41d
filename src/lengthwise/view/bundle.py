"""The page as static files that work from the file system: the document, its scripts and styles, and the data as
scripts, one with all rows and one per run with its records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import check_inside, write_text, writing
from lengthwise.outputs import check_output, write_output
from lengthwise.progress import Progress, silent
from lengthwise.view.opened import fragment, open_run
from lengthwise.view.page import VEGA, Vega, page_files, page_html
from lengthwise.view.watch import FolderWatch

INDEX, DATA, SNAPSHOT = "index.html", "data", "snapshot.js"


def write_bundle(watch: FolderWatch, folder: Path, progress: Progress = silent) -> Path:
    """Write everything that a watch sees to a folder, which is new, empty or a bundle already; the page is written
    last."""
    _check_folder(folder)
    vega = Vega()
    watch.look_at_all()
    rows = watch.ledger.rows()
    runs = [row["id"] for row in rows if row["kind"] == "run"]
    with writing(folder):
        check_inside(folder / DATA, folder).mkdir(parents=True, exist_ok=True)
        for name, (_, text) in page_files().items():
            write_text(folder / name, text)
        for number, run in enumerate(runs, start=1):
            _write_run(watch, folder, run)
            progress("writing runs", number, len(runs))
        snapshot = {"cursor": "", "reset": True, "more": False, "rows": rows, "gone": [], "unread": 0}
        known = f"{{snapshot: {_literal(snapshot)}, runs: {{}}}}"
        write_text(folder / DATA / SNAPSHOT, f'"use strict";\nwindow.lengthwiseBundle = {known};\n')
        write_text(folder / VEGA, vega.text().decode())
        _remove_others(folder, {SNAPSHOT, *(_run_file(run) for run in runs)})
        write_output(folder / INDEX, page_html(watch.folder.absolute().name, bundled=True))
    return folder / INDEX


def _write_run(watch: FolderWatch, folder: Path, run: int) -> None:
    opened = open_run(*watch.place_of(run))
    content = {"run": opened.plain(), "records": {slug: fragment(opened, slug) for slug in opened.slugs}}
    write_text(folder / DATA / _run_file(run), f"window.lengthwiseBundle.runs[{run}] = {_literal(content)};\n")


def _run_file(run: int) -> str:
    return f"run-{run}.js"


def _literal(content: Any) -> str:
    """JSON, which is JavaScript too."""
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


def _check_folder(folder: Path) -> None:
    """Refuse a folder with files of somebody else."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; give another name")
    if not folder.exists():
        return
    if (folder / INDEX).exists():
        check_output(folder / INDEX)
    elif others := sorted(path.name for path in folder.iterdir()):
        raise UsageError(f"{folder} holds other files ({others[0]} is one); give a new or empty folder")


def _remove_others(folder: Path, names: set[str]) -> None:
    """Remove the data of runs that an earlier bundle had and this one has not."""
    for path in (folder / DATA).glob("run-*.js"):
        if path.name not in names:
            path.unlink()
