"""What became of published claims about search: each with its figure, and a verdict by one rule.

The claims are those of the abstract of arXiv:2605.19944, in our words; its tasks, grid and metric are not public, so
the figures are about the tasks, models and metrics of the study at hand. A claim is confirmed where the interval of its
figure excludes the value that would mean nothing (0, or one half for a share of pairs) in the claimed direction,
refuted where it excludes it in the other, and undecided otherwise. Where another rule is used, the claim says so. An
encoding that is trained at random offsets is not the one that the claims are about: what it does decides nothing. The
rules, and the least change that counts as a collapse or a floor, were written with the values of the first search54 in
sight; they are meant for the studies after it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import (
    BEYOND,
    DEPTH,
    FARTHEST,
    INDEX,
    LEARNED,
    SHARED_ITEMS,
    Evidence,
    has_learned,
    layers_text,
    place_text,
)
from lengthwise.analyses.ladder.bound import bound
from lengthwise.analyses.ladder.collapse import collapse
from lengthwise.analyses.ladder.constants import ATTACKED, CERTIFIED, constants
from lengthwise.analyses.ladder.encoding import encodings
from lengthwise.analyses.ladder.falls import chance_of, falls
from lengthwise.analyses.ladder.floors import floors
from lengthwise.analyses.ladder.follow import following
from lengthwise.analyses.ladder.monotone import ALL_AXES, monotone
from lengthwise.analyses.ladder.section import LadderAnalysis
from lengthwise.analyses.ladder.thresholds import thresholds
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Interval, Record, Status, Table, columns
from lengthwise.statistics.blocked import blocked_mean
from lengthwise.statistics.paired import paired_over_tasks

ROPE = "rope"
ABSOLUTE = ("learned", "sinusoidal")  # encodings that depend on the position itself
VERDICTS: Mapping[Status, str] = {"holds": "confirmed", "refuted": "refuted"}
ALPHA = 0.05
GROUPS = {
    "distance": (
        "claimed.learned",
        "claimed.bounded",
        "claimed.supposed",
        "claimed.governs",
        "claimed.rising",
        "claimed.strict",
    ),
    "encoding": ("claimed.moved", "claimed.longer", "claimed.constant", "claimed.rope"),
    "depth": ("claimed.layers", "claimed.collapse", "claimed.collapse_layers", "claimed.floor", "claimed.falls"),
}
_SHIFTED = ("+offset", "+randomized", "+floats")  # trained at other positions than those of the input
_HALF = 0.5
_FEWEST = 5  # configurations, or pairs of them, from which a verdict is made
_LEAST = 0.01  # smaller changes of a share or a risk are taken for none

explain(
    {
        "claimed.title": "What became of the claims",
        "claimed.link": "Claims",
        "claimed.text": "Claims of the abstract of arXiv:2605.19944, in our words, each with a figure of this study. "
        "Confirmed: the interval excludes 0 (for a share of pairs: one half) in the claimed direction; refuted: it "
        "does in the other; undecided: neither, or the claim's own conditions are not met here. Costs of a shift are "
        "judged only where the range was learned (a risk of {learned:g} or less). Verdicts are about these problems "
        "and models, and are not corrected for their number.",
        "claimed.confirmed": "confirmed",
        "claimed.refuted": "refuted",
        "claimed.undecided": "undecided",
        "claimed.bounded": "certified bounds of the risk under shift that are below 1",
        "claimed.bounded_rule": "confirmed if some are below 1 and no measured risk exceeds its bound beyond chance",
        "claimed.supposed": "slopes of the error from training to a level that are steeper than any seen in training",
        "claimed.supposed_rule": "refuted if there is one: it is a counterexample and not a matter of chance",
        "claimed.governs": "rank correlation over models of the {quantity} with the increase of the risk beyond "
        "training",
        "claimed.moved": "increase of the risk after an index shift with {first} minus that with {second}",
        "claimed.longer": "increase of the risk with {first} minus that with {second}, {place}",
        "claimed.constant": "share of pairs in which the {quantity} is larger with {first} than with {second}",
        "claimed.rope": "increase of the risk with rope, {place}",
        "claimed.rope_rule": "confirmed if the interval is below {learned:g}, refuted if it is above",
        "claimed.layers": "fewest layers that reached the deepest nesting that any model reached",
        "claimed.layers_rule": "a level is reached when 90 % of its tokens are right; because no number of layers is "
        "proved to be needed at bounded depth, what training reached decides nothing",
        "claimed.collapse": "different stacks that share a state after the last layer, farthest depth minus training",
        "claimed.collapse_rule": "confirmed if the interval is above {least:g}, refuted if it is below: less than one "
        "pair in a hundred is no collapse",
        "claimed.collapse_layers": "different stacks that share a state at the farthest depth, {shallow} minus {deep}",
        "claimed.floor": "pairs of problem and encoding with a floor above 0 at the farthest depth with {shallow}, of "
        "those that learned at every width",
        "claimed.floor_rule": "confirmed if the interval of the floor begins above 0 in all of them and they are two "
        "or more, refuted if an interval allows only floors of {least:g} or less; four widths and two seeds are needed",
        "claimed.falls": "floor of the fewest layers minus floor of the most, farthest depth",
        "claimed.falls_rule": "confirmed if Page's p < 0.05 over problems and encodings and the difference is above 0",
        "claimed.learned": "configurations that learned their range",
        "claimed.learned_rule": (
            "a configuration that did not learn corroborates nothing; the other claims say what the others "
            "corroborate, so this count decides nothing by itself"
        ),
        "claimed.rising": "mean rank correlation of risk and W1 over configurations that learned ({metric} metric)",
        "claimed.rising_rule": "confirmed if it exceeds that of 95 % of shuffles of the distances, with {fewest} "
        "configurations or more",
        "claimed.strict": "configurations whose risk falls beyond chance from a nearer to a farther level ({metric} "
        "metric), of those that learned",
        "claimed.strict_rule": "refuted if there are more than chance would give; no sample confirms a strict order",
        "claimed.not_measured": "this study did not measure it",
        "claimed.offset": (
            "the claim is about {first} as it is (it is trained at positions other than those of the input)"
        ),
        "claimed.pairs_reused": "intervals are for these problems; verdicts are not corrected for their number",
        "claimed.distance": "Risk and distance",
        "claimed.encoding": "Encodings",
        "claimed.depth": "Depth and width",
    }
)
_REUSED = Assumption("claimed.pairs_reused")


@analyses.register("claimed")
@dataclass(frozen=True)
class ClaimedAnalysis(LadderAnalysis):
    """Published claims about search, each with its figure and verdict."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:  # noqa: ARG002
        claims = claimed(evidence)
        text = [sentence("claimed.text", {"learned": LEARNED})]
        tables = [table for name in GROUPS if (table := _table(name, claims)).rows]
        return arranged("claimed", PageLayout(claims=0), text, claims, tables)


