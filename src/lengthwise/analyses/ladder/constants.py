"""What ladders store of a model's sensitivity, compared by encoding and by depth: certified and attacked constants,
and how fast risk rises with distance.

All are compared in pairs of models that are alike in everything else: in how many the first has the larger value, by
the sign test, and by which factor (geometric mean). Of depths the deepest and the shallowest are compared. All models
count, whether they learned or not, except for the rise of the risk, which is a cost of a shift.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import (
    BEYOND,
    IN_RANGE,
    LEARNED_VALUES,
    SHARED_ITEMS,
    Climb,
    Evidence,
    has_learned,
    layers_text,
    mean,
)
from lengthwise.analyses.ladder.section import LadderAnalysis
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Record, Table, columns
from lengthwise.statistics.signs import sign_test

CERTIFIED, ATTACKED, IN_TRAINING, RISE = "certified", "attacked", "attacked_training", "rise"
QUANTITIES = (CERTIFIED, ATTACKED, IN_TRAINING, RISE)
_CHOSEN = Assumption("constants.learned", "checked", LEARNED_VALUES)
_LOWER = Assumption("constants.lower_bound")

explain(
    {
        "constants.title": "Constants by encoding and by depth",
        "constants.link": "Constants",
        "constants.text": (
            "For pairs of models that differ in nothing else: how often the first has the larger value, and "
            "by what factor. A smaller Lipschitz constant lets the outputs change less; whether risk rises "
            "more slowly is a separate question, which the last quantity answers."
        ),
        "constants.certified": "certified Lipschitz constant",
        "constants.attacked": "attacked Lipschitz constant",
        "constants.attacked_training": "attacked Lipschitz constant, at training items",
        "constants.rise": "increase of the risk per unit of W1 ({metric})",
        "constants.larger": "pairs in which the {quantity} is larger with {first} than with {second}",
        "constants.learned": "only pairs of which both models learned (a risk of at most {learned:g} in range)",
        "constants.lower_bound": (
            "an attacked constant is the largest stretch found at any level, which is a lower bound on the "
            "constant; a better attack might rank models differently"
        ),
        "constants.table": "Which is larger",
        "constants.note": "Larger: pairs in which the first is larger, of those that differ; from and to: the interval "
        "of that share. p: sign test. Factor: geometric mean of first / second.",
        "constants.values": "Geometric means by encoding and depth",
        "constants.values_note": "Over all models with this encoding and number of layers; the increase of the risk "
        "over those that learned, as an arithmetic mean.",
    }
)

Key = tuple[str, str, int, int, int]  # task, encoding, depth, width, seed


@analyses.register("constants")
@dataclass(frozen=True)
class ConstantsAnalysis(LadderAnalysis):
    """Certified and attacked constants, and the rise of the risk with distance, by encoding and depth."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:  # noqa: ARG002
        result = constants(evidence)
        text = (sentence("constants.text"),)
        claims = [one.claim for one in result]
        tables = [_table(result), _values(evidence)]
        return arranged("constants", PageLayout(claims=0), text, claims, tables)

    def says(self, evidence: Evidence) -> bool:
        return any(one.claim.value is not None for one in constants(evidence))


@dataclass(frozen=True)
class Direction:
    """One quantity of models that differ in one thing alone: `first` and `second` are two encodings or two depths."""

    quantity: str
    first: str
    second: str
    claim: Claim

    @property
    def larger(self) -> tuple[int, int]:
        """In how many pairs the first is larger, and how many differ."""
        known = self.claim.evidence
        return known["larger"], known["larger"] + known["smaller"]


@functools.lru_cache(maxsize=4)
def constants(evidence: Evidence) -> tuple[Direction, ...]:
    """Every quantity of every pair of encodings, and of the deepest and the shallowest models."""
    metric = next(iter(evidence.metrics()), "")
    rises = _rises(evidence, metric)
    found = []
    for quantity in QUANTITIES:
        values = {key: value for key, value in _measured(evidence, quantity, rises).items() if value is not None}
        name = sentence(f"constants.{quantity}", {"metric": metric})
        for one, two in itertools.combinations(evidence.encodings, 2):
            found.append(_direction(quantity, name, (one, two), *(_with(values, 1, side) for side in (one, two))))
        if len(evidence.layers) > 1:
            deep, flat = evidence.layers[-1], evidence.layers[0]
            names = (layers_text(deep), layers_text(flat))
            found.append(_direction(quantity, name, names, *(_with(values, 2, side) for side in (deep, flat))))
    return tuple(found)


