"""What `shift`, `tasks`, `positions`, `models`, `attentions` and `doctor` take."""

from __future__ import annotations

from lengthwise.cli.options import Parser, a_size, add_task_options, add_trust, add_yes, whole_from
from lengthwise.limits import MOST_SIZE


def shift(parser: Parser) -> None:
    """Measure how far test trajectories are from training ones: two files, a task at two sizes, or a task's ladder.

    The distance is Wasserstein-1 with a certificate, compared with the noise between two samples of one distribution,
    and explained: which numbers and which trajectories account for it. A file holds one JSON object per line, such as
    {"text": "3 1 2"} or {"input": ..., "answer": ...}, optionally with "weight", "depth" and "features". The first
    sample is training.

    Metrics: features (length, depth, backtracks ...), contour (the depth profile), edit, ngrams:n=2, and
    hidden:model=FOLDER (mean hidden states of a frozen model).

    With --ladder the levels of a task (deeper, wider, other values) are measured one by one, each against training.
    """
    add = parser.add_argument
    add("first", metavar="FIRST", help="the training file; or a task with --from and --to, or --ladder")
    add("second", nargs="?", metavar="SECOND", help="the file to compare with it")
    add("--from", dest="from_sizes", metavar="SIZES", help="with a task: the training size or sizes, such as 5-10")
    add("--to", dest="to_sizes", metavar="SIZES", help="with a task: the size or sizes to compare with")
    parser.flag("--ladder", "with a task: every level of its ladder, each against training")
    parser.add("--train-size N", "with --ladder: the largest training size", a_size)
    parser.add("--metric SPEC", "distance between two trajectories (default: features)", default="features")
    parser.add("--method NAME", "how to compute the distance (default: auto, chosen and reported)")
    parser.add("--items N", "with a task: trajectories per sample or level (default: 200)", whole_from(2))
    parser.add("--resamples N", "number of splits and permutations for the noise (default: 100)", whole_from(20))
    parser.add_figure()
    parser.flag("--require", "exit with code 3 if the distance is not certified")
    add_trust(parser, "the run of hidden:model=RUN")


def tasks(parser: Parser) -> None:
    """List the tasks with one line each, or show one: what is known about it, and worked examples."""
    add_task_options(parser)
    parser.add("--show N", "print N worked examples (default: 0)", whole_from(0, 10_000), default=0)
    parser.add("--size N", "size of the examples (default: a small one)", whole_from(0, MOST_SIZE))


def positions(parser: Parser) -> None:
    """List the position encodings with one line each, or show one in numbers.

    For one encoding it prints the properties that it declares and, for a query and a key that are equal, how the logit
    between them changes with distance.
    """
    text = "an encoding, with settings and wrappers, such as rope:base=500000+randomized"
    parser.add_argument("position", nargs="?", metavar="POSITION", help=text)
    parser.add("--show N", "number of distances to show (default: 8)", whole_from(1, 10_000), default=8)
    parser.add(
        "--trained N", "training length that it is built for, in tokens (default: 64)", whole_from(2), default=64
    )


def models(parser: Parser) -> None:
    """List the models with one line each, or show one: its settings, and its number of parameters on a task.

    `lengthwise train TASK --model MODEL` trains it; a study compares several.
    """
    text = "a model, such as delta:order=2,negative=true or my.py::Net"
    parser.add_argument("model", nargs="?", metavar="MODEL", help=text)
    parser.add("--task SPEC", "the task that it is built for (default: parity)", default="parity")
    add_yes(parser)


def attentions(parser: Parser) -> None:
    """List the attention rules with one line each, or show one: what it computes, its settings, and what it is for.

    `lengthwise train TASK --attention RULE` trains with it; a study compares several.
    """
    text = "an attention rule, such as ssmax or my.py::Rule"
    parser.add_argument("attention", nargs="?", metavar="RULE", help=text)


def doctor(parser: Parser) -> None:
    """Check versions, threads, speed (in a two-second trial) and extras, and report what is missing."""
    parser.flag("--no-speed", "skip the speed trial")
