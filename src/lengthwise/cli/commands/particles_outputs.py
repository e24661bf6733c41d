"""What `lengthwise particles` shows while it works, and the files it writes: places are checked before the work."""

from __future__ import annotations

import argparse
import contextlib
import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lengthwise.cli.commands.line_progress import line_shown
from lengthwise.cli.options import check_place
from lengthwise.cli.output import narrate
from lengthwise.errors import UsageError
from lengthwise.outputs import replace_output
from lengthwise.reports.particles.film import check_film_tools, write_gif, write_video
from lengthwise.reports.particles.page import write_page
from lengthwise.reports.particles.simulation import Simulation

ENDINGS = {"page": (".html",), "gif": (".gif",), "video": (".mp4",), "out": (".npz", ".csv")}


def check_outputs(options: argparse.Namespace) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    for option, endings in ENDINGS.items():
        check_place(getattr(options, option), f"--{option}", endings)
    if options.gif is not None or options.video is not None:
        check_film_tools(options.gif is not None, options.video is not None)


def write_outputs(options: argparse.Namespace, simulation: Simulation) -> dict[str, str]:
    """Write the files that were asked for; their names by option."""
    writers = {"page": _write_page, "gif": _write_gif, "video": _write_video, "out": write_data}
    written = {}
    for option, write in writers.items():
        name = getattr(options, option)
        if name is not None:
            narrate(f"writing {name} …", options.quiet)
            try:
                write(simulation, Path(name))
            except OSError as error:
                raise UsageError(f"cannot write {name}: {error.strerror or error}") from error
            written[option] = name
    return written


def _write_page(simulation: Simulation, path: Path) -> None:
    write_page(simulation, path)


def _write_gif(simulation: Simulation, path: Path) -> None:
    write_gif(simulation, path)


def _write_video(simulation: Simulation, path: Path) -> None:
    write_video(simulation, path)


def write_data(simulation: Simulation, path: Path) -> None:
    """The points by time: .npz with `times`, `points` [K, n, d] and `groups`, or .csv with one row per token and
    time."""
    measures = simulation.measures
    with replace_output(path) as part:
        if path.suffix.lower() == ".npz":
            with part.open("wb") as file:
                np.savez_compressed(file, times=measures.times, points=simulation.points, groups=measures.groups)
            return
        with part.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["time", "token", "group", *(f"x{axis + 1}" for axis in range(simulation.points.shape[2]))])
            for moment, time in enumerate(measures.times.tolist()):
                for token, place in enumerate(simulation.points[moment].tolist()):
                    table.writerow([time, token, int(measures.groups[moment, token]), *place])


@contextlib.contextmanager
def progress_shown(doing: str, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A function that shows on a terminal how far the work is; None where nobody looks."""
    with line_shown(quiet) as show:
        yield None if show is None else lambda done, step, steps: show(f"{doing}: {done} ({step} of {steps})")
