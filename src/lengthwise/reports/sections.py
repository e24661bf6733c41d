"""The sentences of the page that depend on the numbers: what was left out of a picture, what failed, what it ran on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lengthwise.probes.curve.standard import ADVICE
from lengthwise.reports.comparisons import MOST_CLAIMS, encoding_pairs
from lengthwise.reports.content import Content
from lengthwise.reports.curve_panels import MOST_SIZES
from lengthwise.reports.figure import Figure
from lengthwise.reports.plateaus import MOST_FITS, Plateau
from lengthwise.reports.predictions import Predictions
from lengthwise.reports.sparsity import sparsity_sentences
from lengthwise.reports.training_panels import drawn_runs
from lengthwise.reports.words import counted, duration, listed
from lengthwise.studies.learning import learning

_MOST_REASONS = 20
_ROWS_IN_SIGHT = 26  # of the heat map, in a window of 800 pixels
_ROWS_OF_MATRIX = 36  # in the height the page gives it


@dataclass(frozen=True)
class Described:
    """The sentences by the section they stand in; empty where there is nothing to say."""

    counts: list[str]
    failures: list[tuple[str, str]]
    heat_map: str
    curves: str
    sparsity: list[str]
    predictions: str
    undecided: list[tuple[str, str]]
    seeds: str
    training: str
    plateaus: str
    claims: str
    facts: list[tuple[str, str]]


def described(
    content: Content, sections: Mapping[str, Sequence[Figure]], fits: Sequence[Plateau], foretold: Predictions
) -> Described:
    """What is to be said beside the figures."""
    return Described(
        counts=_counts(content),
        failures=_failures(content),
        heat_map=_heat_map(content),
        curves=_curves(content),
        sparsity=sparsity_sentences(content),
        predictions=_predictions(content, foretold),
        undecided=_undecided(foretold),
        seeds=_seeds(content, sections["seeds"]),
        training=_training(content),
        plateaus=_plateaus(content, fits),
        claims=_claims(content),
        facts=_facts(content),
    )


def _counts(content: Content) -> list[str]:
    counts, done = content.counts, content.counts["done"]
    states = [f"{counts[state]:,} {state}" for state in ("failed", "running", "waiting") if counts[state]]
    texts = [", ".join([f"{done:,} of {counted(len(content.runs), 'run')} done", *states])]
    if done:
        kept = len(content.kept)
        learned = learning(content.cells)
        if learned.judged:
            texts.append(f"{len(learned.learned):,} of {counted(learned.judged, 'cell')} learned")
        texts.append(f"{counted(kept, 'seed')} kept, {done - kept:,} discarded")
    if content.seconds:
        texts.append(f"wall time {duration(content.seconds)}")
    return texts


def _failures(content: Content) -> list[tuple[str, str]]:
    """Each reason with the runs it stopped."""
    groups: dict[str, list[str]] = {}
    for run in content.runs:
        if run.state == "failed":
            name = ", ".join([run.task, run.position, *([run.variant] if run.variant else []), f"seed {run.seed}"])
            groups.setdefault(run.reason or "no reason was noted", []).append(name)
    found = [(reason, listed(names, 3)) for reason, names in groups.items()]
    left = len(found) - _MOST_REASONS
    return found[:_MOST_REASONS] + ([(f"{left} other reasons", "see the table of runs")] if left > 0 else [])


def _heat_map(content: Content) -> str:
    """The legend in words, of the signs that occur."""
    cells = content.cells
    parts = []
    if any(cell.censored for cell in cells):
        parts.append("≥: a seed holds to the largest size measured, and was not measured further")
    if any(cell.learned is False for cell in cells):
        parts.append(f"hatched: not learned in range, which says nothing about longer inputs; {ADVICE}")
    if any(not cell.certain for cell in cells):
        parts.append("–: answers are drawn at random, so exact match is not meaningful")
    if any(cell.failed and not cell.done for cell in cells):
        parts.append("failed: no run finished")
    if any(not cell.done and not cell.failed for cell in cells):
        parts.append("waiting: no run has finished yet")
    if any(cell.failed and cell.done for cell in cells):
        parts.append("some cells lost seeds to failed runs, which hovering tells")
    if len(content.rows) > _ROWS_IN_SIGHT:
        parts.append(f"scroll inside the picture to see all {len(content.rows):,} rows")
    return "; ".join(parts)


def _curves(content: Content) -> str:
    parts = []
    if missing := [row.label for row in content.rows if not any(c.done for c in content.row_cells(row).values())]:
        parts.append(f"No run has finished for {listed(missing)}.")
    if any(len(run.detail["curve"]["size"]) > MOST_SIZES for run in content.runs if run.summary):
        parts.append(f"Of curves with more than {MOST_SIZES} sizes, {MOST_SIZES} evenly spaced ones are drawn.")
    return " ".join(parts)


def _predictions(content: Content, foretold: Predictions) -> str:
    """The legend in words, of the frames that occur."""
    parts = []
    if foretold.apart("not learned"):
        parts.append(f"Hatched: not learned in the training range, so that nothing can be judged; {ADVICE}.")
    if foretold.apart("not measured"):
        parts.append("– in a dashed frame: no run has finished, or none was measured beyond the training range.")
    if len(content.rows) > _ROWS_OF_MATRIX:
        parts.append(f"Scroll inside the picture to see all {len(content.rows):,} rows.")
    return " ".join(parts)


def _undecided(foretold: Predictions) -> list[tuple[str, str]]:
    """Each reason why the oracle did not decide, with the cells it holds for."""
    found = [(why.rstrip("."), listed([row.where for row in rows], 3)) for why, rows in foretold.undecided.items()]
    left = len(found) - _MOST_REASONS
    return found[:_MOST_REASONS] + ([(f"{left} other reasons", "hovering over a cell tells")] if left > 0 else [])


def _seeds(content: Content, strips: Sequence[Figure]) -> str:
    if strips:
        return ""
    if not content.counts["done"]:
        return "No run has finished yet."
    return "No cell has two finished seeds, so there is no spread to show: one seed is an anecdote."


def _training(content: Content) -> str:
    drawn, done = len(drawn_runs(content)), content.counts["done"]
    if not done:
        return "No run has finished yet."
    if drawn == done:
        return f"All {counted(done, 'finished run')}, a line each."
    return f"Of {counted(done, 'finished run')}, {drawn:,} are drawn: the first seed of evenly spaced cells."


def _plateaus(content: Content, fits: Sequence[Plateau]) -> str:
    if not fits:
        return ""
    found = sum(fit.claim.value is not None for fit in fits)
    text = f"A plateau was found in {found} of {counted(len(fits), 'cell')}; the claims say why not in the others."
    done = sum(bool(cell.done) for cell in content.cells)
    return text + (f" Of {done:,} cells the first {MOST_FITS} were fitted." if done > len(fits) else "")


def _claims(content: Content) -> str:
    number = len(content.encodings)
    pairs, possible = len(encoding_pairs(content)), number * (number - 1) // 2
    parts = []
    if pairs < possible:
        parts.append(f"Of {possible} pairs of encodings, the {pairs} with the first one are compared.")
    if pairs * len(content.rows) > MOST_CLAIMS:
        parts.append(f"Of comparisons within one task, at most {MOST_CLAIMS} are listed.")
    return " ".join(parts)


def _facts(content: Content) -> list[tuple[str, str]]:
    """Versions, threads, executor and time."""
    where = dict(content.environment)
    packages = where.pop("packages", {}) or {}
    rows = [(str(name), _text(value)) for name, value in where.items()]
    rows += [(f"{name} (package)", _text(value)) for name, value in packages.items()]
    if content.executor:
        rows.append(("executor", content.executor))
    if content.seconds:
        rows.append(("wall time", duration(content.seconds)))
    computing = sum(run.seconds or 0 for run in content.runs)
    rows.append(("training and measuring, all runs together", duration(computing)))
    reasons = Counter(run.ended for run in content.runs if run.ended)
    if reasons:
        rows.append(("training ended by", "; ".join(f"{text} ({number:,})" for text, number in reasons.most_common(6))))
    return rows


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
