"""What the page lists of a run and of a study: plain data, from which whatever is unknown is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from lengthwise.analyses.words import cut
from lengthwise.messages import explain, sentence
from lengthwise.studies.record import RunRecord

# Next to the states of a run in a study: begun and left, or impossible to read.
ViewState = Literal["waiting", "running", "done", "failed", "stopped", "damaged"]
LONGEST = 300  # letters of a sentence in a row

explain(
    {
        "view.stopped": "No process is working on it; run its command again to resume.",
        "view.quiet": ("No activity for two minutes; if no process is working on it, run its command again to resume."),
    }
)


def run_row(run: RunRecord, study: str = "", path: str = "") -> dict[str, Any]:
    """A run as a row; `study` is the name of the study's row, `path` the folder, below the one that is shown."""
    summary = {} if run.summary is None else vars(run.summary)
    names = ("task", "variant", "seed", "train_size", "test_size", "state", "seconds")
    return compact(
        {
            "kind": "run",
            "study": study,
            "path": path,
            **{name: getattr(run, name) for name in names},
            "design": run.settings.get("model") or run.position,
            "reason": cut(run.reason, LONGEST),
            "records": list(run.asked) if run.state == "done" else [],
            **{name: summary.get(name) for name in ("reach", "censored", "in_range", "twice", "thrice", "learned")},
        }
    )


def damaged_row(path: str, why: str) -> dict[str, Any]:
    """A folder that cannot be read, with one sentence."""
    name = path.rpartition("/")[2] or path
    return {"kind": "run", "path": path, "task": name, "state": "damaged", "reason": cut(why, LONGEST)}


def live_part(beat: Mapping[str, Any] | None, last: tuple[int, float, float | None] | None) -> dict[str, Any]:
    """How far a run is: its last sign of life, and the last entry of its journal."""
    beat = beat or {}
    step, loss, share = last or (None, None, None)
    known = {"step": beat.get("step", step), "steps": beat.get("steps"), "doing": cut(beat.get("done", ""), LONGEST)}
    return compact({**known, "loss": loss, "share": share})


def stopped(row: Mapping[str, Any], why: str = "view.stopped") -> dict[str, Any]:
    """The row of a run that was begun and that nobody works on; `why` is the key of a sentence."""
    return {**row, "state": "stopped", "reason": row.get("reason") or sentence(why)}


def compact(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None and value != "" and value != []}
