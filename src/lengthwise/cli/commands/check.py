"""What `lengthwise check` does: the card of a task, the check of a program, and verdicts against a study."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from lengthwise.analyses.agreement import AgreementAnalysis
from lengthwise.analyses.content import read_content
from lengthwise.analyses.layout import LAYOUT, PageLayout
from lengthwise.cli.commands.check_repair import run_repair
from lengthwise.cli.commands.check_thoughts import is_about_chains, run_thoughts
from lengthwise.cli.commands.study_show import write_shortened
from lengthwise.cli.options import task_chosen
from lengthwise.cli.output import narrate, warn, wrapped, write_list, write_object, written
from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.evidence import load_atlas
from lengthwise.evidence.search_layers import layer_claims
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.style import alt, paper_spec
from lengthwise.forecasts.share import measured_shares
from lengthwise.limits import THINKING_SECONDS, time_limit
from lengthwise.messages import sentence
from lengthwise.models.named import models
from lengthwise.oracle.brackets import VIEW
from lengthwise.oracle.check import POSITIONS, Card, check, check_formulation
from lengthwise.oracle.locality.dag import graph_record
from lengthwise.oracle.opinion import Opinion, Verdict, outlook_words
from lengthwise.oracle.programs.text import load_program
from lengthwise.oracle.programs.verify import verify_program
from lengthwise.positions import make_position
from lengthwise.progress import shown
from lengthwise.records import Claim
from lengthwise.reports.record_section import RecordPage, write_record_page
from lengthwise.studies.record import printable
from lengthwise.studies.store import study_folder
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

_INDENT = "    "
_OF_CARDS = ("position", "model", "train_size", "test_size", "items", "decoder", "explain", "figure", "page")

Spec = str | dict[str, object] | None


def run(options: argparse.Namespace) -> int:
    if is_about_chains(options):
        return run_thoughts(options)
    spec = task_chosen(options)
    if options.repair:
        return run_repair(options, spec)
    if options.out is not None:
        raise UsageError("--out goes with --repair, or with --data and --test-data for chains of thought")
    given = [spec is not None, options.formulation is not None, options.against is not None]
    if sum(given) != 1:
        raise UsageError(
            "check takes one of TASK, --regex, --dfa, --data, --formulation and --against, as in "
            "`lengthwise check sort` or `lengthwise check --against huang2025`"
        )
    if options.against is not None:
        _refuse(options, (*_OF_CARDS, "program"), "--against: the study decides it")
        return _run_against(options)
    return _show_card(options, spec) if options.program is None else _check_program(options, spec)


def _refuse(options: argparse.Namespace, names: Sequence[str], what: str) -> None:
    """Options that would do nothing here."""
    for name in names:
        if getattr(options, name) not in (None, False):
            raise UsageError(f"--{name.replace('_', '-')} cannot be used with {what}")


def _run_against(options: argparse.Namespace) -> int:
    """The oracle's verdicts and what the runs of a study did."""
    study = dataclasses.replace(read_content(study_folder(options.against)), pictures=False)
    narrate(f"looking at {len({row.task for row in study.rows})} tasks …", options.quiet)
    record = AgreementAnalysis().analyse(study)
    if options.json:
        write_object("check", {key: value for key, value in record.data.items() if key != LAYOUT})
        return 0
    write_shortened(record)
    for heading, items in PageLayout.of(record).lists:
        print(f"\n{printable(heading)}")
        write_list((printable(text.replace("`", "")) for text in items), "", "  ")
    return 0


def _show_card(options: argparse.Namespace, spec: Spec) -> int:
    """The card for a task or a formulation of the user's."""
    positions = tuple(dict.fromkeys(options.position or ())) or None
    named = tuple(dict.fromkeys(options.model or ()))
    for encoding in positions or ():
        make_position(encoding)  # refuses one that does not exist
    for text in named:
        models.make(text)
    choice = {name: getattr(options, name) for name in ("train_size", "test_size", "items", "decoder")}
    choice["seed"] = options.seed or 0
    if options.formulation is not None:
        if named:
            raise UsageError("a formulation is checked for encodings; --model takes TASK, --regex, --dfa or --data")
        with time_limit("the check", THINKING_SECONDS), shown(quiet=options.quiet) as told:
            card = check_formulation(
                options.formulation,
                positions or POSITIONS,
                progress=lambda done, step, _: told(f"{step:,} {done}", 0, 1),
                **choice,
            )
        measured, layers = [], []
        _draw(None, options)
    else:
        assert spec is not None
        task = tasks.make(spec)
        _draw(task, options)
        with time_limit("the check", THINKING_SECONDS):
            card = check(task, positions, model=named, **choice)
            measured = _measured(task, card, options.quiet)
            layers = layer_claims(task, {claim.key: claim.title for claim in card.depth}) if card.depth else []
    if options.json:
        found = {"measured": measured, "layers": layers}
        plain = {name: [claim.plain() for claim in claims] for name, claims in found.items()}
        write_object("check", {**card.plain(), **plain})
    else:
        _write_card(card, layers, options.explain)
        _write_measured(measured, options.explain)
    return 0


