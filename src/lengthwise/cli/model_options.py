"""What `check`, `forecast`, `advise`, `measure`, `ask` and `inspect` take."""

from __future__ import annotations

import argparse

from lengthwise.cli.options import (
    Parser,
    a_size,
    add_computing,
    add_task_options,
    add_trust,
    add_yes,
    number,
    whole_from,
)


def check(parser: Parser) -> None:
    """Predict before training whether a model can hold beyond its training size, with which encoding, and why.

    The output starts with one line of advice. Then it gives a verdict for each encoding, or for each --model: can hold
    (a solution exists that works at every length; training may still miss it), cannot hold (there is an obstruction) or
    unknown. Each verdict comes with a reason that you can check by hand, and with what would change it. --against
    compares verdicts with the measurements of a study.

    To check your own formulation, give a Python file with `starts(size)` and `step(state)`, or a JSONL file with lines
    such as {"state": "1 0 1", "next": "1 1"}. --repair searches for a layout with the same answers that one window of
    neighbouring columns settles, and --out writes it as a file that runs.

    To check chains of thought that you have, give --data a JSONL file of records with messages, prompt and completion,
    or states: which windows settle a step, which lines contradict each other and, with --test-data, which windows of a
    test file are not shown (docs/how-to/thoughts.md).
    """
    add_task_options(parser)
    parser.add("--formulation FILE", "your own layout of reasoning steps, .py or .jsonl")
    parser.flag(
        "--repair",
        "search for marks, columns and pointers that make a layout of steps local (docs/explanation/locality.md)",
    )
    parser.add("--split RULE", "chains of thought: lines (default) or a regular expression between two steps")
    parser.add("--tokenise RULE", "chains of thought: words (default), characters, or an expression for one token")
    parser.add("--test-data FILE", "chains of thought: list the windows of this file that --data does not show")
    parser.add_output("--out", (".py", ".jsonl"), "write the repaired layout, or the test records that close all gaps")
    parser.add_argument(
        "--position", action="append", metavar="SPEC", help="a position encoding; repeatable (default: the usual five)"
    )
    parser.add_argument(
        "--model", action="append", metavar="SPEC", help="another model, such as lstm or ssm:negative=true; repeatable"
    )
    parser.add("--train-size N", "train on sizes up to N (default: 20, or a third of a task that ends early)", a_size)
    parser.add("--test-size N", "use on sizes up to N (default: 3 x training size)", a_size)
    parser.add("--items N", "planned training items, for coverage (default: the preset's steps x batch)", whole_from(1))
    parser.flag("--decoder", "treat a layout of steps as text of a causal decoder, which sees everything before")
    parser.add("--program FILE", "check your own C-RASP program against the task (docs/explanation/programs.md)")
    parser.flag("--explain", "show every opinion: the models it covers, its assumptions, its source")
    add_yes(parser)
    parser.add("--against STUDY", "compare predictions with the measurements of a study")
    parser.add_figure("with a layout of steps: draw one instance as a graph: .svg, .png or .html")
    parser.add_output("--page", (".html",), "with a layout of steps: the graph and its table as one HTML page")


