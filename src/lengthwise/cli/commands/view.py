"""What `lengthwise view` does."""

from __future__ import annotations

import argparse
import importlib.util
import webbrowser
from pathlib import Path

from lengthwise.cli.output import narrate, write_object
from lengthwise.errors import UsageError
from lengthwise.progress import shown
from lengthwise.studies.store import HOME
from lengthwise.view.bundle import write_bundle
from lengthwise.view.watch import FolderWatch


def run(options: argparse.Namespace) -> int:
    watch = FolderWatch(Path(options.folder or HOME))
    if options.bundle is not None:
        if options.port is not None or options.open:
            raise UsageError("--bundle writes files and starts no server; leave --port and --open out")
        with shown(quiet=options.quiet, title="bundle") as progress:
            path = write_bundle(watch, Path(options.bundle), progress)
        _tell(options, {"page": str(path)}, str(path))
        return 0
    _check_installed()
    from lengthwise.view.app import PageServer  # starlette and uvicorn, which a bundle does not need

    server = PageServer(watch, options.port or 0)
    _tell(options, {"url": server.url}, server.url)
    narrate("The page is for this machine alone. Press Ctrl-C to stop.", options.quiet)
    if options.open:
        webbrowser.open(server.url)
    try:
        server.run()
    except KeyboardInterrupt:
        narrate("stopped", options.quiet)
    return 0


def _tell(options: argparse.Namespace, content: dict[str, str], text: str) -> None:
    if options.json:
        write_object("view", dict(content))
    else:
        print(text, flush=True)


def _check_installed() -> None:
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"the page needs {' and '.join(missing)}: pip install 'lengthwise[view]'")
