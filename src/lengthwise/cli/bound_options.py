"""What `bound` and its commands, and `contexture`, take."""

from __future__ import annotations

from lengthwise.cli.options import (
    Parser,
    a_size,
    above_0,
    add_computing,
    add_trust,
    amount,
    nats,
    number,
    one_of,
    whole,
    whole_from,
)

_METHOD = one_of("freedman", "azuma")
_TUPLES = one_of("batches", "disjoint")


def bound(parser: Parser) -> None:
    """Bound what a model loses, from its own training data: its description in bits, its losses on the data, and every
    bound that follows, term by term, in nats and bits and compared with chance.

    MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2 and 3, Gemma,
    Pythia, OPT), or a GGUF file. The data of a run are its own training items, drawn again. For another model they are
    --data FILE, one document per line: {"text": …} or {"tokens": […]}, or plain text; without it the built-in text
    stands in, and no bound is certified. With --tokens (such as 2T) the data are treated as a sample of a training set
    of that size.
    """
    parser.add_argument("model", metavar="MODEL", help="a run, a folder of the Hugging Face Hub, or a GGUF file")
    parser.add("--data FILE", "its training data, or a sample of them, one document per line")
    parser.add("--tokens N", "number of training tokens that DATA was sampled from, such as 2T", amount)
    parser.add("--documents N", "number of training documents that DATA was sampled from", amount)
    parser.add("--quantiser SPEC", "such as kmeans:levels=16, or exact (the best of a few)", default="")
    parser.add("--aim WHAT", "choose it for the bounds of tokens or documents (tokens)", default="tokens")
    parser.add("--delta P", "probability that a bound fails (0.05)", number, default=0.05)
    parser.add("--sample N", "number of documents or items to draw from the data (all)", whole)
    parser.add("--limit N", "stop after this many predicted tokens", amount)
    parser.add("--window N", "tokens per window (as many as the model reads, up to 1024)", whole)
    parser.add("--held-out N", "number of a run's fresh items to compare with the bounds", whole)
    parser.add("--folder DIR", "keep the work here (bounds/MODEL-…); run again to resume")
    parser.add_figure("draw the terms of the best bounds of the loss: .svg, .png or .html")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    parser.flag("--require", "exit with code 3 if no bound is below chance")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "the seed of --sample and --held-out (0)"


def bound_plan(parser: Parser) -> None:
    """Plan a guarantee: what could be promised about a language model of this size, trained on this number of tokens,
    before it is trained? Prints the bound term by term and compares it with chance, says what a better one would take,
    and gives the gap along a line of constant tokens per parameter.

    Leave --params or --tokens out to have it found: the largest model, or the fewest tokens, at which the bound is
    still below chance (--loss), or the gap below --gap. Numbers may be written 7B, 1.4e11 or 2T; a loss is in nats per
    token, or in bits as 2.87bits.
    """
    parser.add("--params N", "how many parameters the model has", amount)
    parser.add("--tokens D", "how many tokens it is trained on", amount)
    parser.add("--bits B", "bits per parameter after compression (3)", number, default=3.0)
    parser.add("--loss NATS", "the loss it will have on its training data", nats)
    parser.add("--vocabulary V", "how many tokens there are to choose from (50k)", amount, default=50_000)
    parser.add("--delta P", "how likely the bound may fail (0.05)", number, default=0.05)
    parser.add("--gap NATS", "the gap to reach, where params or tokens are to be found", nats)
    parser.add("--quantisation-gap NATS", "what compression adds to the loss (0)", nats, default=0.0)
    parser.add("--method NAME", "freedman or azuma (freedman)", _METHOD, default="freedman")
    parser.add("--variation S", "freedman: how much losses vary (a published fit)", nats)
    parser.add("--alpha A", "azuma: the weight of smoothing (the best)", number)
    parser.add("--sample N", "azuma: on how many tokens the loss is measured (all)", amount)
    parser.flag("--smoothed", "azuma: the loss is that of the smoothed model")
    parser.add("--line RATIO", "tokens a parameter along the line (20)", amount, default=20.0)
    parser.add_figure("draw a map of gaps into this .svg, .png or .html file")
    parser.seed_help = ""


