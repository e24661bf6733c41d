"""What the training data of a study's models guarantee of their loss: the records of the probe `guarantee` together.

For fresh documents and for tokens in the contexts seen, the smallest bound of every run is compared with chance, and
with the quantity it bounds where the probe measured that on fresh items or computed it from the task's probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent, sources
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.words import counted
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Cell, Claim, Record, Table, columns

PROBE, LEVELS = "guarantee", ("documents", "tokens")

explain(
    {
        "guarantee.title": "What the training data guarantee",
        "guarantee.link": "Guarantee",
        "guarantee.below": "{of}: in {useful} of {runs} the loss is at most {low:.3f} to {high:.3f} nats per token, "
        "where chance is {chance:.3f}.",
        "guarantee.not_below": "{of}: no bound on the loss is below chance ({chance:.3f} nats per token).",
        "guarantee.truth": "The measured loss exceeds {broken} of {measured} bounds, which are up to {gap:.3f} nats "
        "per token above it.",
        "guarantee.missing": "No finished run has a record of the probe guarantee.",
        "guarantee.of_documents": "Fresh documents",
        "guarantee.of_tokens": "Tokens in the contexts seen",
        "guarantee.below_chance": "{of}: runs whose loss is bounded below chance",
        "guarantee.exceeded": "{of}: bounds on the loss that the measured loss exceeds",
        "guarantee.smallest": "the smallest of several bounds is taken, each of which holds by itself with its own "
        "probability",
        "guarantee.loss": "Bounds on the loss, nats per token",
    }
)
_COLUMNS = columns(
    "task:text | position:text encoding | variant:text setting | seed:whole | of:text | bound | chance | measured | "
    "low from | high to | verdict:text | inequality:text by | kind:text"
)


@analyses.register("guarantee")
@dataclass(frozen=True)
class GuaranteeAnalysis(Analysis):
    """What the training data of each model guarantee of its loss."""

    def analyse(self, study: StudyContent) -> Record:
        rows: list[dict[str, Cell]] = []
        for run in study.runs:
            if record := run.record(PROBE):
                start = {"task": run.task, "position": run.position, "variant": run.variant or None, "seed": run.seed}
                rows += [{**start, **found} for level in LEVELS if (found := smallest_bound(record, level))]
        if not rows:
            return Record(PROBE, title=sentence("guarantee.title"), failed=sentence("guarantee.missing"))
        parts = [_found([row for row in rows if row["of"] == level]) for level in LEVELS]
        table = Table(
            "guarantee.loss", _COLUMNS, tuple(tuple(row.values()) for row in rows), sentence("guarantee.loss")
        )
        text = [line for lines, _ in parts for line in lines]
        return arranged(PROBE, PageLayout(), text, (claim for _, claims in parts for claim in claims), [table])

    def applies(self, study: StudyContent) -> bool:
        return PROBE in sources(study.runs).values()


def smallest_bound(record: Record, level: str) -> dict[str, Cell]:
    """The smallest bound of the loss at a level, whose claims have the keys `tokens.loss.LEVEL.INEQUALITY`, with what
    was measured; nothing where there is none."""
    bounds = {tuple(claim.key.split(".")): claim for claim in record.claims if isinstance(claim.value, float)}
    own = {key[3]: claim for key, claim in bounds.items() if key[:3] == ("tokens", "loss", level)}
    if not own:
        return {}
    by = min(own, key=lambda name: float(own[name].value or 0.0))
    bound, place = own[by], {"target": "loss", "level": level, "inequality": by}
    known = [c for c in record.claims if all(c.evidence.get(name) == value for name, value in place.items())]
    truth, ends = (known[0].value, known[0].interval) if known else (None, None)
    verdict = "below chance" if bound.status == "holds" else "vacuous"
    verdict = "exceeded" if known and not known[0].evidence["below_bound"] else verdict
    found = {"of": level, "bound": bound.value, "chance": bound.evidence["chance"], "measured": truth}
    found |= {"low": ends.low if ends else None, "high": ends.high if ends else None}
    return {**found, "verdict": verdict, "inequality": by, "kind": bound.kind}


def _found(rows: list[dict[str, Cell]]) -> tuple[list[str], list[Claim]]:
    """What the bounds of one level say together, in words and as claims."""
    if not rows:
        return [], []
    totals = [float(row["bound"] or 0.0) for row in rows if row["verdict"] == "below chance"]
    about = {
        "of": sentence(f"guarantee.of_{rows[0]['of']}"),
        "chance": rows[0]["chance"],
        "bounds": [row["bound"] for row in rows],
    }
    status, given = "holds" if totals else "vacuous", (Assumption("guarantee.smallest"),)
    of = f"of {len(rows)}"
    claims = [Claim("guarantee.below_chance", len(totals), of, "measured", status, None, given, evidence=about)]
    said = {**about, "useful": len(totals), "runs": counted(len(rows), "run")}
    said |= {"low": min(totals, default=0.0), "high": max(totals, default=0.0)}
    text = [sentence("guarantee.below" if totals else "guarantee.not_below", said)]
    if measured := [row for row in rows if row["measured"] is not None]:
        broken = sum(row["verdict"] == "exceeded" for row in measured)
        gap = max(float(row["bound"] or 0.0) - float(row["measured"] or 0.0) for row in measured)
        text.append(sentence("guarantee.truth", {"broken": broken, "measured": len(measured), "gap": gap}))
        claims.append(Claim("guarantee.exceeded", broken, f"of {len(measured)}", "measured", evidence=about))
    return text, claims
