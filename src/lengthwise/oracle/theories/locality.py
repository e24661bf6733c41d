"""Layouts of reasoning steps: whether a bounded number of windows settles every step, and whether training shows them.

The theory says that a model *can* hold where windows settle every step. Where they do not, it binds only models whose
attention is limited to windows: attention to everything has other ways, as majority and sorting show.

What a model cannot see is an obstruction, whatever it is trained on: two positions need different labels and look the
same, by columns outside the window, the order of columns, or which side of a column is left.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.layout import Layout, layout_asked
from lengthwise.oracle.locality.steps import Steps, formulation_steps
from lengthwise.oracle.locality.trained import outcomes
from lengthwise.oracle.locality.windows import windows_of
from lengthwise.oracle.opinion import (
    DEPTH,
    WINDOW,
    Advice,
    Case,
    Opinion,
    Question,
    Theory,
    columns_seen,
    encoding_names,
    theory,
)
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.registry import parse_spec
from lengthwise.tasks.formulations.between import written
from lengthwise.tasks.formulations.formulation import Formulation, StepMove
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

THEORY = theory(
    "locality",
    "locality of steps",
    ("none", "absolute", "other"),
    "models that settle a step from windows, as sliding-window attention does, with any encoding but a learned table "
    "some rows of which were never trained",
)
_LACKING = 0.3  # of the items at the size of use; above it too much of what they need was not shown
MOVES = (Advice("layout", "advice.columns"), Advice("marks", "advice.marks"))
SIGHT = theory(
    "sight",
    "sight of windows",
    ("none", "other"),
    "models whose attention is limited to sliding windows, without an encoding or with one that shows only offsets",
)
ORDER = theory(
    "order",
    "order of columns",
    ("none", "other"),
    "encoders, which have no causal mask: with `none` those that attend to all columns, with `none`, `alibi` or "
    "`kerple` those that see sliding windows",
)
_FIRST = 64  # chains of a size at which only the first are searched for a clash
XIAO = Reference("xiao2024", "Theorems 3.3 to 3.7, which are sufficient and not necessary")
explain(
    {
        "sight.unseen": "the step depends on what the model does not see",
        "sight.columns_only": "an output of the model depends on {columns} columns and no more, as its window and "
        "depth imply",
        "sight.all_columns": "the model has no causal mask, and attends to all columns",
        "sight.windows_only": "the model has no causal mask, and sees windows of {columns} columns and no more",
        "sight.narrow": "With this attention an output depends on {columns} columns",
        "sight.match_only": "the model has no causal mask and {layers} layers, whose heads see columns under {size} "
        "places away or match content without positions",
        "sight.matched": "With such heads and `{encoding}` a model cannot distinguish left from right",
        "sight.mirror": "With windows and `{encoding}` a model cannot distinguish a window from its mirror image",
        "sight.bag": "Without an encoding and a causal mask a model sees a bag of columns",
        "sight.why": "{sees}. `{one}` needs {label!r} at the position in brackets, but `{other}`, which looks the same "
        "there, needs {other_label!r}.",
        "advice.wider": "widen the window or deepen the model, or let attention reach everything",
        "advice.sided": "it shows on which side an offset lies",
        "locality.reads": "the model settles a step from windows, as sliding-window attention does, and sees offsets "
        "inside them",
        "locality.gathers": "the model finds windows anywhere in a state by their content, and reads several together",
        "locality.alphabet_ends": "the alphabet is bounded",
        "locality.tokens_continue": "new tokens keep appearing at larger sizes",
        "locality.why_one": "One window of {r} columns settles every step",
        "locality.why_several": "{n} windows of {r} columns settle every step",
        "locality.why_proved": "{windows}, at every size, by its bimachine.",
        "locality.why_examined": "{windows} in {scope}. Larger sizes were not examined.",
        "locality.why_sample": "A sample is too small to judge several windows by: their clashes are rare.",
        "locality.why_finds": "A model can hold that finds these windows wherever they are.",
        "locality.why_none": "No number of windows of {r} columns settles every step: {witness} This binds models "
        "whose attention is limited to windows; nothing follows for attention to everything.",
        "locality.why_no_step": "No step was found.",
        "locality.why_later": "But the last of them appears only at size {needed}.",
        "locality.why_not_all": "But the training items do not show all of them.",
        "locality.why_still_new": "But new windows still appeared at the last size that was examined.",
        "locality.why_but": "But {lacking}",
        "locality.why_attention": "Attention must be limited to such windows (`--attention window:size={reach}`).",
        "locality.why_missing": "Of {entries} windows that were found the planned items show {seen}; one they lack is "
        "{example}.",
        "locality.why_shown": "Training to size {size} shows them all.",
        "locality.why_items_show": "The training items show them all.",
        "locality.why_lacking": "{share:.0%} of {instances} instances of size {size} have a step that the planned "
        "items lack.",
        "locality.not_shown": "Whether a model is right on what it was not shown is not known.",
        "advice.columns": "lay the steps out in aligned columns, so that what a step reads stands together",
        "advice.marks": "give each pointer its own mark",
        "advice.digits": "write numbers digit by digit",
        "advice.longer": "train to size {size} at least",
        "advice.larger": "train to a larger size",
        "advice.items": "draw more training items",
        "advice.items_or_larger": "draw more training items, or train to a larger size",
    }
)


def opinions(question: Question) -> list[Opinion]:
    """What windows say about a formulation, and about a written answer where the preset limits attention to windows."""
    task = question.task
    if question.family not in THEORY.families:
        return []
    columns = None if question.decoder else columns_seen(task, question.encoding)
    if not isinstance(task, Formulation) and (task.readout != "answer" or columns is None):
        return []
    layout = layout_asked(question)
    if layout is None:
        return []
    if (blind := obstruction(question, layout, columns)) is not None:
        return [_measured(question, blind)]
    return [_measured(question, judge(question, layout))] if isinstance(task, Formulation) else []


def judge(question: Case, layout: Layout) -> Opinion:
    """The outlook that follows from the windows of a layout and from what training shows of them."""
    found = layout.locality
    details = tuple(found.explain() + layout.explain())
    if found.window is None:
        return _unsettled(question, layout, details)
    n, r = found.window
    windows = sentence("locality.why_one" if n == 1 else "locality.why_several", {"n": n, "r": r})
    if found.best is None or found.verdict == "PROVED":
        why = sentence("locality.why_proved", {"windows": windows})
    else:
        why = sentence("locality.why_examined", {"windows": windows, "scope": found.best.scope})
    if n == 1:
        return _by_coverage(question, layout, why, details)
    rests = {"reference": XIAO, "details": details}
    if layout.sampled:
        why = f"{why} {sentence('locality.why_sample')}"
        return question.opinion(THEORY, "unknown", why, found.claim(), **rests)
    gathers = (Assumption("locality.gathers"),)
    why = f"{why} {sentence('locality.why_finds')}"
    return question.opinion(THEORY, "can hold", why, found.claim(), assumptions=gathers, **rests)


def _unsettled(question: Case, layout: Layout, details: tuple[str, ...]) -> Opinion:
    """Unknown, where no windows are known to settle every step."""
    found = layout.locality
    last = found.by_width[-1] if found.by_width else None
    why = last.explain()[0] if last else sentence("locality.why_no_step")
    if found.verdict == "REFUTED":
        last = [one for one in found.by_width if one.witness][-1]
        witness = " ".join(last.witness.explain()) if last.witness else ""
        why = sentence("locality.why_none", {"r": last.r, "witness": witness})
    if layout.stopping.local is False:
        why = f"{layout.stopping.sentence} {why}"
    grounds = last.claim() if last else found.claim()
    return question.opinion(THEORY, "unknown", why, grounds, reference=XIAO, details=details, changes=MOVES)


def without_end(question: Case, note: str) -> Opinion:
    """Unknown: over an unbounded alphabet no training sample shows every step [xiao2024, Theorem 3.1.2]."""
    continues = (Assumption("locality.tokens_continue"),)
    theorem = Reference("xiao2024", "Theorem 3.1.2")
    grounds = Claim("locality.alphabet_ends", False, "", "measured", "refuted", None, continues, theorem)
    why = f"{note} {sentence('locality.not_shown')}"
    changes = (Advice("digits", "advice.digits"),)
    return question.opinion(THEORY, "unknown", why, grounds, reference=XIAO, changes=changes)


def _by_coverage(question: Case, layout: Layout, why: str, details: tuple[str, ...]) -> Opinion:
    """One window settles every step: does training show all of them? That it does not refutes nothing."""
    needed, seen, lacking = layout.training_size, layout.seen, layout.lacking
    missed = seen is not None and bool(seen.unseen)
    said, lacks = [why], ""
    if lacking is not None:
        size, share = lacking.last
        lacks = sentence("locality.why_lacking", {"share": share, "instances": lacking.instances, "size": size})
    if needed is not None and needed > question.train_size:
        said.append(sentence("locality.why_later", {"needed": needed}))
        estimate, change = layout.needed, Advice("longer", "advice.longer", values={"size": needed})
    elif lacking is not None and lacking.last[1] > _LACKING:
        said.append(sentence("locality.why_but", {"lacking": lacks}))
        estimate, change = lacking, Advice("items", "advice.items_or_larger")
    elif lacking is None and missed and seen is not None:
        said.append(sentence("locality.why_not_all"))
        estimate, change = seen, Advice("items", "advice.items")
    elif lacking is None and needed is None:
        said.append(sentence("locality.why_still_new"))
        estimate, change = layout.needed, Advice("longer", "advice.larger")
    else:
        reach = ((layout.locality.window or (1, 1))[1] + 1) // 2
        shown = lacks or sentence("locality.why_items_show")
        if seen is not None and not missed and needed is not None:
            shown = sentence("locality.why_shown", {"size": needed})
        said += [shown, sentence("locality.why_attention", {"reach": reach})]
        rests = {"assumptions": (Assumption("locality.reads"),), "reference": XIAO, "details": details}
        return question.opinion(THEORY, "can hold", " ".join(said), layout.locality.claim(), **rests)
    if seen is not None and missed:
        values = {"entries": len(seen.coverage.entries), "seen": len(seen.seen), "example": seen.unseen[0]}
        said.append(sentence("locality.why_missing", values))
    if seen is not None and seen.capped:
        said.append(seen.capped)
    said.append(sentence("locality.not_shown"))
    grounds = estimate.claim() if estimate is not None else None
    rests = {"reference": XIAO, "details": details, "changes": (change,)}
    return question.opinion(THEORY, "unknown", " ".join(said), grounds, **rests)


def _measured(question: Question, opinion: Opinion) -> Opinion:
    """With what training a built-in layout gave, where the encoding is the same or the theory says that it can hold."""
    outcome = None if question.decoder else outcomes().get(name_of(question.task))
    if outcome is None or (opinion.outlook != "can hold" and question.encoding != outcome.position):
        return opinion
    return replace(opinion, why=f"{opinion.why} {outcome.sentence}")


@dataclass(frozen=True)
class LabelClash:
    """Two positions that a model cannot distinguish, in brackets, and the label each needs."""

    one: str
    label: str
    other: str
    other_label: str


def obstruction(question: Question, layout: Layout, columns: int | None) -> Opinion | None:
    """Cannot hold, if the model gives the same answer at two positions that need different ones. `columns` is how many
    columns an output can depend on; None where it can depend on all.

    Attention may be limited to windows so narrow that such positions look the same. Or steps depend on an order that
    the model cannot see: without a causal mask no encoding makes a bag of all columns, and with sliding windows an
    encoding of distances alone does not distinguish a window from its mirror image.
    """
    steps, sizes, base = layout.steps, layout.sizes, encoding_names(question.encoding)[0]
    narrow = columns and _clash(steps, sizes, lambda move: list(windows_of(move.state, columns)))
    if narrow:
        only = Assumption("sight.columns_only", values={"columns": columns})
        return _blind(question, SIGHT, narrow, "sight.narrow", only, Advice("window", "advice.wider"))
    clash, seen, sees = None, Assumption("sight.all_columns"), "sight.bag"
    if steps.form != "step":
        return None
    rule, settings = parse_spec(str(question.task.preset.get("attention", "softmax")))
    if columns is not None and base in ("none", "alibi", "kerple"):
        seen, sees = Assumption("sight.windows_only", values={"columns": columns}), "sight.mirror"
        clash = mirror_clash(steps, sizes, columns)
    elif rule == "window_match" and base in ("none", "alibi", "kerple"):
        layers, size = int(question.task.preset.get("depth", DEPTH)), int(settings.get("size", WINDOW))
        seen, sees = Assumption("sight.match_only", values={"layers": layers, "size": size}), "sight.matched"
        clash = match_clash(steps, sizes, layers, size) or _further_clash(question.task, sizes, layers, size)
    elif base == "none" and rule != "window":
        clash = bag_clash(steps, sizes)
    sided = Advice("encoding", "advice.sided", ("t5", "rope", "learned+offset"))
    return clash and _blind(question, ORDER, clash, sees, seen, sided)


def _blind(
    question: Question, theory: Theory, clash: LabelClash, sees: str, seen: Assumption, change: Advice
) -> Opinion:
    values = {"encoding": question.encoding, **seen.values, **vars(clash)}
    why = sentence("sight.why", {**values, "sees": sentence(sees, values)})
    grounds = Claim("sight.unseen", True, "", "proved", assumptions=(seen,), evidence=vars(clash))
    return question.opinion(theory, "cannot hold", why, grounds, reference=XIAO, changes=(change,))


def bag_clash(steps: Steps, sizes: Sequence[int]) -> LabelClash | None:
    """Two states with the same columns in another order, whose same column needs different labels."""

    def seen(move: StepMove) -> list[Hashable]:
        bag = tuple(sorted(move.state))
        return [(bag, column) for column in move.state]

    return _clash(steps, sizes, seen)


def mirror_clash(steps: Steps, sizes: Sequence[int], r: int) -> LabelClash | None:
    """Two positions whose windows of r columns are mirror images of each other and that need different labels. A model
    reads a mark before the first column and nothing after the last one, so the borders are distinguished."""

    def seen(move: StepMove) -> list[Hashable]:
        line, radius = (("<bos>",), *move.state), r // 2
        views: list[Hashable] = []
        for at, middle in enumerate(move.state, start=1):
            behind, ahead = line[max(0, at - radius) : at][::-1], line[at + 1 : at + 1 + radius]
            views.append((middle, *sorted((behind, ahead))))
        return views

    return _clash(steps, sizes, seen)


def match_clash(steps: Steps, sizes: Sequence[int], layers: int, size: int) -> LabelClash | None:
    """Two positions that look the same to `layers` layers of heads with a window, which see how far a column is and not
    on which side, and of heads that match content without positions, which see all columns in no order."""
    names: dict[Hashable, int] = {}  # of what a position can know

    def seen(move: StepMove) -> list[Hashable]:
        line = [names.setdefault(column, len(names)) for column in (("<bos>",), *move.state)]
        for _ in range(layers):
            bag = names.setdefault(("bag", *sorted(line)), len(names))
            nears = [_around(line, at, size) for at in range(len(line))]
            line = [names.setdefault((own, near, bag), len(names)) for own, near in zip(line, nears, strict=True)]
        return list(line[1:])

    return _clash(steps, sizes, seen)


def _further_clash(task: Task, sizes: Sequence[int], layers: int, size: int) -> LabelClash | None:
    """The same among the first states of sizes at which some column is too far from both ends to see them."""
    if not isinstance(task, Formulation):
        return None
    every = formulation_steps(task)
    some = replace(every, chains=lambda size: islice(every.chains(size), _FIRST))
    far = 2 * layers * (size - 1) + 3
    return match_clash(some, [one for one in range(max(sizes) + 1, far + 1) if task.has(one)], layers, size)


def _around(line: Sequence[int], at: int, size: int) -> tuple[tuple[int, ...], ...]:
    """The neighbours at each distance below `size`, without their side."""
    return tuple(
        tuple(sorted(line[place] for place in (at - far, at + far) if 0 <= place < len(line))) for far in range(1, size)
    )


def _clash(steps: Steps, sizes: Sequence[int], seen: Callable[[StepMove], list[Hashable]]) -> LabelClash | None:
    """Two positions at which the same is seen and different labels are needed."""
    known: dict[Hashable, tuple[StepMove, int, str]] = {}
    for size in sizes:
        for move in steps.moves(size):
            for place, (view, label) in enumerate(zip(seen(move), move.labels, strict=True)):
                if label is None:
                    continue
                before, at, other = known.setdefault(view, (move, place, label))
                if other != label:
                    return LabelClash(written(before.state, at), other, written(move.state, place), label)
    return None
