"""A Ctrl-C that comes at a bad moment waits for a good one."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
import torch

from lengthwise.interrupts import Stop, held_back
from lengthwise.models import folder as model_folder
from lengthwise.models.transformer import Architecture, Interface, Transformer


@pytest.fixture(autouse=True)
def hears_ctrl_c() -> Iterator[None]:
    """Also where the tests run in the background of a shell, which makes its children deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_block_is_finished_first():
    done = False
    with pytest.raises(KeyboardInterrupt), held_back():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        done = True
    assert done


def test_without_a_signal_nothing_happens():
    with held_back():
        pass


def test_a_second_one_interrupts_at_once():
    with pytest.raises(KeyboardInterrupt), held_back():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the block went on")


def test_an_outer_stop_hears_of_it():
    with Stop() as stop:
        with held_back():
            signal.raise_signal(signal.SIGTERM)
            assert not stop.asked
        assert stop.asked == signal.SIGTERM


def test_an_error_of_the_block_comes_out_as_it_is():
    with pytest.raises(ZeroDivisionError), held_back():
        raise ZeroDivisionError


def test_loading_weights_is_not_cut_short(tmp_path, monkeypatch):
    """safetensors turns an interruption inside it into a ValueError, which no reader would take for Ctrl-C."""
    torch.manual_seed(0)
    model = Transformer(Architecture(depth=1, width=16, heads=1), Interface(8, 8, 16, 16))
    model_folder.save_model(tmp_path, model, "")
    load, loaded = model_folder.load_file, []

    def interrupted(path):
        signal.raise_signal(signal.SIGINT)
        loaded.append(load(path))
        return loaded[-1]

    monkeypatch.setattr(model_folder, "load_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model_folder.load_model(tmp_path)
    assert loaded
