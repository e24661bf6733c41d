"""The card of a check as text: verdicts, reasons, what training needs, what would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lengthwise.cli.output import wrapped
from lengthwise.oracle.advice import NOT_WILL

if TYPE_CHECKING:
    from lengthwise.oracle.check import Card
    from lengthwise.oracle.opinion import Advice, Opinion, Verdict
    from lengthwise.records import Claim

_LABEL = 18
_INDENT = "    "


def write_card(card: Card, explain: bool) -> None:
    """The card in 80 columns; `explain` adds every opinion with what it rests on."""
    print(wrapped(f"{card.task}: trained on sizes up to {card.train_size}, used up to {card.test_size}"))
    print(wrapped(_sentence(card.advice), "  advice: ", "    "))
    for note in card.notes:
        print(wrapped(note, "  note: ", "    "))
    for group in _alike(card):
        print()
        _write_verdict(group, explain)
    for title, claims in (("training", card.training), ("depth", card.depth), ("limits", card.limits)):
        if claims and (explain or title != "limits"):
            print(f"\n{title}")
            for claim in claims:
                _write_claim(claim, explain)
    if card.changes:
        print("\nwhat would change it")
        for change in card.changes:
            print(wrapped(change.sentence, "  - ", "    "))
    if any(verdict.outlook == "can hold" for verdict in card.verdicts.values()):
        print()
        print(wrapped(NOT_WILL))


def _sentence(advice: Advice) -> str:
    text = advice.sentence
    return f"{text[0].upper()}{text[1:]}."


def _alike(card: Card) -> list[list[Verdict]]:
    """Verdicts with the same outlook for the same reason, together."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in card.verdicts.values():
        groups.setdefault((verdict.outlook, verdict.why), []).append(verdict)
    return list(groups.values())


def _write_verdict(group: list[Verdict], explain: bool) -> None:
    verdict = group[0]
    names = ", ".join(one.encoding for one in group)
    by = _by(verdict.deciding) if verdict.deciding else ""
    pad = f"{names:<{_LABEL}}" if len(names) < _LABEL else f"{names}  "
    head = f"{pad}{verdict.outlook.upper()}"
    print(head)
    if by:
        print(wrapped(by, _INDENT, _INDENT))
    print(wrapped(verdict.why, _INDENT, _INDENT))
    for opinion in verdict.dissent:
        print(wrapped(f"but {opinion.theory} says it {opinion.outlook}: {opinion.why}", _INDENT, _INDENT))
    if explain:
        for opinion in verdict.opinions:
            _write_opinion(opinion, said=opinion.why == verdict.why)


def _by(opinion: Opinion) -> str:
    return f"({opinion.theory}: {opinion.standing})" if opinion.standing else f"({opinion.theory})"


def _write_opinion(opinion: Opinion, said: bool) -> None:
    print(wrapped(f"{opinion.theory}: {opinion.outlook}" + ("" if said else f". {opinion.why}"), "  * ", _INDENT))
    for line in opinion.details:
        print(wrapped(line, _INDENT + "  ", _INDENT + "  "))
    print(wrapped(f"binds {opinion.binds}", _INDENT + "  ", _INDENT + "    "))
    if opinion.grounds:
        print(wrapped(f"grounds: {opinion.grounds}", _INDENT + "  ", _INDENT + "    "))
    _write_grounds(opinion.claim, _INDENT + "  ")


def _write_claim(claim: Claim, explain: bool) -> None:
    print(wrapped(str(claim), "  - ", _INDENT))
    if note := claim.evidence.get("note"):
        print(wrapped(str(note), _INDENT, _INDENT))
    if explain:
        _write_grounds(claim, _INDENT)


def _write_grounds(claim: Claim, indent: str) -> None:
    """What a claim rests on, and its source."""
    for assumption in claim.assumptions:
        print(wrapped(f"{assumption.check}: {assumption.statement}", indent, indent + "  "))
    if claim.reference:
        print(wrapped(f"source: {claim.reference}", indent, indent + "  "))