def claimed(evidence: Evidence) -> tuple[Claim, ...]:
    """Every claim that the study measured something for, in the order of the abstract."""
    parts = (_bounds, _governs, _moved, _longer, _constants, _rope, _layers, _collapses, _floors, _learned, _rising)
    return tuple(claim for part in (*parts, _strict) for claim in part(evidence))


def verdict(claim: Claim) -> str:
    """Confirmed, refuted or undecided."""
    return sentence(f"claimed.{VERDICTS.get(claim.status, 'undecided')}")


def _made(
    name: str,
    value: float | None,
    unit: str,
    status: Status,
    interval: Interval | None = None,
    evidence: Mapping[str, Any] = {},
    given: Iterable[Assumption] = (),
) -> Claim:
    if value is None:
        status, given = "unknown", (*given, Assumption("claimed.not_measured", "caveat"))
    return Claim(f"claimed.{name}", value, unit, "measured", status, interval, (*given, _REUSED), evidence=evidence)


def _judged(
    name: str,
    value: float | None,
    unit: str,
    interval: Interval | None,
    evidence: Mapping[str, Any] = {},
    given: tuple[Assumption, ...] = (),
    middle: float = 0.0,
) -> Claim:
    """By the interval alone; undecided where an assumption that the claim needs is violated."""
    decided = interval is not None and middle not in interval
    if any(one.check == "violated" for one in given):
        decided = False
    status: Status = "unknown"
    if decided and interval is not None:
        status = "holds" if interval.low > middle else "refuted"
    return _made(name, value, unit, status, interval, evidence, given)


