"""How many layers reached a depth of search in training: the thresholds of a study, shipped with the package.

`docs/make_search54.py` writes the file from the summary of search54, by the analysis `thresholds`. A number of layers
reaches a level if, with its best width, 90 % of the tokens are right there, the true trace being given and seeds
averaged; it solves the level if half of the problems are solved by writing freely.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.brackets import brackets_of
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task

FILE = "search_layers.json"
IN_RANGE, BEYOND, JUDGED, UNMEASURED = "layers.in_range", "layers.beyond", "layers.judged", "layers.unmeasured"
explain(
    {
        IN_RANGE: "{position}: fewest layers that get {percent:g} % of the tokens right in range (sizes up to {size})",
        BEYOND: "{position}: deepest search beyond training that {tried} layers reach, of sizes {first} to {last}",
        JUDGED: "{prediction}: levels where the measurement agrees",
        UNMEASURED: "layers that were enough in training",
        "layers.none": "none",
        "layers.best_width": (
            "the best of {widths} widths is taken, averaged over {seeds} seeds; no interval is given"
        ),
        "layers.trained_so": "the models of {study}, trained up to size {size}; other training may do better",
        "layers.silent": "says nothing at {silent} of {levels} levels and encodings, and is contradicted at "
        "{contradicted}",
        "layers.not_studied": "{study}, the study whose results come with the package, did not train this task with "
        "these brackets",
    }
)


@dataclass(frozen=True)
class LayersReached:
    """One task and encoding at one size; `accurate` and `solving` are the fewest layers that reach it, None if none
    of `layers` does. `judged` is what it says of each threshold of the oracle: agrees, contradicted or silent."""

    task: str
    position: str
    in_range: bool
    size: int
    nesting: int
    layers: tuple[int, ...]
    accurate: int | None
    solving: int | None
    tokens: tuple[float, ...]  # right, by layers
    solved: tuple[float, ...]
    judged: Mapping[str, str]


@dataclass(frozen=True)
class LayersStudy:
    """The thresholds of a study, and how its models were made."""

    study: str
    runs: int
    seeds: int
    widths: int
    percent: float
    rows: tuple[LayersReached, ...]

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> LayersStudy:
        rows = tuple(
            LayersReached(**{**row, **{name: tuple(row[name]) for name in ("layers", "tokens", "solved")}})
            for row in data["rows"]
        )
        return cls(**{**data, "rows": rows})


@functools.cache
def shipped_layers() -> LayersStudy:
    """The thresholds that ship with the package."""
    text = (files("lengthwise.evidence") / "data" / FILE).read_text(encoding="utf-8")
    try:
        return LayersStudy.from_plain(json.loads(text))
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"the shipped file {FILE} is damaged: {error}") from None


def write_layers(study: LayersStudy, path: Path) -> None:
    """Write the file, one row per line."""
    plain = study.plain()
    rows = ",\n ".join(json.dumps(row) for row in plain.pop("rows"))
    path.write_text(json.dumps(plain)[:-1] + f', "rows": [\n {rows}\n]}}\n', encoding="utf-8")


def layer_claims(task: Task, titles: Mapping[str, str], study: LayersStudy | None = None) -> list[Claim]:
    """What was measured of the layers that a task with brackets takes; nothing for a task without brackets.

    `titles` are the thresholds to compare with: key → words, those of the card.
    """
    sizes = task.sizes(1, 100)
    if not sizes or brackets_of(task, sizes[0]) is None:
        return []
    study = shipped_layers() if study is None else study
    rows = [row for row in study.rows if _alike(task, row)]
    if not rows:
        missing = (Assumption("layers.not_studied", "caveat", {"study": study.study}),)
        return [Claim(UNMEASURED, None, "", "measured", "unknown", None, missing)]
    encodings = dict.fromkeys(row.position for row in rows)
    found = [claim for name in encodings for claim in _of_encoding([r for r in rows if r.position == name], study)]
    keys = [key for key in titles if any(key in row.judged for row in rows)]
    return [*found, *(_judged(key, titles[key], rows, study) for key in keys)]


def _alike(task: Task, row: LayersReached) -> bool:
    """Whether a row is about the same problem with the same brackets; labels and levels of a ladder may differ."""
    studied = tasks.make(row.task)
    return type(studied) is type(task) and brackets_of(studied, row.size) == brackets_of(task, row.size)


def _of_encoding(rows: Sequence[LayersReached], study: LayersStudy) -> list[Claim]:
    inside = [row for row in rows if row.in_range]
    beyond = sorted((row for row in rows if not row.in_range), key=lambda row: row.size)
    rests = _rests(study, inside)
    source = Reference(study.study, "thresholds of layers, docs/findings/search54.md")
    about = {"position": rows[0].position, "percent": study.percent, "runs": study.runs, "seeds": study.seeds}
    claims = []
    for row in inside:
        value = sentence("layers.none") if row.accurate is None else row.accurate
        seen = {**about, **_plain(row)}
        claims.append(Claim(IN_RANGE, value, "", "measured", "holds", None, rests, source, seen))
    if beyond:
        reached = [row.size for row in beyond if row.accurate is not None]
        tried = f"{min(beyond[0].layers)} to {max(beyond[0].layers)}"
        seen = {**about, "tried": tried, "first": beyond[0].size, "last": beyond[-1].size}
        seen["best_tokens"] = {row.size: max(row.tokens) for row in beyond}
        seen["best_solved"] = {row.size: max(row.solved) for row in beyond}
        value = max(reached) if reached else sentence("layers.none")
        claims.append(Claim(BEYOND, value, "", "measured", "holds", None, rests, source, seen))
    return claims


def _judged(key: str, title: str, rows: Sequence[LayersReached], study: LayersStudy) -> Claim:
    """How one threshold fared over the levels and encodings of a task."""
    said = [row.judged[key] for row in rows if key in row.judged]
    count = {name: said.count(name) for name in ("agrees", "contradicted", "silent")}
    decided = count["agrees"] + count["contradicted"]
    status = "refuted" if count["contradicted"] else "holds" if count["agrees"] else "vacuous"
    unit = f"of {decided} that decide, of {len(said)}"
    silent = Assumption("layers.silent", "checked", {**count, "levels": len(said)})
    rests = (silent, *_rests(study, [row for row in rows if row.in_range]))
    evidence = {"prediction": title, "predicted": key, **count}
    source = Reference(study.study, "thresholds of layers, docs/findings/search54.md")
    return Claim(JUDGED, count["agrees"], unit, "measured", status, None, rests, source, evidence)


def _rests(study: LayersStudy, inside: Sequence[LayersReached]) -> tuple[Assumption, ...]:
    size = max((row.size for row in inside), default=0)
    best = Assumption("layers.best_width", values={"widths": study.widths, "seeds": study.seeds})
    return best, Assumption("layers.trained_so", values={"study": study.study, "size": size})


def _plain(row: LayersReached) -> dict[str, Any]:
    own = ("task", "size", "nesting", "layers", "tokens", "solved", "solving", "judged")
    return {name: getattr(row, name) for name in own}
