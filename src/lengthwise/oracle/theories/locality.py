"""Layouts of reasoning steps: whether a bounded number of windows settles every step, and whether training shows them.

The theory says that a model *can* hold where windows settle every step. Where they do not, it binds only models whose
attention keeps to windows: attention to everything has other ways, as majority and sorting show.
"""

from __future__ import annotations

from dataclasses import replace

from lengthwise.oracle.locality.trained import outcomes
from lengthwise.oracle.locality.unshown import Unshown
from lengthwise.oracle.opinion import Advice, Opinion, Theory, encoding_names
from lengthwise.oracle.theories.layout import Layout, layout_asked
from lengthwise.oracle.theories.order import THEORY as ORDER
from lengthwise.oracle.theories.order import Clash, bag_clash, mirror_clash, window_clash
from lengthwise.oracle.theories.preset import columns_seen
from lengthwise.oracle.theories.question import Asked, Question
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.sizes import name_of

THEORY = Theory(
    "locality of steps",
    "models that settle a step from windows, as sliding-window attention does, with any encoding but a learned table "
    "some rows of which were never trained",
    frozenset({"none", "absolute", "other"}),
)
SIGHT = Theory(
    "sight of windows",
    "models whose attention keeps to sliding windows, without an encoding or with one that tells offsets alone",
    frozenset({"none", "other"}),
)
_LACKING = 0.3  # of the items at the size of use; above it too much of what they need was not shown
XIAO = Reference("xiao2024", "Theorems 3.3 to 3.7, which are sufficient and not necessary")
READS = Assumption(
    "the model settles a step from windows, as sliding-window attention does, and can tell offsets in them"
)
GATHERS = Assumption("the model finds windows anywhere in a state by what is in them, and reads several together")
MOVES = (
    Advice("layout", "lay the steps out in aligned columns, so that what a step reads stands together"),
    Advice("marks", "give each pointer its own mark"),
)
ONLY_WINDOWS = "That binds models whose attention keeps to windows; nothing follows for attention to everything."
NOT_SHOWN = "Whether a model is right on what it was not shown is not known."


def opinions(question: Question) -> list[Opinion]:
    """What windows say about a formulation; and about any written answer, taken as a decoder's steps, where the preset
    of the task keeps attention to windows."""
    task = question.task
    if question.family not in THEORY.families:
        return []
    seen = None if question.decoder else columns_seen(task, question.encoding)
    if not isinstance(task, Formulation) and (task.readout != "answer" or seen is None):
        return []
    layout = layout_asked(question)
    if layout is None:
        return []
    if blind := _short_sighted(question, layout, seen) or _order_blind(question, layout, seen):
        return [_measured(question, blind)]
    return [_measured(question, judge(question, layout))] if isinstance(task, Formulation) else []


def judge(question: Asked, layout: Layout) -> Opinion:
    """The outlook that follows from the windows of a layout and from what training shows of them."""
    found = layout.locality
    details = tuple(found.explain() + layout.explain())
    if found.window is None:
        return _unsettled(question, layout, details)
    n, r = found.window
    windows = "One window" if n == 1 else f"{n} windows"
    why = f"{windows} of {r} columns settle{'s' if n == 1 else ''} every step"
    if found.best is None or found.verdict == "PROVED":
        why += ", at every size, by its bimachine."
    else:
        why += f" in {found.best.scope}. Larger sizes were not looked at."
    if n > 1 and layout.sampled:
        why += " A sample is too little to judge several windows by: their clashes are rare."
        return question.opinion(THEORY, "unknown", why, found.claim(), reference=XIAO, details=details)
    if n > 1:
        why += " A model can hold that finds these windows wherever they stand."
        rests = {"assumptions": (GATHERS,), "reference": XIAO, "details": details}
        return question.opinion(THEORY, "can hold", why, found.claim(), **rests)
    return _by_coverage(question, layout, why, details)


def _unsettled(question: Asked, layout: Layout, details: tuple[str, ...]) -> Opinion:
    """Unknown, where no windows are known to settle every step."""
    found = layout.locality
    last = found.by_width[-1] if found.by_width else None
    why = last.explain()[0] if last else "No step was found."
    if found.verdict == "REFUTED":
        last = [one for one in found.by_width if one.witness][-1]
        shown = " ".join(last.witness.explain()) if last.witness else ""
        why = f"No number of windows of {last.r} columns settles every step: {shown} {ONLY_WINDOWS}"
    if layout.stopping.local is False:
        why = f"{layout.stopping.sentence} {why}"
    grounds = last.claim() if last else found.claim()
    return question.opinion(THEORY, "unknown", why, grounds, reference=XIAO, details=details, changes=MOVES)


def without_end(question: Asked, sentence: str) -> Opinion:
    """Unknown: over an alphabet without end no training sample shows every step [xiao2024, Theorem 3.1.2]."""
    why = f"{sentence[0].upper()}{sentence[1:]}. {NOT_SHOWN}"
    grounds = Claim(
        key="the alphabet comes to an end",
        value=False,
        unit="",
        kind="measured",
        status="refuted",
        assumptions=(Assumption("new tokens go on coming at larger sizes"),),
        reference=Reference("xiao2024", "Theorem 3.1.2"),
    )
    return question.opinion(
        THEORY, "unknown", why, grounds, reference=XIAO, changes=(Advice("digits", "write numbers digit by digit"),)
    )


