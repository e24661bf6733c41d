"""Inspect a model: its layers and norms, how much it can stretch distances, what moving all positions does to it, how
clearly its attention prefers one key to the others and which tokens receive it, how short it can be written down, and
whether its tokens draw together from block to block.

MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2, BERT, RoBERTa),
a GGUF file, or a Python file of yours, my.py::build; nothing is downloaded. It is shown items of the run's own task, or
of --task or --data; a model without a task is shown a built-in text where it has a tokenizer, and made-up sequences
where it has none.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_trust, whole


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
