"""Automata in models with linear transitions: `ssm`, whose transitions are numbers, and `delta`, whose are products of
I - β k kᵀ. What repeated words do to their states decides what they can follow (docs/explanation/recurrent.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.promise import Promise, everything
from lengthwise.oracle.machines import known_machine, machine_asked
from lengthwise.oracle.opinion import Advice, Opinion, Question, theory
from lengthwise.oracle.reflections import Reflections, reflections
from lengthwise.oracle.theories.regular import asked_of, automaton_of, guess_of
from lengthwise.oracle.turns import Turn, actions, circle_lengths, turn
from lengthwise.records import Assumption, Check, Claim, Kind, Reference
from lengthwise.tasks.task import Task

PAGE = "docs/explanation/recurrent.md"
SATURATED = Assumption("models.saturated")
TURNS = theory("turns", "circles of states", (), "`ssm` and `delta`, whose transitions have a limited range")
CASCADE = theory("cascade", "a cascade of switches", (), "`ssm` and `delta` with enough layers, in floating point")
MIRRORS = theory("mirrors", "products of reflections", (), "`delta` and `ssm` with negative=true")
SILENT = theory("none", "no theory", (), "no model")
explain(
    {
        "models.saturated": "gates reach 0 and 1 in floating point, as they do for inputs of a few dozen",
        "models.wide": "the state has at least {needed:,} numbers where the construction needs them ({given:,} here)",
        "models.step_by_step": "the recurrence is computed token by token in one floating-point format",
        "models.margin": "the state stays bounded, and answers that differ stay apart by a margin at every length",
        "models.layers": "the model has enough layers for a cascade that follows the automaton",
        "models.heads": "the model has {heads} heads of at least {dimension} dimensions",
        "models.exact": "rounding errors of reflections, about 1e-7 per token in float32, stay below half the margin",
        "models.published": "the published theorem is right; its proof is not repeated here",
        "models.circle": "states in a circle that one word goes around",
        "models.circles": "circles of states that words go around",
        "models.order": "reflections per token that are enough",
        "models.settles": "{turn}. With transitions from {low} to 1 the state settles when a word is repeated: after "
        "many repetitions, reading it {times} makes no difference.",
        "models.alternates": "{turn}. A single layer of order 1 alternates between two states when a letter is "
        "repeated.",
        "models.switches": "No word takes states around a circle, so layers of switches follow the automaton; "
        "transitions of 0 and 1 are switches.",
        "models.halves": "Words take states around circles of {lengths} and no others, so layers of switches and sign "
        "changes follow the automaton; a transition of -1 changes the sign.",
        "models.mirrored": "Every letter permutes the states, and reflections follow them in one layer of order "
        "{order} (heads: {heads}, dimensions of the largest: {dimension}).",
        "models.signs": "Every letter permutes the states, and sign changes follow them in one layer (heads: {heads}).",
        "models.all_regular": "With {order} reflections per token, at least as many as the automaton has states, and "
        "enough layers, every automaton can be followed.",
        "models.many_actions": "Words act on the automaton in too many ways to examine.",
        "models.undecided": "No theory here decides this automaton with this model.",
        "models.more_order": "No theory here decides for order {given}; in one layer an order of {order} is enough.",
        "advice.gated": "use lstm or gru: they follow every automaton",
        "advice.negative": "use negative=true: sign changes follow circles of 2, 4, 8, … states",
        "advice.deeper": "use more layers: each doubles the circle that can be followed",
        "advice.order": "use delta with negative=true and order={order}: one layer of reflections follows the "
        "automaton",
    }
)


@dataclass(frozen=True)
class Followed:
    """The automaton of a task, what is asked of it, and how far that is known. `whole` is the automaton on all words;
    `everywhere` says that the task asks what is promised, so that an obstruction in it is one in the task."""

    promise: Promise
    whole: Promise
    kind: Kind
    assumptions: tuple[Assumption, ...] = ()
    everywhere: bool = True


def followed(task: Task, quick: bool) -> Followed | None:
    """The automaton that a task brings or is known to have, or one that was learned from its solver."""
    dfa = automaton_of(task)
    if dfa is not None:
        return Followed(asked_of(dfa, task), everything(dfa), "proved")
    if (promise := known_machine(task)) is not None:
        return Followed(promise, promise, "proved")
    guess = guess_of(task, seconds=1.0 if quick else 5.0, labels=task.readout == "tags")
    if guess is None:
        return None
    machine = guess.machine
    promise = machine_asked(machine.alphabet, machine.transitions, machine.answers)
    return Followed(promise, promise, "predicted", (guess.assumption(),), guess.everywhere)


def silence(
    question: Question, key: str, values: dict[str, Any] | None = None, change: Advice | None = None
) -> Opinion:
    return question.opinion(SILENT, "unknown", sentence(key, values or {}), changes=(change,) if change else ())


def checked(right: bool) -> Check:
    return "checked" if right else "assumed"


def reached(circle: int, settings: dict[str, Any]) -> bool:
    """Whether real transitions can go around a circle with enough layers."""
    return circle == 1 or (settings["negative"] and circle & (circle - 1) == 0)


def diagonal(question: Question, name: str, settings: dict[str, Any], known: Followed) -> Opinion:
    """Theorems 4 to 6: real transitions of one sign, of two signs, and the delta rule."""
    monoid, negative = actions(known.promise), settings["negative"]
    if monoid is None:
        return silence(question, "models.many_actions")
    steps = 2 ** settings["depth"] if negative else 1
    mirrored = reflections(known.promise)
    if not (negative and name == "delta") and (found := turn(known.promise, monoid, steps)):
        return _stuck(question, name, settings, known, found)
    alternates = name == "delta" and negative and settings["depth"] == settings["order"] == 1
    if alternates and (found := turn(known.promise, monoid, 2, longest=1)):
        return _stuck(question, name, settings, known, found)
    lengths = [one and circle_lengths(one) for one in (monoid, actions(known.whole))]
    allowed = [one for one in lengths if one is not None and all(reached(circle, settings) for circle in one)]
    if allowed:
        circles = sorted(min(allowed, key=len))
        values = {"lengths": " and ".join(map(str, circles))}
        why = sentence("models.halves" if circles else "models.switches", values)
        resting = (SATURATED, Assumption("models.layers"), *known.assumptions)
        grounds = Claim("models.circles", len(circles), "lengths", known.kind, assumptions=resting, evidence=values)
        source = Reference(PAGE, "theorem 5")
        return question.opinion(CASCADE, "can hold", why, grounds, reference=source)
    states = len(known.promise.kept)
    if negative and name == "delta" and settings["order"] >= states:
        values = {"order": settings["order"]}
        resting = (SATURATED, Assumption("models.layers"), Assumption("models.published"), *known.assumptions)
        grounds = Claim("models.order", states, "", known.kind, assumptions=resting, evidence=values)
        source, why = Reference("grazzi2025", "Theorem 4"), sentence("models.all_regular", values)
        return question.opinion(MIRRORS, "can hold", why, grounds, reference=source)
    if negative and name == "delta" and mirrored is not None:
        values = {"given": settings["order"], "order": mirrored.order}
        return silence(question, "models.more_order", values, _order(mirrored))
    return silence(question, "models.undecided", change=Advice("model", "advice.gated"))


def _order(mirrored: Reflections) -> Advice:
    return Advice("model", "advice.order", values={"order": mirrored.order})


def _stuck(question: Question, name: str, settings: dict[str, Any], known: Followed, found: Turn) -> Opinion:
    """A circle that the model cannot follow, and what could."""
    values = {"turn": found.explain(), "times": found.times, "low": -1 if settings["negative"] else 0}
    letter = name == "delta" and settings["negative"]
    why = sentence("models.alternates" if letter else "models.settles", values)
    exact = Assumption("models.step_by_step" if name == "ssm" else "models.margin")
    claim = Claim("models.circle", len(found.circle), "states", known.kind, assumptions=(exact, *known.assumptions))
    grounds = replace(claim, evidence=found.plain())
    changes = [Advice("model", "advice.gated")]
    mirrored = reflections(known.promise)
    if mirrored is not None:
        changes.insert(0, _order(mirrored))
    lengths = circle_lengths(monoid) if (monoid := actions(known.promise)) else set()
    if name == "ssm" and all(reached(circle, {"negative": True}) for circle in lengths):
        changes.insert(0, Advice("model", "advice.deeper" if settings["negative"] else "advice.negative"))
    place = "theorem 6" if name == "delta" else "theorem 4"
    if not known.everywhere:
        return question.opinion(TURNS, "unknown", why, grounds, reference=Reference(PAGE, place))
    rests = {"reference": Reference(PAGE, place), "changes": tuple(changes)}
    return question.opinion(TURNS, "cannot hold", why, grounds, **rests)


def mirrors(question: Question, settings: dict[str, Any], known: Followed) -> Opinion | None:
    """Theorem 7: letters that permute states, each a product of at most `order` reflections; of a state space, whose
    transitions are numbers, a change of signs."""
    mirrored = reflections(known.promise) if settings["negative"] else None
    if mirrored is None or not mirrored.heads or mirrored.order > settings.get("order", 1):
        return None
    signs = "order" not in settings
    if signs and mirrored.dimension > 1:
        return None
    values = {"order": mirrored.order, "heads": len(mirrored.heads), "dimension": mirrored.dimension}
    heads = Assumption(
        "models.heads",
        checked(
            len(mirrored.heads) <= settings["heads"] and mirrored.dimension <= settings["width"] // settings["heads"]
        ),
        values,
    )
    resting = (SATURATED, heads, *(() if signs else (Assumption("models.exact"),)), *known.assumptions)
    evidence = {**values, "margin": round(mirrored.margin, 4)}
    grounds = Claim("models.order", mirrored.order, "", known.kind, assumptions=resting, evidence=evidence)
    source = Reference("grazzi2025", f"Theorem 3; {PAGE}, theorem 7")
    why = sentence("models.signs" if signs else "models.mirrored", values)
    return question.opinion(MIRRORS, "can hold", why, grounds, reference=source)
