"""How far each task of a study holds with each encoding: the answer, the heat map, and a claim for every cell."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.reach.answer import answer
from lengthwise.analyses.reach.heat_map import heat_map
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import ADVICE
from lengthwise.records import Record
from lengthwise.studies.cells import MEASURES

_ROWS_IN_SIGHT = 26  # of the heat map, in a window of 800 pixels

explain(
    {
        "reach.title": "How far each model reaches",
        "reach.link": "Reach",
        "reach.caption": "The mean reach (the largest size up to which exact match stays at 95 % or more) divided by "
        "the training length{signs}. A cell is learned when a seed has 95 % or more at every size of the training "
        "range; it holds when most of these seeds keep that to three times the length, or as far as was measured.",
        "reach.sign_censored": "≥: a seed holds to the largest size measured, and was not measured further",
        "reach.sign_hatched": "hatched: not learned in range, which says nothing about longer inputs; {advice}",
        "reach.sign_drawn": "–: answers are drawn at random, so exact match is not meaningful",
        "reach.sign_failed": "failed: no run finished",
        "reach.sign_waiting": "waiting: no run has finished yet",
        "reach.sign_lost": "some cells lost seeds to failed runs; hover to see which",
        "reach.sign_scroll": "scroll inside the picture to see all {rows:,} rows",
    }
)


@analyses.register("reach")
@dataclass(frozen=True)
class ReachAnalysis(Analysis):
    """How far each task holds with each encoding."""

    def analyse(self, study: StudyContent) -> Record:
        found = answer(study)
        measured = (cell.claim(measure) for measure in MEASURES for cell in study.cells if cell.values(measure))
        caption = sentence("reach.caption", {"signs": "".join(f"; {sign}" for sign in signs(study))})
        layout = PageLayout(notes=(caption,), claims=len(found.claims), columns=1)
        figures = [heat_map(study)] if study.rows and study.pictures else []
        return arranged("reach", layout, found.sentences, (*found.claims, *measured), figures=figures)

    def applies(self, study: StudyContent) -> bool:
        return bool(study.runs) or study.evidence is None


def signs(study: StudyContent) -> list[str]:
    """The legend in words, of the signs that occur."""
    cells = study.cells
    occurring = {
        "reach.sign_censored": any(cell.censored for cell in cells),
        "reach.sign_hatched": any(cell.learned is False for cell in cells),
        "reach.sign_drawn": any(not cell.certain for cell in cells),
        "reach.sign_failed": any(cell.failed and not cell.done for cell in cells),
        "reach.sign_waiting": any(not cell.done and not cell.failed for cell in cells),
        "reach.sign_lost": any(cell.failed and cell.done for cell in cells),
        "reach.sign_scroll": len(study.rows) > _ROWS_IN_SIGHT,
    }
    values = {"advice": ADVICE, "rows": len(study.rows)}
    return [sentence(key, values) for key, occurs in occurring.items() if occurs]
