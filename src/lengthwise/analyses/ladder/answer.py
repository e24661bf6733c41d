"""The answer of a study of ladders in words: what was found, what is claimed elsewhere, how sure that is.

Every sentence is made from claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.evidence import BEYOND, FARTHEST, IN_RANGE, INDEX, LEARNED, Evidence, has_learned
from lengthwise.analyses.ladder.bound import bound
from lengthwise.analyses.ladder.encoding import EncodingEffect, Encodings, encodings, trained_at_offsets
from lengthwise.analyses.ladder.floor_fit import FEWEST_WIDTHS
from lengthwise.analyses.ladder.floors import floors
from lengthwise.analyses.ladder.monotone import ALL_AXES, Monotone, monotone
from lengthwise.analyses.words import listed, p_text
from lengthwise.messages import explain, sentence
from lengthwise.records import Claim

explain(
    {
        "answer.claimed": (
            "Claimed: the abstract of arXiv:2605.19944 says, in our words, that Transformers which search by "
            "backtracking lose accuracy monotonically with the Wasserstein distance between test and "
            "training, in 54 configurations. It also says that rotary positions bound what a shift costs "
            "where absolute ones do not, and that width cannot replace depth; its tasks, grid and metric are "
            "not public, so those used here are our own."
        ),
        "answer.rises_unknown": (
            "Whether risk rises with the distance from training is unknown, because no configuration learned "
            "its range or too few levels were measured."
        ),
        "answer.rises_all": "The claim holds for half or more of the configurations that learned{every}",
        "answer.rises_none": "The claim does not hold for half or more of the configurations that learned{any}",
        "answer.rises_some": "The claim depends on the metric, and holds for half or more of the configurations that "
        "learned only in {metrics}",
        "answer.rises": "{verdict}: with all levels in one order, risk rises with W1 in {counts}, where "
        "shuffled distances give at most {chance:g} in 95 % of cases.",
        "answer.falls_unknown": (
            "Whether more layers lower the risk that width leaves at the farthest depth is unknown, because "
            "only {blocks} of {every} pairs of problem and encoding learned with every number of layers and "
            "{widths} widths."
        ),
        "answer.falls": "At the farthest depth the risk that width leaves {verb} with the number of layers: "
        "shallowest minus deepest is {difference:+.3f} ({spread}), judged on {blocks} of {every} pairs of problem and "
        "encoding, which learned with every number of layers and width.",
        "answer.verb_holds": "falls",
        "answer.verb_refuted": "rises",
        "answer.verb_unknown": "is not shown to fall",
        "answer.no_pairs": (
            "Encodings cannot be compared beyond training, because in no pair did both models learn their range."
        ),
        "answer.one_encoding": "Encodings cannot be compared, because only one was studied.",
        "answer.differs": "Beyond training the risk of {first} increases by {difference:.3f} {more} than that of "
        "{second}, over the {pairs} of {measured} pairs of models in which both learned "
        "({spread}){undecided}{by_axis}{in_range}.",
        "answer.pairs_differ": "{certain} of {pairs} pairs of encodings differ beyond chance.",
        "answer.undecided": ", which is undecided",
        "answer.by_axis": ", the axes differing in sign: {axes}",
        "answer.in_range": "; in range {first} has {difference:.3f} {more} risk, over all pairs ({spread})",
        "answer.no_model": "No model was measured.",
        "answer.rests_on": "How sure: this rests on {models} small models, {each} per configuration{spread}; "
        "{learned} of {configurations} configurations learned their training range (a risk of {bar:g} or less "
        "there){left}.",
        "answer.no_spread": ", so the spread between seeds is unknown",
        "answer.only_learned": ", and the cost of a shift is judged only where the range was learned",
        "answer.no_axes": "Axes cannot be judged one by one; {bounded}.",
        "answer.axes": "Axis by axis risk rises with W1 (metric {metric}) in {counts} configurations that learned; "
        "{bounded}.",
        "answer.no_bound": "no bound could be made",
        "answer.bound_vacuous": "the certified bound says nothing anywhere, and the one guessed from training is "
        "broken in {broken}",
        "answer.bound_useful": "the certified bound is below 1 in {useful}, and the one guessed from training is "
        "broken in {broken}",
        "answer.missed_none": "Nothing: every configuration (a problem, an encoding, layers and width) learned its "
        "training range.",
        "answer.missed": "{missed} of {configurations} configurations (a problem, an encoding, layers and width): "
        "{names}. They say nothing about the cost of a shift.",
        "answer.advise_encoding": "Use `{better}` rather than `{worse}`: beyond training its risk increases by "
        "{difference:.3f} less ({spread}).",
        "answer.advise_no_encoding": "The encoding decides nothing here: no two of them differ beyond chance in what a "
        "shift costs.",
        "answer.advise_layers_holds": "Add layers rather than width: at the farthest depth, the risk that width leaves "
        "falls with the number of layers.",
        "answer.advise_layers_unknown": "Do not count on more layers: at the farthest depth, the risk that width "
        "leaves is not shown to fall with them.",
        "answer.advise_layers_refuted": "Do not add layers: at the farthest depth, the risk that width leaves rises "
        "with them.",
    }
)

_NAMED = 2  # configurations that a sentence names


@dataclass(frozen=True)
class LadderAnswer:
    """A few sentences each: what was found, how sure that is, which configurations did not learn, and what to do next.
    `claims` are those that the sentences are made from."""

    found: tuple[str, ...]
    sure: tuple[str, ...]
    claims: tuple[Claim, ...]
    missed: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def text(self) -> tuple[str, ...]:
        return (*self.found, sentence("answer.claimed"), *self.sure)


def answer(evidence: Evidence) -> LadderAnswer:
    """The answer, from all findings that it needs."""
    rising, effects = monotone(evidence), encodings(evidence)
    together = [one for one in rising if one.axis == ALL_AXES]
    fall, kept = floors(evidence).verdict(FARTHEST), bound(evidence).claims()
    widest = _widest(effects.at(BEYOND))
    start = _same_pair(widest, effects.at(IN_RANGE))
    found = (_rises(together), _falls(fall), *_differs(widest, start, effects), *_offsets(widest, effects))
    sure = (_rests_on(evidence), _axes_apart(rising, together, _bounded(kept)))
    compared = [effect.claim for effect in (widest, start) if effect]
    claims = (*(one.verdict() for one in together), fall, *compared, *kept[:2])
    return LadderAnswer(found, sure, claims, _missed(evidence), _advice(widest, len(effects.at(BEYOND)), fall))


def _rises(together: Sequence[Monotone]) -> str:
    known = [one for one in together if one.control is not None]
    if not known:
        return sentence("answer.rises_unknown")
    holds = [one.metric for one in known if one.verdict().status == "holds"]
    several = len(known) > 1
    key = "all" if len(holds) == len(known) else "some" if holds else "none"
    values = {"every": ", in every metric" * several, "any": ", in any metric" * several, "metrics": listed(holds)}
    counts = _counts(known)
    chance = max(one.control.quantile for one in known if one.control)
    verdict = sentence(f"answer.rises_{key}", values)
    return sentence("answer.rises", {"verdict": verdict, "counts": counts, "chance": chance})


def _counts(known: Sequence[Monotone]) -> str:
    """How many configurations each metric calls monotone; not every metric is known of every task."""
    if len({one.judged for one in known}) > 1:
        return listed([f"{one.count} of {one.judged} ({one.metric})" for one in known], len(known))
    return listed([f"{one.count} ({one.metric})" for one in known], len(known)) + f" of {known[0].judged}"


def _falls(fall: Claim) -> str:
    """Whether depth lowers what width leaves, at the farthest depth of search."""
    known = fall.evidence
    values = {"blocks": len(known.get("blocks", ())), "every": known.get("blocks_measured", 0)}
    if known.get("p_value") is None:
        return sentence("answer.falls_unknown", {**values, "widths": FEWEST_WIDTHS})
    verb = sentence(f"answer.verb_{fall.status}")
    spread = _spread(known["p_value"], known["interval"])
    difference = known["shallowest_minus_deepest"]
    return sentence("answer.falls", {**values, "verb": verb, "spread": spread, "difference": difference})


def _widest(effects: Sequence[EncodingEffect]) -> EncodingEffect | None:
    """The pair of encodings to name: the widest apart of those that differ for certain, else of all."""
    known = [effect for effect in effects if effect.difference is not None]
    certain = [effect for effect in known if _certain(effect, len(effects))]
    return max(certain or known, key=lambda effect: abs(effect.difference or 0.0), default=None)


def _certain(effect: EncodingEffect, pairs: int) -> bool:
    """Whether the interval, if there is one, excludes 0, and p < 0.05 when corrected for the number of pairs that were
    looked at (Bonferroni)."""
    clear = effect.claim.interval is None or effect.decided
    return clear and effect.claim.evidence.get("p_value", 1.0) * pairs < 0.05


def _same_pair(effect: EncodingEffect | None, effects: Sequence[EncodingEffect]) -> EncodingEffect | None:
    """The same two encodings at another place."""
    names = effect and (effect.first, effect.second)
    return next((one for one in effects if (one.first, one.second) == names and one.difference is not None), None)


def _differs(effect: EncodingEffect | None, start: EncodingEffect | None, every: Encodings) -> list[str]:
    """What a shift costs with the two encodings that differ most, and how they compare in range (`start`)."""
    effects = every.at(BEYOND)
    if effect is None:
        return [sentence("answer.no_pairs" if effects else "answer.one_encoding")]
    pairs = len(effects)
    values = _of_effect(effect)
    values["undecided"] = "" if _certain(effect, pairs) else sentence("answer.undecided")
    values["by_axis"] = _by_axis(effect, every)
    values["in_range"] = "" if start is None else sentence("answer.in_range", _of_effect(start))
    certain = sum(_certain(one, pairs) for one in effects)
    several = [sentence("answer.pairs_differ", {"certain": certain, "pairs": pairs})] if pairs > 1 else []
    return [sentence("answer.differs", values), *several]


def _of_effect(effect: EncodingEffect) -> dict[str, Any]:
    difference, interval = effect.difference or 0.0, effect.claim.interval
    return {
        "first": effect.first,
        "second": effect.second,
        "difference": abs(difference),
        "more": "more" if difference > 0 else "less",
        "pairs": effect.pairs,
        "measured": effect.measured,
        "spread": _spread(effect.claim.evidence["p_value"], interval and (interval.low, interval.high)),
    }


def _by_axis(effect: EncodingEffect, every: Encodings) -> str:
    """The differences along each axis, where their signs differ."""
    same = [one for one in every.effects if (one.first, one.second) == (effect.first, effect.second)]
    along = {one.place: one.difference for one in same if one.place not in (IN_RANGE, INDEX, BEYOND) and one.difference}
    if len({difference > 0 for difference in along.values()}) < 2:
        return ""
    axes = listed([f"{axis} {value:+.3f}" for axis, value in along.items()], len(along))
    return sentence("answer.by_axis", {"axes": axes})


def _offsets(effect: EncodingEffect | None, every: Encodings) -> list[str]:
    studied = {name for one in every.effects for name in (one.first, one.second)}
    compared = (effect.first, effect.second) if effect else ()
    return [note.statement for note in trained_at_offsets(compared, studied)]


def _spread(p_value: float, ends: tuple[float, float] | None) -> str:
    return p_text(p_value) + (f", interval {ends[0]:+.3f} to {ends[1]:+.3f}" if ends else "")


def _rests_on(evidence: Evidence) -> str:
    groups = evidence.configurations
    if not groups:
        return sentence("answer.no_model")
    seeds = {len(group) for group in groups.values()}
    learned = sum(has_learned(group) for group in groups.values())
    each = f"{min(seeds)}" if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
    values: Mapping[str, Any] = {
        "models": len(evidence.climbs),
        "each": f"{each} seed{'' if seeds == {1} else 's'}",
        "spread": sentence("answer.no_spread") if seeds == {1} else "",
        "learned": learned,
        "configurations": len(groups),
        "bar": LEARNED,
        "left": "" if learned == len(groups) else sentence("answer.only_learned"),
    }
    return sentence("answer.rests_on", values)


def _missed(evidence: Evidence) -> tuple[str, ...]:
    """The configurations that did not learn their range."""
    groups = evidence.configurations
    names = [f"{one.task} ({one.model})" for one, group in groups.items() if not has_learned(group)]
    if not groups:
        return ()
    values = {"missed": len(names), "configurations": len(groups), "names": listed(names, _NAMED)}
    return (sentence("answer.missed" if names else "answer.missed_none", values),)


def _advice(widest: EncodingEffect | None, pairs: int, fall: Claim) -> tuple[str, ...]:
    """Which encoding and whether more layers, as far as the study decides it."""
    said = []
    if widest is not None and _certain(widest, pairs):
        values = _of_effect(widest)
        first_is_worse = values["more"] == "more"
        worse, better = (values["first"], values["second"]) if first_is_worse else (values["second"], values["first"])
        said.append(sentence("answer.advise_encoding", {**values, "worse": worse, "better": better}))
    elif widest is not None:
        said.append(sentence("answer.advise_no_encoding"))
    if fall.evidence.get("p_value") is not None:
        said.append(sentence(f"answer.advise_layers_{fall.status}"))
    return tuple(said)


def _axes_apart(rising: Sequence[Monotone], together: Sequence[Monotone], bounded: str) -> str:
    """The first metric, axis by axis, and what became of the bounds."""
    first = together[0].metric if together else ""
    apart = [one for one in rising if one.metric == first and one.axis != ALL_AXES and one.judged]
    if not apart:
        return sentence("answer.no_axes", {"bounded": bounded})
    counts = listed([f"{one.count} of {one.judged} ({one.axis})" for one in apart], len(apart))
    return sentence("answer.axes", {"metric": first, "counts": counts, "bounded": bounded})


def _bounded(claims: Sequence[Claim]) -> str:
    if len(claims) < 2:
        return sentence("answer.no_bound")
    certified, supposed = claims[0], claims[1]
    key = "answer.bound_vacuous" if certified.status == "vacuous" else "answer.bound_useful"
    values = {"useful": f"{certified.value} {certified.unit}", "broken": f"{supposed.value} {supposed.unit}"}
    return sentence(key, values)
