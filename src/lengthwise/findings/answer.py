"""The answer in words: what is claimed, what was found, how sure that is. Every sentence is made from claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.findings.bound import bound
from lengthwise.findings.bound_records import BoundFinding
from lengthwise.findings.encoding import EncodingEffect, Encodings, encodings
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.floors import Floors, floors
from lengthwise.findings.grouping import BEYOND, FARTHEST, by_configuration, has_learned
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
    """Two sentences each. `claims` are those that the sentences are made from."""

    claimed: tuple[str, str]
    found: tuple[str, str]
    sure: tuple[str, str]
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
    found = (_rises(together), f"{_falls(fall)}; {_differs(widest, effects.at(BEYOND))}.")
    sure = (_rests_on(evidence), f"{_axes_apart(rising, together)}; {_bounded(kept)}.")
    effect = (widest.claim,) if widest else ()
    return Answer(CLAIMED, found, sure, (*(one.verdict() for one in together), fall, *effect, *kept[:2]))


def _rises(together: Sequence[Monotone]) -> str:
    known = [one for one in together if one.control is not None]
    if not known:
        return "Whether risk rises with the distance from training is unknown, as too few levels were measured."
    holds = [one.metric for one in known if one.verdict().status == "holds"]
    if len(holds) == len(known):
        verdict = "The claim holds here" + (" in every metric" if len(known) > 1 else "")
    elif not holds:
        verdict = "The claim does not hold here" + (" in any metric" if len(known) > 1 else "")
    else:
        verdict = f"The claim depends on the metric, and holds in {_listed(holds)} alone"
    counts = _listed([f"{one.count} ({one.metric})" for one in known])
    chance = max(one.control.quantile for one in known if one.control)
    return (
        f"{verdict}: with all levels in one order, risk rises with W1 in {counts} of {known[0].judged} configurations, "
        f"where shuffled distances give {chance:g} at most in 95 % of cases."
    )


def _falls(fall: Claim) -> str:
    if fall.status == "unknown":
        return "Whether the floor that width leaves falls with depth is unknown"
    p_value = fall.evidence["p_value"]
    verb = "falls" if fall.status == "holds" else "does not fall"
    return f"At the farthest depth the floor that width leaves {verb} with the number of layers ({_p(p_value)})"


def _widest(effects: Sequence[EncodingEffect]) -> EncodingEffect | None:
    """The pair of encodings to name: the widest apart of those that differ for certain, else of all."""
    known = [effect for effect in effects if effect.difference is not None]
    certain = [effect for effect in known if _certain(effect, len(effects))]
    return max(certain or known, key=lambda effect: abs(effect.difference or 0.0), default=None)


def _certain(effect: EncodingEffect, pairs: int) -> bool:
    """Whether p < 0.05 when corrected for the number of pairs that were looked at (Bonferroni)."""
    return effect.claim.evidence.get("p_value", 1.0) * pairs < 0.05


def _differs(effect: EncodingEffect | None, effects: Sequence[EncodingEffect]) -> str:
    if effect is None or effect.difference is None:
        return "encodings cannot be compared"
    pairs = len(effects)
    certain = sum(_certain(one, pairs) for one in effects)
    interval = effect.claim.interval
    ends = f", interval {interval.low:+.3f} to {interval.high:+.3f}" if interval else ""
    more = "more" if effect.difference > 0 else "less"
    by = f"{abs(effect.difference):.3f} {more} risk beyond training than {effect.second}"
    chance = "" if _certain(effect, pairs) else ", which may be chance"
    start = f"{certain} of {pairs} pairs of encodings differ beyond chance, and " if pairs > 1 else ""
    return f"{start}{effect.first} has {by} ({_p(effect.claim.evidence['p_value'])}{ends}){chance}"


def _rests_on(evidence: Evidence) -> str:
    groups = by_configuration(evidence.climbs)
    if not groups:
        return "No model was measured."
    seeds = {len(group) for group in groups.values()}
    learned = sum(has_learned(group) for group in groups.values())
    each = f"{min(seeds)}" if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
    noun = "seed" if seeds == {1} else "seeds"
    spread = ", so that nothing is known of the spread between seeds" if seeds == {1} else ""
    lost = "" if learned == len(groups) else ", and the others have less to lose"
    return (
        f"This rests on {len(evidence.climbs)} small models, {each} {noun} a configuration{spread}; {learned} of "
        f"{len(groups)} configurations learned their training range{lost}."
    )


def _axes_apart(rising: Sequence[Monotone], together: Sequence[Monotone]) -> str:
    """The first metric, axis by axis."""
    first = together[0].metric if together else ""
    apart = [one for one in rising if one.metric == first and one.axis != ALL_AXES and one.judged]
    if not apart:
        return "Axes cannot be told apart"
    parts = [f"{one.axis} {one.count} of {one.judged}" for one in apart]
    return f"Axis by axis (metric {first}) risk rises with W1 in {_listed(parts)}"


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