def _bounds(evidence: Evidence) -> list[Claim]:
    """Kantorovich's inequality with a certified constant, and with the steepest slope seen in training."""
    found = bound(evidence)
    if not found.points:
        return []
    certified, supposed, steeper = found.claims()[:3]
    broken = certified.evidence["broken"]
    status: Status = "refuted" if broken else "holds" if certified.status == "holds" else "vacuous"
    counts = {"broken": broken, "median": certified.evidence["median"]}
    seen = {"exceeded": supposed.value, "beyond": supposed.evidence["beyond_chance"]}
    false: Status = "refuted" if steeper.value else "unknown"
    rule, other = Assumption("claimed.bounded_rule", "checked"), Assumption("claimed.supposed_rule", "checked")
    return [
        _made("bounded", _number(certified), certified.unit, status, None, counts, (rule,)),
        _made("supposed", _number(steeper), steeper.unit, false, None, seen, (other,)),
    ]


def _governs(evidence: Evidence) -> list[Claim]:
    claims = []
    for quantity in (ATTACKED, CERTIFIED):
        found = following(evidence, quantity)
        if found is not None:
            spread, mean = found.correlation.spread, found.correlation.mean
            about = {"quantity": sentence(f"constants.{quantity}"), "models": found.models}
            interval = spread and spread.interval
            claims.append(_judged("governs", mean, "", interval, about, (SHARED_ITEMS,)))
    return claims


def _moved(evidence: Evidence) -> list[Claim]:
    return _against_rope(evidence, "moved", INDEX)


def _longer(evidence: Evidence) -> list[Claim]:
    places = dict.fromkeys((*(axis for axis in evidence.axes if axis == DEPTH), BEYOND))
    return [claim for place in places for claim in _against_rope(evidence, "longer", place)]


def _against_rope(evidence: Evidence, name: str, place: str) -> list[Claim]:
    """Each absolute encoding minus rope; intervals are those of `encoding`."""
    claims = []
    for effect in encodings(evidence).at(place):
        names = (effect.first, effect.second)
        if ROPE in names and any(_is_absolute(one) for one in names):
            first = names[0] if names[1] == ROPE else names[1]
            swapped = names[0] == ROPE
            value, ends = effect.difference, effect.claim.interval
            if swapped:
                value, ends = None if value is None else -value, ends and _mirrored(ends, 0.0)
            over = effect.claim.evidence.get("over")
            about = {
                "first": first,
                "second": ROPE,
                "place": place_text(place),
                "pairs": effect.pairs,
                "measured": effect.measured,
                "over": over and ([-over[1], -over[0]] if swapped else list(over)),
                "detectable": effect.claim.evidence.get("detectable"),
            }
            claims.append(_judged(name, value, "risk", ends, about, (SHARED_ITEMS, *_plain(first))))
    return claims


def _constants(evidence: Evidence) -> list[Claim]:
    claims = []
    for one in constants(evidence):
        names = (one.first, one.second)
        if one.quantity in (CERTIFIED, ATTACKED) and ROPE in names and any(_is_absolute(name) for name in names):
            first = names[0] if names[1] == ROPE else names[1]
            share, ends = _number(one.claim), one.claim.interval
            if names[0] == ROPE:
                share, ends = None if share is None else 1 - share, ends and _mirrored(ends, 1.0)
            about = {"quantity": sentence(f"constants.{one.quantity}"), "first": first, "second": ROPE}
            about |= {"pairs": one.larger[1], "factor": one.claim.evidence.get("ratio")}
            given = (SHARED_ITEMS, *_plain(first))
            claims.append(_judged("constant", share, "of pairs", ends, about, given, _HALF))
    return claims


