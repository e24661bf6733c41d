"""How others train the same task: GPT-2 of `transformers` under its Trainer, and `x-transformers` in a plain loop.

Both read what the recipe of Huang et al. (2025) reads: items made one at a time in Python, every item of a length of
its own, padded to the longest of the batch, with a random offset of the positions. Each function here gives a
trainer: called with a number of steps, it takes a few steps to warm up, calls `start`, and gives the seconds that the
steps then took.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from lengthwise.tasks.batch import BOS, EOS, PAD, SEP, SPECIALS

ALPHABET, TRAIN_SIZE, TEST_SIZE, BATCH, WARM = 64, 20, 60, 64, 10
VOCABULARY, ROWS = ALPHABET + len(SPECIALS), 2 * TEST_SIZE + 3
WIDTH, DEPTH, HEADS = 64, 2, 4
RATE, WEIGHT_DECAY = 1e-3, 0.01
IGNORED = -100

Trainer = Callable[[int, Callable[[], object]], float]
Item = tuple[list[int], list[int], list[int]]


def items(seed: int) -> Iterator[Item]:
    """Tokens, positions and labels of lists to be sorted, for ever."""
    chance = random.Random(seed)
    while True:
        size = chance.randint(1, TRAIN_SIZE)
        prompt = chance.sample(range(len(SPECIALS), VOCABULARY), size)
        tokens = [BOS, *prompt, SEP, *sorted(prompt), EOS]
        offset = chance.randint(0, 2 * (TEST_SIZE - size))
        positions = list(range(offset, offset + len(tokens)))
        yield tokens, positions, [IGNORED] * (size + 2) + tokens[size + 2 :]


def padded(batch: list[Item]) -> dict[str, Tensor]:
    """A batch as wide as its longest item."""
    width = max(len(tokens) for tokens, _, _ in batch)
    names = ("input_ids", "position_ids", "labels")
    fills = (PAD, 0, IGNORED)
    return {
        name: torch.tensor([item[part] + [fill] * (width - len(item[part])) for item in batch])
        for part, (name, fill) in enumerate(zip(names, fills, strict=True))
    }


def gpt2_trainer() -> Trainer:
    """GPT-2 under the Trainer of `transformers`: no dropout, no evaluation, no logging, nothing saved."""
    import transformers
    from torch.utils.data import IterableDataset

    class Items(IterableDataset):
        def __iter__(self) -> Iterator[Item]:
            return items(seed=0)

    class Clock(transformers.TrainerCallback):
        def __init__(self, start: Callable[[], object]) -> None:
            self.start, self.began, self.ended = start, 0.0, 0.0

        def on_step_end(self, args, state, control, **kwargs) -> None:  # noqa: ARG002
            if state.global_step == WARM:
                self.start()
                self.began = time.perf_counter()
            self.ended = time.perf_counter()

    def train(steps: int, start: Callable[[], object]) -> float:
        clock = Clock(start)
        with tempfile.TemporaryDirectory() as folder:
            settings = transformers.TrainingArguments(
                output_dir=folder,
                max_steps=WARM + steps,
                per_device_train_batch_size=BATCH,
                learning_rate=RATE,
                weight_decay=WEIGHT_DECAY,
                lr_scheduler_type="linear",
                use_cpu=True,
                report_to="none",
                save_strategy="no",
                logging_strategy="no",
                disable_tqdm=True,
                remove_unused_columns=False,
            )
            trainer = transformers.Trainer(
                model=gpt2(), args=settings, train_dataset=Items(), data_collator=padded, callbacks=[clock]
            )
            trainer.remove_callback(transformers.PrinterCallback)
            trainer.train()
        return clock.ended - clock.began

    return train


def gpt2(**settings) -> torch.nn.Module:
    """An untrained GPT-2 of our size."""
    from transformers import GPT2Config, GPT2LMHeadModel, logging

    logging.set_verbosity_error()
    shape = {"n_embd": WIDTH, "n_layer": DEPTH, "n_head": HEADS, "vocab_size": VOCABULARY, "n_positions": ROWS}
    special = {"bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": PAD}
    dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    return GPT2LMHeadModel(GPT2Config(**{**shape, **special, **dropout, **settings}))


def x_transformers_trainer() -> Trainer:
    """A decoder of `x-transformers` with learned positions, in a plain loop with AdamW."""
    from x_transformers import Decoder, TransformerWrapper

    # Its fused attention, without which it is slower.
    layers = Decoder(dim=WIDTH, depth=DEPTH, heads=HEADS, attn_dim_head=WIDTH // HEADS, attn_flash=True)
    model = TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=ROWS, attn_layers=layers)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=WEIGHT_DECAY)
    source = items(seed=0)

    def step() -> None:
        batch = padded([next(source) for _ in range(BATCH)])
        logits = model(batch["input_ids"][:, :-1], pos=batch["position_ids"][:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=IGNORED)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def train(steps: int, start: Callable[[], object]) -> float:
        for _ in range(WARM):
            step()
        start()
        began = time.perf_counter()
        for _ in range(steps):
            step()
        return time.perf_counter() - began

    return train
