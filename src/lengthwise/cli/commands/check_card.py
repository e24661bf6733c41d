"""The card of a check as text: verdicts, reasons, what training needs, what would change it; and the check of a
program."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.line_progress import line_shown
from lengthwise.cli.output import wrapped, write_object
from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.messages import sentence
from lengthwise.oracle.check import POSITIONS, Card, check, check_formulation
from lengthwise.oracle.opinion import Advice, Opinion, Verdict, outlook_words
from lengthwise.oracle.programs.text import load_program
from lengthwise.oracle.programs.verify import verify_program
from lengthwise.positions import make_position
from lengthwise.records import Claim
from lengthwise.tasks import tasks

_LABEL = 18
_INDENT = "    "


Spec = str | dict[str, object] | None


def show_card(options: argparse.Namespace, spec: Spec) -> int:
    """The card for a task or a formulation of the user's."""
    positions = tuple(dict.fromkeys(options.position or POSITIONS))
    for encoding in positions:
        make_position(encoding)  # refuses one that does not exist
    choice = {name: getattr(options, name) for name in ("train_size", "test_size", "items", "decoder")}
    choice["seed"] = options.seed or 0
    if options.formulation is not None:
        with line_shown(options.quiet) as show:
            progress = show and (lambda done, step, _: show(f"{step:,} {done}"))
            card = check_formulation(options.formulation, positions, progress=progress, **choice)
    else:
        assert spec is not None
        card = check(tasks.make(spec), positions, **choice)
    if options.json:
        write_object("check", card.plain())
    else:
        write_card(card, options.explain)
    return 0


def check_program(options: argparse.Namespace, spec: Spec) -> int:
    """Compare a user's program with the solver of a task; exit code 3 if it is wrong."""
    if spec is None:
        raise UsageError("--program is checked against a task, as in `lengthwise check sort --program mine.txt`")
    found = verify_program(load_program(options.program), tasks.make(spec), budget_seconds=5.0)
    if options.json:
        write_object("check", {"program": options.program, **found.plain(), "claim": found.claim().plain()})
    else:
        print("\n".join(map(wrapped, found.explain())))
    if found.mismatch is not None:
        raise CertificateRefused(f"{options.program} does not solve the task: {found.mismatch}")
    return 0


def write_card(card: Card, explain: bool) -> None:
    """The card in 80 columns; `explain` adds every opinion with what it rests on."""
    print(wrapped(f"{card.task}: trained on sizes up to {card.train_size}, used up to {card.test_size}"))
    print(wrapped(_advice(card.advice), "  advice: ", "    "))
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
        print(wrapped(sentence("advice.not_will")))


def _advice(advice: Advice) -> str:
    text = advice.sentence
    return f"{text[0].upper()}{text[1:]}."


def _alike(card: Card) -> list[list[Verdict]]:
    """Verdicts with the same outlook, theory and reason, together."""
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in card.verdicts.values():
        theory = verdict.leading.key if verdict.leading else ""
        groups.setdefault((verdict.outlook, theory, verdict.why), []).append(verdict)
    return list(groups.values())


def _write_verdict(group: list[Verdict], explain: bool) -> None:
    verdict = group[0]
    names = ", ".join(one.encoding for one in group)
    pad = f"{names:<{_LABEL}}" if len(names) < _LABEL else f"{names}  "
    print(f"{pad}{outlook_words(verdict.outlook).upper()}")
    if by := verdict.deciding:
        print(wrapped(f"({by.theory}: {by.standing})" if by.standing else f"({by.theory})", _INDENT, _INDENT))
    print(wrapped(verdict.why, _INDENT, _INDENT))
    for opinion in verdict.dissent:
        says = f"but {opinion.theory} says it {outlook_words(opinion.outlook)}: {opinion.why}"
        print(wrapped(says, _INDENT, _INDENT))
    if explain:
        for opinion in verdict.opinions:
            _write_opinion(opinion, said=opinion is verdict.leading)


def _write_opinion(opinion: Opinion, said: bool) -> None:
    head = f"{opinion.theory}: {outlook_words(opinion.outlook)}"
    print(wrapped(head if said else f"{head}. {opinion.why}", "  * ", _INDENT))
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
