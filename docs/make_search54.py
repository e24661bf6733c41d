"""Write docs/search54.md from docs/data/search54.json.gz, the ladders of the study that was run for it.

python docs/make_search54.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lengthwise.findings.all import Findings, findings
from lengthwise.findings.encoding import trained_at_offsets
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.gather import gather_summary
from lengthwise.findings.grouping import BEYOND, IN_RANGE, LEARNED, axes_of, by_configuration, has_learned, mean
from lengthwise.records import Claim
from lengthwise.shift.level_shift import LevelShift
from lengthwise.studies.summary import read_summary
from lengthwise.tasks.ladder import TRAINING

DATA = Path(__file__).parent / "data" / "search54.json.gz"
PAGE = Path(__file__).with_name("search54.md")

_HEAD = """# Risk against distance: what search54 found

<!-- Written by docs/make_search54.py from docs/data/search54.json.gz; a change here is lost. -->

{models} models, {seeds} seeds per configuration, preset `small`. The ladders and distances of all of them lie in
`docs/data/search54.json.gz` (no weights, no curves), which these commands made:

```console
$ {command}
$ lengthwise study export search54 --summary docs/data/search54.json.gz
```

`lengthwise study show docs/data/search54.json.gz` prints the answer below again; add `--json` for every figure. Rules
and words are those of [findings.md](findings.md), the problems those of [search.md](search.md).

