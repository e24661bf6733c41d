"""How many inputs without answers will a model answer correctly? From how sure it is of its own answers, compared with
test items whose answers are known.

Two estimates, each with the assumption it rests on:

atc          average threshold confidence (garg2022): the share of confidences above the threshold that as many of the
             known items exceed as are answered correctly
transport    with a the accuracy on known items and W the exact Wasserstein-1 distance of the two samples of
             confidences, the accuracy lies in [a - W, a + W] by Kantorovich duality, if the probability of a correct
             answer is one function of the confidence for both, and changes by at most as much as the confidence. The
             value is a plus the difference of the mean confidences, which lies inside.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lengthwise import transport  # its solvers are loaded at first use
from lengthwise.errors import UsageError
from lengthwise.forecasts.checkpoint import ITEMS, known_of_subject
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import wilson
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.signals import ITEMS as BY_ITEM
from lengthwise.probes.signals import SignalsProbe
from lengthwise.reading import parse_json, read_lines
from lengthwise.records import Assumption, Claim, Interval, Record, Reference, Table, columns
from lengthwise.seeds import Draws, Floats, Ints
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.sizes import geometric_sizes, name_of
from lengthwise.tasks.task import Task

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject

_BY_SIZE = columns("size:whole | items:whole | confidence:share mean confidence | atc:share predicted accuracy")

explain(
    {
        "forecast.unlabelled": "accuracy of {name} on {items} inputs without answers, from its confidence",
        "forecast.atc": "accuracy by average threshold confidence",
        "forecast.atc_threshold": "the confidence that separates right from wrong answers is that of the known items "
        "({threshold:.3g})",
        "forecast.transported": "accuracy by transport of confidences",
        "forecast.lipschitz": "the probability of a correct answer is the same function of the confidence for both, "
        "and changes by at most as much as the confidence",
        "forecast.confidences_apart": "W1 between the confidences in these inputs and in known items",
        "forecast.accuracy": "accuracy on known items, up to size {seen}",
        "forecast.no_probabilities": (
            "the answers of {task} are real numbers, for which a model reports no confidence"
        ),
    }
)


@dataclass(frozen=True, eq=False)
class UnlabelledInputs(Task):
    """Inputs from a file in place of a task's items: item i at a size is the i-th input of that size. Its
    answers are made up, of the right length, and mean nothing."""

    base: Task
    rows: dict[int, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("readout", "axes", "tolerance"):
            object.__setattr__(self, name, getattr(self.base, name))

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.base.symbols

    def draw(self, size: int, seed: int, items: Sequence[int] | Ints, role: str = "train") -> Samples:
        answers = self.base.draw(size, seed, items, role).answers
        return Samples(self.rows[size][np.asarray(items)], answers)

    def sample(self, size: int, draws: Draws) -> Samples:
        return self.base.sample(size, draws)

    def solve(self, prompt: Sequence[str]) -> Sequence[str] | Sequence[float]:
        return self.base.solve(prompt)


def forecast_unlabelled(subject: Subject, path: str, context: Context | None = None, *, seen: int) -> Record:
    """The share of the inputs in a JSONL file, lines {"input": "3 1 2"}, that a subject will answer correctly. Known
    items are test items of the task up to the size `seen`."""
    context = context or Context()
    task, trained = known_of_subject(subject, context.task, context.train_size)
    if task.readout == "numbers":
        raise UsageError(sentence("forecast.no_probabilities", {"task": name_of(task)}))
    inputs = read_inputs(path, task)
    sizes = [size for size in geometric_sizes(task, trained, max(seen, trained)) if size <= seen]
    if not sizes:
        raise UsageError(f"the task {name_of(task)} has no items up to size {seen}, so nothing is known of this model")
    context = replace(context, task=task, train_size=trained, sizes=tuple(sizes), items=context.items or ITEMS)
    known, right = _known_items(subject, context)
    asked = {size: _confidences(subject, replace(context, task=inputs, sizes=(size,)), len(rows))
             for size, rows in inputs.rows.items()}  # fmt: skip
    return accuracy_record(subject.name, known, right, asked, seen)


def read_inputs(path: str, task: Task) -> UnlabelledInputs:
    """The inputs of a file by the size of the task whose inputs are as long."""
    sizes: dict[int, int] = {}
    symbols = {symbol: number for number, symbol in enumerate(task.symbols)}
    rows: dict[int, list[list[int]]] = {}
    for where, text in _lines(path):
        words = [str(word) for word in text] if isinstance(text, list) else _split(str(text), symbols)
        if unknown := [word for word in words if word not in symbols]:
            some = " ".join(task.symbols[:12]) + (" …" if len(symbols) > 12 else "")
            raise UsageError(f"{where}: {name_of(task)} has no symbol {unknown[0]!r}; it has {some}")
        if (length := len(words)) not in sizes:
            sizes[length] = _size_of(task, length, where)
        rows.setdefault(sizes[length], []).append([symbols[word] for word in words])
    if not rows:
        raise UsageError(f'{path} contains no inputs; a line is written {{"input": "3 1 2"}}')
    return UnlabelledInputs(task, {size: np.array(some) for size, some in sorted(rows.items())})


def _size_of(task: Task, length: int, where: str) -> int:
    """The size at which the inputs of a task are this long, found by bisection: longer inputs have larger sizes."""

    def width(size: int) -> int:
        return task.draw(size, 0, [0]).prompts.shape[1]

    sizes = task.sizes(1, length + 1)
    place = bisect.bisect_left(sizes, length, key=width)
    if place == len(sizes) or width(sizes[place]) != length:
        raise UsageError(f"{where}: {name_of(task)} has no inputs of {length} symbols")
    return sizes[place]


def _split(text: str, symbols: dict[str, int]) -> list[str]:
    words = text.split()
    return words if len(words) != 1 or words[0] in symbols else list(words[0])


def _lines(path: str) -> list[tuple[str, Any]]:
    """The inputs of a JSONL file, each with the place where it stands."""
    found = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            content = parse_json(line)
        except ValueError:
            content = None
        if not isinstance(content, dict) or not isinstance(content.get("input"), str | list):
            raise UsageError(f'{path}, line {number}: a line is an object such as {{"input": "3 1 2"}}')
        found.append((f"{path}, line {number}", content["input"]))
    return found


def _confidences(subject: Subject, context: Context, items: int) -> Floats:
    table = ask(SignalsProbe(items, by_item=True), subject, context).table(BY_ITEM)
    return np.array(table.column("confidence"), dtype=float)


def _known_items(subject: Subject, context: Context) -> tuple[Floats, np.ndarray]:
    """The confidence in every known item, and which of them are answered correctly."""
    assert context.task is not None and context.items is not None
    answers, task = subject.capability("answers"), context.task.part("test")
    marked = [answers.mark(task, size, range(context.items), context.seed).items for size in sorted(context.sizes)]
    return _confidences(subject, context, context.items), np.concatenate(marked)


def threshold_of(known: Floats, right: np.ndarray) -> float:
    """The confidence that as many known items reach as are answered correctly; infinite where none is."""
    count = int(right.sum())
    return float(np.sort(known)[len(known) - count]) if count else float("inf")


def accuracy_record(name: str, known: Floats, right: np.ndarray, asked: Mapping[int, Floats], seen: int) -> Record:
    """Both estimates, from the confidences in known items, which of them are right, and the confidences by size in the
    items asked about."""
    target, accuracy = np.concatenate([*asked.values()]), float(right.mean())
    threshold = threshold_of(known, right)
    above = int((target >= threshold).sum())
    moved = transport.solve(transport.TransportProblem(transport.VectorCost(known[:, None], target[:, None])))
    distance = moved.certificate.primal
    low, high = (float(np.clip(accuracy + end, 0, 1)) for end in (-distance, distance))
    shifted = float(np.clip(accuracy + target.mean() - known.mean(), low, high))
    about = {"items": len(target), "known_items": len(known), "known_accuracy": accuracy}
    separates = Assumption("forecast.atc_threshold", values={"threshold": threshold})
    claims = (
        Claim("forecast.atc", above / len(target), "share", "predicted", "holds", wilson(above, len(target)),
              (separates,), Reference("garg2022"), about),
        Claim("forecast.transported", shifted, "share", "predicted", "holds",
              Interval(low, high, 1.0, "Kantorovich duality"), (Assumption("forecast.lipschitz"),),
              Reference("villani2009", "theorem 5.10"), about),
        moved.claim("forecast.confidences_apart"),
        Claim("forecast.accuracy", accuracy, "share", "measured", "holds", wilson(int(right.sum()), len(right)),
              evidence={"seen": seen}),
    )  # fmt: skip
    rows = tuple(
        (size, len(values), float(values.mean()), float((values >= threshold).mean())) for size, values in asked.items()
    )
    text = tuple(f"{claim}; assumed: {'; '.join(a.statement for a in claim.assumptions)}." for claim in claims[:2])
    title = sentence("forecast.unlabelled", {"name": name, "items": len(target)})
    table = Table("forecast.by_size", _BY_SIZE, rows, "by size")
    return Record("forecast", {"seen": seen, "items": len(target)}, title, text, claims, (table,))
