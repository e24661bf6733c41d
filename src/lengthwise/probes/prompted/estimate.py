"""What a measurement by prompts would take: items, tokens, and the time on this machine or the price of a server."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lengthwise.probes.probe import Context
from lengthwise.probes.prompted import PromptedProbe
from lengthwise.probes.prompted.asking import Questions
from lengthwise.records import Record, Table, columns
from lengthwise.subjects.subject import Subject
from lengthwise.tasks.sizes import name_of

_COUNTED = 4  # items per size whose tokens are counted
_TRIED, _TRIAL_BUDGET = 4, 17  # items of the trial, and the tokens that each may write
_BATCH = 64  # items that are answered together


@dataclass(frozen=True)
class _SizePlan:
    """The items of one size that are still to be asked, and the tokens of each; `own` are those of its prompt that it
    does not share with others, `shortest` those of a right answer and `limit` all that it may write."""

    size: int
    items: int
    kept: int
    tokens: float
    own: float
    shortest: int
    budget: int
    limit: int
    fits: bool


@dataclass(frozen=True)
class _Speed:
    """Seconds per token read or written, and per step in which every item of a batch writes one."""

    token: float
    step: float

    def seconds(self, plans: Sequence[_SizePlan], longest: bool) -> float:
        """The time of all items that fit, if answers are as long as the right ones or as long as they may be."""
        read = sum(plan.items * plan.own for plan in plans)
        written = [(plan.items, plan.limit if longest else plan.shortest) for plan in plans]
        steps = sum(math.ceil(items / _BATCH) * tokens for items, tokens in written)
        return self.token * (read + sum(items * tokens for items, tokens in written)) + self.step * steps


def estimates(
    probe: PromptedProbe,
    subject: Subject,
    contexts: Sequence[Context],
    price: tuple[float, float] | None = None,
) -> list[Record]:
    """What `probe` would ask in each context, without asking it, and the sum where there are several.

    A model on this machine answers a few items to see how fast it is; `price` is that of a million tokens read and
    written. Tokens are exact up to sampling where the subject counts them."""
    asked = [Questions(probe, subject, context) for context in contexts]
    planned = [_plans(questions) for questions in asked]
    counted = all(exact for _, exact in planned)
    places = [place for place, (plans, _) in enumerate(planned) if any(plan.items and plan.fits for plan in plans)]
    speed = _trial(asked[places[0]], planned[places[0]][0]) if counted and places else None
    found = []
    for questions, (plans, exact) in zip(asked, planned, strict=True):
        sums = _sums([plan for plan in plans if plan.fits], speed, price)
        room, unfit = questions.completions.context, [str(plan.size) for plan in plans if not plan.fits]
        text = _text(plans, sums, price, exact)
        if unfit:
            text.append(f"These sizes do not fit into the context of {room:,} tokens: {', '.join(unfit)}.")
        described = columns(
            "size:whole | items:whole | kept:whole | tokens:number prompt tokens | budget:whole | fits:truth"
        )
        rows = tuple((p.size, p.items, p.kept, round(p.tokens, 1), p.budget, p.fits) for p in plans)
        title = f"{name_of(questions.task)}, to be asked of {subject.name} by prompt"
        table = Table("prompted.plan", described, rows, "items to ask")
        found.append(
            Record("prompted", title=title, text=tuple(text), tables=(table,), data={**sums, "counted": exact})
        )
    if len(found) > 1:
        every = [plan for plans, _ in planned for plan in plans]
        sums = _sums([plan for plan in every if plan.fits], speed, price)
        title = f"{len(found)} tasks, to be asked of {subject.name} by prompt"
        text = tuple(_text(every, sums, price, counted))
        found.append(Record("prompted_tasks", title=title, text=text, data={**sums, "counted": counted}))
    return found


def _plans(questions: Questions) -> tuple[list[_SizePlan], bool]:
    """What is to be asked at each size, and whether its tokens were counted."""
    store, plans, counted = questions.store(), [], True
    reasoning = questions.probe.reasoning
    for size in questions.sizes:
        asked, budget = questions.of_size(size, range(questions.items)), questions.budget(size)
        kept = sum(
            store.find(size, item, questions.shown(prompt), budget) is not None
            for item, (prompt, _) in enumerate(asked)
        )
        found = [questions.tokens(prompt) for prompt, _ in asked[:_COUNTED]]
        counted = counted and all(exact for *_, exact in found)
        tokens, own = fmean(whole for whole, *_ in found), fmean(own for _, own, _ in found)
        limit, room = budget + reasoning, questions.completions.context
        shortest = min(limit, questions.longest_answer(size) + 1)
        fits = room is None or tokens + limit <= room
        plans.append(_SizePlan(size, len(asked) - kept, kept, tokens, own, shortest, budget, limit, fits))
    return plans, counted


def _sums(plans: Sequence[_SizePlan], speed: _Speed | None, price: tuple[float, float] | None) -> dict[str, Any]:
    """Tokens read and at most written, seconds at least and at most, and the price at most."""
    read = sum(plan.items * plan.tokens for plan in plans)
    written = sum(plan.items * plan.limit for plan in plans)
    seconds = None if speed is None else [speed.seconds(plans, longest) for longest in (False, True)]
    cost = None if price is None else (read * price[0] + written * price[1]) / 1e6
    return {"read": read, "written": written, "seconds": seconds, "price": cost}


def _text(
    plans: Sequence[_SizePlan], sums: dict[str, Any], price: tuple[float, float] | None, counted: bool
) -> list[str]:
    about = "" if counted else ", estimated from their bytes"
    text = [
        f"{sum(plan.items for plan in plans):,} items to ask, {sum(plan.kept for plan in plans):,} kept already.",
        f"About {sums['read']:,.0f} tokens to read{about}, at most {sums['written']:,.0f} to write.",
    ]
    if sums["seconds"] is not None:
        least, most = map(_duration, sums["seconds"])
        text.append(
            f"About {least} on this machine if answers are as long as the right ones, {most} if all use their budget; "
            f"from a trial of {_TRIED} items."
        )
    if price is not None:
        rates = f"{price[0]:g} per million tokens read and {price[1]:g} written"
        text.append(f"A price of at most {sums['price']:.2f}, at {rates}.")
    return text


def _trial(questions: Questions, plans: Sequence[_SizePlan]) -> _Speed:
    """How fast the subject is, from some items of a middle size."""
    fitting = [plan for plan in plans if plan.fits]
    middle = fitting[len(fitting) // 2]
    prompts = [prompt for prompt, _ in questions.of_size(middle.size, range(min(_TRIED, questions.items)))]

    def timed(count: int, budget: int) -> tuple[float, int]:
        began = time.perf_counter()
        given = questions.completions.complete(prompts[:count], chat=questions.chat, budget=budget, stop=questions.stop)
        longest = max(answer.tokens or 1 for _, answer in given)
        return time.perf_counter() - began, longest

    timed(1, 1)  # what is shared, and the first call of everything
    reading, _ = timed(len(prompts), 1)
    both, longest = timed(len(prompts), min(_TRIAL_BUDGET, middle.budget))
    token = reading / (len(prompts) * max(1.0, middle.own))
    return _Speed(token, max(0.0, (both - reading) / max(1, longest - 1) - len(prompts) * token))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, math.ceil(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