def forecast(parser: Parser) -> None:
    """Predict how far a model will hold, from an atlas of measured runs.

    Before training: `lengthwise forecast parity --position rope` gives, at 2, 4 and 8 times the training size, the
    probability that exact match stays at 95 % or more, the distribution of exact match, and an interval. It also
    shows the evidence: the nearest tasks and how far they held.

    For a trained model: `lengthwise forecast runs/NAME --seen 40` measures it up to size 40 and predicts what comes
    beyond; --check measures that too and scores the prediction. --unlabelled predicts accuracy on inputs without
    answers, from the model's confidence.

    Where the atlas has nothing comparable, no number is given. --evaluate predicts every task of the atlas from the
    others and compares the scores with those of baselines.
    """
    add_task_options(parser, "a task before training; with --seen, a run or my.py::build")
    parser.add_argument(
        "--task", dest="of_task", metavar="TASK", help="with --seen: the task to ask (default: the run's own)"
    )
    parser.add("--position SPEC", "the encoding (default: none; for a trained model its own)")
    parser.add("--model SPEC", "before training: a model that is not our Transformer, such as lstm")
    parser.add("--train-size N", "trained on sizes up to N (default: 20; for a run its own)", a_size)
    parser.add("--seen N", "measure the trained model TASK up to size N, and predict beyond", a_size)
    parser.flag("--check", "with --seen: measure beyond as well, and score the forecast")
    parser.add("--unlabelled FILE", 'with --seen: a JSONL file of inputs without answers, {"input": "3 1 2"}')
    parser.add("--items N", "with --seen: test items per size (default: 100)", whole_from(1))
    parser.add("--level SHARE", "level of the intervals (default: 0.9)", number)
    parser.flag("--evaluate", "forecast each task of the atlas from the others, and compare with baselines")
    parser.add("--atlas FILE", "your own atlas (default: the package's own)")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "with --seen: random seed of the test items (default: 0)"


def advise(parser: Parser) -> None:
    """Advise what to train a task with: encoding, attention rule, model, recipe, training size and number of seeds.

    Each line says what it is based on: theory, and how many similar tasks hold at the same multiple of the training
    size in the atlas, the measured runs that come with the package. If there is no evidence, it says so.
    --evaluate shows how good such advice is: every task of the atlas is advised from the other tasks.
    """
    add_task_options(parser)
    parser.add("--train-size N", "train on sizes up to N (default: 20, or a third of a task that ends early)", a_size)
    parser.add("--test-size N", "use on sizes up to N (default: 3 x training size)", a_size)
    parser.add("--atlas FILE", "take measured runs from this file (default: the package's own)")
    parser.flag("--evaluate", "score advice on the tasks of the atlas, compared with other rules")
    parser.seed_help = ""


def measure(parser: Parser) -> None:
    """Measure a trained model: accuracy by size, unless --probe names other probes.

    You can measure a saved run at other sizes, on other items, on another task, or with another encoding of the same
    parameters. For example, to extend a model's context, train with rope, then measure with --position
    rope:scaling=yarn,factor=3. `--list-probes` lists what can be measured. To measure your own network that was trained
    elsewhere, give my.py::build with --task: `build` returns the network.

    To measure a transformers model that was trained on a task's symbols, use --tokens to say which of its tokens
    they are: a JSON file {"<bos>": 0, "<sep>": 3, "<eos>": 2, "a": 5, …}, `tokenizer`, or my.py::adapter
    (docs/how-to/hub-models.md).

    A language model (a Hub folder or GGUF file with a tokenizer, or a server) is asked by prompt: `lengthwise measure
    model.gguf --task sort --sizes 2-64`. Prompts and answers are saved below measured/; run the same command again to
    resume.

    --rope extends the context of a model with RoPE; repeat it to compare scalings: `lengthwise measure model.gguf
    --task needle --rope none --rope linear:factor=4 --rope yarn:factor=4 --text book.txt`. See docs/how-to/context.md.
    """
    what = "a run, a Hub folder, a GGUF file, openai:URL,model=NAME, or my.py::build"
    parser.add_argument("subject", nargs="?", metavar="SUBJECT", help=what)
    add_task_options(parser, "measure on this task, which must have the same symbols (default: the run's own)")
    parser.add_argument("--task", action="append", dest="tasks", metavar="TASK", help="same as TASK; repeatable")
    parser.add_argument(
        "--probe",
        action="append",
        metavar="SPEC",
        help="what to measure, such as ladder:items=200; repeatable (default: curve)",
    )
    parser.flag("--list-probes", "list the probes")
    parser.add("--test-size N", "measure at every size up to N (default: the run's own test size)", a_size)
    parser.add("--sizes N,N,…", "measure at these sizes instead, such as 10,20,60 or 2-64 (by prompt: 2,4,8 … 64)")
    parser.add("--train-size N", "for a model from elsewhere: the size it was trained to", a_size)
    parser.add("--tokens MAP", "for a transformers model: its tokens for the symbols (map.json, tokenizer, my.py::f)")
    parser.add("--items N", "test items per size (default: 200; by prompt: 100)", whole_from(1))
    parser.add("--position SPEC", "run the model with this encoding instead of its own")
    parser.flag("--generate", "also generate answers token by token, and compare")
    parser.add_figure("write the curve to this .svg, .png or .html file")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "random seed of the test items (default: the run's own)"
    _add_rope_options(parser.add_argument_group("a longer context"))
    _add_prompt_options(parser.add_argument_group("a language model, asked by prompt"))


