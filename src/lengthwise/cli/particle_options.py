"""What `particles` and its commands take."""

from __future__ import annotations

from lengthwise.cli.options import OneOf, Parser, above_0, above_0_to, add_yes, number, whole, whole_from, wholes_from

_DYNAMICS, _ALL_DYNAMICS = OneOf("sa", "usa"), OneOf("sa", "usa", "kuramoto")
_SHOW = OneOf("pairs", "one", "clusters")
_moment = above_0_to(1e6)


def particles(parser: Parser) -> None:
    """Let tokens on a sphere attract each other as attention does, and see whether they gather in one point.

    It prints what theory predicts for this start and what the simulation did, and draws it: --page is one HTML file
    with a sphere to rotate and a time slider, --gif and --video are animations. SA is attention normalised over the
    keys; USA divides by their number instead. Depth is time. Kuramoto's oscillators live on a circle and have natural
    frequencies and one coupling for all pairs.

    With several heads, --beta, --query, --key and --value take one entry for all heads, or a comma-separated list
    with one entry per head; random matrices are drawn for each head. --noise adds diffusion on the sphere.

    A start from a file has one token per row: an array .npy [n, d], comma-separated numbers (.csv), or one list of
    numbers per line (.jsonl). A file of frequencies has one number per row.
    """
    parser.add("--n N", "number of tokens (default: 64)", whole_from(1, 1_000_000))
    parser.add("--d D", "number of dimensions (default: 3; kuramoto: 2); 2 is a circle", whole_from(2, 1_000_000))
    parser.add("--dynamics NAME", "sa, usa or kuramoto (default: sa)", _ALL_DYNAMICS, default="sa")
    parser.add("--beta B", "the inverse temperature of attention (default: 9)")
    parser.add("--heads H", "number of heads, whose velocities add up (default: 1)", whole_from(1, 1000))
    parser.add("--start START", "uniform, orthogonal, caps, hemisphere or a file (default: uniform)", default="uniform")
    parser.add("--caps K", "with --start caps: number of caps (default: 3)", whole)
    parser.add("--spread A", "with --start caps: their radius in radians (default: 0.2)", number)
    parser.add("--query Q", "identity, negative, random, or a file [d, d] (default: identity)")
    parser.add("--key K", "the same for the keys: scores are beta <Qx, Ky> (default: identity)")
    parser.add("--value V", "identity, negative, random, or a file [d, d] (default: identity)")
    parser.add("--coupling K", "kuramoto: the strength of the attraction (default: 2)", number)
    parser.add("--frequencies F", "kuramoto: lorentzian, normal, uniform, equal or a file (default: lorentzian)")
    parser.add("--width W", "kuramoto: half width, deviation or half range of F (default: 0.5)", above_0)
    parser.add("--noise D", "diffusion, in squared radians per unit of time (default: 0)", number, default=0.0)
    parser.add("--step H", "with --noise: the step (default: halved until it makes no difference)", above_0)
    parser.add("--time T", "simulated time (default: 40)", _moment, default=40.0)
    parser.add("--frames N", "number of moments to record (default: 120)", whole_from(2, 1_000_000), default=120)
    parser.add("--tolerance E", "error that a step may add, in radians (default: 1e-8)", number, default=1e-8)
    add_yes(parser)
    parser.add_output("--page", (".html",), "write the interactive picture as one HTML page")
    parser.add_output("--gif", (".gif",), "write an animation as .gif")
    parser.add_output("--video", (".mp4",), "write a video as .mp4 (needs ffmpeg)")
    parser.add_output("--out", (".npz", ".csv"), "write the points by time as .npz or .csv")


def particles_phases(parser: Parser) -> None:
    """Draw the phase diagram of tokens on a sphere: when have they gathered in one place, by beta and dimension?

    Tokens begin independently and uniformly. The colour is the share of pairs whose inner product is within delta of 1,
    over several starts; the line is the time at which tokens that start orthogonal come that close. The command
    prints this share as a table, and says where the line predicts when the tokens gather.
    """
    usual = [2, 8, 32, 128, 512]
    parser.add("--d LIST", "the dimensions (default: 2,8,32,128,512)", wholes_from(2, 1_000_000), default=usual)
    parser.add("--n N", "number of tokens (default: 32)", whole_from(2, 100_000), default=32)
    parser.add("--starts N", "number of starts to average over (default: 24)", whole_from(1, 1_000_000), default=24)
    parser.add("--most-beta B", "largest beta, starting from 0 (default: 9)", above_0, default=9.0)
    parser.add("--betas N", "number of values of beta (default: 37)", whole_from(2, 1_000_000), default=37)
    parser.add("--time T", "simulated time (default: 30)", _moment, default=30.0)
    parser.add("--frames N", "number of moments to record (default: 61)", whole_from(2, 1_000_000), default=61)
    parser.add("--dynamics NAME", "sa or usa (default: sa)", _DYNAMICS, default="sa")
    parser.add("--delta D", "how close to 1 an inner product must be (default: 0.001)", number, default=1e-3)
    parser.add(
        "--show WHAT", "pairs, one (all tokens in one cluster) or clusters (default: pairs)", _SHOW, default="pairs"
    )
    add_yes(parser)
    parser.add_figure()
    parser.add_output("--out", (".csv",), "write the rows as .csv")


CELLS, LEVEL, GROWTHS = (400, 4, 24)


def particles_density(parser: Parser) -> None:
    """Let a density of infinitely many tokens on the circle or the sphere attract itself, from a nearly uniform start.

    It counts the peaks over time, and compares them with the wave that grows fastest according to linear theory; on the
    circle its crests are about the number of clusters that appear first. --figure draws the density over angle and
    time. The scheme preserves mass and never makes a density negative; for its orders of convergence, see
    docs/explanation/theorems-particles.md.
    """
    parser.add("--d D", "2, a circle, or 3, a sphere (default: 2)", whole, default=2)
    parser.add("--beta B", "the inverse temperature of attention (default: 9)", number, default=9.0)
    parser.add("--dynamics NAME", "sa or usa (default: sa)", _DYNAMICS, default="sa")
    parser.add("--noise A", "disturbance of the start, as a share of it (default: 0.01; sphere 0.05)", number)
    parser.add("--time T", f"simulated time (default: {GROWTHS} over the rate of the fastest wave)", above_0)
    parser.add("--frames N", "number of moments to record (default: 121)", whole_from(2, 1_000_000), default=121)
    parser.add("--cells N", f"with --d 2: cells of the circle (default: {CELLS})", whole)
    parser.add("--level N", f"with --d 3: 10 * 4^N + 2 cells of the sphere (default: {LEVEL})", whole)
    parser.add_figure()
    parser.add_output("--out", (".npz", ".csv"), "write the density by time as .npz or .csv")