def _draw(task: Task | None, options: argparse.Namespace) -> None:
    """The steps of one instance as a graph, into the files that were asked for."""
    if options.figure is None and options.page is None:
        return
    if not isinstance(task, Formulation):
        name = options.formulation if task is None else name_of(task)
        raise UsageError(
            f"a graph is drawn only for a built-in layout of steps, such as parity_columns, not for {name}"
        )
    record = graph_record(task, seed=options.seed or 0)
    if options.page is not None:
        write_record_page(RecordPage(record.title, record.text, (), (record,)), Path(options.page))
    if options.figure is not None:
        (figure,) = record.figures
        with written(options.figure, options.quiet):
            save_chart(Path(options.figure), alt.Chart.from_dict(paper_spec(figure)), figure.title, record.text)


def _measured(task: Task, card: Card, quiet: bool) -> list[Claim]:
    """What the atlas measured of similar tasks, where the card does not decide. A card needs no atlas: one that cannot
    be read is said."""
    if all(verdict.outlook != "unknown" for verdict in card.verdicts.values()):
        return []
    try:
        return measured_shares(task, card, load_atlas())
    except UsageError as error:
        warn([f"nothing measured is shown: {error}"], quiet)
        return []


def _check_program(options: argparse.Namespace, spec: Spec) -> int:
    """Compare a user's program with the solver of a task; exit code 3 if it is wrong."""
    if spec is None:
        raise UsageError("--program is checked against a task, as in `lengthwise check sort --program mine.txt`")
    _refuse(options, (*_OF_CARDS, "seed"), "--program, which is compared with the answers of the task")
    found = verify_program(load_program(options.program), tasks.make(spec), budget_seconds=5.0)
    if options.json:
        write_object("check", {"program": options.program, **found.plain(), "claim": found.claim().plain()})
    else:
        print("\n".join(map(wrapped, found.explain())))
    if found.mismatch is not None:
        raise CertificateRefused(f"{options.program} does not solve the task: {found.mismatch}")
    return 0


def _write_card(card: Card, layers: list[Claim], explain: bool) -> None:
    """The card in 80 columns; `explain` adds every opinion with what it rests on. `layers` are what was measured of the
    layers that brackets take."""
    print(wrapped(f"{card.task}: trained on sizes up to {card.train_size}, used up to {card.test_size}"))
    advice = card.advice.sentence
    print(wrapped(f"{advice[0].upper()}{advice[1:]}.", "  advice: ", "    "))
    for note in card.notes:
        print(wrapped(note, "  note: ", "    "))
    for group in _alike(card):
        print()
        _write_verdict(group, explain)
    _write_claims("training", card.training, explain)
    _write_depth(card.depth, layers, explain)
    _write_claims("limits", card.limits if explain else (), explain)
    if card.changes:
        print("\nwhat would change it")
        write_list((change.sentence for change in card.changes), "- ", "  ")
    if any(verdict.outlook == "can hold" for verdict in card.verdicts.values()):
        print()
        print(wrapped(sentence("advice.not_will")))


def _write_depth(claims: Sequence[Claim], layers: Sequence[Claim], explain: bool) -> None:
    """The Dyck view: the brackets, then thresholds of depth, those proved apart from those believed and measured."""
    view = [claim for claim in claims if claim.key in VIEW]
    rest = [claim for claim in claims if claim.key not in VIEW]
    _write_claims("depth, as brackets", view, explain)
    _write_claims("depth, proved", [claim for claim in rest if claim.kind == "proved"], explain)
    _write_claims("depth, believed", [claim for claim in rest if claim.kind != "proved"], explain)
    _write_claims("depth, measured", layers, explain)


def _write_claims(title: str, claims: Sequence[Claim], explain: bool) -> None:
    if claims:
        print(f"\n{title}")
        for claim in claims:
            _write_claim(claim, explain)


def _write_measured(claims: list[Claim], explain: bool) -> None:
    """Shares of similar tasks, apart from the verdicts: they were measured, and nothing about them is proved."""
    if not claims:
        return
    print("\nmeasured where theory is silent (lengthwise forecast says more)")
    for claim in claims:
        print(wrapped(str(claim), "  - ", _INDENT))
    similar = claims[0].assumptions if explain else claims[0].assumptions[:1]
    for assumption in similar:
        print(wrapped(assumption.statement, _INDENT, _INDENT))


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
    print(f"{names:<16}  {outlook_words(verdict.outlook).upper()}")
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
