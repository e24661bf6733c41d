"""Layouts of reasoning steps: whether a bounded number of windows settles every step, and whether training shows them.

The theory is sufficient and not necessary: a layout that windows do not settle can still be learned by other means, as
majority and sorting are. It therefore speaks after the theories of C-RASP where these decide.
"""

from __future__ import annotations

from lengthwise.oracle.opinion import Advice, Opinion, Outlook, Theory, encoding_names
from lengthwise.oracle.programs.find import program_for
from lengthwise.oracle.theories.layout import Layout, layout_asked
from lengthwise.oracle.theories.order import THEORY as ORDER
from lengthwise.oracle.theories.order import bag_clash, mirror_clash
from lengthwise.oracle.theories.question import Asked, Question
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import Formulation

THEORY = Theory(
    "locality of steps",
    "models that settle a step from windows, as sliding-window attention does, with any encoding but a learned table "
    "some rows of which were never trained",
    frozenset({"none", "absolute", "other"}),
)
_FEW = 5  # symbols of a task that is no layout of steps; with more, windows seldom come twice
_FAILING = 0.3  # of the items at the size of use; above it the layout is said to fail
XIAO = Reference("xiao2024", "Theorems 3.3 to 3.7, which are sufficient and not necessary")
READS = Assumption(
    "the model settles a step from windows, as sliding-window attention does, and can tell offsets in them"
)
ONLY = Assumption("the model has no other way to settle a step (counting is one, and this theory does not see it)")
MOVES = (
    Advice("layout", "lay the steps out in aligned columns, so that what a step reads stands together"),
    Advice("marks", "give each pointer its own mark"),
)


def opinions(question: Question) -> list[Opinion]:
    """What windows say about a formulation, or about any written answer taken as a decoder's steps."""
    task = question.task
    if question.family not in THEORY.families:
        return []
    if not isinstance(task, Formulation) and (task.readout != "answer" or len(task.symbols) > _FEW):
        return []
    layout = layout_asked(question)
    if layout is None:
        return []
    if layout.steps.form == "step" and (blind := _order_blind(question, layout)):
        return [blind]
    opinion = judge(question, layout)
    if isinstance(task, Formulation):
        return [opinion]
    # A task that counting solves shows that windows are not the only way, whatever the encoding.
    beside = question.family == "other" and program_for(task, "absolute") is not None
    return [] if beside or opinion.outlook == "unknown" else [opinion]


def judge(question: Asked, layout: Layout) -> Opinion:
    """The outlook that follows from the windows of a layout and from what training shows of them."""
    found = layout.locality
    details = tuple(found.explain() + layout.explain())
    if found.verdict == "REFUTED":
        widest = [one for one in found.by_width if one.witness][-1]
        why = " ".join(widest.explain())
        # A clash of labels that were only guessed shows nothing.
        outlook: Outlook = "unknown" if widest.claim().status == "unknown" else "cannot hold"
        return question.opinion(
            THEORY,
            outlook,
            why,
            widest.claim(),
            assumptions=(ONLY,),
            reference=XIAO,
            details=details,
            changes=MOVES,
        )
    if found.window is None:
        why = found.by_width[-1].explain()[0] if found.by_width else "no step was found"
        return question.opinion(THEORY, "unknown", why, found.claim(), reference=XIAO, details=details, changes=MOVES)
    n, r = found.window
    windows = "One window" if n == 1 else f"{n} windows"
    how = {"PROVED": "for every size, by its bimachine", "CONSISTENT": f"in {found.best.scope}" if found.best else ""}
    why = f"{windows} of {r} columns settle{'s' if n == 1 else ''} every step, {how[str(found.verdict)]}."
    return _by_coverage(question, layout, why, details)


def without_end(question: Asked, sentence: str) -> Opinion:
    """Over an alphabet without end no training sample shows every step [xiao2024, Theorem 3.1.2]."""
    why = sentence[0].upper() + sentence[1:] + "."
    grounds = Claim(
        name="the alphabet comes to an end",
        value=False,
        unit="",
        kind="measured",
        status="refuted",
        assumptions=(Assumption("new tokens go on coming at larger sizes"),),
        reference=Reference("xiao2024", "Theorem 3.1.2"),
    )
    return question.opinion(
        THEORY, "cannot hold", why, grounds, reference=XIAO, changes=(Advice("digits", "write numbers digit by digit"),)
    )


def _by_coverage(question: Asked, layout: Layout, why: str, details: tuple[str, ...]) -> Opinion:
    """With the windows settled, what decides is whether training shows all of them."""
    needed, seen = layout.training_size, layout.seen
    share = layout.failing.failing[-1][1] if layout.failing else None
    missed = len(seen.unseen) if seen else 0
    outlook: Outlook = "can hold"
    changes: tuple[Advice, ...] = ()
    if needed is None:
        outlook, why = "unknown", f"{why} It is not known from which size on training shows all of them."
    elif needed > question.train_size:
        outlook, changes = "cannot hold", (Advice("longer", f"train to size {needed} at least"),)
        why += f" But the last of them shows only at size {needed}."
    elif share is not None and share > _FAILING:
        outlook, changes = (
            "cannot hold",
            (Advice("items", f"draw more training items: {missed} windows are not among them"),),
        )
    elif not missed:
        why += f" Training to size {needed} shows them all."
    if seen and missed and needed is not None:
        total = len(seen.coverage.entries)
        need = (
            "" if share is None else f", and {share:.0%} of items at size {layout.failing_at} need one that it misses"
        )
        why += f" {total} windows exist and the planned items show {total - missed}{need}; one is {seen.unseen[0]}."
    if outlook == "can hold" and layout.locality.window and layout.locality.window[0] == 1:
        reach = (layout.locality.window[1] + 1) // 2
        why += f" Attention must keep to such windows (`--attention window:size={reach}`)."
    rests = {"assumptions": (READS,), "reference": XIAO, "details": details, "changes": changes}
    return question.opinion(THEORY, outlook, why, layout.locality.claim(), **rests)


def _order_blind(question: Question, layout: Layout) -> Opinion | None:
    """Will fail, if steps depend on an order that the model cannot see: without a causal mask no encoding makes a bag
    of all columns, and with sliding windows an encoding of distances alone does not tell a window from its mirror
    image."""
    base = encoding_names(question.encoding)[0]
    windowed = str(question.task.preset.get("attention", "")).startswith("window")
    n, r = layout.locality.window or (0, 0)
    seen = Assumption("the model has no causal mask, and attends to all columns")
    if windowed and n == 1 and base in ("none", "alibi", "kerple"):
        seen = Assumption(f"the model has no causal mask, and sees windows of {r} columns and no more")
        clash = mirror_clash(layout.steps, layout.sizes, r)
        sees = f"With windows and `{question.encoding}` a model cannot tell a window from its mirror image"
    elif base == "none" and not windowed:
        clash = bag_clash(layout.steps, layout.sizes)
        sees = "Without an encoding and a causal mask a model sees a bag of columns"
    else:
        clash = None
        sees = ""
    if clash is None:
        return None
    why = (
        f"{sees}; `{clash.one}` needs {clash.label!r} at the place in brackets and `{clash.other}`, which then looks "
        f"the same, {clash.other_label!r}."
    )
    grounds = Claim(
        name="the step depends on what the encoding does not tell",
        value=True,
        unit="",
        kind="proved",
        assumptions=(seen,),
        evidence=vars(clash),
    )
    sided = Advice("encoding", "it tells offsets with their side", ("t5", "rope", "learned+offset"))
    return question.opinion(ORDER, "cannot hold", why, grounds, reference=XIAO, changes=(sided,))
