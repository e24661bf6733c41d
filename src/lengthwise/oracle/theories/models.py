"""Models that are not our Transformer: what an LSTM, a GRU, a diagonal state space, the delta rule and looped layers
can and cannot do at every length. docs/explanation/recurrent.md has the proofs and the sources."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lengthwise.messages import explain, sentence
from lengthwise.oracle.asked_model import BITS, asked_model, state_numbers
from lengthwise.oracle.communication import CutGrowth
from lengthwise.oracle.cuts import drawn_prompts
from lengthwise.oracle.opinion import EXPRESSED, Advice, Opinion, Question, Theory, Verdict, theory
from lengthwise.oracle.programs.find import find_program
from lengthwise.oracle.programs.syntax import period
from lengthwise.oracle.theories.programs import growth_of
from lengthwise.oracle.theories.transitions import (
    PAGE,
    SATURATED,
    Followed,
    checked,
    diagonal,
    followed,
    mirrors,
    reached,
    silence,
)
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.algorithmic import BinaryMajority, InterleavedMajority, Majority
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.languages.counters import DyckK, DyckOne, FourBlocks, ShuffleTwo, ThreeBlocks, TwoBlocks
from lengthwise.tasks.task import Task

COUNTED = Assumption("models.counted")
# Why no fixed number of states is enough, for these very classes, as a subclass may ask something else.
_ENDLESS: dict[type[Task], str] = {
    **dict.fromkeys((TwoBlocks, ThreeBlocks, FourBlocks), "models.blocks"),
    **dict.fromkeys((DyckOne, ShuffleTwo, DyckK), "models.brackets"),
    **dict.fromkeys((BinaryMajority, InterleavedMajority, Majority), "models.majority"),
}
GATED = theory("gated", "an automaton in gated cells", (), "`lstm` and `gru`, in floating point")
COUNTERS = theory("counters", "counters in cells", (), "`lstm`, `ssm`, `delta`, in numbers that hold every count")
BOUNDED = theory("bounded", "a bounded number of states", (), "`gru` with saturated gates")
STATE = theory("state", "size of the state", (), "models that keep a state of fixed size")
LOOPS = theory(
    "loops", "loops that grow with the input", (), "`looped` with hard attention and numbers of O(log n) bits"
)
explain(
    {
        "models.silent": "No theory here covers this task with this model.",
        "models.other": "No theory here covers this model.",
        "models.counted": "numbers hold every count; those of float32 are exact up to 2^24",
        "models.fixed": "the state takes a number of values that does not depend on the length, as it does with "
        "saturated gates",
        "models.bits": "the state is {numbers:,} numbers of {bits} bits",
        "models.hard": "attention is hard, and numbers have O(log n) bits",
        "models.units": "units in one layer that are enough",
        "models.length": "prompt length from which the state is too small",
        "models.growth": "memory that a prompt needs grows without end",
        "models.loops": "passes that are enough",
        "models.gated": "One layer of {units:,} gated cells follows the automaton of {states} states at every length: "
        "one cell for each state and letter says that this letter was read in this state.",
        "models.counters": "Cells count, and comparing counts is all that a program for this task needs.",
        "models.uncounted": "{argument}, and a GRU with saturated gates has a fixed number of states.",
        "models.blocks": "After m letters of the first block exactly m of the next follow, for every m",
        "models.brackets": "After m opening brackets exactly m closing ones end the word, for every m",
        "models.majority": "After m equal symbols it takes as many others to change the answer, for every m",
        "models.too_small": "The state holds {bits:,} bits, and prompts of {length:,} symbols or more need more than "
        "that: some of them look the same and have different answers.",
        "models.room": "The state holds {bits:,} bits, which is too little from prompts of {length:,} symbols on. No "
        "theory here decides for prompts of up to {longest:,} symbols.",
        "models.fixed_loops": "A fixed number of passes is a Transformer with as many layers (here {layers}). {why}",
        "models.log_loops": "A pass for each doubling of the length is enough for every automaton: each combines what "
        "two neighbouring stretches do to the states.",
        "models.size_loops": "A pass for each token is enough for every automaton: in each, every token takes over the "
        "state of the token before it.",
        "models.idle_loops": "A Transformer with fixed layers can do it, and further passes may leave everything as it "
        "is. {why}",
        "models.more_loops": "A Transformer with a fixed number of passes cannot do it. For passes that grow with the "
        "input no theory here decides this task.",
        "advice.loops": "use loops=log or loops=size: passes that grow with the input follow every automaton",
    }
)


def opinions(question: Question, transformer: Callable[[Question], Verdict]) -> list[Opinion]:
    """What is known of a task with the model that stands in the question in the place of an encoding. `transformer`
    asks about our Transformer."""
    name, settings = asked_model(question.encoding)
    task = question.task
    if not settings:
        return [silence(question, "models.other")]
    if name == "looped":
        return _looped(question, settings, transformer)
    if task.readout == "numbers" or isinstance(task, Formulation):
        return [silence(question, "models.silent")]
    known = followed(task, question.quick)
    if known is None:
        found = [*_memory(question, name, settings), *_counting(question, name, settings)]
        return found or [silence(question, "models.silent")]
    if name in ("lstm", "gru"):
        return [_gated(question, settings, known)]
    return [mirrors(question, settings, known) or diagonal(question, name, settings, known)]


def _gated(question: Question, settings: dict[str, Any], known: Followed) -> Opinion:
    """Theorem 1."""
    states, letters = len(known.promise.dfa.transitions), len(known.promise.dfa.alphabet)
    units = states * (letters + 1) + 1  # the mark behind the prompt is a letter too
    values = {"units": units, "states": states}
    wide = Assumption("models.wide", checked(settings["width"] >= units), {"needed": units, "given": settings["width"]})
    resting = (SATURATED, wide, *known.assumptions)
    grounds = Claim("models.units", units, "", known.kind, assumptions=resting, evidence=values)
    source = Reference(PAGE, "theorem 1")
    return question.opinion(GATED, "can hold", sentence("models.gated", values), grounds, reference=source)


def _memory(question: Question, name: str, settings: dict[str, Any]) -> list[Opinion]:
    """Theorem 2: a fixed state is too small from some length on, if the need grows in proportion to the length."""
    growth = _growth(question)
    if not growth.flags:
        return []
    numbers = state_numbers(name, settings)
    bits = BITS * numbers
    resting = (Assumption("models.bits", values={"numbers": numbers, "bits": BITS}),)
    if growth.proof is not None:
        kind, length, details = "proved", growth.proof.exceeds(bits), (sentence(growth.proof.key),)
    else:
        assert growth.fit is not None
        kind, length, details = "measured", math.ceil(bits / growth.fit.linear_slope), tuple(growth.explain())
        resting += (Assumption("cuts.continues"),)
    longest = len(drawn_prompts(question.task, question.task.sizes(1, question.test_size)[-1], 1)[0].prompt)
    values = {"bits": bits, "length": length, "longest": longest, "numbers": numbers}
    grounds = Claim("models.length", length, "symbols", kind, assumptions=resting, evidence=values)
    small = longest >= length
    why = sentence("models.too_small" if small else "models.room", values)
    rests = {"reference": Reference("jelassi2024", "copying with a fixed state"), "details": details}
    return [question.opinion(STATE, "cannot hold" if small else "unknown", why, grounds, **rests)]


def _growth(question: Question) -> CutGrowth:
    return growth_of(question.task, budget_seconds=1.0 if question.quick else 5.0)


def _counting(question: Question, name: str, settings: dict[str, Any]) -> list[Opinion]:
    """Theorem 3: programs that compare counts; and a GRU, which does not count."""
    task = question.task
    if name == "gru":
        return _uncounted(question)
    if name == "delta" and not (settings["negative"] and settings["order"] >= 2):
        return []
    found = find_program(task, "absolute")
    if found is None or not found.right or not (name == "lstm" or reached(period(found.program), settings)):
        return []
    resting = (EXPRESSED, COUNTED, SATURATED)
    why, source = sentence("models.counters"), Reference(PAGE, "theorem 3")
    return [question.opinion(COUNTERS, "can hold", why, found.claim(), assumptions=resting, reference=source)]


def _uncounted(question: Question) -> list[Opinion]:
    argument = _ENDLESS.get(type(question.task))
    if argument is None:
        return []
    resting = (Assumption("models.fixed"),)
    grounds = Claim("models.growth", True, "", "proved", assumptions=resting, evidence={"argument": argument})
    why = sentence("models.uncounted", {"argument": sentence(argument)})
    source = Reference("korsky2019", "a GRU in fixed precision is a finite automaton; weiss2018; merrill2020")
    return [question.opinion(BOUNDED, "cannot hold", why, grounds, reference=source)]


def _looped(question: Question, settings: dict[str, Any], transformer: Callable[[Question], Verdict]) -> list[Opinion]:
    """A fixed number of passes is a Transformer; passes that grow follow every automaton (theorem 8)."""
    loops, task = settings["loops"], question.task
    plain = transformer(replace(question, encoding=settings["position"]))
    known = None if isinstance(task, Formulation) else followed(task, question.quick)
    if isinstance(loops, int):
        return _transformers(question, plain, loops * settings["depth"], known is not None)
    if known is not None:
        resting = (Assumption("models.published"), Assumption("models.hard"), EXPRESSED, *known.assumptions)
        grounds = Claim("models.loops", "log2 n" if loops == "log" else "n", "", known.kind, assumptions=resting)
        place = "Theorem 1, with 8 repeated and 9 final layers" if loops == "log" else f"{PAGE}, theorem 8"
        source = Reference("merrill2025" if loops == "log" else "fan2025", place)
        return [question.opinion(LOOPS, "can hold", sentence(f"models.{loops}_loops"), grounds, reference=source)]
    if plain.outlook == "can hold" and (by := plain.deciding):
        why = sentence("models.idle_loops", {"why": plain.why})
        rests = {"assumptions": by.claim.assumptions, "reference": by.claim.reference, "details": by.details}
        return [question.opinion(LOOPS, "can hold", why, by.grounds, **rests)]
    return [silence(question, "models.more_loops" if plain.outlook == "cannot hold" else "models.silent")]


def _transformers(question: Question, plain: Verdict, layers: int, regular: bool) -> list[Opinion]:
    """The opinions on our Transformer, as those on a looped one with a fixed number of passes."""
    found = []
    for one in plain.opinions:
        why = sentence("models.fixed_loops", {"layers": layers, "why": one.why}) if one is plain.leading else one.why
        rests = {"assumptions": one.claim.assumptions, "reference": one.claim.reference, "details": one.details}
        changes = tuple(change for change in one.changes if not change.encodings)
        if regular and one.outlook != "can hold":
            changes = (Advice("model", "advice.loops"), *changes)
        found.append(
            question.opinion(Theory(one.key, frozenset()), one.outlook, why, one.grounds, changes=changes, **rests)
        )
    return found
