"""Inspect a model: its layers and norms, how much it can stretch distances, what moving all positions does to it, how
clearly its attention prefers one key to the others and which tokens receive it, how short it can be written down, and
whether its tokens draw together from block to block.

MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2, BERT, RoBERTa),
a GGUF file, or a Python file of yours, my.py::build; nothing is downloaded. It is shown items of the run's own task, or
of --task or --data; a model without a task is shown a built-in text where it has a tokenizer, and made-up sequences
where it has none.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from lengthwise.cli.options import Parser, add_trust, at_least, check_place, whole
from lengthwise.cli.output import wrapped, write_field, write_object
from lengthwise.progress import shown

_BETWEEN = r"\s*,\s*(?!\w+=)"  # a comma between two specs, and not between two settings of one


def add_options(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a run, a Hub folder, a GGUF file, or my.py::build")
    add = parser.add_argument
    add("--task", metavar="TASK", help="show it items of this task, which has the same symbols")
    add("--data", metavar="FILE", help='show it a JSONL file: {"tokens": […]}, {"text": …} or {"input": …}')
    add("--size", type=whole, metavar="N", help="the size of the items (the largest it was trained on)")
    add("--items", type=whole, metavar="N", help="how many sequences (8; 2 for a model of over 20 million)")
    add("--probes", metavar="PROBES", help="only these, separated by commas, such as layers,margins:items=4")
    add("--page", metavar="FILE", help="also write everything as one HTML page")
    add_trust(parser, "the run")
    parser.seed_help = "the seed of the inputs (0)"


def run(options: argparse.Namespace) -> int:
    at_least(1, options.items, "--items")
    at_least(1, options.size, "--size")
    # Before numpy and torch are loaded: on a shared machine many small matrices took twice as long on two threads.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from lengthwise.cli.records import write_record
    from lengthwise.probes.inspection import inspect

    check_place(options.page, "--page", (".html",))
    with shown(quiet=options.quiet, title="inspect") as progress:
        found = inspect(
            options.model,
            task=options.task,
            data=options.data,
            size=options.size,
            items=options.items,
            probes=None if options.probes is None else re.split(_BETWEEN, options.probes),
            seed=options.seed or 0,
            progress=progress,
        )
    if options.page is not None:
        from lengthwise.reports.record_section import RecordPage, write_record_page

        title = f"Inspection of {found.model}"
        write_record_page(RecordPage(title, found.headline, found.facts, found.records), Path(options.page))
    if options.json:
        write_object("inspect", {**found.plain(), "page": options.page})
        return 1 if found.broken else 0
    print(found.model)
    for line in found.headline:
        print(wrapped(line))
    print()
    for label, text in found.facts:
        write_field(label, text)
    for record in found.records:
        write_record(record)
    if options.page is not None:
        print(f"\n{options.page}")
    return 1 if found.broken else 0
