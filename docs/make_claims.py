"""Write docs/findings/claims-search.md, its picture, and the overview docs/findings/claims.md.

claims-search.md is made from the summaries of studies that lie in docs/data. Files that are missing count as not run.
These commands make them; each study may be interrupted and resumed:

    lengthwise study search54 --seeds 3
    lengthwise study export search54 docs/data/search54.json.gz --summary
    lengthwise study search54 --preset encodings
    lengthwise study export search54-encodings docs/data/encodings.json.gz --summary
    lengthwise study depth_width
    lengthwise study export depth_width docs/data/depth_width.json.gz --summary

claims.md counts the verdicts of all four pages. The pages on attention, limits and reasoning are written by hand;
tests/test_claims_pages.py runs their commands.

python docs/make_claims.py
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lengthwise.analyses.content import StudyContent, read_summary_content
from lengthwise.analyses.evidence import BEYOND, INDEX, has_learned, mean, place_text
from lengthwise.analyses.ladder.claimed import VERDICTS, claimed, figure_of
from lengthwise.figures.drawing import svg_of
from lengthwise.figures.style import PALETTE, alt, share_axis
from lengthwise.outputs import replace_output
from lengthwise.probes.probe import named
from lengthwise.records import Claim
from lengthwise.studies.summary import read_summary
from lengthwise.tasks.ladder import TRAINING

DOCS = Path(__file__).parent
FILES = ("search54", "encodings", "depth_width")
FOLDER = DOCS / "findings"
OVERVIEW, PAGE, PICTURE = FOLDER / "claims.md", FOLDER / "claims-search.md", DOCS / "pictures" / "claims-risk.svg"
WORDS = ("confirmed", "refuted", "wrong as stated", "undecided", "open", "definition")
PAGES = {
    "claims-search.md": "search, distance, encodings, depth (arXiv:2605.19944, abstract)",
    "claims-attention.md": "attention, particles, bounds, representations, positions (a survey)",
    "claims-limits.md": "training lengths of limit transformers (arXiv:2510.27015, a summary)",
    "claims-reasoning.md": "reasoning steps and locality (arXiv:2404.00560, notes)",
}
SHOW = "lengthwise study show docs/data/{file}.json.gz --analysis claimed"
NO_OFFSET = "claimed.offset"
ROW = re.compile(r"^\| (\d+(?:\.\d+)?) \| (.+?) \| \**([a-z ]+?)\** \|", re.MULTILINE)


@dataclass(frozen=True)
class Statement:
    """A claim of the abstract. `keys` are those of the analysis `claimed` that test it, each with the place it is
    about or an empty text; `verdict` is given where no figure decides."""

    number: str
    claim: str
    tested: str
    keys: tuple[tuple[str, str], ...] = ()
    verdict: str = ""
    note: str = ""
    command: str = ""


STATEMENTS = (
    Statement(
        "1",
        "Reasoning is a set of trajectories in a metric space, and a shift is the Wasserstein-1 distance between two "
        "of them.",
        "A definition. (That scaling laws are known and mechanisms are not, the abstract's opening, is a motivation.) "
        "Three metrics are offered (features, contour, edit), since that of the paper is not public; "
        "distances are exact and come with a certificate ([shift.md](../how-to/shift.md)).",
        verdict="definition",
        command="lengthwise shift subset_sum --ladder --train-size 3",
    ),
    Statement(
        "2.1",
        "By Kantorovich duality the risk under a shift is at most the risk in training plus a Lipschitz constant times "
        "the distance.",
        "A theorem, for any Lipschitz constant of the error ([bounds.md](../explanation/bounds.md), statement 12). The "
        "certified bounds rest on it.",
        verdict="confirmed",
        command="lengthwise bound shift docs/data/smooth_majority --task binary_majority --from 50 --to 100 "
        "--metric measure --items 2000",
        note="The command shows one Transformer that was trained so that the bound bites: a certified error of at most "
        "0.349 at twice the length, where no error was measured ([bound-shift.md](../how-to/bound-shift.md)). That is "
        "binary majority, and no search.",
    ),
    Statement(
        "2.2",
        "This bounds how models generalise when they search.",
        "How often the certified bound says anything: bounds below 1, over models and levels.",
        (("bounded", ""),),
        note="A sharper certificate might say more; this one needs no model, and its constant is the largest possible.",
    ),
    Statement(
        "3.1",
        "The constant can be taken from training: the steepest slope that is seen there.",
        "This is what somebody without test data would have to go by; the abstract does not say where its constant "
        "comes from. The figure counts models and levels with a steeper slope between an item of training and one "
        "of the level (edit metric).",
        (("supposed", ""),),
    ),
    Statement(
        "3.2",
        "The constant governs what a shift costs: models with a larger one lose more.",
        "The rank correlation of a model's Lipschitz constant with the increase of its risk beyond training, within "
        "problems, over the models that learned. The attacked constant is a lower bound and the certified one an upper "
        "bound of the same number; both have to agree.",
        (("governs", ""),),
    ),
    Statement(
        "4",
        "Absolute positions break shift invariance; rotary ones keep it.",
        "True of the network, whatever its weights: with RoPE, ALiBi or no positions logits depend on distances alone, "
        "so an index shift changes nothing ([inspect.md](../how-to/inspect.md#shift-gap)).",
        verdict="confirmed",
        command="lengthwise positions rope",
    ),
    Statement(
        "5",
        "So an index shift, the same problem placed later, costs absolute positions risk that it does not cost RoPE.",
        "Increase of the risk on the items of training with all positions moved, the absolute encoding minus RoPE, "
        "over pairs of models that are alike otherwise and both learned.",
        (("moved", ""),),
    ),
    Statement(
        "6",
        "And longer problems cost absolute positions more than RoPE.",
        "The same difference for problems that are longer than in training. This is another question: a longer problem "
        "also has distances that RoPE has not seen.",
        (("longer", ""),),
    ),
    Statement(
        "7",
        "Absolute positions have the larger Lipschitz constant.",
        "In how many pairs of models the constant is larger with the absolute encoding. On its embeddings every "
        "encoding has the same upper bound in theory ([bounds.md](../explanation/bounds.md)).",
        (("constant", ""),),
    ),
    Statement(
        "8.1",
        "RoPE bounds the error after an index shift.",
        "Increase of the risk with RoPE itself. Bounded is read as: by less than 0.15, the risk up to which a model "
        "counts as having learned.",
        (("rope", place_text(INDEX)),),
        verdict="confirmed",
        note="It follows from claim 4: the outputs are the same but for rounding.",
    ),
    Statement(
        "8.2",
        "RoPE bounds the error on longer problems.",
        "The same over all levels beyond training.",
        (("rope", place_text(BEYOND)),),
    ),
    Statement(
        "9",
        "Search by backtracking is a Dyck-k language.",
        "A push opens a bracket, a pop closes it. For the three problems the mapping has an inverse, which tests check "
        "on drawn traces ([search.md](../reference/search.md#brackets)).",
        verdict="confirmed",
        note="A trace is the beginning of a Dyck word: the way to the goal stays open.",
        command="lengthwise check subset_sum",
    ),
    Statement(
        "10",
        "So Transformers in TC0 need a circuit depth that grows with the nesting.",
        "Dyck-k is in TC0, and two layers of soft attention are enough for Dyck-k of bounded depth (Yao et al. 2021), "
        "so no bound that grows with the nesting holds for all of them ([limit.md](../explanation/limit.md#depth)). "
        "Known bounds are for smaller classes of models. The figure is what training reached.",
        (("layers", ""),),
        verdict="wrong as stated",
        command="lengthwise check subset_sum",
    ),
    Statement(
        "11",
        "Without enough layers representations collapse: different stacks come to share a state.",
        "Pairs of places with the same token and different stacks whose states point the same way, as a share of all "
        "such pairs: from training to the deepest searches, and few layers against many. That a change below 0.01 "
        "counts for none was decided after the first figure of search54 had been seen; by the general rule that figure "
        "would confirm the claim, and the second would decide nothing.",
        (("collapse", ""), ("collapse_layers", "")),
    ),
    Statement(
        "12",
        "Width cannot make up for missing depth.",
        "Risk is fitted as floor + b / width^c for each number of layers. The claim needs a floor above 0 with few "
        "layers that falls with more. A fit that can show one takes four widths and two "
        "seeds, as the study depth_width has.",
        (("floor", ""), ("falls", "")),
    ),
    Statement(
        "13",
        "The reason is an irreducible approximation error in Barron spaces.",
        "Barron's bound is from above and goes to 0 with the width: it leaves no floor for a fixed target "
        "([limit.md](../explanation/limit.md#width), statement 12). A floor would need a constant C that "
        "grows with the problem.",
        verdict="wrong as stated",
        command="lengthwise bound width --constant 2 --units 100",
    ),
    Statement(
        "14",
        "54 configurations corroborate this.",
        "The paper's grid is not public; ours has 54 as well, or as many as the table says.",
        (("learned", ""),),
    ),
    Statement(
        "15.1",
        "Risk rises with the Wasserstein distance.",
        "Mean rank correlation of risk and W1 over all levels in one order, against shuffled distances.",
        (("rising", ""),),
    ),
    Statement(
        "15.2",
        "It does so monotonically.",
        "Configurations in which risk falls, beyond chance, from a level to one that is farther for certain. Every "
        "metric is asked, as that of the paper is not public.",
        (("strict", ""),),
    ),
)

_HEAD = """# What became of the claims: search