| | |
|---|---|
| claimed | {claimed} |
| found | {found} |
| how sure | {sure} |
"""


def page(path: Path = DATA) -> str:
    """The whole of docs/search54.md."""
    evidence, summary = gather_summary(path), read_summary(path)
    found = findings(evidence)
    seeds = {climb.seed for climb in evidence.climbs}
    head = _HEAD.format(
        models=len(evidence.climbs),
        seeds=len(seeds),
        command=summary.command,
        claimed=" ".join(found.answer.claimed),
        found=" ".join(found.answer.found),
        sure=" ".join(found.answer.sure),
    )
    parts = (_in_range, _distances, _losses, _monotone, _bound, _floors, _collapse, _thresholds, _encodings)
    return "\n".join([head, *(part(evidence, found) for part in parts)])


def _in_range(_: Evidence, found: Findings) -> str:
    rows = [
        (
            row.task,
            f"{row.learned} of {row.configurations}",
            f"{row.token:.1%}",
            f"{row.solved} of {row.decoded}",
            f"{row.best[1]}, depth {row.best[2]}, width {row.best[3]}",
        )
        for row in found.in_range.tasks
    ]
    names = ("problem", "configurations that learned", "best: tokens right", "best: problems solved", "best")
    text = (
        f"A configuration has learned if its risk in range, averaged over seeds, is {LEARNED:g} or less: "
        f"{1 - LEARNED:.0%} of the tokens right on average over items. What a shift costs is judged only where that is "
        "so. Seeds are pooled for the best."
    )
    return _section("What was learned in range", text, names, rows)


def _distances(evidence: Evidence, _: Findings) -> str:
    rows = []
    for task in _tasks(evidence):
        for axis in axes_of(evidence):
            far = {shift.metric: shift for shift in _farthest(evidence, task, axis)}
            rows.append((task, next(iter(far.values())).name, *(_distance(far, name) for name in evidence.metrics())))
    text = "W1 from training to the last level of each axis, and in brackets how many times its null that is."
    return _section("How far the levels are", text, ("problem", "level", *evidence.metrics()), rows)


def _farthest(evidence: Evidence, task: str, axis: str) -> list[LevelShift]:
    along = [shift for shift in evidence.shifts if (shift.task, shift.axis) == (task, axis)]
    return [shift for shift in along if shift.value == max(one.value for one in along)]


def _distance(far: dict[str, LevelShift], metric: str) -> str:
    return f"{far[metric].w1:.3g} ({far[metric].ratio:.1f})" if metric in far else "–"


def _losses(evidence: Evidence, _: Findings) -> str:
    groups = {key: group for key, group in by_configuration(evidence.climbs).items() if has_learned(group)}
    rows = []
    for task in _tasks(evidence):
        climbs = [climb for key, group in groups.items() if key[0] == task for climb in group]
        if not climbs:
            continue
        cells = []
        for axis in (TRAINING, *axes_of(evidence)):
            values = sorted({point.value for point in climbs[0].ladder.points if point.axis == axis})
            risks = [
                mean([p.risk for c in climbs for p in c.ladder.points if (p.axis, p.value) == (axis, value)])
                for value in values
            ]
            cells.append(" ".join(f"{risk:.2f}" for risk in risks if risk is not None))
        rows.append((task, str(len(climbs)), *cells))
    text = "Mean risk of the models whose configuration learned its range, level by level along each axis."
    return _section("What is lost", text, ("problem", "models", TRAINING, *axes_of(evidence)), rows)


def _monotone(_: Evidence, found: Findings) -> str:
    rows = []
    for one in found.monotone:
        verdict, page = one.verdict(), one.page
        control = "–" if one.control is None else f"{one.control.quantile:.0f}"
        rho = "–" if page is None else _number(page)
        rows.append((one.metric, one.axis, f"{one.count} of {one.judged}", control, rho, verdict.status))
    text = (
        "Of the configurations that learned, how many are monotone (rank correlation of risk and W1 of 0.8 or more, "
        "p < 0.05), how many are in 95 % of shuffles at most, and the mean correlation. The claim holds if half or "
        "more are monotone, and more than shuffles give. Shuffles exchange all levels, and levels of one axis resemble "
        "each other, so the control is a weak one. Along one axis metrics that order its levels alike give the same "
        "figures."
    )
    names = ("metric", "levels", "monotone", "shuffled", "mean correlation", "claim")
    return _section("Does risk rise with the distance?", text, names, rows)


def _bound(_: Evidence, found: Findings) -> str:
    return _claims("Is the risk below the bound?", found.bound.claims())


def _floors(_: Evidence, found: Findings) -> str:
    floors = found.floors
    pairs = zip(floors.falling, floors.difference, strict=True)
    rows = [
        (
            place,
            f"{len(verdict.evidence['blocks'])} of {verdict.evidence['blocks measured']}",
            {"holds": "yes", "refuted": "no"}.get(verdict.status, "unknown"),
            _p(verdict),
            _number(difference),
        )
        for (place, verdict), (_, difference) in pairs
    ]
    names = ("place", "problems and encodings", "falls with depth", "Page's p", "shallowest minus deepest")
    text = (
        "The floor of risk(width) = floor + b width^-c. Beyond training it is compared for those problems and "
        "encodings alone of which every depth and width learned; with fewer than two nothing can be said."
    )
    return _section("What can width not take away?", text, names, rows)


def _collapse(_: Evidence, found: Findings) -> str:
    return _claims("Where is collapse?", found.collapse.claims())


def _thresholds(_: Evidence, found: Findings) -> str:
    rows = []
    for row in found.thresholds.rows:
        best = " ".join(f"{token:.2f}" for token in row.best_token)
        rows.append((row.task, row.position, row.level, best, str(row.accurate or "none"), str(row.solving or "none")))
    text = (
        "Tokens right of the best width with 1, 2 and 3 layers, and the fewest layers that get 90 % of the tokens "
        "right, or solve half of the problems."
    )
    names = ("problem", "encoding", "level", "tokens right by layers", "for 90 %", "to solve half")
    verdicts = [claim for claim in found.thresholds.claims() if "agrees" in claim.title]
    return _section("How many layers does a depth take?", text, names, rows) + "\n" + _claim_table(verdicts)


def _encodings(_: Evidence, found: Findings) -> str:
    effects = found.encodings
    rows = [
        (
            f"{one.first} minus {one.second}",
            f"{one.place}, {one.task}" if one.task else one.place,
            "risk" if one.place == IN_RANGE else "increase",
            f"{one.pairs} of {one.measured}",
            _number(one.claim),
            _p(one.claim),
            _signed(one.risk_of_all),
            _signed(one.increase_of_all),
        )
        for one in (*effects.effects, *effects.by_task)
    ]
    notes = trained_at_offsets(dict.fromkeys(name for one in effects.at(BEYOND) for name in (one.first, one.second)))
    text = (
        "In range the risks of all pairs of models are compared, which says how well each encoding learns. Beyond "
        "training the increase over the risk in range is compared, and only in pairs of which both models learned: an "
        "encoding that learns less has more risk everywhere, and that is no cost of the shift. Pairs share items and "
        "training data, so intervals are on the narrow side. The last two columns are the differences over all pairs, "
        f"learned or not; nothing is concluded from them. {' '.join(f'{note}.' for note in notes)}"
    )
    names = ("encodings", "place", "compared", "pairs", "difference", "p", "risk, all pairs", "increase, all pairs")
    return _section("Does the encoding matter?", text.strip(), names, rows)


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _tasks(evidence: Evidence) -> list[str]:
    return list(dict.fromkeys(climb.task for climb in evidence.climbs))


def _p(*claims: Claim) -> str:
    values = [claim.evidence["p_value"] for claim in claims if claim.evidence.get("p_value") is not None]
    return f"{values[0]:.2g}" if values else "–"


def _number(claim: Claim) -> str:
    """A claim's value with its interval."""
    if claim.value is None or isinstance(claim.value, str | bool):
        return str(claim.value)
    text = str(claim.value) if isinstance(claim.value, int) else f"{claim.value:.3f}"
    return text if claim.interval is None else f"{text} [{claim.interval.low:.3f}, {claim.interval.high:.3f}]"


def _claims(title: str, claims: Iterable[Claim]) -> str:
    return f"## {title}\n\n{_claim_table(claims)}"


def _claim_table(claims: Iterable[Claim]) -> str:
    rows = [(claim.title, f"{_number(claim)} {claim.unit}".strip(), claim.kind, claim.status) for claim in claims]
    return _table(("claim", "value", "kind", "status"), rows)


def _section(title: str, text: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return f"## {title}\n\n{text}\n\n{_table(names, rows)}"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
