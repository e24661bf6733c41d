"""What `lengthwise bound plan` does."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from lengthwise.bounds.plan import QUANTITY, GuaranteePlan, along_line, edges, needs, solved
from lengthwise.bounds.plan_methods import AzumaMethod, FreedmanMethod, PlanMethod, TrainingRun
from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.output import wrapped, write_list, write_object, written
from lengthwise.errors import UsageError
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.plan_chart import plan_chart

Rows = list[dict[str, Any]]

_AZUMA = ("alpha", "sample", "smoothed")


def run(options: argparse.Namespace) -> int:
    found, plan = _plan(options)
    line, needed = along_line(plan, options.line), needs(plan)
    if options.figure is not None:
        _draw(plan, options.line, Path(options.figure), options.quiet)
    if options.json:
        write_object("bound plan", _plain(plan, found, needed, line, options))
    else:
        _write(plan, found, needed, line, options.line)
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


def _write(plan: GuaranteePlan, found: str | None, needed: Rows, line: Rows, ratio: float) -> None:
    run = plan.run
    told = {"params": f"{short(run.params)} parameters", "tokens": f"{short(run.tokens)} tokens"}
    if found is not None:
        told[found] += " (found)"
    what = f"{told['params']} at {run.bits:g} bits, {told['tokens']}, vocabulary {run.vocabulary:,}"
    print(wrapped(f"{what}, {plan.method.title}, delta {run.delta:g}") + "\n")
    terms = [("loss", plan.loss, "as given"), *((term.name, term.value, term.how) for term in plan.terms)]
    terms += [("bound", plan.bound, "at most"), ("gap", plan.gap, "bound minus loss"), ("chance", run.chance, "ln V")]
    rows = [[name, nats, nats / math.log(2), how] for name, nats, how in terms if nats is not None]
    write_grid(["", "nats", "bits", ""], rows, (0, 3))
    print("\n" + wrapped(_verdict(plan)))
    print("\nWhat it takes, the rest as it is")
    rows = [
        [row["goal"], row["gap"], _limit("≥", row["tokens"]), _limit("≤", row["params"]), _bits(row["bits"])]
        for row in needed
    ]
    write_grid(["goal", "gap", "tokens", "parameters", "bits each"], rows)
    print(f"\nAt {ratio:g} tokens per parameter" + (" (about compute-optimal)" if ratio == 20 else ""))
    published = ["with √(2C)"] if "published" in line[0] else []
    rows = [
        [short(row["params"]), short(row["tokens"]), *(row[name] for name in ("gap", "published") if name in row)]
        for row in line
    ]
    write_grid(["parameters", "tokens", "gap", *published], rows, ())
    if published:
        print(wrapped("(gaps in nats; √(2C) is the published smoothing term, which the exact one is never above)"))
    print("\nThis rests on")
    write_list("not so: " * (a.check == "violated") + a.statement for a in plan.claim().assumptions)


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
    if plan.bound is None:
        said = (
            f"vacuous: the gap alone reaches chance ({chance:.4g} nats)."
            if plan.status == "vacuous"
            else f"the bound is below chance if the loss is below {chance - plan.gap:.4g} nats."
        )
    elif plan.status == "vacuous":
        said = f"vacuous: {plan.bound:.4g} nats is no better than a uniform guess ({chance:.4g})."
    else:
        below = chance - plan.bound
        said = f"not vacuous: {f'{below:.4g} nats' if below > 1e-6 else 'just'} below a uniform guess."
    return f"{said[0].upper()}{said[1:]} What is bounded: the {QUANTITY}. (predicted)"


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