def _add_rope_options(group: argparse._ArgumentGroup) -> None:
    kinds = "own, none, linear, ntk, by_parts, llama3, yarn or dynamic"
    scaling = f"apply this RoPE scaling, such as yarn:factor=4 ({kinds}); repeatable"
    group.add_argument("--rope", action="append", metavar="SPEC", help=scaling)
    group.add_argument("--text", metavar="FILE", help="also measure the loss on this text by position")
    conform = "compare log-probabilities with this engine: openai:URL,model=NAME or transformers"
    group.add_argument("--conform", metavar="ENGINE", help=conform)


def _add_prompt_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--shots", type=whole_from(0), metavar="N", help="worked examples before each question (default: 3)")
    add("--chat", action="store_true", help="use the chat template (default if the model has one)")
    add("--plain", action="store_true", help="use plain text without a chat template")
    words = "how to write a question: a template, or my.py::Class (docs/how-to/prompts.md)"
    add("--template", metavar="FILE", help=words)
    add("--budget", type=whole_from(1), metavar="N", help="maximum tokens per answer (default: enough for a right one)")
    add("--reasoning", type=whole_from(0), metavar="N", help="tokens to think before the answer (default: 0)")
    add("--folder", metavar="DIR", help="where to save prompts and answers (default: measured)")
    add("--dry-run", action="store_true", help="print how many items, tokens and minutes it takes, and stop")
    add("--price", metavar="X,Y", help="with --dry-run: prices per million tokens read and written")
    add("--export", nargs=2, metavar=("eval", "FILE"), help="also write a log for inspect_ai to FILE.eval")


def ask(parser: Parser) -> None:
    """Ask a run one question: `lengthwise ask RUN "9 3 41 7"` prints the model's answer.

    The prompt consists of symbols of the run's task, separated by spaces; `lengthwise tasks NAME` shows examples.
    """
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("prompt", metavar="PROMPT", help="symbols of the task, separated by spaces")
    add_trust(parser, "the run")
    parser.seed_help = ""


def inspect(parser: Parser) -> None:
    """Inspect a model: its layers and norms, how much it can stretch distances, what moving all positions does to it,
    how clearly its attention prefers one key to the others and which tokens receive it, how compactly it can be
    encoded, and whether its tokens move closer together from block to block.

    MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2 and 3, Gemma,
    Pythia, OPT, BERT, RoBERTa), a GGUF file, or your own Python file, my.py::build; nothing is downloaded. It is run on
    items of the run's own task, or of --task or --data; a model without a task is run on a built-in text if it has a
    tokenizer, and on made-up sequences otherwise.
    """
    parser.add_argument("model", metavar="MODEL", help="a run, a Hub folder, a GGUF file, or my.py::build")
    parser.add("--task TASK", "run it on items of this task, whose symbols are its own or those of --tokens")
    parser.add("--tokens MAP", "for a transformers model: its tokens for the symbols of --task, as in measure")
    parser.add("--data FILE", 'run it on a JSONL file: {"tokens": […]}, {"text": …} or {"input": …}')
    parser.add("--size N", "size of the items (default: the largest it was trained on)", a_size)
    parser.add("--items N", "number of sequences (default: 8; 2 for over 20 million parameters)", whole_from(1))
    parser.add("--probes PROBES", "run only these probes, separated by commas, such as layers,margins:items=4")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "random seed of the inputs (default: 0)"
