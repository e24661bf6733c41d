"""The Dyck view of a task: its kinds of brackets, how deep they nest, and what that says about layers.

A trace with backtracking is the beginning of a word of brackets (`lengthwise.tasks.search.problem`), and so are the
words of `dyck_k`. The thresholds for that shape are those of `lengthwise.oracle.depth`: one is proved, three are
believed. None of them is a number of layers that every Transformer needs, so the view says that this is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lengthwise.messages import explain
from lengthwise.oracle.depth import Nesting
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Seeds
from lengthwise.tasks.along import Along
from lengthwise.tasks.languages.counters import DyckK
from lengthwise.tasks.languages.named import NestedBrackets
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.task import Task

DRAWN = 64  # items of a task that does not say how deep its traces nest
KINDS, NESTING, NEEDED_ANY = "depth.kinds", "depth.nesting", "depth.needed_any"
VIEW = (KINDS, NESTING)  # what the brackets are; the other claims are about layers and bits
explain(
    {
        KINDS: "kinds of brackets",
        NESTING: "how deep they nest at size {size}",
        NEEDED_ANY: "layers proved to be needed by every Transformer, however wide",
        "depth.trace_is_word": "a push opens a bracket of the kind of its choice, and its pop closes it; the way to "
        "the goal stays open (docs/reference/search.md)",
        "depth.every_word": "every word of these brackets may come; the rules of a search may leave out some stacks, "
        "and its own traces then need fewer bits",
        "depth.by_definition": "the task says how deep its brackets nest at most, and some items go as deep",
        "depth.as_drawn": "the deepest of {items} items drawn; others may be deeper",
        "depth.no_growing_bound": "no bound that grows with the nesting can hold for all Transformers: Dyck languages "
        "are in TC0, and soft attention is said to generate bounded nesting with two layers",
        "depth.recalled": "that Dyck languages are in TC0 is cited from memory and was not checked here",
    }
)


@dataclass(frozen=True)
class Brackets:
    """The brackets of a task at one size; `items` is how many were drawn to see the depth, 0 where it is known."""

    kinds: int
    depth: int
    items: int = 0


def brackets_of(task: Task, size: int) -> Brackets | None:
    """Kinds and nesting of a task at a size that it has; None for a task without brackets of bounded depth."""
    if isinstance(task, Along):
        return brackets_of(task.grown(size), task.at)
    if isinstance(task, DyckK):
        return Brackets(task.kinds, max(1, min(task.depth, size // 2)))
    if isinstance(task, NestedBrackets):
        return Brackets(1, max(1, min(task.depth, size // 2)))
    if not isinstance(task, SearchTask):
        return None
    deepest = task.deepest(size)
    return Brackets(task.kinds, _drawn_depth(task, size), DRAWN) if deepest is None else Brackets(task.kinds, deepest)


def _drawn_depth(task: SearchTask, size: int) -> int:
    """The greatest number of moves in force in some of a task's items."""
    samples = task.sample(size, Seeds(0).draws("brackets", size, items=range(DRAWN)))
    prompts = [task.spelled(row) for row in samples.prompts]
    return max(max(task.contour(prompt, task.solve(prompt))) for prompt in prompts)


def bracket_claims(task: Task, train_size: int, test_size: int) -> list[Claim]:
    """The brackets in training and in use, then the thresholds at the deeper of the two: those proved, those believed.
    Nothing for a task without brackets."""
    found = {size: brackets_of(task, size) for size in _sizes(task, (train_size, test_size))}
    shapes = {size: shape for size, shape in found.items() if shape is not None}
    if not shapes:
        return []
    deepest = max(shapes.values(), key=lambda shape: shape.depth)
    rests = (Assumption("depth.trace_is_word", "checked"),) if isinstance(task, SearchTask) else ()
    kinds = Claim(KINDS, deepest.kinds, "", "proved", assumptions=rests)
    thresholds = sorted(Nesting(deepest.kinds, deepest.depth).claims(), key=lambda claim: claim.kind != "proved")
    if isinstance(task, SearchTask):  # what is proved is about the language: most searches cannot have all its stacks
        every = Assumption("depth.every_word")
        thresholds = [
            replace(claim, assumptions=(*claim.assumptions, every)) if claim.kind == "proved" else claim
            for claim in thresholds
        ]
    proved = sum(claim.kind == "proved" for claim in thresholds)
    nested = [_nesting(size, shape) for size, shape in shapes.items()]
    return [kinds, *nested, *thresholds[:proved], _needed_any(deepest), *thresholds[proved:]]


def _sizes(task: Task, wanted: Sequence[int]) -> list[int]:
    """Each size, or the next smaller one that the task has."""
    return list(dict.fromkeys(sizes[-1] for size in wanted if (sizes := task.sizes(1, size))))


def _nesting(size: int, shape: Brackets) -> Claim:
    drawn = shape.items > 0
    rest = Assumption("depth.as_drawn", values={"items": shape.items}) if drawn else Assumption("depth.by_definition")
    evidence = {"size": size, "kinds": shape.kinds, "depth": shape.depth, "items": shape.items}
    kind, check = ("measured", "assumed") if drawn else ("proved", "checked")
    rests = (Assumption(rest.key, check, rest.values),)
    return Claim(NESTING, shape.depth, "deep", kind, assumptions=rests, evidence=evidence)


def _needed_any(shape: Brackets) -> Claim:
    rests = (Assumption("depth.no_growing_bound"), Assumption("depth.recalled"))
    evidence = {"kinds": shape.kinds, "depth": shape.depth}
    source = Reference("docs/reference/search.md", "brackets")
    return Claim(NEEDED_ANY, None, "", "proved", "unknown", None, rests, source, evidence)