def bound_shift(parser: Parser) -> None:
    """Bound the error of a model under a shift: its risk on the source, plus the Lipschitz constant of its margin times
    the distance (W1) of the target, in the metric that the constant is about, plus what a finite sample adds. Prints
    every term, with the certified constant and with the one an attack found; a bound of 1 or more is called vacuous.

    SUBJECT is the folder of a run, a folder of the Hugging Face Hub or a GGUF file. --to is a level of the task's
    ladder ("depth 5"), a size (40, 20-30) or a file of lines; --from likewise, and training where it is left out. A
    model from elsewhere needs --task with --tokens, which says which of its tokens the symbols are, or two files of
    lines {"tokens": [3, 1, 2]} or {"text": …}, in which each next token is asked for.

    --metric states compares the last hidden states (any lengths), sequence all embeddings (equal lengths), measure how
    often tokens occur (any lengths; models without positions). See docs/how-to/bound-shift.md.
    """
    parser.add_argument("subject", metavar="SUBJECT", help="a run, a folder of the Hugging Face Hub, or a GGUF file")
    parser.add("--task TASK", "the task (the run's own)")
    parser.add_argument(
        "--to", dest="target", metavar="LEVEL", help="what the shift leads to: a level, sizes or a file"
    )
    words = "where it begins: a level, sizes or a file (training)"
    parser.add_argument("--from", dest="source", metavar="LEVEL", default="training", help=words)
    parser.add("--metric NAME", "states, sequence or measure (states)", default="states")
    parser.add("--items N", "items of each side (400)", whole_from(2), default=400)
    parser.add("--delta P", "probability that the bound fails (0.05)", number, default=0.05)
    parser.add(
        "--separation S", "inputs with different labels are this far apart; labels of --to are not used", above_0
    )
    parser.add("--train-size N", "of a model from elsewhere: the size it was trained to", a_size)
    parser.add("--tokens MAP", "of a model of transformers: its tokens for the symbols (map.json, tokenizer, my.py::f)")
    parser.add_figure("draw the terms into this .svg, .png or .html file")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    parser.flag("--require", "exit with code 3 if the bound is vacuous or violated")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "the seed of the items (0)"


def bound_contrastive(parser: Parser) -> None:
    """Bound the expected InfoNCE loss of an encoder from embeddings of yours.

    Row i of --anchors and row i of --positives are the two views of pair i; they are divided by their lengths.
    Successive blocks of K + 1 pairs are batches, in which the positives of the others are the negatives. With held-out
    pairs the bound is that of a sample; for an encoder trained on these very pairs --bits says in how many bits it can
    be written down. A bound at or above ln(1 + K), the loss of an encoder that tells nothing apart, is vacuous.
    """
    parser.add("--anchors FILE", "embeddings [pairs, dimensions] as .npy or .csv")
    parser.add("--positives FILE", "embeddings of their partners, row by row")
    parser.add("--negatives K", "negatives of each anchor", whole_from(1))
    parser.add("--temperature T", "the temperature of the loss", number)
    parser.add("--tuples HOW", "batches, or disjoint: one anchor per block (batches)", _TUPLES, default="batches")
    parser.add("--bits N", "description length of the encoder (0: held-out pairs)", number, default=0.0)
    parser.add("--delta D", "the probability of being wrong (0.05)", number, default=0.05)
    parser.seed_help = ""


def bound_width(parser: Parser) -> None:
    """Say how small the error of a network of one hidden layer can be made by width, or how wide it must be for an
    error, for a target whose constant C is known (Barron 1993): a root mean square error of 2 r C / sqrt(units), and
    for answers of 0 and 1 a share of wrong ones of 16 r² C² / units. C is the integral of |w| |f^(w)|, f^ being the
    Fourier transform of the target; it is not known for the tasks of this package.

    The bound is from above and goes to 0, so it leaves no floor that width cannot take away. With --smoothness and
    --layers the order of the width at a greater depth is added, a heuristic.
    """
    parser.add("--constant C", "the first moment of the target's Fourier transform", above_0)
    parser.add("--units N", "units of the hidden layer: print the error", whole_from(1))
    parser.add("--error E", "root mean square error to reach: print the units", above_0)
    parser.add("--radius R", "inputs lie in the ball of this radius (1)", above_0, default=1.0)
    parser.add("--smoothness S", "spectral smoothness of the target, with --error", above_0)
    parser.add("--layers L", "hidden layers, with --smoothness (2)", whole_from(1), default=2)
    parser.seed_help = ""


def contexture(parser: Parser) -> None:
    """Say what contexts can teach: how strongly inputs x and contexts a are associated, how fast that decays, and how
    much of it a representation holds, compared with random ones.

    INPUT is a joint table (.npy, or .csv of numbers: one row per x, one column per a; whole numbers are counts), pairs
    (.jsonl with lines {"x": ..., "a": ...}, or .csv with the header x,a), or the folder of a run: then x is what the
    model has read, a the token asked for, and the representation its last hidden state, compared with random networks.

    A representation for a table has one row per row of the table; for pairs, one row per pair, or one per different x
    in the order of first appearance.
    """
    parser.add_argument("input", metavar="INPUT", help="a table, a file of pairs, or the folder of a run")
    parser.add("--representation FILE", "vectors of x as .npy or .csv, to be held against the contexts")
    parser.flag("--probabilities", "a table of whole numbers is exact, not counts of a sample")
    parser.add("--epsilon E", "with a table: bound tasks of compatibility 1 - E or more", number)
    parser.add("--beta B", "the weight of dimensions in τ (1)", above_0, default=1.0)
    parser.add("--d0 N", "the most dimensions that τ looks at (512)", whole_from(1), default=512)
    parser.add("--size N", "of a run: the size of its items (the largest trained on)", a_size)
    parser.add("--items N", "of a run: how many test items (2000)", whole_from(8))
    parser.add("--twins N", "of a run: how many random networks to compare it with (3)", whole_from(1))
    parser.add_figure("draw the spectrum into this .svg, .png or .html file")
    add_trust(parser, "the run")
