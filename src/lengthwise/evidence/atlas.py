"""The measured runs and the file they are kept in: compressed JSON by columns, with a checksum of its own content."""

from __future__ import annotations

import gzip
import importlib.resources
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.evidence.task_facts import Group, Outcome, TaskFacts
from lengthwise.files import replace_file
from lengthwise.integrity import is_sealed, sealed
from lengthwise.reading import read_packed_json
from lengthwise.records import Table, columns
from lengthwise.registry import nearest

SCHEMA = 1
SHIPPED = {"atlas": "atlas.json.gz", "zoo": "zoo.json.gz"}  # `zoo`: models and rules, each with a recipe of its own
TRANSFORMER = "transformer"
SIGNALS = ("margin", "confidence", "entropy", "norm")
_COLUMNS = columns(
    "task:text | group:text | oracle_class:text class by theory | states:whole | alphabet:whole | readout:text | "
    "answer_length | memory:whole | position:text | model:text | attention:text | verdict:text | "
    "train_size:whole trained to | seed:whole | learned:truth | items:whole | size:whole | exact:share exact match | "
    "margin | confidence:share | entropy | norm"
)


@dataclass(frozen=True)
class AtlasRun:
    """One trained model and what was measured of it.

    task, position     their specs as texts, such as rope:base=500
    model              "transformer", or the spec of another model, which takes no encoding: its position is none
    group              "language" (drawn at random), "named", "retrieval" or "steps"
    facts              of the task
    verdict            the oracle's, for this task, encoding or model, and sizes
    settings           of the model and its training, where they differ from the atlas's defaults
    train_size, seed   the largest size of training, and the seed of weights and items
    learned            whether exact match is 95 % or more at every measured size of the training range
    sizes, exact       exact match by size, from the smallest to 8 times the training size or as far as it goes
    items              test items per size
    signals            by size: "margin", "confidence", "norm", "entropy" (probe `signals`, which needs no labels)
    losses             of training, at evenly spaced steps
    """

    task: str
    group: Group
    facts: TaskFacts
    position: str
    verdict: Outcome
    settings: Mapping[str, Any] = field(hash=False)
    train_size: int
    seed: int
    learned: bool
    sizes: tuple[int, ...]
    exact: tuple[float, ...]
    items: int
    signals: Mapping[str, tuple[float, ...]] = field(hash=False)
    losses: tuple[float, ...]
    model: str = TRANSFORMER

    @property
    def design(self) -> str:
        """What runs of a task are compared by: the encoding of a Transformer, or the spec of another model."""
        return self.position if self.model == TRANSFORMER else self.model

    def exact_at(self, multiple: float) -> float | None:
        """Exact match at the largest measured size up to `multiple` training sizes; None where none is beyond
        half of that."""
        within = [index for index, size in enumerate(self.sizes) if size <= multiple * self.train_size]
        if not within or self.sizes[within[-1]] <= multiple * self.train_size / 2:
            return None
        return self.exact[within[-1]]


