"""How far each task of a study holds with each encoding: the answer, the heat map, and a claim for every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.reach.advice import advice, not_learned
from lengthwise.analyses.reach.answer import answer, reach_of
from lengthwise.analyses.reach.cell_grid import CellGrid
from lengthwise.analyses.words import counted, percent, short
from lengthwise.figures import design
from lengthwise.figures.style import alt
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import ADVICE
from lengthwise.records import Figure, Record
from lengthwise.studies.cells import MEASURES, Cell

LIGHT_FROM = 0.42  # below this share of viridis white contrasts by 4.5 or more, above it black does
_ROWS_IN_SIGHT = 26  # of the heat map, in a window of 800 pixels

explain(
    {
        "reach.title": "How far each model reaches",
        "reach.link": "Reach",
        "reach.caption": "The mean reach (the largest size up to which exact match stays at 95 % or more) divided by "
        "the training length{signs}. A cell is learned when a seed has 95 % or more at every measured size of the "
        "training range; it holds when most of these seeds keep that to three times the length, or as far as was "
        "measured.",
        "reach.sign_censored": "≥: a seed holds to the largest size measured, and was not measured further",
        "reach.sign_hatched": "hatched: not learned in range, which says nothing about longer inputs; {advice}",
        "reach.sign_drawn": "–: answers are drawn at random, so exact match is not meaningful",
        "reach.sign_failed": "failed: no run finished",
        "reach.sign_waiting": "waiting: no run has finished yet",
        "reach.sign_lost": "some cells lost seeds to failed runs; hover to see which",
        "reach.sign_scroll": "scroll inside the picture to see all {rows:,} rows",
        "heat_map.title": "Reach relative to the training length",
        "heat_map.words": "Heat map of the reach, the largest size up to which exact match stays at 95 % or more, "
        "divided by the training length: one row per task, one column per encoding, in each cell the mean over the "
        "seeds that learned. Hatched cells were not learned in the training range.",
        "heat_map.not_learned": "not learned: {share} right in the training range; {advice}",
        "heat_map.drawn": "answers are drawn at random, so exact match is not meaningful",
        "heat_map.unmeasured": "no size of the training range was measured",
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
        layout = PageLayout(
            notes=(caption,),
            claims=len(found.claims),
            columns=1,
            not_learned=not_learned(study),
            advice=advice(study),
        )
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


def heat_map(study: StudyContent) -> Figure:
    """The reach of every cell relative to its training length."""
    hover = {"row": "task", "encoding": "encoding", "reach": "mean reach", "multiple": "in training lengths"}
    hover |= {"trained": "trained to", "seeds": "seeds", "state": "state"}
    grid, rows = CellGrid(study, "learned", hover, tall=380), []
    for row in study.rows:
        for encoding, cell in study.row_cells(row).items():
            rows.append({"row": row.label, "encoding": encoding, **_shown(cell, study.furthest)})
    data = {place: [row for row in rows if row["place"] == place] for place in ("learned", "hatched", "others")}
    length = max(60, min(160, grid.row_height * len(study.rows)))
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, study.furthest]),
        legend=alt.Legend(title=["reach ÷", "training length"], gradientLength=length),
    )
    inks = alt.Scale(domain=["dark", "light"], range=[design.value("on-light"), design.value("on-dark")])
    template = grid.template(colour, alt.Color("ink:N", scale=inks, legend=None))
    return Figure("heat_map", template, data, sentence("heat_map.title"), sentence("heat_map.words"))


def _shown(cell: Cell, furthest: float) -> dict[str, Any]:
    """What a cell says: its number, whether it was learned, and what a reader finds by hovering."""
    if not cell.done:
        state = "failed" if cell.failed else "waiting"
        found = {"place": "others", "state": state, "text": state, "value": None, "ink": "page"}
        runs = f"{counted(len(cell.runs), 'run')} {state}"
        return {**found, "multiple": "–", "reach": "–", "seeds": runs, "trained": cell.train_size}
    mean, bound = reach_of(cell), "≥" if cell.censored else ""
    multiple = mean / cell.train_size
    number = f"{bound}{multiple:.1f}"
    failed = f", {len(cell.failed)} failed" if cell.failed else ""
    place, state, text = "learned", "learned", number
    if cell.learned is False:
        shares = cell.values("in_range").values()
        values = {"share": percent(sum(shares) / len(shares)), "advice": ADVICE}
        place, state, text = "hatched", sentence("heat_map.not_learned", values), "not learned"
    elif cell.learned is None:
        place, state, text = "others", sentence("heat_map.unmeasured" if cell.certain else "heat_map.drawn"), "–"
    return {
        "place": place,
        "state": state,
        "text": text,
        "value": multiple,
        "multiple": number,
        "reach": f"{bound}{short(mean)}",
        "ink": ("dark" if multiple / furthest > LIGHT_FROM else "light") if cell.learned else "page",
        "seeds": f"{len(cell.kept)} of {counted(len(cell.runs), 'seed')} learned{failed}",
        "trained": cell.train_size,
    }