def _by_coverage(question: Asked, layout: Layout, why: str, details: tuple[str, ...]) -> Opinion:
    """With one window settling every step, what is left to ask is whether training shows all of them. That it does not
    refutes nothing."""
    needed, seen, lacking = layout.training_size, layout.seen, layout.lacking
    missed = seen is not None and bool(seen.unseen)
    if needed is not None and needed > question.train_size:
        why += f" But the last of them shows only at size {needed}."
        estimate, change = layout.needed, Advice("longer", f"train to size {needed} at least")
    elif lacking is not None and lacking.last[1] > _LACKING:
        why += f" But {_needing(lacking)}"
        estimate, change = lacking, Advice("items", "draw more training items, or train to a larger size")
    elif lacking is None and missed and seen is not None:
        why += " But the training items do not show all of them."
        estimate, change = seen, Advice("items", "draw more training items")
    elif lacking is None and needed is None:
        why += " But new windows still came at the last size that was looked at."
        estimate, change = layout.needed, Advice("longer", "train to a larger size")
    else:
        reach = ((layout.locality.window or (1, 1))[1] + 1) // 2
        why += " " + _shown(layout)
        why += f" Attention must keep to such windows (`--attention window:size={reach}`)."
        rests = {"assumptions": (READS,), "reference": XIAO, "details": details}
        return question.opinion(THEORY, "can hold", why, layout.locality.claim(), **rests)
    if seen is not None and seen.unseen:
        why += f" Of {len(seen.coverage.entries)} windows that were found the planned items show {len(seen.seen)};"
        why += f" one they lack is {seen.unseen[0]}."
    if seen is not None and seen.capped:
        why += f" {seen.capped}"
    grounds = estimate.claim() if estimate is not None else None
    rests = {"reference": XIAO, "details": details, "changes": (change,)}
    return question.opinion(THEORY, "unknown", f"{why} {NOT_SHOWN}", grounds, **rests)


def _shown(layout: Layout) -> str:
    """What the planned items show, where it is enough."""
    if layout.seen is not None and not layout.seen.unseen and layout.training_size is not None:
        return f"Training to size {layout.training_size} shows them all."
    return _needing(layout.lacking) if layout.lacking is not None else "The training items show them all."


def _needing(lacking: Unshown) -> str:
    size, share = lacking.last
    return f"{share:.0%} of {lacking.instances} instances of size {size} have a step that the planned items lack."


def _measured(question: Question, opinion: Opinion) -> Opinion:
    """With what training a built-in layout gave, where the encoding is the same or the theory says that it can hold."""
    outcome = None if question.decoder else outcomes().get(name_of(question.task))
    if outcome is None or (opinion.outlook != "can hold" and question.encoding != outcome.position):
        return opinion
    return replace(opinion, why=f"{opinion.why} {outcome.sentence}")


def _short_sighted(question: Question, layout: Layout, seen: int | None) -> Opinion | None:
    """Cannot hold, if attention keeps to windows so narrow that two places that need different labels look the same."""
    clash = None if seen is None else window_clash(layout.steps, layout.sizes, seen)
    if clash is None:
        return None
    sees = f"With this attention an output depends on {seen} columns"
    only = Assumption(f"an output of the model depends on {seen} columns and no more, as its window and depth say")
    change = Advice("window", "widen the window or deepen the model, or let attention reach everything")
    return _blind(question, SIGHT, clash, sees, only, change)


def _order_blind(question: Question, layout: Layout, columns: int | None) -> Opinion | None:
    """Cannot hold, if steps depend on an order that the model cannot see: without a causal mask no encoding makes a bag
    of all columns, and with sliding windows an encoding of distances alone does not tell a window from its mirror
    image."""
    if layout.steps.form != "step":
        return None
    base = encoding_names(question.encoding)[0]
    windowed = str(question.task.preset.get("attention", "")).startswith("window")
    seen = Assumption("the model has no causal mask, and attends to all columns")
    clash, sees = None, ""
    if columns is not None and base in ("none", "alibi", "kerple"):
        seen = Assumption(f"the model has no causal mask, and sees windows of {columns} columns and no more")
        clash = mirror_clash(layout.steps, layout.sizes, columns)
        sees = f"With windows and `{question.encoding}` a model cannot tell a window from its mirror image"
    elif base == "none" and not windowed:
        clash = bag_clash(layout.steps, layout.sizes)
        sees = "Without an encoding and a causal mask a model sees a bag of columns"
    if clash is None:
        return None
    sided = Advice("encoding", "it tells offsets with their side", ("t5", "rope", "learned+offset"))
    return _blind(question, ORDER, clash, sees, seen, sided)


def _blind(question: Question, theory: Theory, clash: Clash, sees: str, seen: Assumption, change: Advice) -> Opinion:
    """Cannot hold: the model gives the same answer at two places that need different ones."""
    why = (
        f"{sees}; `{clash.one}` needs {clash.label!r} at the place in brackets and `{clash.other}`, which then looks "
        f"the same, {clash.other_label!r}."
    )
    grounds = Claim(
        key="the step depends on what the model does not see",
        value=True,
        unit="",
        kind="proved",
        assumptions=(seen,),
        evidence=vars(clash),
    )
    return question.opinion(theory, "cannot hold", why, grounds, reference=XIAO, changes=(change,))
