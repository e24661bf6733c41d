"""How often similar tasks held with an encoding, where theory is silent: a measured share, next to a card of the oracle
and never mixed with what is proved."""

from __future__ import annotations

from collections.abc import Sequence

from lengthwise.evidence import Atlas, AtlasRun, TaskFacts
from lengthwise.evidence.deriving import facts_of
from lengthwise.forecasts.cases import MULTIPLES, holds_at
from lengthwise.messages import explain
from lengthwise.oracle.check import Card
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

explain(
    {
        "forecast.share": "{encoding}: holds at {multiple:g} x the training size in {held} of {tasks} similar tasks",
        "forecast.share_none": "{encoding}: no similar task of the atlas was learned",
        "forecast.similar_tasks": "similar tasks have the same class by theory ({oracle_class}) and the same kind of "
        "answer ({readout})",
        "forecast.seeds_pooled": "a task holds when more than half of its seeds that learned hold",
        "forecast.same_train_size": "the atlas trained to size {sizes}",
    }
)


def measured_shares(task: Task, card: Card, atlas: Atlas) -> list[Claim]:
    """For each encoding of a card on which the oracle does not decide: the share of similar tasks that held, at the
    card's multiple of the training size or the largest of the atlas, with Wilson's interval over tasks."""
    silent = [verdict.encoding for verdict in card.verdicts.values() if verdict.outlook == "unknown"]
    measured = {run.design for run in atlas.runs}
    asked = [encoding for encoding in silent if encoding in measured]
    if not asked:
        return []
    name, multiple = name_of(task), min(card.test_size / card.train_size, MULTIPLES[-1])
    own = [run.facts for run in atlas.runs if run.task == name]
    facts = own[0] if own else facts_of(task)
    others = [run for run in atlas.runs if run.task != name]
    return [share_of(facts, encoding, multiple, others) for encoding in asked]


def share_of(facts: TaskFacts, encoding: str, multiple: float, runs: Sequence[AtlasRun]) -> Claim:
    """The share of similar tasks that held with one encoding."""
    alike = (facts.oracle_class, facts.readout)
    marks: dict[str, list[bool]] = {}
    unlearned, sizes = set(), set()
    for run in runs:
        held = holds_at(run, multiple)
        if run.design != encoding or (run.facts.oracle_class, run.facts.readout) != alike or held is None:
            continue
        sizes.add(run.train_size)
        if run.learned:
            marks.setdefault(run.task, []).append(held)
        else:
            unlearned.add(run.task)
    about = {"encoding": encoding, "multiple": multiple, "unlearned": len(unlearned - set(marks)), "tasks": len(marks)}
    similar = {"oracle_class": facts.oracle_class, "readout": facts.readout}
    resting = (Assumption("forecast.similar_tasks", "checked", similar), Assumption("forecast.seeds_pooled", "checked"))
    if not marks:
        return Claim("forecast.share_none", None, "", "measured", "unknown", None, resting, None, about)
    trained = " and ".join(map(str, sorted(sizes)))
    resting = (*resting, Assumption("forecast.same_train_size", "checked", {"sizes": trained}))
    held = sum(sum(ones) > len(ones) / 2 for ones in marks.values())
    about |= {"held": held, "seeds": sum(map(len, marks.values())), "names": sorted(marks)}
    ends, source = wilson(held, len(marks)), Reference("wilson1927")
    return Claim("forecast.share", held / len(marks), "share", "measured", "holds", ends, resting, source, about)
