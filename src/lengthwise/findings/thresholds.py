"""How many layers a depth of search takes: what the oracle says beside what was measured.

The bars, chosen before any data: a number of layers reaches a depth level if, with its best width, 90 % of the tokens
are right there (the true trace being given), or if half of the problems are solved by writing freely; seeds averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.grouping import DEPTH, by_configuration, mean
from lengthwise.findings.predictions import Prediction, predictions
from lengthwise.findings.redraw import redrawn
from lengthwise.records import Assumption, Claim
from lengthwise.tasks.ladder import TRAINING
from lengthwise.tasks.search.search_task import SearchTask

TOKEN_BAR, SOLVED_BAR = 0.9, 0.5
_DEPTHS = (TRAINING, DEPTH)  # the training range is as deep as its largest size
LOOKED_AT = 16  # items of a level whose nesting is looked at
BEST = Assumption("of all widths the best is taken, so chance favours the models; no interval is given", "assumed")
FOLLOWED = Assumption(f"models that get {100 * TOKEN_BAR:g} % of the tokens right follow the stack", "assumed")
TRIED = Assumption("only the depths and widths of the study were tried, with its training", "assumed")


@dataclass(frozen=True)
class Threshold:
    """One task and encoding at one depth level, or in the training range, whose `value` is its largest depth.

    `layers` are the depths that were tried; `accurate` and `solving` are the smallest that reach the bar with their
    best width (token accuracy, share of problems solved), None if none. `nesting` is how deep the traces nest, None
    where the task has no brackets.
    """

    task: str
    position: str
    level: str
    value: int
    nesting: int | None
    layers: tuple[int, ...]
    accurate: int | None
    solving: int | None
    best_token: tuple[float, ...]  # by layers
    best_solved: tuple[float, ...]
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True)
class Thresholds:
    """All thresholds. The predictions of a row are judged by the layers that reach the bar of tokens."""

    rows: tuple[Threshold, ...]

    def claims(self) -> list[Claim]:
        """One a row, then one for every prediction of the oracle over all rows."""
        return [*(_claim(row) for row in self.rows), *self._verdicts()]

    def plain(self) -> dict[str, Any]:
        return {"rows": [asdict(row) for row in self.rows], "claims": [c.plain() for c in self.claims()]}

    def _verdicts(self) -> list[Claim]:
        judged: dict[str, list[Prediction]] = {}
        for row in self.rows:
            for prediction in row.predictions:
                judged.setdefault(prediction.claim.title, []).append(prediction)
        return [_over_rows(name, found) for name, found in judged.items()]


def thresholds(evidence: Evidence) -> Thresholds:
    """The measured and the predicted thresholds of every task and encoding in the training range and at every depth."""
    groups: dict[tuple[str, str], list[Climb]] = {}
    for climb in evidence.climbs:
        groups.setdefault((climb.task, climb.position), []).append(climb)
    shapes: dict[tuple[str, int, int], dict[str, tuple[int, int]]] = {}
    rows = []
    for (task, position), climbs in groups.items():
        ladder = climbs[0].ladder
        key = (task, ladder.train_size, ladder.settings.items)
        if key not in shapes:
            shapes[key] = _shapes(*key)
        points = [point for climb in climbs for point in climb.ladder.points if point.axis in _DEPTHS]
        if all(point.axis == TRAINING for point in points):
            continue
        values = {point.name: ladder.train_size if point.axis == TRAINING else point.value for point in points}
        for name, value in sorted(values.items(), key=lambda one: one[1]):
            rows.append(_row(task, position, (name, value), climbs, shapes[key].get(name)))
    return Thresholds(tuple(rows))


def _row(
    task: str, position: str, level: tuple[str, int], climbs: Sequence[Climb], shape: tuple[int, int] | None
) -> Threshold:
    best: dict[int, tuple[float, float]] = {}
    for (_, _, depth, _), seeds in by_configuration(climbs).items():
        points = [point for climb in seeds for point in climb.ladder.points if point.name == level[0]]
        token, solved = mean([p.token for p in points]), mean([p.solved / p.decoded for p in points])
        if token is not None and solved is not None:
            before = best.get(depth, (0.0, 0.0))
            best[depth] = (max(token, before[0]), max(solved, before[1]))
    layers = tuple(sorted(best))
    accurate = next((depth for depth in layers if best[depth][0] >= TOKEN_BAR), None)
    return Threshold(
        task=task,
        position=position,
        level=level[0],
        value=level[1],
        nesting=shape[1] if shape else None,
        layers=layers,
        accurate=accurate,
        solving=next((depth for depth in layers if best[depth][1] >= SOLVED_BAR), None),
        best_token=tuple(best[depth][0] for depth in layers),
        best_solved=tuple(best[depth][1] for depth in layers),
        predictions=predictions(*shape, layers, accurate) if shape else (),
    )


def _shapes(task: str, train_size: int, items: int) -> dict[str, tuple[int, int]]:
    """Level → (kinds of brackets, how deep they nest in the items measured); nothing for a task without brackets."""
    shapes = {}
    for name, drawn in redrawn(task, train_size, items).items():
        search = drawn.level.task
        if drawn.level.axis in _DEPTHS and isinstance(search, SearchTask):
            asked = ((item.tokens[: item.asked], item.tokens[item.asked or 0 :]) for item in drawn.items[:LOOKED_AT])
            shapes[name] = (search.kinds, max(max(search.contour(prompt, trace)) for prompt, trace in asked))
    return shapes


def _claim(row: Threshold) -> Claim:
    name = f"layers that reach {row.level}: {row.task}, {row.position}"
    evidence = {
        "layers tried": row.layers,
        "best token accuracy": row.best_token,
        "best share solved": row.best_solved,
        "solving": row.solving,
        "nesting": row.nesting,
        "verdicts": {prediction.claim.title: prediction.because for prediction in row.predictions},
    }
    bar = Assumption(f"reached is: {100 * TOKEN_BAR:g} % of the tokens right, seeds averaged", "checked")
    value = "none" if row.accurate is None else row.accurate
    return Claim(name, value, "layers", "measured", assumptions=(bar, BEST, TRIED), evidence=evidence)


def _over_rows(name: str, found: Sequence[Prediction]) -> Claim:
    """How often a threshold agrees with the measurement, is contradicted, or says nothing about it."""
    count = {
        verdict: sum(p.verdict == verdict for p in found) for verdict in ("agrees", "contradicted", "says nothing")
    }
    status = "refuted" if count["contradicted"] else "holds" if count["agrees"] else "vacuous"
    source = found[0].claim
    return Claim(
        f"{name}: levels where the measurement agrees",
        count["agrees"],
        f"of {count['agrees'] + count['contradicted']} it can judge, of {len(found)}",
        "measured",
        status,
        None,
        (*source.assumptions, BEST, TRIED, FOLLOWED),
        source.reference,
        {**count, "for instance": next((p.because for p in found if p.verdict != "says nothing"), found[0].because)},
    )