@dataclass(frozen=True, repr=False)
class Atlas:
    """Measured runs, in the order of the study that made them; `defaults` are the settings most of them share."""

    runs: tuple[AtlasRun, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in order."""
        return tuple(dict.fromkeys(run.task for run in self.runs))

    @property
    def designs(self) -> tuple[str, ...]:
        """The encodings of Transformers and the other models, in order."""
        return tuple(dict.fromkeys(run.design for run in self.runs))

    def select(self, **wanted: Any) -> Atlas:
        """The runs whose fields have the wanted values; a collection means any of its members. Fields of the task's
        facts are named alike: `select(oracle_class="counting", position=("none", "alibi"))`."""
        of_run, of_facts = ({f.name for f in fields(cls)} for cls in (AtlasRun, TaskFacts))
        for name in wanted:
            if name not in of_run | of_facts:
                near = nearest(name, sorted(of_run | of_facts))
                raise UsageError(
                    f"the runs of the atlas have no field {name!r}; {near}see `lengthwise.evidence.AtlasRun`"
                )

        def fits(run: AtlasRun, name: str, value: Any) -> bool:
            own = getattr(run if name in of_run else run.facts, name)
            return own in value if isinstance(value, Collection) and not isinstance(value, str) else own == value

        found = tuple(r for r in self.runs if all(fits(r, name, value) for name, value in wanted.items()))
        return Atlas(found, self.defaults)

    def table(self) -> Table:
        """One row per run and size, with a column for each fact of the task and each signal."""
        names = [column.name for column in _COLUMNS]
        rows = []
        for run in self.runs:
            own = {**vars(run), **vars(run.facts), "attention": {**self.defaults, **run.settings}.get("attention")}
            for index, size in enumerate(run.sizes):
                signals = {name: values[index] for name, values in run.signals.items()}
                here = {**own, "size": size, "exact": run.exact[index], **signals}
                rows.append(tuple(here.get(name) for name in names))
        return Table("atlas.runs", _COLUMNS, tuple(rows), "measured runs, by size", detail=True)

    def to_pandas(self) -> Any:
        """`table` as a pandas DataFrame, where pandas is installed."""
        return self.table().to_pandas()

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        designs, learned = len(self.designs), sum(run.learned for run in self.runs)
        return (
            f"Atlas({len(self.runs)} runs, {learned} of them learned; {len(self.tasks)} tasks, {designs} encodings and "
            "models)"
        )


def load_atlas(path: str | Path | None = None) -> Atlas:
    """An atlas of the package, "atlas" unless it is "zoo", or one from a file.

    A file that is damaged or of another version is refused. The zoo has the models and attention rules of the studies
    `state_tracking`, `arithmetic`, `sharpness` and `retrieval`. They are trained with recipes of their own, so that
    forecasts and advice, which assume one recipe, do not use it.
    """
    own = SHIPPED.get("atlas" if path is None else str(path))
    where = Path(path) if path and not own else importlib.resources.files("lengthwise.evidence") / "data" / str(own)
    try:
        content = read_packed_json(str(where))
    except UsageError as error:
        if own is None:  # it may be anything
            raise
        raise UsageError(f"the atlas is damaged or missing, {error}: {_again(own)}") from None
    if not isinstance(content, dict) or not is_sealed(content):
        raise UsageError(f"the atlas {where} is damaged, its checksum differs: {_again(own)}")
    if content.get("schema") != SCHEMA:
        raise UsageError(f"the atlas {where} has schema {content.get('schema')!r}, and this version reads {SCHEMA}")
    try:
        return Atlas(tuple(_runs(content)), content["defaults"])
    except KeyError as error:
        raise UsageError(f"the atlas {where} has no column {error}: {_again(own)}") from error


def save_atlas(atlas: Atlas, path: str | Path) -> None:
    """Write an atlas to a file that `load_atlas` reads. Equal atlases give equal files."""
    groups = {run.task: (run.group, run.facts) for run in atlas.runs}
    grids = list(dict.fromkeys(run.sizes for run in atlas.runs))
    names = list(groups)
    plain = ("position", "model", "verdict", "train_size", "seed", "learned", "items")
    content = {
        "schema": SCHEMA,
        "defaults": dict(atlas.defaults),
        "tasks": {
            "task": names,
            "group": [group for group, _ in groups.values()],
            **{f.name: [getattr(facts, f.name) for _, facts in groups.values()] for f in fields(TaskFacts)},
        },
        "grids": grids,
        "runs": {
            "task": [names.index(run.task) for run in atlas.runs],
            "grid": [grids.index(run.sizes) for run in atlas.runs],
            **{name: [getattr(run, name) for run in atlas.runs] for name in plain},
            "settings": [dict(run.settings) for run in atlas.runs],
            "exact": [[round(value, 3) for value in run.exact] for run in atlas.runs],
            "losses": [_rounded(run.losses) for run in atlas.runs],
            **{name: [_rounded(run.signals.get(name)) for run in atlas.runs] for name in SIGNALS},
        },
    }
    text = json.dumps(sealed(json.loads(json.dumps(content))), separators=(",", ":"), allow_nan=False)
    with replace_file(Path(path)) as part:
        part.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _runs(content: Mapping[str, Any]) -> Iterable[AtlasRun]:
    table, runs, grids = content["tasks"], content["runs"], [tuple(grid) for grid in content["grids"]]
    facts = [
        TaskFacts(**dict(zip((f.name for f in fields(TaskFacts)), row, strict=True)))
        for row in zip(*(table[f.name] for f in fields(TaskFacts)), strict=True)
    ]
    plain = ("position", "model", "verdict", "settings", "train_size", "seed", "learned", "items")
    for number, task in enumerate(runs["task"]):
        signals = {name: tuple(runs[name][number]) for name in SIGNALS if runs[name][number] is not None}
        yield AtlasRun(
            task=table["task"][task],
            group=table["group"][task],
            facts=facts[task],
            **{name: runs[name][number] for name in plain},
            sizes=grids[runs["grid"][number]],
            exact=tuple(runs["exact"][number]),
            signals=signals,
            losses=tuple(runs["losses"][number]),
        )


def _rounded(values: Iterable[float] | None) -> list[float] | None:
    """Three significant digits, which is more than a sample of this size determines."""
    return None if values is None else [float(f"{value:.3g}") for value in values]


def _again(own: str | None) -> str:
    return "install the package again" if own else "make it again from its study"
