"""`lengthwise check --against STUDY`: the oracle's verdicts and what the runs of a study did, as text or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lengthwise.records import Claim
    from lengthwise.reports.prediction import Prediction
    from lengthwise.reports.predictions import Predictions

_MOST = 20  # cells and reasons that are written out


def run_against(name: str | Path, json: bool, quiet: bool) -> int:
    """Compare the oracle with the study of this name below runs/, or in this folder; the exit code."""
    from lengthwise.cli.output import narrate, write_object
    from lengthwise.reports.content import read_content
    from lengthwise.reports.predictions import predict
    from lengthwise.studies.folders import study_folder

    content = read_content(study_folder(name))
    narrate(f"looking at {len({row.task for row in content.rows})} tasks …", quiet)
    predictions = predict(content)
    if json:
        write_object("check", predictions.plain())
    else:
        write_against(predictions)
    return 0


def write_against(predictions: Predictions) -> None:
    """The table of counts, the shares, contradictions, where training did not get there, and what was left out."""
    from lengthwise.cli.output import wrapped
    from lengthwise.studies.record import printable

    print(wrapped(printable(f"{predictions.study}: prediction and measurement, {len(predictions.rows)} cells")))
    print()
    _write_counts(predictions)
    print()
    print(wrapped(_spoken(predictions.headline)))
    for claim in predictions.claims():
        if claim.value is not None:
            print(wrapped(_spoken(_share(claim)), "", "  "))
    _write_cells("CONTRADICTIONS, at the sizes measured", predictions.contradictions)
    _write_cells("training did not get there", predictions.not_reached)
    _write_undecided(predictions)
    for text in predictions.left_out:
        print()
        print(wrapped(_spoken(text)))


def _write_counts(predictions: Predictions) -> None:
    """The table of outlooks and outcomes; cells that cannot be judged have columns where there are some."""
    from lengthwise.reports.prediction import OUTLOOKS

    shown = predictions.outcomes
    print("predicted  " + "".join(f"  {outcome:>6}" for outcome in shown))
    for outlook in OUTLOOKS:
        counts = predictions.counts[outlook]
        print(f"{outlook:<11}" + "".join(f"  {counts[outcome]:>{max(6, len(outcome))}}" for outcome in shown))


def _share(claim: Claim) -> str:
    """A share of cells with its interval."""
    from lengthwise.reports.words import percent

    assert isinstance(claim.value, int | float)
    ends = claim.interval
    interval = "" if ends is None else f" [95 % Wilson interval {percent(ends.low)} to {percent(ends.high)}]"
    return f"{claim.title}: {percent(claim.value)} of {claim.evidence['n']}{interval} ({claim.kind})"


def _write_cells(title: str, rows: list[Prediction]) -> None:
    from lengthwise.cli.output import wrapped

    if rows:
        print(f"\n{title}: {len(rows)}")
    for row in rows[:_MOST]:
        print(wrapped(_spoken(row.sentence), "  ", "    "))
    _write_rest(len(rows))


def _write_undecided(predictions: Predictions) -> None:
    """Why the oracle did not decide, with the cells each reason holds for."""
    from lengthwise.cli.output import wrapped

    if predictions.undecided:
        print(f"\nnot decided: {sum(map(len, predictions.undecided.values()))}")
    for why, rows in list(predictions.undecided.items())[:_MOST]:
        print(wrapped(_spoken(f"{why.rstrip('.')}: {_named(rows)}"), "  ", "    "))
    _write_rest(len(predictions.undecided))


def _named(rows: list[Prediction]) -> str:
    from lengthwise.reports.words import listed

    return listed([row.where for row in rows], 3)


def _write_rest(number: int) -> None:
    if number > _MOST:
        print(f"  … and {number - _MOST} more, which --json has too")


def _spoken(sentence: str) -> str:
    """A sentence for a terminal: no marks of code, no per cent alone on a line, no signs that would command it."""
    from lengthwise.studies.record import printable

    return printable(sentence.replace("`", "")).replace(" %", "%")