<!-- Written by docs/make_claims.py from docs/data; a change here is lost. -->

The abstract of arXiv:2605.19944 ("A Measure-Theoretic Analysis of Reasoning") makes the claims below, in our words and
in its order. Its tasks, grid, metric and tables are not public, so each is tested on the problems of
[search.md](../reference/search.md) with our own grid. Figures and verdicts are those of the analysis `claimed`
([findings.md](findings.md#what-became-of-published-claims)):

- **confirmed**: the 95 % interval excludes 0 (for a share of pairs one half) in the claimed direction, in every figure;
- **refuted**: it does in the other direction in some figure, and no figure confirms the claim;
- **undecided**: anything else, also where nothing was run that could decide;
- **wrong as stated**: a theorem contradicts the claim, whatever the figures are.

Where a claim has another rule, its section says so. Verdicts are about these problems and small models; they are not
corrected for their number. The rules were written with the figures of the first search54 in sight.
"""


def page(files: Mapping[str, Path] | None = None) -> str:
    """The whole of docs/findings/claims-search.md."""
    found = present() if files is None else files
    studies = {name: read_summary_content(path) for name, path in found.items()}
    claims = {name: claimed(study.evidence) for name, study in studies.items() if study.evidence is not None}
    lines = [_grid(("no.", "claim", "verdict"), [(s.number, s.claim, _verdict(s, claims)) for s in STATEMENTS])]
    sections = [_section(one, claims) for one in STATEMENTS]
    return "\n".join([_HEAD, _data(studies), *lines, *_picture_text(found), *sections, *_gaps(found)])


def present() -> dict[str, Path]:
    """The summaries that exist."""
    paths = {name: DOCS / "data" / f"{name}.json.gz" for name in FILES}
    return {name: path for name, path in paths.items() if path.exists()}


def _data(studies: Mapping[str, StudyContent]) -> str:
    rows = []
    for name in FILES:
        study = studies.get(name)
        if study is None or study.evidence is None:
            rows.append((f"`{name}.json.gz`", "not run", "", "", ""))
            continue
        evidence = study.evidence
        groups = evidence.configurations
        learned = sum(has_learned(group) for group in groups.values())
        seeds = len({climb.seed for climb in evidence.climbs})
        kinds = ", ".join(f"`{one}`" for one in evidence.encodings)
        counts = (str(len(evidence.climbs)), str(seeds), f"{learned} of {len(groups)}", kinds)
        rows.append((f"`{name}.json.gz`", *counts))
    return _grid(("data", "models", "seeds", "configurations that learned", "encodings"), rows)


def _tests(statement: Statement, claims: Mapping[str, Sequence[Claim]]) -> list[tuple[str, Claim]]:
    """The figures of a claim, with the file each is from."""
    wanted = {(f"claimed.{key}", place) for key, place in statement.keys}
    return [
        (name, claim)
        for name, own in claims.items()
        for claim in own
        if {(claim.key, ""), (claim.key, claim.evidence.get("place", ""))} & wanted
    ]


def _verdict(statement: Statement, claims: Mapping[str, Sequence[Claim]]) -> str:
    """Confirmed if every figure that can decide confirms it, refuted if one refutes it and none confirms it."""
    if statement.verdict:
        return statement.verdict
    able = [claim for _, claim in _tests(statement, claims) if not _is_offset(claim)]
    words = {VERDICTS.get(claim.status, "undecided") for claim in able}
    if words == {"confirmed"}:
        return "confirmed"
    return "refuted" if "refuted" in words and "confirmed" not in words else "undecided"


def _is_offset(claim: Claim) -> bool:
    return any(one.key == NO_OFFSET for one in claim.assumptions)


def _section(statement: Statement, claims: Mapping[str, Sequence[Claim]]) -> str:
    parts = [f"## {statement.number} {statement.claim.rstrip('.')}\n", f"{statement.tested}\n"]
    tests = _tests(statement, claims)
    if tests:
        parts.append(_grid(("data", "figure", "value", "95 % interval", "verdict"), map(_row, tests)))
        rules = dict.fromkeys(
            one.statement for _, claim in tests for one in claim.assumptions if one.key.endswith("_rule")
        )
        parts += [f"Rule: {rule}.\n" for rule in rules]
        if all(_is_offset(claim) for _, claim in tests):
            first = tests[0][1].evidence["first"]
            parts.append(
                f"`{first}` is trained at random offsets, which teaches it to ignore an index shift. It is not the "
                "encoding of the claim, so its figures decide nothing.\n"
            )
    elif statement.keys:
        parts.append("Not run: no file in docs/data has this measurement.\n")
    told = [text for _, claim in tests if (text := _more(claim))]
    parts += [f"{text}\n" for text in dict.fromkeys(told)]
    commands = [statement.command] if statement.command else []
    commands += [SHOW.format(file=name) for name in dict.fromkeys(name for name, _ in tests)]
    shown = "".join(f"$ {command}\n" for command in commands)
    note = f" {statement.note}" if statement.note else ""
    parts.append(f"**Verdict: {_verdict(statement, claims)}.**{note}\n")
    return "\n".join([*parts, f"```console\n{shown}```\n"]) if commands else "\n".join(parts)


def _row(test: tuple[str, Claim]) -> tuple[str, ...]:
    name, claim = test
    value, interval = figure_of(claim)
    said = "–" if _is_offset(claim) else VERDICTS.get(claim.status, "undecided")
    return name, claim.title, value, interval, said


def _more(claim: Claim) -> str:
    """What else a reader needs to weigh a figure."""
    known = claim.evidence
    if claim.key == "claimed.strict" and known["near"] and claim.status == "refuted":
        return (
            f"The clearest fall ({known['metric']}): {known['configuration']} loses {known['drop']:.2f} of risk from "
            f"{known['near']} to {known['far']}, which is farther."
        )
    if claim.key == "claimed.rising":
        return (
            f"Of {known['judged']} configurations {known['monotone']} have a rank correlation of 0.8 or more with "
            f"p < 0.05 ({known['metric']} metric)."
        )
    if claim.key in ("claimed.longer", "claimed.moved") and known.get("over"):
        low, high = known["over"]
        return (
            f"{known['first']}, {known['place']}: {known['pairs']} of {known['measured']} pairs in which both learned; "
            f"the interval for other problems like these is {low:+.3f} to {high:+.3f}."
        )
    if claim.key == "claimed.layers":
        tried = ", ".join(map(str, known["tried"]))
        return f"{known['levels']} pairs of problem, encoding and level were reached; layers tried: {tried}."
    if claim.key == "claimed.supposed":
        return (
            f"The bound made from the slope of training is exceeded by {known['exceeded']} measured risks, by "
            f"{known['beyond']} of them by more than the sampling error of one."
        )
    if claim.key == "claimed.bounded":
        median, broken = known["median"], known["broken"]
        return f"The median of the certified bounds is {median:.0f}, where 1 says nothing; {broken} are broken."
    return ""


def _gaps(files: Mapping[str, Path]) -> list[str]:
    """What an index shift does with each encoding, next to the shift gap, where a file has it."""
    parts = []
    for name, path in files.items():
        study, summary = read_summary_content(path).evidence, read_summary(path)
        assert study is not None
        if not any(climb.moved for climb in study.climbs):
            continue
        gaps: dict[str, list[float]] = {}
        for run, records in summary.runs:
            record = named(records.values(), "shift_gap")
            if record is not None and not record.failed:
                shares = record.table("shift_gap.by_shift").column("share")
                gaps.setdefault(run["position"], []).append(max(float(str(share)) for share in shares))
        rows = []
        for encoding in study.encodings:
            own = [climb.moved for climb in study.climbs if climb.position == encoding and has_learned([climb])]
            moved = [one for one in own if one is not None]
            numbers = (mean(one.risk for one in moved), mean(one.moved_risk for one in moved))
            texts = ["–" if value is None else f"{value:.3f}" for value in (*numbers, mean(gaps.get(encoding, [])))]
            rows.append((f"`{encoding}`", str(len(moved)), *texts))
        titles = ("encoding", "models that learned", "risk in range", "after the index shift", "largest shift gap")
        parts.append(f"## What an index shift does ({name})\n\n{_grid(titles, rows)}")
    return parts


def _picture_text(files: Mapping[str, Path]) -> list[str]:
    if not files:
        return []
    name = next(iter(files))
    return [
        f"![Risk against the distance from training](../{PICTURE.relative_to(DOCS)})\n",
        f"*Mean risk of the models that learned, at every level of `{name}.json.gz`, against the distance of the level "
        "from training (features metric). Along one axis risk rises; between axes it need not.*\n",
    ]


def picture(files: Mapping[str, Path]) -> str | None:
    """Mean risk against W1, one panel per problem; None without data."""
    if not files:
        return None
    evidence = read_summary_content(next(iter(files.values()))).evidence
    assert evidence is not None
    metric = evidence.metrics()[0]
    rows = []
    for task in evidence.tasks:
        shifts = evidence.shift_of(task, metric)
        climbs = [
            climb
            for group in evidence.configurations.values()
            if has_learned(group)
            for climb in group
            if climb.task == task
        ]
        points: dict[tuple[str, str], list[float]] = {}
        for climb in climbs:
            for point in climb.ladder.points:
                points.setdefault((point.axis, point.name), []).append(point.risk)
        for (axis, level), risks in points.items():
            if level in shifts:
                held = {"task": task.partition(":")[0], "w1": shifts[level].w1, "risk": mean(risks)}
                for along in [one for one in evidence.axes if axis in (one, TRAINING)]:
                    rows.append({**held, "levels of": along})
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("w1:Q", title="W1 from training"),
        y=share_axis("risk", "risk"),
        color=alt.Color("levels of:N", scale=alt.Scale(range=PALETTE)),
    )
    panel = alt.layer(base.mark_line(strokeWidth=1), base.mark_point(filled=True, size=30)).properties(
        width=220, height=180
    )
    return svg_of(panel.facet(column=alt.Column("task:N", title=None)).to_dict())


def overview() -> str:
    """The whole of docs/findings/claims.md, from the pages as they are."""
    counts = {name: verdicts((FOLDER / name).read_text(encoding="utf-8")) for name in PAGES}
    rows = [
        (
            f"[{name.removeprefix('claims-').removesuffix('.md')}]({name})",
            about,
            *(str(counts[name][w] or "") for w in WORDS),
        )
        for name, about in PAGES.items()
    ]
    total = [str(sum(own[word] for own in counts.values())) for word in WORDS]
    grid = _grid(("page", "claims about", *WORDS), [*rows, ("all", "", *total)])
    return _OVERVIEW.format(grid=grid)


def verdicts(text: str) -> Counter[str]:
    """How often each verdict is in the tables of a page; a row begins with the number of its claim."""
    return Counter(row[2] for row in ROW.findall(text))


_OVERVIEW = """# What became of the claims

<!-- Written by docs/make_claims.py, which counts the verdicts of the four pages; a change here is lost. -->

This package took its questions from four texts: an abstract, a survey, a summary of a paper and notes on another. Four
pages go through them claim by claim, in their order: what was run, what came out, and what follows.

{grid}
| verdict | meaning |
| --- | --- |
| confirmed | a proof, or a figure whose interval excludes the opposite, in what was measured here |
| refuted | a counterexample, or a figure whose interval excludes the claim |
| wrong as stated | a formula, snippet or attribution that does not say or do what it claims |
| undecided | measured, but the figures do not decide, or what was run could not decide |
| open | nothing here measures or proves it |
| definition | a definition, a motivation or a summary, with nothing to decide |

Verdicts on trained models are about small models, the tasks and the recipes named there; "refuted" is about the claim
as it is made and not about every weaker form of it. Formulas that the survey leaves out are not guessed: the claim is
then taken in words.
"""


def _grid(titles: Sequence[str], rows: object) -> str:
    lines = [titles, ["---"] * len(titles), *rows]  # pyright: ignore[reportGeneralTypeIssues]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    if (drawn := picture(present())) is not None:
        with replace_output(PICTURE) as part:
            part.write_text(drawn, encoding="utf-8")
    OVERVIEW.write_text(overview(), encoding="utf-8")
