"""What `bound` and its commands, and `contexture`, take."""

from __future__ import annotations

from lengthwise.cli.options import (
    OneOf,
    Parser,
    a_size,
    above_0,
    add_computing,
    add_device,
    add_trust,
    add_yes,
    amount,
    nats,
    number,
    whole,
    whole_from,
)

_METHOD = OneOf("freedman", "azuma")
_TUPLES = OneOf("batches", "disjoint")


def bound(parser: Parser) -> None:
    """Bound the loss of a model from its own training data. Prints its description length in bits, its losses on the
    data, and every bound that follows, term by term, in nats and bits and compared with chance.

    MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2 and 3, Gemma,
    Pythia, OPT), or a GGUF file. The data of a run is its own training items, drawn again. For another model it is
    --data FILE, one document per line: {"text": …} or {"tokens": […]}, or plain text; without it the built-in text is
    used instead, and no bound is certified. With --tokens (such as 2T) the data is treated as a sample of a training
    set of that size.
    """
    parser.add_argument("model", metavar="MODEL", help="a run, a folder of the Hugging Face Hub, or a GGUF file")
    parser.add("--data FILE", "its training data, or a sample of it, one document per line")
    parser.add("--tokens N", "number of training tokens that DATA was sampled from, such as 2T", amount)
    parser.add("--documents N", "number of training documents that DATA was sampled from", amount)
    parser.add("--quantiser SPEC", "such as kmeans:levels=16, or exact (default: the best of a few)", default="")
    parser.add(
        "--aim WHAT",
        "choose the quantiser for token or document bounds: tokens or documents (default: tokens)",
        default="tokens",
    )
    parser.add("--delta P", "probability that a bound fails (default: 0.05)", number, default=0.05)
    parser.add("--sample N", "number of documents or items to draw from the data (default: all)", whole)
    parser.add("--limit N", "stop after this many predicted tokens", amount)
    parser.add("--window N", "tokens per window (default: the model's context, up to 1024)", whole)
    parser.add("--held-out N", "with a run: number of fresh items to compare with the bounds", whole)
    parser.add("--folder DIR", "where to save the results (default: bounds/MODEL-…)")
    parser.add_figure("draw the terms of the best bounds on the loss: .svg, .png or .html")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    parser.flag("--require", "exit with code 3 if no bound is below chance")
    add_computing(parser)
    add_trust(parser, "the run")
    parser.seed_help = "random seed of --sample and --held-out (default: 0)"


def bound_plan(parser: Parser) -> None:
    """Plan a guarantee: what could be promised about a language model of this size, trained on this number of tokens,
    before it is trained? Prints the bound term by term and compares it with chance, says what a better one would take,
    and gives the gap along a line of constant tokens per parameter.

    If you leave out --params or --tokens, the command finds the largest model, or the fewest tokens, for which the
    bound is still below chance (--loss) or the gap below --gap. Write numbers as 7B, 1.4e11 or 2T, and a loss in nats
    per token, or in bits as 2.87bits.
    """
    parser.add("--params N", "number of parameters of the model", amount)
    parser.add("--tokens D", "number of tokens it is trained on", amount)
    parser.add("--bits B", "bits per parameter after compression (default: 3)", number, default=3.0)
    parser.add("--loss NATS", "the loss it will have on its training data", nats)
    parser.add("--vocabulary V", "size of the vocabulary (default: 50k)", amount, default=50_000)
    parser.add("--delta P", "probability that the bound fails (default: 0.05)", number, default=0.05)
    parser.add("--gap NATS", "the gap to reach, if --params or --tokens is left out", nats)
    parser.add("--quantisation-gap NATS", "what compression adds to the loss (default: 0)", nats, default=0.0)
    parser.add("--method NAME", "freedman or azuma (default: freedman)", _METHOD, default="freedman")
    parser.add("--variation S", "freedman: how much losses vary (default: a published fit)", nats)
    parser.add("--alpha A", "azuma: the weight of smoothing (default: the best)", number)
    parser.add("--sample N", "azuma: number of tokens on which the loss is measured (default: all)", amount)
    parser.flag("--smoothed", "azuma: the loss is that of the smoothed model")
    parser.add("--line RATIO", "tokens per parameter along the line (default: 20)", amount, default=20.0)
    parser.add_figure("draw a map of gaps to this .svg, .png or .html file")
    parser.seed_help = ""


