"""What the trace explorer shows: problems with their search trees, and what each model wrote for them.

A problem that several models were given is kept once, and of what a model wrote only what follows its first mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.grouping import by_configuration
from lengthwise.probes.ladder.levels import Example
from lengthwise.reports.ladder.models import model_name
from lengthwise.reports.ladder.tree import SearchTree, search_tree
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import EOS, SPECIALS
from lengthwise.tasks.ladder import ladder_of
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.task import Task

END = "(end)"
_END_TOKEN = SPECIALS[EOS]


@dataclass(frozen=True)
class Explorer:
    """The data of the explorer, and one example in words for readers without scripts."""

    data: dict[str, Any]
    sentences: tuple[str, ...]
    several_seeds: bool


def explorer(evidence: Evidence) -> Explorer | None:
    """All examples of the first seed of each configuration; None where there are none."""
    first = {configuration: climbs[0] for configuration, climbs in by_configuration(evidence.climbs).items()}
    shelf = _Shelf()
    attempts, sentences = [], ()
    for configuration, climb in first.items():
        for example in climb.ladder.examples:
            attempt = shelf.attempt(climb, example)
            attempts.append({"task": climb.task, "model": model_name(configuration), **attempt})
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
            tree = self._tree(climb, example)
            truth = _trace(example.truth)
            held = {"prompt": example.prompt, "truth": truth, "tree": tree.plain() if tree else None}
            self.problems.append(held)
        return self._places[key]

    def _tree(self, climb: Climb, example: Example) -> SearchTree | None:
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
    return (
        f"An example: {climb.task}, {model_name(climb.configuration)}, {example.level}. The prompt is "
        f"`{example.prompt}`, the right trace `{' '.join(truth)}`.",
        f"The model first goes wrong at token {at + 1}, where it writes `{wrong}` in place of `{right}`.",
        *((f"The verifier says: {example.why}.",) if example.why else ()),
    )
