"""The answer in words: what is claimed, what was found, how sure that is. Every sentence is made from claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.findings.bound import bound
from lengthwise.findings.bound_records import BoundFinding
from lengthwise.findings.encoding import EncodingEffect, Encodings, encodings, trained_at_offsets
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.floor_fit import FEWEST_WIDTHS
from lengthwise.findings.floors import Floors, floors
from lengthwise.findings.grouping import BEYOND, FARTHEST, IN_RANGE, LEARNED, by_configuration, has_learned
from lengthwise.findings.monotone import ALL_AXES, Monotone, monotone
from lengthwise.records import Claim

CLAIMED = (
    "The abstract of arXiv:2605.19944 says, in our words, that Transformers which search by backtracking lose accuracy "
    "monotonically with the Wasserstein distance of the test from training, in 54 configurations.",
    "It also says that rotary positions bound what a shift costs where absolute ones do not, and that width cannot "
    "stand in for depth; its tasks, grid and metric are not public, so those used here are our own.",
)


@dataclass(frozen=True)
class Answer:
    """A few sentences each. `claims` are those that the sentences are made from."""

    claimed: tuple[str, ...]
    found: tuple[str, ...]
    sure: tuple[str, ...]
    claims: tuple[Claim, ...]

    def plain(self) -> dict[str, Any]:
        own = [claim.plain() for claim in self.claims]
        return {"claimed": list(self.claimed), "found": list(self.found), "sure": list(self.sure), "claims": own}


def answer(evidence: Evidence) -> Answer:
    """The answer, everything that it needs being worked out first."""
    return answer_from(evidence, monotone(evidence), bound(evidence), floors(evidence), encodings(evidence))


def answer_from(
    evidence: Evidence, rising: Sequence[Monotone], bounds: BoundFinding, floor: Floors, effects: Encodings
) -> Answer:
    """The answer from findings that are there already."""
    together = [one for one in rising if one.axis == ALL_AXES]
    fall, kept = floor.verdict(FARTHEST), bounds.claims()
    widest = _widest(effects.at(BEYOND))
    start = _same_pair(widest, effects.at(IN_RANGE))
    found = (_rises(together), _falls(fall), _differs(widest, start, effects), *_offsets(widest, effects))
    sure = (_rests_on(evidence), f"{_axes_apart(rising, together)}; {_bounded(kept)}.")
    compared = [effect.claim for effect in (widest, start) if effect]
    return Answer(CLAIMED, found, sure, (*(one.verdict() for one in together), fall, *compared, *kept[:2]))


def _rises(together: Sequence[Monotone]) -> str:
    known = [one for one in together if one.control is not None]
    if not known:
        return (
            "Whether risk rises with the distance from training is unknown, as no configuration learned its range or "
            "too few levels were measured."
        )
    holds = [one.metric for one in known if one.verdict().status == "holds"]
    if len(holds) == len(known):
        verdict = "The claim holds for {share}" + (", in every metric" if len(known) > 1 else "")
    elif not holds:
        verdict = "The claim does not hold for {share}" + (", in any metric" if len(known) > 1 else "")
    else:
        verdict = f"The claim depends on the metric, and holds for {{share}} in {_listed(holds)} alone"
    verdict = verdict.format(share="half or more of the configurations that learned")
    counts = _listed([f"{one.count} ({one.metric})" for one in known])
    chance = max(one.control.quantile for one in known if one.control)
    return (
        f"{verdict}: with all levels in one order, risk rises with W1 in {counts} of {known[0].judged}, where shuffled "
        f"distances give {chance:g} at most in 95 % of cases."
    )


def _falls(fall: Claim) -> str:
    """Whether depth lowers what width leaves, at the farthest depth of search."""
    p_value = fall.evidence.get("p_value")
    if p_value is None:
        every = fall.evidence.get("blocks measured", 0)
        return (
            "Whether more layers lower the risk that width leaves at the farthest depth is unknown, as only "
            f"{len(fall.evidence.get('blocks', ()))} of {every} pairs of problem and encoding learned with every "
            f"number of layers and {FEWEST_WIDTHS} widths."
        )
    verb = {"holds": "falls", "refuted": "rises"}.get(fall.status, "is not shown to fall")
    ends = fall.evidence["interval"]
    interval = f", interval {ends[0]:+.3f} to {ends[1]:+.3f}" if ends else ""
    of = f"{len(fall.evidence['blocks'])} of {fall.evidence['blocks measured']} pairs of problem and encoding"
    return (
        f"At the farthest depth the risk that width leaves {verb} with the number of layers: shallowest minus deepest "
        f"is {fall.evidence['shallowest minus deepest']:+.3f} ({_p(p_value)}{interval}), judged on {of}, which learned "
        "with every number of layers and width."
    )


def _widest(effects: Sequence[EncodingEffect]) -> EncodingEffect | None:
    """The pair of encodings to name: the widest apart of those that differ for certain, else of all."""
    known = [effect for effect in effects if effect.difference is not None]
    certain = [effect for effect in known if _certain(effect, len(effects))]
    return max(certain or known, key=lambda effect: abs(effect.difference or 0.0), default=None)


def _certain(effect: EncodingEffect, pairs: int) -> bool:
    """Whether p < 0.05 when corrected for the number of pairs that were looked at (Bonferroni)."""
    return effect.claim.evidence.get("p_value", 1.0) * pairs < 0.05


def _same_pair(effect: EncodingEffect | None, effects: Sequence[EncodingEffect]) -> EncodingEffect | None:
    """The same two encodings at another place."""
    names = effect and (effect.first, effect.second)
    return next((one for one in effects if (one.first, one.second) == names and one.difference is not None), None)


def _differs(effect: EncodingEffect | None, start: EncodingEffect | None, every: Encodings) -> str:
    """What a shift costs with the two encodings that differ most, and how they compare in range (`start`)."""
    effects = every.at(BEYOND)
    if effect is None or effect.difference is None:
        return "Encodings cannot be compared beyond training, as no two models of a pair learned their range."
    pairs = len(effects)
    certain = sum(_certain(one, pairs) for one in effects)
    more = "more" if effect.difference > 0 else "less"
    verdict = "" if _certain(effect, pairs) else ", which is undecided"
    lead = f"{certain} of {pairs} pairs of encodings differ beyond chance: b" if pairs > 1 else "B"
    where = f"over the {effect.pairs} of {effect.measured} pairs of models in which both learned"
    said = (
        f"{lead}eyond training the risk of {effect.first} increases by {abs(effect.difference):.3f} {more} than that "
        f"of {effect.second}, {where} ({_spread(effect)}){verdict}{_by_axis(effect, every)}"
    )
    if start is not None and start.difference is not None:
        more = "more" if start.difference > 0 else "less"
        said += (
            f"; in range {start.first} has {abs(start.difference):.3f} {more} risk, over all pairs ({_spread(start)})"
        )
    return f"{said}."


def _by_axis(effect: EncodingEffect, every: Encodings) -> str:
    """The differences along each axis, where their signs differ."""
    same = [one for one in every.effects if (one.first, one.second) == (effect.first, effect.second)]
    along = {one.place: one.difference for one in same if one.place not in (IN_RANGE, BEYOND) and one.difference}
    if len({difference > 0 for difference in along.values()}) < 2:
        return ""
    return f", the axes differing in sign: {_listed([f'{axis} {value:+.3f}' for axis, value in along.items()])}"


def _offsets(effect: EncodingEffect | None, every: Encodings) -> list[str]:
    studied = {name for one in every.effects for name in (one.first, one.second)}
    compared = (effect.first, effect.second) if effect else ()
    return [f"{sentence}." for sentence in trained_at_offsets(compared, studied)]


def _spread(effect: EncodingEffect) -> str:
    interval = effect.claim.interval
    ends = f", interval {interval.low:+.3f} to {interval.high:+.3f}" if interval else ""
    return f"{_p(effect.claim.evidence['p_value'])}{ends}"


def _rests_on(evidence: Evidence) -> str:
    groups = by_configuration(evidence.climbs)
    if not groups:
        return "No model was measured."
    seeds = {len(group) for group in groups.values()}
    learned = sum(has_learned(group) for group in groups.values())
    each = f"{min(seeds)}" if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
    noun = "seed" if seeds == {1} else "seeds"
    spread = ", so that nothing is known of the spread between seeds" if seeds == {1} else ""
    left = "" if learned == len(groups) else ", and the cost of a shift is judged only where the range was learned"
    return (
        f"This rests on {len(evidence.climbs)} small models, {each} {noun} per configuration{spread}; {learned} of "
        f"{len(groups)} configurations learned their training range (a risk of {LEARNED:g} or less there){left}."
    )


def _axes_apart(rising: Sequence[Monotone], together: Sequence[Monotone]) -> str:
    """The first metric, axis by axis."""
    first = together[0].metric if together else ""
    apart = [one for one in rising if one.metric == first and one.axis != ALL_AXES and one.judged]
    if not apart:
        return "Axes cannot be judged one by one"
    parts = [f"{one.count} of {one.judged} ({one.axis})" for one in apart]
    return f"Axis by axis risk rises with W1 (metric {first}) in {_listed(parts)} configurations that learned"


def _bounded(claims: Sequence[Claim]) -> str:
    if len(claims) < 2:
        return "no bound could be made"
    certified, supposed = claims[0], claims[1]
    vacuous = certified.status == "vacuous"
    said = "says nothing anywhere" if vacuous else f"is below 1 in {certified.value} {certified.unit}"
    return (
        f"the certified bound {said}, and the one guessed from training is broken in {supposed.value} {supposed.unit}"
    )


def _p(p_value: float) -> str:
    return f"p = {p_value:.2g}" if p_value >= 0.0005 else "p < 0.0005"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