def _rope(evidence: Evidence) -> list[Claim]:
    """What a shift costs with rope itself."""
    claims = []
    rule = Assumption("claimed.rope_rule", "checked", {"learned": LEARNED})
    learned = [climb for climb in evidence.climbs if climb.position == ROPE and has_learned([climb])]
    for place in (INDEX, BEYOND):
        blocks: dict[str, dict[str, list[float]]] = {}
        for climb in learned:
            if (increase := climb.increase_at(place)) is not None:
                blocks.setdefault(climb.task, {}).setdefault(climb.configuration.model, []).append(increase)
        if blocks:
            found = blocked_mean(blocks)
            ends = found.spread and found.spread.interval
            about = {"place": place_text(place), "models": sum(map(len, _units(blocks)))}
            # Small increases confirm this claim, so the sides of the rule are exchanged.
            claim = _judged("rope", found.mean, "risk", ends, about, (SHARED_ITEMS, rule), LEARNED)
            turned: Mapping[Status, Status] = {"holds": "refuted", "refuted": "holds"}
            claims.append(dataclasses.replace(claim, status=turned.get(claim.status, claim.status)))
    return claims


def _layers(evidence: Evidence) -> list[Claim]:
    rows = [row for row in thresholds(evidence).rows if row.accurate is not None and row.nesting is not None]
    if not rows:
        return []
    deepest = max(row.nesting or 0 for row in rows)
    fewest = min(row.accurate or 0 for row in rows if row.nesting == deepest)
    broken = sum(any(one.agreement == "contradicted" for one in row.predictions) for row in rows)
    about = {"nesting": deepest, "levels": len(rows), "tried": evidence.layers, "below_pointers": broken}
    rule = Assumption("claimed.layers_rule", "checked")
    return [_made("layers", fewest, f"for nesting {deepest}", "unknown", None, about, (rule,))]


def _collapses(evidence: Evidence) -> list[Claim]:
    found, layers = collapse(evidence), evidence.layers
    given = (SHARED_ITEMS, Assumption("claimed.collapse_rule", "checked", {"least": _LEAST}))
    change, unit = found.changes[0], "share of pairs"
    ends = change.interval if change.evidence["n"] >= _FEWEST else None
    claims = [_judged("collapse", _number(change), unit, ends, {}, given, _LEAST)]
    last = [row for row in found.strata if row.axis == DEPTH and row.layer == row.configuration.depth]
    farthest = {row.configuration: row for row in sorted(last, key=lambda row: row.value)}
    sides: dict[int, dict[str, float]] = {}
    for (task, position, depth, width), row in farthest.items():
        if row.shared is not None:
            sides.setdefault(depth, {})[f"{task}, {position}, width {width}"] = row.shared
    if len(layers) > 1 and layers[0] in sides and layers[-1] in sides:
        paired = paired_over_tasks("claimed.collapse_layers", sides[layers[0]], sides[layers[-1]])
        about = {"shallow": layers_text(layers[0]), "deep": layers_text(layers[-1]), "pairs": paired.evidence["n"]}
        value, ends = _number(paired), paired.interval if paired.evidence["n"] >= _FEWEST else None
        claims.append(_judged("collapse_layers", value, unit, ends, about, given, _LEAST))
    return [claim for claim in claims if claim.value is not None]


def _floors(evidence: Evidence) -> list[Claim]:
    """Floors count where their exponent was fitted, which takes four widths and two seeds."""
    found, layers = floors(evidence), evidence.layers
    at = [floor for floor in found.at(FARTHEST) if floor.learned and floor.free and floor.interval is not None]
    flat = [floor for floor in at if floor.depth == layers[0]]
    above = sum(bool(floor.found) for floor in flat)
    none = any(floor.interval is not None and floor.interval.high <= _LEAST for floor in flat)
    status: Status = "refuted" if none else "holds" if above == len(flat) > 1 else "unknown"
    about, rule = {"shallow": layers_text(layers[0])}, Assumption("claimed.floor_rule", "checked", {"least": _LEAST})
    claims = [_made("floor", above if flat else None, f"of {len(flat)}", status, None, about, (rule,))]
    falling, difference = found.verdict(FARTHEST), found.difference[FARTHEST]
    value = _number(difference)
    if value is not None:
        about = {"blocks": len(falling.evidence["blocks"]), "of": falling.evidence["blocks_measured"]}
        rule = Assumption("claimed.falls_rule", "checked")
        claims.append(_made("falls", value, "risk", falling.status, difference.interval, about, (rule, SHARED_ITEMS)))
    return claims