def bound_shift(parser: Parser) -> None:
    """Bound the error of a model under a shift: its risk on the source, plus the Lipschitz constant of its margin times
    the distance (W1) to the target, in the metric of that constant, plus what a finite sample adds. Prints every term,
    with the certified constant and with the one an attack found; a bound of 1 or more is called vacuous.

    SUBJECT is the folder of a run, a folder of the Hugging Face Hub or a GGUF file. --to is a level of the task's
    ladder ("depth 5"), a size (40, 20-30) or a JSONL file; --from is the same, and defaults to training. A
    model from elsewhere needs --task with --tokens, which says which of its tokens the symbols are, or two files of
    lines {"tokens": [3, 1, 2]} or {"text": …}, in which it predicts each next token.

    --metric states compares the last hidden states (any lengths), sequence all embeddings (equal lengths), and measure
    how often tokens occur (any lengths; models without positions). See docs/how-to/bound-shift.md.
    """
    parser.add_argument("subject", metavar="SUBJECT", help="a run, a folder of the Hugging Face Hub, or a GGUF file")
    parser.add("--task TASK", "the task (default: the run's own)")
    parser.add_argument(
        "--to", dest="target", metavar="LEVEL", help="the target of the shift: a level, sizes or a file"
    )
    words = "the source of the shift: a level, sizes or a file (default: training)"
    parser.add_argument("--from", dest="source", metavar="LEVEL", default="training", help=words)
    parser.add("--metric NAME", "states, sequence or measure (default: states)", default="states")
    parser.add("--items N", "items per sample (default: 400)", whole_from(2), default=400)
    parser.add("--delta P", "probability that the bound fails (default: 0.05)", number, default=0.05)
    parser.add(
        "--separation S", "inputs with different labels are this far apart; labels of --to are not used", above_0
    )
    parser.add("--train-size N", "for a model from elsewhere: the size it was trained to", a_size)
    parser.add("--tokens MAP", "for a transformers model: its tokens for the symbols (map.json, tokenizer, my.py::f)")
    parser.add_figure("draw the terms to this .svg, .png or .html file")
    parser.add_output("--page", (".html",), "also write everything as one HTML page")
    parser.flag("--require", "exit with code 3 if the bound is vacuous or violated")
    add_device(parser)
    add_trust(parser, "the run")
    add_yes(parser)
    parser.seed_help = "random seed of the items (default: 0)"


def bound_contrastive(parser: Parser) -> None:
    """Bound the expected InfoNCE loss of an encoder from your own embeddings.

    Row i of --anchors and row i of --positives are the two views of pair i; they are normalised to length 1.
    Successive blocks of K + 1 pairs are batches, in which the positives of the other pairs are the negatives. If the
    encoder was trained on these pairs, set --bits to its description length; held-out pairs need none. A bound at or
    above ln(1 + K), the loss of an encoder that distinguishes nothing, is vacuous.
    """
    parser.add("--anchors FILE", "embeddings [pairs, dimensions] as .npy or .csv")
    parser.add("--positives FILE", "embeddings of their partners, row by row")
    parser.add("--negatives K", "negatives per anchor", whole_from(1))
    parser.add("--temperature T", "the temperature of the loss", number)
    parser.add(
        "--tuples HOW", "batches, or disjoint: one anchor per block (default: batches)", _TUPLES, default="batches"
    )
    parser.add("--bits N", "description length of the encoder (default: 0, for held-out pairs)", number, default=0.0)
    parser.add("--delta D", "probability that the bound fails (default: 0.05)", number, default=0.05)
    parser.seed_help = ""


def bound_width(parser: Parser) -> None:
    """Show how small width can make the error of a network with one hidden layer, or how wide it must be for a given
    error, for a target whose constant C is known (Barron 1993): a root mean square error of 2 r C / sqrt(units), and
    for answers of 0 and 1 a share of wrong ones of 16 r² C² / units. C is the integral of |w| |f^(w)|, f^ being the
    Fourier transform of the target; it is not known for the tasks of this package.

    This upper bound goes to 0 as the width grows, so it implies no error that width cannot remove. --smoothness and
    --layers add the order of the width at greater depth, which is a heuristic.
    """
    parser.add("--constant C", "the first moment of the target's Fourier transform", above_0)
    parser.add("--units N", "units of the hidden layer: print the error", whole_from(1))
    parser.add("--error E", "root mean square error to reach: print the units", above_0)
    parser.add("--radius R", "inputs lie in the ball of this radius (default: 1)", above_0, default=1.0)
    parser.add("--smoothness S", "spectral smoothness of the target, with --error", above_0)
    parser.add("--layers L", "hidden layers, with --smoothness (default: 2)", whole_from(1), default=2)
    parser.seed_help = ""


def contexture(parser: Parser) -> None:
    """Show what contexts can teach: how strongly inputs x and contexts a are associated, how fast that decays, and how
    much of it a representation holds, compared with random ones.

    INPUT is a joint table (.npy, or .csv of numbers: one row per x, one column per a; whole numbers are counts), pairs
    (.jsonl with lines {"x": ..., "a": ...}, or .csv with the header x,a), or the folder of a run. For a run, x is
    what the model has read, a is the next answer token, and the representation is its last hidden state, compared with
    random networks.

    A representation for a table has one row per row of the table; for pairs, one row per pair, or one per different x
    in the order of first appearance.
    """
    parser.add_argument("input", metavar="INPUT", help="a table, a file of pairs, or the folder of a run")
    parser.add("--representation FILE", "vectors of x as .npy or .csv, to compare with the contexts")
    parser.flag("--probabilities", "treat a table of whole numbers as exact, not as counts of a sample")
    parser.add("--epsilon E", "with a table: bound tasks of compatibility 1 - E or more", number)
    parser.add("--beta B", "weight of dimensions in τ (default: 1)", above_0, default=1.0)
    parser.add("--d0 N", "largest number of dimensions that τ considers (default: 512)", whole_from(1), default=512)
    parser.add("--size N", "with a run: size of its items (default: the largest trained on)", a_size)
    parser.add("--items N", "with a run: number of test items (default: 2000)", whole_from(8))
    parser.add("--twins N", "with a run: number of random networks to compare it with (default: 3)", whole_from(1))
    parser.add_figure("draw the spectrum to this .svg, .png or .html file")
    add_trust(parser, "the run")
