"""Advice: over all tasks and encodings, nothing is recommended that cannot hold, and nothing against itself."""

from __future__ import annotations

import pytest

from lengthwise.oracle.check import Card, check
from lengthwise.oracle.opinion import Advice, Case, Opinion, Outlook, Verdict, first_advice
from lengthwise.oracle.theories.programs import CUTS
from lengthwise.positions import positions
from lengthwise.tasks import tasks

# Every encoding, and those that wrap one.
ENCODINGS = (
    *sorted(positions.names()),
    *(f"{base}+{wrapper}" for base in ("learned", "rope", "sinusoidal") for wrapper in ("offset", "randomized")),
)
NEEDS_SETTINGS = {"along", "hinted", "jsonl", "layout"}
OWN = (
    "regular:expression=(a|ba)*",
    "regular:expression=(aa)*",
    "regular:expression=[012]*02*",
    "regular_member:expression=[ab]*b",
    "regular_member:expression=(aa)*,alphabet=ab",
    "along:task=dyck_k,axis=depth,at=40",
)


def faults(card: Card) -> list[object]:
    """Advice on the card that recommends what cannot hold, or an encoding instead of itself."""
    outlook = {name: verdict.outlook for name, verdict in card.verdicts.items()}
    found: list[object] = []
    for advice in (card.advice, *card.changes):
        found += [(advice.key, name) for name in advice.encodings if outlook.get(name) == "cannot hold"]
    for name, verdict in card.verdicts.items():
        changes = [change for opinion in verdict.opinions for change in opinion.changes]
        found += [(name, "itself") for change in changes if name in change.encodings]
    return found


@pytest.mark.parametrize("name", ["parity", "copy_repeat", "addition", "parity_columns", "copy_pointer", *OWN])
def test_nothing_is_recommended_that_cannot_hold(name: str) -> None:
    assert faults(check(name, train_size=8, test_size=24, quick=True)) == []


@pytest.mark.system
@pytest.mark.parametrize(
    "name", [*(name for name in tasks.names() if name not in NEEDS_SETTINGS and not name.startswith("regular")), *OWN]
)
def test_nothing_is_recommended_that_cannot_hold_with_any_encoding(name: str) -> None:
    card = check(name, ENCODINGS, quick=True)
    assert faults(card) == [] and set(card.verdicts) == set(ENCODINGS)


@pytest.mark.parametrize("name", ["parity", "copy_repeat", "addition"])
def test_a_table_is_not_sent_to_offsets_that_cannot_hold(name: str) -> None:
    """Nor when the other encoding is not on the card."""
    card = check(name, ("learned",), quick=True)
    assert not any("learned+offset" in change.encodings for change in card.changes)


def verdicts(**outlooks: Outlook) -> dict[str, Verdict]:
    made = {}
    for name, outlook in outlooks.items():
        opinion: Opinion = Case("a task", name, 8, 24).opinion(CUTS, outlook, "because")
        made[name] = Verdict(name, (opinion,))
    return made


STEPS, OTHER = Advice("steps", "test.steps"), Advice("encoding", "test.helps", ("t5",))


@pytest.mark.parametrize(
    ("given", "changes", "key", "recommended"),
    [
        (verdicts(none="can hold", rope="unknown"), (STEPS,), "use", ("none",)),
        (verdicts(none="cannot hold", rope="unknown"), (STEPS,), "change", ()),
        (verdicts(none="cannot hold"), (OTHER, STEPS), "change", ("t5",)),
        (verdicts(none="cannot hold", t5="unknown"), (OTHER,), "measure", ("t5",)),
        (verdicts(none="unknown", rope="unknown"), (), "measure", ("none", "rope")),
        (verdicts(none="cannot hold"), (), "none", ()),
    ],
)
def test_what_to_do_first(
    given: dict[str, Verdict], changes: tuple[Advice, ...], key: str, recommended: tuple[str, ...]
) -> None:
    advice = first_advice(given, changes)
    assert (advice.key, advice.encodings) == (key, recommended)


def test_the_advice_claims_no_more_than_the_verdict_rests_on() -> None:
    """Two windows settle the steps of copy_pointer up to a size; that they do so at every size is not proved."""
    proved, examined = (check(name, ("rope",), train_size=8, quick=True) for name in ("parity_columns", "copy_pointer"))
    for card, kind in ((proved, "proved"), (examined, "measured")):
        deciding = card.verdicts["rope"].deciding
        assert deciding is not None and deciding.grounds is not None and deciding.grounds.kind == kind
    assert proved.advice.key == examined.advice.key == "use"
    assert proved.advice.values != examined.advice.values
    both = {"t5": examined.verdicts["rope"], "rope": proved.verdicts["rope"]}
    assert first_advice(both, ()).encodings == ("rope",), "the strongest grounds come first"