def _measured(evidence: Evidence, quantity: str, rises: Mapping[Key, float]) -> dict[Key, float | None]:
    if quantity == RISE:
        return dict(rises)
    return {_key(climb): constant_of(climb, quantity) for climb in evidence.climbs}


def constant_of(climb: Climb, quantity: str) -> float | None:
    """The certified or attacked Lipschitz constant of a model; None where none is stored."""
    if quantity == CERTIFIED:
        return climb.ladder.certified
    points = climb.points_at(IN_RANGE) if quantity == IN_TRAINING else climb.ladder.points
    return max((point.slope for point in points if point.slope is not None), default=None)


def _rises(evidence: Evidence, metric: str) -> dict[Key, float]:
    """The mean increase of the risk beyond training per unit of W1 beyond that of the training level, of the models
    that learned; none where distances are not known or do not grow."""
    found = {}
    for climb in evidence.climbs:
        shifts = evidence.shift_of(climb.task, metric)
        start = mean(shifts[point.name].w1 for point in climb.points_at(IN_RANGE) if point.name in shifts)
        far = mean(shifts[point.name].w1 for point in climb.points_at(BEYOND) if point.name in shifts)
        increase = climb.increase_at(BEYOND)
        if None not in (start, far, increase) and has_learned([climb]) and (far or 0) > (start or 0):
            found[_key(climb)] = (increase or 0.0) / ((far or 0.0) - (start or 0.0))
    return found


def _key(climb: Climb) -> Key:
    return climb.task, climb.position, climb.depth, climb.width, climb.seed


def _with(values: Mapping[Key, float], place: int, wanted: str | int) -> dict[str, float]:
    """The values of the models that have `wanted` at a place of their key, named by all the rest."""
    return {
        ", ".join(map(str, (*key[:place], *key[place + 1 :]))): value
        for key, value in values.items()
        if key[place] == wanted
    }


def _direction(
    quantity: str, name: str, names: tuple[str, str], first: Mapping[str, float], second: Mapping[str, float]
) -> Direction:
    about = {"quantity": name, "first": names[0], "second": names[1]}
    claim = sign_test("constants.larger", first, second, about=about)
    own = {RISE: (_CHOSEN,), ATTACKED: (_LOWER,), IN_TRAINING: (_LOWER,)}.get(quantity, ())
    claim = dataclasses.replace(claim, assumptions=(*claim.assumptions, SHARED_ITEMS, *own))
    return Direction(quantity, *names, claim)


def _table(result: Sequence[Direction]) -> Table:
    described = columns(
        "quantity:text | first:text | second:text against | larger:text | low:share from | high:share to | "
        "p_value p | ratio factor | ratio_low factor from | ratio_high factor to"
    )
    rows = []
    for one in result:
        known, ends = one.claim.evidence, one.claim.interval
        counts = "{} of {}".format(*one.larger)
        share = (ends.low, ends.high) if ends else (None, None)
        factor = tuple(known.get(name) for name in ("ratio", "ratio_low", "ratio_high"))
        rows.append((known["quantity"], one.first, one.second, counts, *share, known.get("p_value"), *factor))
    return Table("constants.larger", described, tuple(rows), _said("table"), _said("note"))


def _values(evidence: Evidence) -> Table:
    """The usual size of each quantity, by encoding and depth."""
    described = columns(
        "encoding:text | layers:whole | models:whole | certified | attacked | attacked_training attacked, training | "
        "rise increase of the risk per W1"
    )
    rises = _rises(evidence, next(iter(evidence.metrics()), ""))
    rows = []
    for name, depth in itertools.product(evidence.encodings, evidence.layers):
        own = [climb for climb in evidence.climbs if (climb.position, climb.depth) == (name, depth)]
        means = [_geometric([constant_of(climb, q) for climb in own]) for q in (CERTIFIED, ATTACKED, IN_TRAINING)]
        rise = mean(rises[_key(climb)] for climb in own if _key(climb) in rises)
        if own:
            rows.append((name, depth, len(own), *means, rise))
    return Table("constants.values", described, tuple(rows), _said("values"), _said("values_note"), detail=True)


def _geometric(values: Sequence[float | None]) -> float | None:
    known = [math.log(value) for value in values if value]
    return math.exp(math.fsum(known) / len(known)) if known else None


def _said(what: str) -> str:
    return sentence(f"constants.{what}")
