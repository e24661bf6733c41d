"""GGUF files come back byte for byte from their messages, whatever the type of their blocks."""

import numpy as np
import pytest

from lengthwise.bounds.compression import gguf_file
from lengthwise.bounds.compression.gguf_file import (
    LAYOUTS,
    block_bytes,
    decode_gguf,
    joined,
    message_of_gguf,
    stream_sizes,
    streams,
)
from lengthwise.errors import LengthwiseError, UsageError

gguf = pytest.importorskip("gguf")
QUANTISED = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "F16", "BF16", "F32"]
RAW = ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL"]  # the package does not quantise these: any bytes will do


def written(path, words=200, width=256):
    """A small model with one tensor of every type, two layers, a tokenizer and metadata."""
    writer, rng = gguf.GGUFWriter(path, "llama"), np.random.default_rng(0)
    writer.add_block_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_array("general.languages", ["en", "de"])
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"token{n}" for n in range(words)])
    for layer in range(2):
        for name in QUANTISED:
            kind = gguf.GGMLQuantizationType[name]
            weights = (rng.normal(size=(8, width)) * 0.02).astype(np.float32)
            blocks = weights if name == "F32" else gguf.quantize(weights, kind)
            writer.add_tensor(f"blk.{layer}.{name.lower()}.weight", blocks, raw_dtype=kind)
    for name in RAW:
        kind = gguf.GGMLQuantizationType[name]
        items, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = rng.integers(0, 256, (4, width // items * size), dtype=np.uint8)
        writer.add_tensor(f"{name.lower()}.weight", blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return written(tmp_path_factory.mktemp("gguf") / "small.gguf")


def test_layouts_have_the_size_of_their_blocks():
    for name in LAYOUTS:
        assert block_bytes(name) == gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1], name


@pytest.mark.parametrize("kind", [*LAYOUTS, "another"])
def test_blocks_come_back_from_their_streams(kind):
    data = np.random.default_rng(0).integers(0, 256, 7 * block_bytes(kind), dtype=np.uint8)
    found = list(streams(kind, data))
    assert [(count, len(symbols)) for count, symbols in found] == stream_sizes(kind, len(data))
    assert all(symbols.max(initial=0) < count for count, symbols in found)
    assert np.array_equal(joined(kind, len(data), iter([symbols for _, symbols in found])), data)


def test_nibbles_are_the_indices_of_the_blocks():
    """The streams of a Q4_1 tensor hold scale, least value and 32 indices a block, as the format says."""
    weights = np.random.default_rng(0).normal(size=(1, 64)).astype(np.float32)
    data = gguf.quantize(weights, gguf.GGMLQuantizationType.Q4_1).ravel()
    *planes, (_, indices) = streams("Q4_1", data)
    halves = np.stack([plane for _, plane in planes], axis=1).copy().view("<f2").astype(np.float32)
    index = indices.reshape(2, 2, 16).transpose(1, 0, 2).reshape(2, 32)  # low nibbles are the first half of a block
    values = halves[:, :1] * index + halves[:, 1:]
    assert np.abs(values.ravel() - weights.ravel()).max() < 0.55 * halves[:, 0].max()


def test_every_byte_comes_back(file):
    message = message_of_gguf(file)
    metadata, tensors = decode_gguf(message.data)
    reader = gguf.GGUFReader(file)
    assert len(tensors) == len(reader.tensors) == 2 * len(QUANTISED) + len(RAW)
    for tensor in reader.tensors:
        found = tensors[tensor.name]
        assert found.kind == tensor.tensor_type.name and found.shape == tuple(tensor.shape)
        assert found.data.tobytes() == np.ascontiguousarray(tensor.data).tobytes()
    assert metadata["general.architecture"] == "llama" and metadata["general.languages"] == ["en", "de"]
    assert metadata["llama.block_count"] == 2 and not any(key.startswith("tokenizer") for key in metadata)


def test_what_is_charged(file):
    message = message_of_gguf(file)
    assert message.coded and message.bits == 1 + sum(bits for part, bits in message.parts.items() if part != "flag")
    assert message.bits < message.tensor_bits < message.file_bits == 8 * file.stat().st_size
    assert message.tokenizer_bits > 8 * 200 * len("token1") and message.entropy_bits < message.parts["symbols"]
    claim = message.claim()
    assert claim.value == message.bits and "message.decoder_and_tokenizer" in [a.key for a in claim.assumptions]


def test_a_file_that_coding_makes_longer_is_charged_as_it_is(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "noise.gguf", "llama")
    noise = np.random.default_rng(0).integers(0, 256, (100, 6 * 256 // 8), dtype=np.uint8)
    size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.IQ4_NL][1]
    writer.add_tensor("noise", noise[:, : noise.shape[1] // size * size], raw_dtype=gguf.GGMLQuantizationType.IQ4_NL)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    message = message_of_gguf(tmp_path / "noise.gguf")
    assert not message.coded and message.bits == message.file_bits + 1 + message.parts["prefix"]


def test_a_broken_coder_gives_no_length(file, monkeypatch):
    monkeypatch.setitem(gguf_file._WIDTH, "pairs", 4)  # the bits of a pair read as those of a nibble lose nothing
    message_of_gguf(file)
    monkeypatch.setattr("lengthwise.bounds.compression.gguf_file.joined", lambda *a: np.roll(joined(*a), 1))
    with pytest.raises(LengthwiseError, match="own bytes"):
        message_of_gguf(file)


def test_damaged_messages_and_other_files_are_refused(file, tmp_path):
    data = message_of_gguf(file).data
    for place in range(0, len(data), 997):
        with pytest.raises(UsageError, match="damaged"):
            decode_gguf(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    with pytest.raises(UsageError, match="cannot be read"):
        message_of_gguf(tmp_path / "nothing.gguf")
    (tmp_path / "text.gguf").write_text("this is a text" * 10)
    with pytest.raises(UsageError, match="not a GGUF file"):
        message_of_gguf(tmp_path / "text.gguf")
    with pytest.raises(UsageError, match="more than 100 numbers"):
        decode_gguf(data, limit=100)
