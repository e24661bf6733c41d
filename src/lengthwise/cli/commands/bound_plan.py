"""What `lengthwise bound plan` does."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from lengthwise.bounds.plan import QUANTITY, GuaranteePlan, along_line, edges, needs, solved
from lengthwise.bounds.plan_methods import AzumaMethod, FreedmanMethod, PlanMethod, TrainingRun
from lengthwise.cli.commands.bound_tables import assumptions_table, terms_table
from lengthwise.cli.commands.records import elsewhere, write_answer
from lengthwise.cli.output import write_object, written
from lengthwise.errors import UsageError
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.plan_chart import plan_chart
from lengthwise.messages import explain, sentence
from lengthwise.records import Record, Table, columns

Rows = list[dict[str, Any]]

_AZUMA = ("alpha", "sample", "smoothed")

explain(
    {
        "bound_plan.title": "{params} at {bits:g} bits, {tokens}, vocabulary {vocabulary:,}, {method}, delta {delta:g}",
        "bound_plan.holds": "At most {bound:.4g} nats per token (predicted): {below} below a uniform guess.",
        "bound_plan.vacuous": (
            "Vacuous: the bound of {bound:.4g} nats is no better than a uniform guess ({chance:.4g} nats; predicted)."
        ),
        "bound_plan.gap_holds": (
            "The gap is {gap:.4g} nats (predicted): the bound is below chance if the loss is below {most:.4g} nats."
        ),
        "bound_plan.gap_vacuous": (
            "Vacuous: the gap alone ({gap:.4g} nats, predicted) reaches the loss of a uniform guess "
            "({chance:.4g} nats)."
        ),
        "bound_plan.quantity": "What is bounded: the {quantity}.",
        "bound_plan.needs": "What it takes if everything else stays the same",
        "bound_plan.line": "At {ratio:g} tokens per parameter",
        "bound_plan.optimal": "At {ratio:g} tokens per parameter (about compute-optimal)",
        "bound_plan.gaps": "gaps in nats",
        "bound_plan.published": (
            "gaps in nats; √(2C) is the published smoothing term, which the exact one never exceeds"
        ),
    }
)


def run(options: argparse.Namespace) -> int:
    found, plan = _plan(options)
    line, needed = along_line(plan, options.line), needs(plan)
    if options.figure is not None:
        _draw(plan, options.line, Path(options.figure), options.quiet)
    if options.json:
        write_object("bound plan", _plain(plan, found, needed, line, options))
    else:
        write_answer(_record(plan, found, needed, line, options.line), elsewhere(options), claims=False)
    return 0


def _method(options: argparse.Namespace) -> PlanMethod:
    if options.method == "azuma":
        if options.variation is not None:
            raise UsageError("--variation goes with --method freedman; azuma uses the range of the loss alone")
        sample = None if options.sample is None else round(options.sample)
        return AzumaMethod(options.alpha, sample, options.smoothed)
    for name in _AZUMA:
        if getattr(options, name):
            raise UsageError(f"--{name} goes with --method azuma")
    return FreedmanMethod(options.variation)


def _plan(options: argparse.Namespace) -> tuple[str | None, GuaranteePlan]:
    """The plan, and which of its numbers was found and not given."""
    vocabulary = options.vocabulary
    if vocabulary != round(vocabulary):
        raise UsageError(f"--vocabulary is a whole number of 2 or more, not {vocabulary:g}")
    missing = [name for name in ("params", "tokens") if getattr(options, name) is None]
    if len(missing) == 2:
        raise UsageError("give --params, --tokens or both, as in --params 7B --tokens 140B --loss 2.2")
    if options.gap is not None and not missing:
        raise UsageError("--gap is what params or tokens are found for; leave one of the two out, or --gap")
    sizes = {name: getattr(options, name) or 1e9 for name in ("params", "tokens")}
    run = TrainingRun(**sizes, bits=options.bits, vocabulary=round(vocabulary), delta=options.delta)
    plan = GuaranteePlan(run, _method(options), options.loss, options.quantisation_gap)
    if not missing:
        return None, plan
    goal = plan.break_even if options.gap is None else options.gap
    if goal is None:
        raise UsageError(f"to find --{missing[0]}, say what is to be reached: --loss (to beat chance) or --gap")
    if not goal > 0:
        raise UsageError(
            f"the gap to reach is above 0, not {goal:.4g}; chance is ln V = {run.chance:.4g} nats, and a loss must be "
            "below it"
        )
    return missing[0], solved(plan, missing[0], goal)


def _record(plan: GuaranteePlan, found: str | None, needed: Rows, line: Rows, ratio: float) -> Record:
    """The plan as it is printed: the verdict, then the terms, what a better bound takes, and the line."""
    run, claim = plan.run, plan.claim()
    told = {"params": f"{short(run.params)} parameters", "tokens": f"{short(run.tokens)} tokens"}
    if found is not None:
        told[found] += " (found)"
    terms = [("loss", plan.loss, "as given"), *((term.name, term.value, term.how) for term in plan.terms)]
    terms += [("bound", plan.bound, "at most"), ("gap", plan.gap, "bound minus loss"), ("chance", run.chance, "ln V")]
    values = {**told, "bits": run.bits, "vocabulary": run.vocabulary, "method": plan.method.title, "delta": run.delta}
    text = (_verdict(plan), sentence("bound_plan.quantity", {"quantity": QUANTITY}))
    tables = (terms_table(terms), _needs_table(needed), _line_table(line, ratio), assumptions_table(claim.assumptions))
    return Record("bound_plan", {}, sentence("bound_plan.title", values), text, (claim,), tables)


def _needs_table(needed: Rows) -> Table:
    rows = tuple(
        (row["goal"], row["gap"], _limit("≥", row["tokens"]), _limit("≤", row["params"]), _bits(row["bits"]))
        for row in needed
    )
    described = columns("goal:text | gap | tokens:text | params:text parameters | bits:text bits each")
    return Table("bound_plan.needs", described, rows, sentence("bound_plan.needs"))


def _line_table(line: Rows, ratio: float) -> Table:
    published = "published" in line[0]
    names = ("gap", "published") if published else ("gap",)
    rows = tuple((short(row["params"]), short(row["tokens"]), *(row[name] for name in names)) for row in line)
    described = columns("params:text parameters | tokens:text | gap" + (" | published with √(2C)" if published else ""))
    title = sentence("bound_plan.optimal" if ratio == 20 else "bound_plan.line", {"ratio": ratio})
    note = sentence("bound_plan.published" if published else "bound_plan.gaps")
    return Table("bound_plan.line", described, rows, title, note)


def _limit(sign: str, value: float | None) -> str:
    return "none" if value is None else f"{sign} {short(value)}"


def _bits(value: float | None) -> str:
    return "none" if value is None else f"≤ {value:.3g}" if value < 32 else "any"


def short(value: float) -> str:
    """A large number in three digits: 140B, 1.4T, 3.2e+17."""
    for suffix, factor in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if float(f"{value:.3g}") >= factor:
            return f"{value:.3g}" if value >= 9.995e15 else f"{float(f'{value / factor:.3g}'):g}{suffix}"
    return f"{value:.3g}"


def _verdict(plan: GuaranteePlan) -> str:
    chance = plan.run.chance
    values = {"bound": plan.bound, "gap": plan.gap, "chance": chance, "most": chance - plan.gap}
    if plan.bound is None:
        return sentence("bound_plan.gap_vacuous" if plan.status == "vacuous" else "bound_plan.gap_holds", values)
    if plan.status == "vacuous":
        return sentence("bound_plan.vacuous", values)
    below = chance - plan.bound
    values["below"] = f"{below:.4g} nats" if below > 1e-6 else "just"
    return sentence("bound_plan.holds", values)


def _plain(
    plan: GuaranteePlan, found: str | None, needed: Rows, line: Rows, options: argparse.Namespace
) -> dict[str, Any]:
    return {
        **vars(plan.run),
        "found": found,
        "method": options.method,
        "terms": [{"name": term.name, "nats": term.value, "how": term.how} for term in plan.terms],
        "gap": plan.gap,
        "loss": plan.loss,
        "bound": plan.bound,
        "chance": plan.run.chance,
        "status": plan.status,
        "needs": needed,
        "line": {"ratio": options.line, "rows": line},
        "claim": plan.claim().plain(),
        "figure": options.figure,
    }


def _draw(plan: GuaranteePlan, ratio: float, path: Path, quiet: bool) -> None:
    run, even = plan.run, plan.run.chance if plan.break_even is None else plan.break_even
    if not even > 0:
        raise UsageError(
            f"with a loss of {plan.loss:.4g} nats, chance ({run.chance:.4g}) or more, nothing can be drawn"
        )
    levels = [level for level in (0.5, 1.0, 2.0, 4.0) if level < 0.8 * even] + [even]
    low, high = min(7.0, math.log10(run.params) - 0.5), max(13.0, math.log10(run.params) + 0.5)
    sizes = [10 ** (low + step * (high - low) / 60) for step in range(61)]
    label = f"{short(run.params)} on {short(run.tokens)} tokens:\ngap {plan.gap:.3g} nats"
    point = {"params": run.params, "ratio": run.tokens / run.params, "label": label}
    loss = f"a loss of {plan.loss:.3g}" if plan.loss is not None else "no loss at all"
    subtitle = [
        f"The gap between training loss and its bound, in nats per token ({plan.method.title}, predicted).",
        f"{run.bits:g} bits per parameter, {run.vocabulary:,} tokens to choose from, {loss} where chance is "
        f"{run.chance:.3g} nats.",
    ]
    drawn = plan_chart(edges(plan, levels, sizes), point, ratio, "How many tokens does a guarantee take?", subtitle)
    words = [f"What is bounded: the {QUANTITY}. Every number is predicted from a formula, none is measured."]
    with written(str(path), quiet):
        save_chart(path, drawn, "What a training run could guarantee", words)
