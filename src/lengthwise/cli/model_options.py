"""What `check`, `forecast`, `advise`, `measure`, `ask` and `inspect` take."""

from __future__ import annotations

import argparse

from lengthwise.cli.options import Parser, add_computing, add_task_options, add_trust, number, whole, whole_from


def check(parser: Parser) -> None:
    """Predict before training whether a model can hold beyond its training size, with which encoding, and why.

    The card begins with one line of advice. Then it has a verdict for each encoding: can hold (a solution exists that
    works at every length; training may still miss it), cannot hold (there is an obstruction) or unknown. Each has its
    reason, which can be checked by hand, and what would change it. --against compares verdicts with what a study
    measured.

    A formulation of your own is a Python file with `starts(size)` and `step(state)`, or a JSONL file of lines {"state":
    "1 0 1", "next": "1 1"}.
    """
    add_task_options(parser)
    parser.add("--formulation FILE", "a layout of reasoning steps of your own, .py or .jsonl")
    parser.add_argument(
        "--position", action="append", metavar="SPEC", help="an encoding; may be repeated (the usual five)"
    )
    parser.add("--train-size N", "train on sizes up to this (20, or a third of a task that ends early)", whole_from(1))
    parser.add("--test-size N", "use on sizes up to this (3 x training size)", whole)
    parser.add("--items N", "training items planned, for coverage (the preset's steps x batch)", whole_from(1))
    parser.flag("--decoder", "a layout of steps as a causal decoder writes it, seeing all before")
    parser.add("--program FILE", "check a C-RASP program of your own against the task (docs/programs.md)")
    parser.flag("--explain", "every opinion: the models it binds, its assumptions, its source")
    parser.add("--against STUDY", "compare predictions with the measurements of a study")


def forecast(parser: Parser) -> None:
    """Predict how far a model will hold, from an atlas of measured runs.

    Before training: `lengthwise forecast parity --position rope` gives, at 2, 4 and 8 times the training size, the
    probability that exact match stays at 95 % or more, the distribution of exact match, and an interval. The evidence
    is shown: the nearest tasks and what became of them.

    For a trained model: `lengthwise forecast runs/NAME --seen 40` measures it up to size 40 and predicts what comes
    beyond; --check measures that too and scores the prediction. --unlabelled predicts accuracy on inputs without
    answers, from how sure the model is of its own.

    Outside of what the atlas covers no number is given. --evaluate predicts every task of the atlas from the others and
    compares the scores with those of baselines.
    """
    add_task_options(parser, "a task before training, or with --seen a run, or my.py::build")
    parser.add_argument("--task", dest="of_task", metavar="TASK", help="with --seen: the task to ask (the run's own)")
    parser.add("--position SPEC", "the encoding (none; of a trained model its own)")
    parser.add("--model SPEC", "before training: a model that is not our Transformer, such as lstm")
    parser.add("--train-size N", "trained on sizes up to this (20; of a run its own)", whole_from(1))
    parser.add("--seen N", "the trained model TASK names was measured up to this size; do that now", whole_from(1))
    parser.flag("--check", "with --seen: measure beyond as well, and score the forecast")
    parser.add("--unlabelled FILE", 'with --seen: a JSONL file of inputs without answers, {"input": "3 1 2"}')
    parser.add("--items N", "with --seen: test items at each size (100)", whole_from(1))
    parser.add("--level SHARE", "of the intervals (0.9)", number)
    parser.flag("--evaluate", "forecast each task of the atlas from the others, next to baselines")
    parser.add("--atlas FILE", "an atlas of your own (that of the package)")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "with --seen: the seed of the test items (0)"


def advise(parser: Parser) -> None:
    """Advise what to train a task with: encoding, attention rule, model, recipe, training size and number of seeds.

    Each line has its grounds: what theory says, and how many similar tasks hold at the same multiple of the training
    size. These are in the atlas, the measured runs that come with the package. Where there are no grounds, it says so.
    --evaluate shows how good such advice is: every task of the atlas is advised from the other tasks.
    """
    add_task_options(parser)
    parser.add("--train-size N", "train on sizes up to this (20, or a third of a task that ends early)", whole_from(1))
    parser.add("--test-size N", "use on sizes up to this (3 x training size)", whole_from(1))
    parser.add("--atlas FILE", "take measured runs from this file (those of the package)")
    parser.flag("--evaluate", "score advice on the tasks of the atlas, next to other rules")
    parser.seed_help = ""


