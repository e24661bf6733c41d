"""What a measurement by prompts would take: items, tokens, and the time on this machine or the price of a server."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from statistics import fmean

from lengthwise.probes.probe import Context
from lengthwise.probes.prompted import PromptedProbe
from lengthwise.probes.prompted.asking import Questions
from lengthwise.records import Record, Table, columns
from lengthwise.subjects.completion import Completion
from lengthwise.subjects.subject import Subject
from lengthwise.tasks.sizes import name_of

_COUNTED, _TRIED, _TRIAL_BUDGET = 4, 16, 32  # items per size whose tokens are counted; items and tokens of the trial
_BATCH = 64  # items that are answered together


@dataclass(frozen=True)
class _SizePlan:
    """The items of one size that are still to be asked, and the tokens of each; `own` are those of its prompt that it
    does not share with others."""

    size: int
    items: int
    kept: int
    tokens: float
    own: float
    budget: int
    fits: bool


def estimate(
    probe: PromptedProbe, subject: Subject, context: Context, price: tuple[float, float] | None = None
) -> Record:
    """What `probe` would ask, without asking it. A model on this machine answers a few items to see how fast it is;
    `price` is that of a million tokens read and written. Tokens are exact up to sampling where the subject counts."""
    questions = Questions(probe, subject, context)
    store, plans, counted = questions.store(), [], True
    for size in questions.sizes:
        asked, budget = questions.of_size(size, range(questions.items)), questions.budget(size)
        kept = sum(
            store.find(size, item, questions.shown(prompt), budget) is not None
            for item, (prompt, _) in enumerate(asked)
        )
        found = [questions.tokens(prompt) for prompt, _ in asked[:_COUNTED]]
        counted = counted and all(exact for *_, exact in found)
        tokens, own = fmean(whole for whole, *_ in found), fmean(own for _, own, _ in found)
        room = questions.completions.context
        fits = room is None or tokens + budget + probe.reasoning <= room
        plans.append(_SizePlan(size, questions.items - kept, kept, tokens, own, budget, fits))
    asked_for = [plan for plan in plans if plan.fits]
    limit = {plan.size: plan.budget + probe.reasoning for plan in plans}
    read = sum(plan.items * plan.tokens for plan in asked_for)
    written = sum(plan.items * limit[plan.size] for plan in asked_for)
    seconds = _seconds(questions, asked_for, limit) if counted and any(plan.items for plan in asked_for) else None
    about = "" if counted else ", estimated from its bytes"
    text = [f"{sum(plan.items for plan in plans):,} items to ask, {sum(plan.kept for plan in plans):,} kept already."]
    text.append(f"About {read:,.0f} tokens to read{about}, at most {written:,.0f} to write.")
    if not all(plan.fits for plan in plans):
        sizes = ", ".join(str(plan.size) for plan in plans if not plan.fits)
        text.append(f"These sizes do not fit into the context of {questions.completions.context:,} tokens: {sizes}.")
    if seconds is not None:
        text.append(f"About {_duration(seconds)} on this machine, from a trial of a few items.")
    cost = None if price is None else (read * price[0] + written * price[1]) / 1e6
    if cost is not None:
        text.append(f"A price of at most {cost:.2f}, at {price[0]:g} per million tokens read and {price[1]:g} written.")  # pyright: ignore[reportOptionalSubscript]
    described = columns(
        "size:whole | items:whole | kept:whole | tokens:number prompt tokens | budget:whole | fits:truth"
    )
    rows = tuple((p.size, p.items, p.kept, round(p.tokens, 1), p.budget, p.fits) for p in plans)
    return Record(
        "prompted",
        title=f"{name_of(questions.task)}, to be asked of {subject.name} by prompt",
        text=tuple(text),
        tables=(Table("prompted.plan", described, rows, "items to ask"),),
        data={"read": read, "written": written, "seconds": seconds, "price": cost, "counted": counted},
    )


def _seconds(questions: Questions, plans: list[_SizePlan], limit: dict[int, int]) -> float:
    """The time that all items take, from some of the middle size: reading goes with the tokens that are not shared,
    writing with the longest answer of each batch."""
    middle = plans[len(plans) // 2]
    prompts = [prompt for prompt, _ in questions.of_size(middle.size, range(min(_TRIED, questions.items)))]

    def timed(count: int, budget: int) -> tuple[float, list[Completion]]:
        began = time.perf_counter()
        given = questions.completions.complete(prompts[:count], chat=questions.chat, budget=budget, stop=questions.stop)
        answers = [answer for _, answer in given]
        return time.perf_counter() - began, answers

    timed(1, 1)  # what is shared, and the first call of everything
    reading, _ = timed(len(prompts), 1)
    both, answers = timed(len(prompts), min(_TRIAL_BUDGET, middle.budget))
    longest = max(answer.tokens or 1 for answer in answers)
    per_token, per_step = (
        reading / (len(prompts) * max(1.0, middle.own)),
        max(0.0, both - reading) / max(1, longest - 1),
    )
    is_cut = any(answer.ending == "length" for answer in answers)
    share = 1.0 if is_cut else longest / middle.budget
    return sum(
        plan.items * plan.own * per_token + math.ceil(plan.items / _BATCH) * share * limit[plan.size] * per_step
        for plan in plans
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, math.ceil(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
