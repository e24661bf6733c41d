"""The trace explorer: problems with their search trees, and what each model wrote for them.

A problem that several models were given is kept once, and of what a model wrote only what follows its first mistake.

The search tree of a trace is what was visited, in which order, and which way led to the goal. A push makes a node below
the one the search stands at, a pop goes back up. Each node has a place: leaves stand side by side in the order they
were visited, and a node with children above their middle, so that no two nodes meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Climb, Evidence
from lengthwise.analyses.ladder.section import LadderAnalysis
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.messages import explain, sentence
from lengthwise.probes.ladder.levels import Example
from lengthwise.records import Record
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import EOS, SPECIALS
from lengthwise.tasks.ladder import ladder_of
from lengthwise.tasks.search.problem import Event
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.task import Task

explain(
    {
        "traces.title": "Trace explorer",
        "traces.link": "Traces",
        "traces.text": (
            "Pick a problem, a model and a level to see the correct search and where the model first departs "
            "from it. Bold: the path to the goal; grey: dead ends; numbers: the order of visits.{seeds}"
        ),
        "traces.seeds": " With several seeds, the first is shown.",
        "traces.example": "An example: {task}, {model}, {level}. The prompt is `{prompt}`, the right trace `{truth}`.",
        "traces.wrong": ("The model first goes wrong at token {at}, where it writes `{wrong}` instead of `{right}`."),
        "traces.verifier": "The verifier says: {why}.",
    }
)
WIDGET = "traces"
END, ROOT = "(end)", "start"
_END_TOKEN = SPECIALS[EOS]


@analyses.register("traces")
@dataclass(frozen=True)
class TracesAnalysis(LadderAnalysis):
    """Where models leave the right trace, example by example."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:
        found = explorer(evidence)
        assert found is not None
        seeds = sentence("traces.seeds") if found.several_seeds else ""
        widget = {"name": WIDGET, "data": found.data, "words": list(found.sentences)} if study.pictures else None
        return arranged("traces", PageLayout(notes=(sentence("traces.text", {"seeds": seeds}),), widget=widget))

    def applies(self, study: StudyContent) -> bool:
        return study.pictures and super().applies(study)

    def says(self, evidence: Evidence) -> bool:
        return any(climb.ladder.examples for climb in evidence.climbs)


@dataclass(frozen=True)
class Explorer:
    """The data of the explorer, and one example in words for readers without scripts."""

    data: dict[str, Any]
    sentences: tuple[str, ...]
    several_seeds: bool


def explorer(evidence: Evidence) -> Explorer | None:
    """All examples of the first seed of each configuration; None where there are none."""
    first = {configuration: climbs[0] for configuration, climbs in evidence.configurations.items()}
    shelf = _Shelf()
    attempts, sentences = [], ()
    for configuration, climb in first.items():
        for example in climb.ladder.examples:
            attempt = shelf.attempt(climb, example)
            attempts.append({"task": climb.task, "model": configuration.model, **attempt})
            if not sentences and example.wrong_at is not None:
                sentences = _sentences(climb, example)
    if not attempts:
        return None
    several = len(first) < len(evidence.climbs)
    return Explorer({"problems": shelf.problems, "attempts": attempts, "end": END}, sentences, several)


class _Shelf:
    """The problems met so far, each with its tree, and the tasks they were drawn from."""

    def __init__(self) -> None:
        self.problems: list[dict[str, Any]] = []
        self._places: dict[tuple[str, str, str], int] = {}
        self._levels: dict[tuple[str, int], dict[str, Task]] = {}

    def attempt(self, climb: Climb, example: Example) -> dict[str, Any]:
        """What a model wrote, with the place of its problem."""
        written, at = _trace(example.written), example.wrong_at
        return {
            "level": example.level,
            "problem": self._place(climb, example),
            "at": at,
            "rest": [] if at is None else written[at:],
            "valid": example.valid,
            "solved": example.solved,
            "why": example.why,
        }

    def _place(self, climb: Climb, example: Example) -> int:
        key = (climb.task, example.level, example.prompt)
        if key not in self._places:
            self._places[key] = len(self.problems)
            held = {"prompt": example.prompt, "truth": _trace(example.truth), "tree": self._tree(climb, example)}
            self.problems.append(held)
        return self._places[key]

    def _tree(self, climb: Climb, example: Example) -> dict[str, list[Any]] | None:
        """None where the task is no search, is gone by now, or is no longer what was measured."""
        task = self._task(climb, example.level)
        if not isinstance(task, SearchTask):
            return None
        try:
            found = task.verify(example.prompt.split(), _trace(example.truth))
        except Exception:  # a task of a user's may break at what it wrote itself before it was changed
            return None
        return search_tree(found.events) if found.valid else None

    def _task(self, climb: Climb, level: str) -> Task | None:
        place = (climb.task, climb.ladder.train_size)
        if place not in self._levels:
            try:
                levels = ladder_of(tasks.restore(climb.task), climb.ladder.train_size)
            except Exception:  # any task of a user's may be gone, or be broken by now
                levels = ()
            self._levels[place] = {level.name: level.task for level in levels}
        return self._levels[place].get(level)


def _trace(text: str) -> list[str]:
    """The tokens of a trace without the sign that ends it."""
    tokens = text.split()
    return tokens[:-1] if tokens and tokens[-1] == _END_TOKEN else tokens


def _sentences(climb: Climb, example: Example) -> tuple[str, ...]:
    """One example in words."""
    truth, written, at = _trace(example.truth), _trace(example.written), example.wrong_at or 0
    right = truth[at] if at < len(truth) else END
    wrong = written[at] if at < len(written) else END
    values = {"task": climb.task, "model": climb.configuration.model, "level": example.level}
    values |= {"prompt": example.prompt, "truth": " ".join(truth), "at": at + 1, "wrong": wrong, "right": right}
    said = ("traces.example", "traces.wrong", *(("traces.verifier",) if example.why else ()))
    return tuple(sentence(key, {**values, "why": example.why}) for key in said)


def search_tree(events: Sequence[Event]) -> dict[str, list[Any]]:
    """The tree of the events of a trace, by columns as the page holds it. O(nodes).

    Of the nodes in the order they were visited: `labels`, `parents` (the place of the node above, -1 for the root),
    `across` and `down` (where it is drawn, in steps), and `path` (1 on the way to the goal). `steps` are the events:
    whether a push, the node that is entered or left, and its tokens, from start to end.
    """
    labels, parents, down, steps, open_nodes = [ROOT], [-1], [0], [], [0]
    for event in events:
        if event.kind == "push":
            labels.append(" ".join(event.move.push))
            parents.append(open_nodes[-1])
            down.append(len(open_nodes))
            open_nodes.append(len(labels) - 1)
            steps.append([1, open_nodes[-1], event.start, event.end])
        else:
            steps.append([0, open_nodes.pop(), event.start, event.end])
    way = set(open_nodes)
    path = [int(node in way) for node in range(len(labels))]
    return {
        "labels": labels,
        "parents": parents,
        "across": _across(parents),
        "down": down,
        "path": path,
        "steps": steps,
    }


def _across(parents: Sequence[int]) -> list[float]:
    """Leaves at 0, 1, 2, …; a parent in the middle between its first and its last child."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    across, leaves = [0.0] * len(parents), 0
    for node in range(len(parents)):  # nodes are numbered as they were visited, so leaves come from left to right
        if not children[node]:
            across[node], leaves = float(leaves), leaves + 1
    for node in reversed(range(len(parents))):
        if below := children[node]:
            across[node] = (across[below[0]] + across[below[-1]]) / 2
    return across