def measure(parser: Parser) -> None:
    """Put probes to a trained model: accuracy by size unless --probe names others.

    A saved run is measured at other sizes, on other items, on another task, or read with another encoding of the same
    parameters. Extending a model's context is tried this way: train with rope, then measure with --position
    rope:scaling=yarn,factor=3. `--list-probes` lists what can be measured. A network of yours that was trained
    elsewhere is measured as my.py::build with --task: `build` returns it.

    A model of transformers that was trained on the symbols of a task is measured with --tokens, which says which of its
    tokens they are: a JSON file {"<bos>": 0, "<sep>": 3, "<eos>": 2, "a": 5, …}, `tokenizer`, or my.py::adapter
    (docs/hub-models.md).

    A language model (a Hub folder or GGUF file with a tokenizer, or a server) is asked by prompt: `lengthwise measure
    model.gguf --task sort --sizes 2-64`. Prompts and answers are kept below measured/; run the same command again to
    resume.

    --rope extends the context of a model with RoPE, and repeated compares scalings: `lengthwise measure model.gguf
    --task needle --rope none --rope linear:factor=4 --rope yarn:factor=4 --text book.txt`. See docs/context.md.
    """
    what = "a run, a Hub folder, a GGUF file, openai:URL,model=NAME, or my.py::build"
    parser.add_argument("subject", nargs="?", metavar="SUBJECT", help=what)
    add_task_options(parser, "measure on this task, which has the same symbols (the run's own)")
    parser.add_argument("--task", action="append", dest="tasks", metavar="TASK", help="TASK as an option; repeatable")
    parser.add_argument(
        "--probe", action="append", metavar="SPEC", help="what to measure, as ladder:items=200; repeatable (curve)"
    )
    parser.flag("--list-probes", "list the probes")
    parser.add("--test-size N", "measure at every size up to this (the run's own test size)", whole_from(1))
    parser.add("--sizes N,N,…", "measure at these sizes instead, as 10,20,60 or 2-64 (by prompt: 2,4,8 … 64)")
    parser.add("--train-size N", "of a model from elsewhere: the size it was trained to", whole_from(1))
    parser.add("--tokens MAP", "of a model of transformers: its tokens for the symbols (map.json, tokenizer, my.py::f)")
    parser.add("--items N", "test items at each size (200; by prompt 100)", whole_from(1))
    parser.add("--position SPEC", "read the model with this encoding instead of its own")
    parser.flag("--generate", "also write answers token by token: do they agree?")
    parser.add_figure("draw the curve into this .svg, .png or .html file")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "the seed of the test items (the run's own)"
    _add_rope_options(parser.add_argument_group("a longer context"))
    _add_prompt_options(parser.add_argument_group("a language model, asked by prompt"))


def _add_rope_options(group: argparse._ArgumentGroup) -> None:
    kinds = "own, none, linear, ntk, by_parts, llama3, yarn or dynamic"
    scaling = f"read RoPE with this scaling, as yarn:factor=4 ({kinds}); repeatable"
    group.add_argument("--rope", action="append", metavar="SPEC", help=scaling)
    group.add_argument("--text", metavar="FILE", help="also measure the loss on this text by position")
    conform = "compare log-probabilities with this engine: openai:URL,model=NAME or transformers"
    group.add_argument("--conform", metavar="ENGINE", help=conform)


def _add_prompt_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--shots", type=whole_from(0), metavar="N", help="worked examples before each question (3)")
    add("--chat", action="store_true", help="use the chat template (if the model has one)")
    add("--plain", action="store_true", help="plain text without a chat template")
    add("--template", metavar="FILE", help="how a question is written: a template, or my.py::Class (docs/prompts.md)")
    add("--budget", type=whole_from(1), metavar="N", help="tokens of an answer (enough for a right one)")
    add("--reasoning", type=whole_from(0), metavar="N", help="tokens to think before the answer (0)")
    add("--folder", metavar="DIR", help="where prompts and answers are kept (measured)")
    add("--dry-run", action="store_true", help="say how many items, tokens and minutes it takes, and stop")
    add("--price", metavar="X,Y", help="with --dry-run: prices of a million tokens read and written")
    add("--export", nargs=2, metavar=("eval", "FILE"), help="also write a log that inspect_ai reads, as FILE.eval")


def ask(parser: Parser) -> None:
    """Ask a run one question: `lengthwise ask RUN "9 3 41 7"` prints what its model answers.

    The prompt is symbols of the run's task with spaces between; `lengthwise tasks NAME` shows examples.
    """
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("prompt", metavar="PROMPT", help="symbols of the task, with spaces between")
    add_trust(parser, "the run")
    parser.seed_help = ""


def inspect(parser: Parser) -> None:
    """Inspect a model: its layers and norms, how much it can stretch distances, what moving all positions does to it,
    how clearly its attention prefers one key to the others and which tokens receive it, how short it can be written
    down, and whether its tokens draw together from block to block.

    MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2 and 3, Gemma,
    Pythia, OPT, BERT, RoBERTa), a GGUF file, or a Python file of yours, my.py::build; nothing is downloaded. It is
    shown items of the run's own task, or of --task or --data; a model without a task is shown a built-in text where it
    has a tokenizer, and made-up sequences where it has none.
    """
    parser.add_argument("model", metavar="MODEL", help="a run, a Hub folder, a GGUF file, or my.py::build")
    parser.add("--task TASK", "show it items of this task, whose symbols are its own or those of --tokens")
    parser.add("--tokens MAP", "of a model of transformers: its tokens for the symbols of --task, as in measure")
    parser.add("--data FILE", 'show it a JSONL file: {"tokens": […]}, {"text": …} or {"input": …}')
    parser.add("--size N", "the size of the items (the largest it was trained on)", whole_from(1))
    parser.add("--items N", "how many sequences (8; 2 for a model of over 20 million)", whole_from(1))
    parser.add("--probes PROBES", "only these, separated by commas, such as layers,margins:items=4")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "the seed of the inputs (0)"
