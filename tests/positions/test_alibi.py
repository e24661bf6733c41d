"""ALiBi, against its formula and against another implementation."""

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.positions import Shape, make_position
from lengthwise.positions.encodings import Alibi


def test_slopes() -> None:
    slopes = Alibi().slopes
    assert slopes(8) == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert slopes(4) == [1 / 4, 1 / 16, 1 / 64, 1 / 256]
    assert slopes(3) == pytest.approx([0.1574901, 0.02480314, 0.00390625])


def test_other_slopes() -> None:
    assert Alibi(last=1 / 16).slopes(2) == [1 / 4, 1 / 16] and Alibi(last=4).slopes(2) == [2, 4]
    assert Alibi(first=1, last=1 / 8).slopes(4) == [1, 1 / 2, 1 / 4, 1 / 8] and Alibi(first=1).slopes(1) == [1 / 256]
    at = torch.arange(3)[None]
    bias = make_position("alibi:first=2,last=0.5").build(Shape(8, 2, 10, 10)).bias(at, at)
    assert bias is not None and bias[0, :, 2].tolist() == [[-4, -2, 0], [-1, -0.5, 0]]


def test_a_share_of_the_heads_has_slopes() -> None:
    assert Alibi(share=0.5).slopes(8) == [*Alibi().slopes(4), 0, 0, 0, 0]
    assert Alibi(first=1, share=0.7).slopes(10) == [*Alibi(first=1).slopes(7), 0, 0, 0]
    at = torch.arange(3)[None]
    bias = make_position("alibi:share=0.5").build(Shape(8, 2, 10, 10)).bias(at, at)
    assert bias is not None and bias[0, 0, 2, 0] == -2 / 256 and not bias[0, 1].any()


@pytest.mark.parametrize("share", [0, -0.5, 1.5, float("nan")])
def test_a_share_outside_of_0_and_1_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match="share"):
        Alibi(share=share)


def test_a_share_that_gives_no_head_a_slope_is_refused() -> None:
    with pytest.raises(UsageError, match=r"0\.25"):
        Alibi(share=0.2).check(Shape(8, 4, 10, 10))


@pytest.mark.parametrize("spec", ["alibi:last=0", "alibi:last=-1", "alibi:first=-1"])
def test_slopes_that_are_none_are_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="slope"):
        make_position(spec)


@pytest.mark.parametrize("heads", [1, 2, 4, 8, 16])
def test_slopes_agree_with_transformers(heads: int) -> None:
    mpt = pytest.importorskip("transformers.models.mpt.modeling_mpt")
    theirs = mpt.build_mpt_alibi_tensor(heads, 5)[:, 0]  # [heads, keys]: slope x (key - last key)
    at = torch.arange(5)[None]
    ours = make_position("alibi").build(Shape(32, heads, 5, 5)).bias(at, at)
    assert ours is not None
    torch.testing.assert_close(ours[0, :, -1], theirs)


def test_bias() -> None:
    queries, keys = torch.tensor([[9, 20], [3, 4]]), torch.tensor([[0, 9, 30], [3, 5, 5000]])
    bias = make_position("alibi").build(Shape(8, 2, 10, 10)).bias(queries, keys)
    assert bias is not None
    for item in range(2):
        for head in range(2):
            for query in range(2):
                for key in range(3):
                    apart = abs(int(queries[item, query]) - int(keys[item, key]))
                    assert float(bias[item, head, query, key]) == -apart * (1 / 16, 1 / 256)[head]