def _learned(evidence: Evidence) -> list[Claim]:
    groups = evidence.configurations
    learned = sum(has_learned(group) for group in groups.values())
    about = {"models": len(evidence.climbs), "seeds": len({climb.seed for climb in evidence.climbs})}
    rule = Assumption("claimed.learned_rule", "checked")
    return [_made("learned", learned, f"of {len(groups)}", "unknown", None, about, (rule,))]


def _rising(evidence: Evidence) -> list[Claim]:
    claims = []
    for one in monotone(evidence):
        if one.axis == ALL_AXES and one.page is not None:
            about = {"metric": one.metric, "p_value": one.page.evidence.get("p_shared"), "monotone": one.count}
            about |= {"judged": one.judged}
            given = (Assumption("claimed.rising_rule", "checked", {"fewest": _FEWEST}), SHARED_ITEMS)
            status: Status = one.page.status if one.judged >= _FEWEST else "unknown"
            claims.append(_made("rising", _number(one.page), "", status, None, about, given))
    return claims


def _strict(evidence: Evidence) -> list[Claim]:
    claims = []
    for metric in evidence.metrics():
        found = falls(evidence, metric)
        if found:
            count, p_value = sum(one.beyond_chance for one in found), chance_of(found)
            worst = min(found, key=lambda one: one.p_value)
            about = {"metric": metric, "p_value": p_value, "drop": worst.drop}
            about |= {"near": worst.near, "far": worst.far, "configuration": worst.configuration.label}
            given = (Assumption("claimed.strict_rule", "checked"), SHARED_ITEMS)
            status: Status = "refuted" if p_value < ALPHA else "unknown"
            claims.append(_made("strict", count, f"of {len(found)}", status, None, about, given))
    return claims


def _is_absolute(name: str) -> bool:
    return name.partition("+")[0].partition(":")[0] in ABSOLUTE


def _plain(first: str) -> tuple[Assumption, ...]:
    """A violated assumption where the encoding is trained at other positions than those of its input."""
    moved = any(wrapper in first for wrapper in _SHIFTED)
    return (Assumption("claimed.offset", "violated", {"first": first}),) if moved else ()


def _mirrored(ends: Interval, total: float) -> Interval:
    return dataclasses.replace(ends, low=total - ends.high, high=total - ends.low)


def _units(blocks: Mapping[str, Mapping[str, list[float]]]) -> list[list[float]]:
    return [values for units in blocks.values() for values in units.values()]


def _number(claim: Claim) -> float | None:
    return claim.value if isinstance(claim.value, int | float) else None


def figure_of(claim: Claim) -> tuple[str, str]:
    """The figure of a claim and its interval, in words."""
    value, unit, ends = _number(claim), claim.unit, claim.interval
    if value is None:
        return "–", ""
    if unit.startswith(("of ", "for ")) and ends is None:
        return f"{value:g} {unit}", ""
    sign = "" if unit.startswith("of ") else "+"
    interval = f"{ends.low:{sign}.3f} to {ends.high:{sign}.3f}" if ends else ""
    return f"{value:{sign}.3f} {unit}".strip(), interval


def _table(name: str, claims: Iterable[Claim]) -> Table:
    described = columns("claim:text | figure:text | interval:text 95 % interval | verdict:text")
    rows = tuple((claim.title, *figure_of(claim), verdict(claim)) for claim in claims if claim.key in GROUPS[name])
    return Table(f"claimed.{name}", described, rows, sentence(f"claimed.{name}"))
