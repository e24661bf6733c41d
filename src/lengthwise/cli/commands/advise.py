"""What `lengthwise advise` does: advice for a task with its grounds, and how good such advice is."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.records import write_record, write_rest, write_table
from lengthwise.cli.options import task_chosen, task_needed
from lengthwise.cli.output import wrapped, write_field, write_list, write_object
from lengthwise.errors import UsageError
from lengthwise.evidence import load_atlas
from lengthwise.forecasts.advice import advise
from lengthwise.records import Record
from lengthwise.tasks import tasks


def run(options: argparse.Namespace) -> int:
    atlas = load_atlas(options.atlas)
    if options.evaluate:
        if task_chosen(options) is not None:
            raise UsageError("--evaluate scores advice for every task of the atlas, so it takes no task")
        from lengthwise.forecasts.regret import evaluate_advice  # with the statistics, which take a while to load

        record = evaluate_advice(atlas)
        if not options.json:
            write_record(record, claims=False)
    else:
        sizes = {"train_size": options.train_size, "test_size": options.test_size}
        record = advise(tasks.make(task_needed(options)), **sizes, atlas=atlas)
        if not options.json:
            _write(record)
    if options.json:
        write_object("advise", record.plain())
    return 0


def _write(record: Record) -> None:
    print(wrapped(record.title))
    for text in record.text:
        print(wrapped(text, "  ", "  "))
    print()
    lines, *tables = (table for table in record.tables if not table.detail)
    for line in lines.records():
        write_field(str(line["about"]), str(line["advice"]))
        if line["grounds"]:
            write_field("", str(line["grounds"]))
    write_rest([name for table in tables for name in write_table(table)], "with --json")
    assumed = {a.key: a.statement for claim in record.claims for a in claim.assumptions}
    if assumed:
        print("\nassumed")
        write_list(assumed.values(), "- ", "  ")
    print("\ntry it")
    for command in record.data["commands"]:
        print(f"  {command}")
    if record.data["changes"]:
        print("\nwhat would change it")
        write_list((change["sentence"] for change in record.data["changes"]), "- ", "  ")
