"""The card: what is known about a task, or about a user's own layout of reasoning steps, before a model is trained.

Each theory is asked about each encoding, the strongest first; the first that decides gives the verdict.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.brackets import bracket_claims
from lengthwise.oracle.limit.theorems import dfa_length, limit_claims
from lengthwise.oracle.limit.witnesses import witness_for
from lengthwise.oracle.locality.layout import Layout, layout_asked, look
from lengthwise.oracle.locality.own import Own, examinable, load_formulation, settle_own
from lengthwise.oracle.locality.steps import Steps, all_combinations, kept_steps
from lengthwise.oracle.opinion import (
    BATCH,
    STEPS,
    Advice,
    Case,
    Opinion,
    Question,
    Verdict,
    first_advice,
    planned_items,
    theory,
)
from lengthwise.oracle.programs.find import program_for
from lengthwise.oracle.programs.syntax import locality as look_back
from lengthwise.oracle.programs.syntax import period
from lengthwise.oracle.theories import biases, limits, locality, models, programs, regular, rows
from lengthwise.oracle.theories.locality import judge, without_end
from lengthwise.records import Claim
from lengthwise.registry import parse_spec
from lengthwise.tasks import tasks
from lengthwise.tasks.along import Along
from lengthwise.tasks.contract import check_own
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.formulations.own import OwnLayout
from lengthwise.tasks.sizes import check_reaches, default_test_size, default_train_size, name_of
from lengthwise.tasks.task import Task

POSITIONS = ("none", "learned+offset", "learned", "rope", "alibi")
THEORIES: tuple[Callable[[Question], list[Opinion]], ...] = (
    rows.opinions,
    regular.opinions,
    programs.opinions,
    limits.opinions,
    programs.cut_opinions,
    regular.guessed_opinions,
    locality.opinions,
    biases.opinions,
)
NO_THEORY = theory("none", "no theory", (), "no model")
_USUAL = 20  # the training size, unless said
explain(
    {
        "oracle.silent_other": "No theory here decides this task with this encoding. C-RASP covers learned positions "
        "trained with random offsets and models without an encoding, whose solutions carry over to `rope`, `t5`, "
        "`kerple` and `fire`.",
        "oracle.silent_table": "No theory here covers learned positions without offsets inside the training range.",
        "oracle.silent": "The task has no known automaton and no program in the library, and no lower bound was found.",
        "oracle.another_axis": "The size counts {axis}, but the theories here are about length.",
        "oracle.automaton_note": "two automata of {states} states that agree on all words up to this length are equal; "
        "below it, not all are",
    }
)


@dataclass(frozen=True)
class Card:
    """The verdict for each encoding, and claims that hold whatever the encoding: which training size is needed and what
    the planned items show of it, how many layers, and what the theorems on limit transformers say."""

    task: str
    train_size: int
    test_size: int
    verdicts: Mapping[str, Verdict]
    training: tuple[Claim, ...] = ()
    depth: tuple[Claim, ...] = ()
    limits: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[Advice, ...]:
        """What would change a verdict other than "can hold"; none recommends an encoding that cannot hold."""
        open_verdicts = (verdict for verdict in self.verdicts.values() if verdict.outlook != "can hold")
        return tuple(dict.fromkeys(change for verdict in open_verdicts for change in verdict.changes))

    @property
    def advice(self) -> Advice:
        """What to do first."""
        return first_advice(self.verdicts, self.changes)

    def plain(self) -> dict[str, Any]:
        claims = ("training", "depth", "limits")
        return {
            **{name: getattr(self, name) for name in ("task", "train_size", "test_size")},
            "advice": self.advice.plain(),
            "verdicts": [verdict.plain() for verdict in self.verdicts.values()],
            **{name: [claim.plain() for claim in getattr(self, name)] for name in claims},
            "changes": [change.plain() for change in self.changes],
            "notes": list(self.notes),
        }


def check(
    task: str | Task,
    positions: Sequence[str] | None = None,
    *,
    model: str | Sequence[str] = (),
    train_size: int | None = None,
    test_size: int | None = None,
    items: int | None = None,
    seed: int = 0,
    quick: bool = False,
    decoder: bool = False,
) -> Card:
    """What every theory says about a task with each of the encodings, before anything is trained.

    `positions` are the usual five unless given. `model` names other models to ask about, such as "lstm" or
    "delta:negative=true,order=2"; encodings are then asked about only if they are given.

    `train_size` is 20 unless given, or a third of the last size of a task that ends early. `items` is the number of
    training items planned, for coverage (steps x batch of the task's preset). `quick` keeps the time to about a second
    per task and encoding, by shorter searches, and asks no further theory once one has decided. `decoder` takes a
    layout of steps as a causal decoder writes it, which sees all earlier states.

    >>> lw.check("copy_repeat", ["none"]).verdicts["none"].outlook      # doctest: +SKIP
    'cannot hold'
    >>> lw.check("parity", model="gru").verdicts["gru"].outlook         # doctest: +SKIP
    'can hold'
    """
    task = tasks.make(task) if isinstance(task, str) else task
    if isinstance(task, OwnLayout) and not model:
        task.source  # noqa: B018  # refuses a file that may not run
        return check_formulation(
            task.path,
            positions or POSITIONS,
            train_size=train_size,
            test_size=test_size,
            items=items,
            seed=seed,
            decoder=decoder,
        )
    train_size = default_train_size(task) if train_size is None else train_size
    if not task.sizes(1, train_size):
        raise UsageError(f"the task has no items of size 1 to {train_size}; its sizes begin at {task.axes[0].smallest}")
    check_own(task, task.sizes(1, train_size)[-1:])
    test_size = default_test_size(task, train_size) if test_size is None else test_size
    if test_size < train_size:
        raise UsageError(f"the test size must be at least {train_size}, the training size, not {test_size}")
    check_reaches(task, test_size)
    name = name_of(task)
    items = planned_items(task) if items is None else items
    named = (model,) if isinstance(model, str) else tuple(model)
    others = tuple(text for text in named if parse_spec(text)[0] != "transformer")  # which the encodings are about
    if positions is None:
        positions = () if named and others == named else POSITIONS
    question = Question(name, "none", train_size, test_size, task, items, seed, quick, decoder)
    verdicts = {spec: _verdict(replace(question, encoding=spec)) for spec in positions}
    verdicts |= {text: _of_model(replace(question, encoding=text)) for text in others}
    training = tuple(_training_claims(question))
    if not positions:
        return Card(name, train_size, test_size, verdicts, training)
    depth = tuple(bracket_claims(task, train_size, test_size))
    return Card(name, train_size, test_size, verdicts, training, depth, tuple(_limit_claims(question)))


def model_verdict(task: Task, model: str, train_size: int, test_size: int) -> Verdict:
    """What is known of a task with a model that is not our Transformer, within about a second. Of a model that no
    theory here is about, the verdict is unknown."""
    return check(task, model=model, train_size=train_size, test_size=test_size, quick=True).verdicts[model]


def _of_model(question: Question) -> Verdict:
    """The verdict on a model, which stands in the question in the place of an encoding."""
    if isinstance(question.task, Along):
        return _asked(question)
    return Verdict(question.encoding, tuple(models.opinions(question, _asked)))


def _verdict(question: Question) -> Verdict:
    """The opinions on a question, without advice that another verdict refutes."""
    kept = []
    for opinion in _asked(question).opinions:
        changes = (_sound(change, question) for change in opinion.changes)
        kept.append(replace(opinion, changes=tuple(change for change in changes if change is not None)))
    return Verdict(question.encoding, tuple(kept))


def _sound(change: Advice, question: Question) -> Advice | None:
    """The advice without the encoding asked about and without those that cannot hold; None if none is left of them."""
    if not change.encodings:
        return change
    others = [replace(question, encoding=name) for name in change.encodings if name != question.encoding]
    left = tuple(other.encoding for other in others if _asked(other).outlook != "cannot hold")
    return replace(change, encodings=left) if left else None


def _asked(question: Question) -> Verdict:
    """What the theories say, those that decide first."""
    if isinstance(question.task, Along):
        why = sentence("oracle.another_axis", {"axis": question.task.axes[0].name})
        return Verdict(question.encoding, (question.opinion(NO_THEORY, "unknown", why),))
    opinions: list[Opinion] = []
    for opinions_of in THEORIES:
        if question.quick and any(opinion.outlook != "unknown" for opinion in opinions):
            break
        opinions += opinions_of(question)
    if not opinions:
        silence = {"other": "oracle.silent_other", "table": "oracle.silent_table"}
        why = sentence(silence.get(question.family, "oracle.silent"))
        opinions = [question.opinion(NO_THEORY, "unknown", why)]
    decided = [opinion for opinion in opinions if opinion.outlook != "unknown"]
    return Verdict(question.encoding, (*decided, *(one for one in opinions if one not in decided)))


def _training_claims(question: Question) -> list[Claim]:
    """The training size needed and, for reasoning steps, how much of it the planned items show."""
    if isinstance(question.task, Formulation):
        layout = layout_asked(question)
        return layout.claims() if layout else []
    dfa = regular.automaton_of(question.task)
    if dfa is None:
        return []
    found = dfa_length(len(dfa.transitions), key="limit.training_length")
    note = sentence("oracle.automaton_note", {"states": len(dfa.transitions)})
    return [replace(found, evidence={**found.evidence, "note": note})]


def _limit_claims(question: Question) -> list[Claim]:
    """For tasks whose period and locality are known, from the decision, a program or a limit transformer."""
    task = question.task
    if regular.automaton_of(task) is not None:
        found = regular.decided_with_positions(task)
        needs = found and (found.period, found.locality)
    elif (witness := witness_for(task)) is not None:
        needs = None if witness.locality else (witness.period, 0)  # the theorem is about one layer
    else:
        program = program_for(task, "absolute")
        needs = program and (period(program), look_back(program).total)
    return limit_claims(*needs, len(task.symbols), question.train_size, question.test_size) if needs else []


def check_formulation(
    path: str,
    positions: Sequence[str] = POSITIONS,
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int | None = None,
    seed: int = 0,
    decoder: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Card:
    """What is known about the formulation in a file: `layout.py`, `layout.py::Class` or `pairs.jsonl`. Of pairs, those
    up to `train_size` count as training (all of them unless it is given). `progress` is called with what was read, how
    many of them, and 0 for the total, which is not known."""
    own = load_formulation(path, progress)
    if own.formulation is not None:
        choice = {"test_size": test_size, "items": items, "seed": seed, "decoder": decoder}
        return replace(check(own.formulation, positions, train_size=train_size, **choice), task=path)
    if decoder:
        raise UsageError(f"a decoder writes out the states of a class, as in layout.py::Class, but {path} names none")
    if own.sizes and items is not None:
        raise UsageError(f"the pairs in {path} are the training data, so no number of items can be planned")
    train_size = train_size or (max(own.sizes) if own.sizes else _USUAL)
    test_size = test_size or 3 * train_size
    layout = _layout(own, train_size, items or STEPS * BATCH, seed)
    endless = own.endless(layout.sizes)
    verdicts = {}
    for encoding in positions:
        asked = Case(path, encoding, train_size, test_size)
        opinion = without_end(asked, endless) if endless else judge(asked, layout)
        verdicts[encoding] = Verdict(encoding, (opinion,))
    return Card(path, train_size, test_size, verdicts, tuple(layout.claims()), notes=own.notes)


def _layout(own: Own, train_size: int, items: int, seed: int) -> Layout:
    """The layout as found in the sizes a file has, or in those whose states fit into the budget. Whether a file lists
    all first states is not known, so that they count as a sample unless they are all combinations of their columns."""
    examined, sizes, further = examinable(own)
    found, steps = settle_own(examined, sizes, further=further)
    trained = [size for size in sizes if size <= train_size]
    if not trained:
        raise UsageError(f"{own.steps.name} has no states of size 1 to {train_size}; its sizes begin at {sizes[0]}")
    used = [size for size in sizes if size > train_size][-1:]  # larger ones may be too many to ask for
    sample = steps if own.sizes else _sample(steps, trained, items, seed)
    layout = look(steps, sizes, found, sample, trained, used, further=further)
    return replace(layout, sampled=not all_combinations(steps, [*sizes, *further]))


def _sample(steps: Steps, sizes: Sequence[int], items: int, seed: int) -> Steps:
    """The steps of these sizes that come up when as many training items as planned are drawn, as many of each size."""
    chosen = []
    for size in sizes:
        moves = list(steps.moves(size))
        drawn = random.Random(f"{seed} {size}").choices(range(len(moves)), k=max(1, items // len(sizes)))
        chosen += [(size, moves[number]) for number in sorted(set(drawn))]
    return kept_steps(steps.name, chosen)
