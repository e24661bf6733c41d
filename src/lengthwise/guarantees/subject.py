"""What a bound is asked of: a run of ours, a folder of the Hugging Face Hub, or a GGUF file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.files import read_json, sha256
from lengthwise.guarantees.predictor import FormedPredictor, OurPredictor, Predictor, TheirPredictor
from lengthwise.inspection.texts import cutter_beside
from lengthwise.models.folder import CONFIG
from lengthwise.models.formed import load_coordinates
from lengthwise.models.forms import Full
from lengthwise.models.huggingface import DECODERS, read_huggingface
from lengthwise.runs.run import RUN, Run, load_run


@dataclass(frozen=True, eq=False)
class Subject:
    """A model that predicts, where it comes from, and what it is (`digest`): settings and weights as they were read.

    `run` is set for a run of ours, `gguf` for a GGUF file, whose message is the file itself.
    """

    name: str
    described: str
    digest: str
    predictor: Predictor
    run: Run | None = None
    folder: Path | None = None
    gguf: Path | None = None

    def cutter(self):
        """What cuts a text into the model's tokens, or None."""
        found = cutter_beside(self.folder, self.gguf)
        return None if found is None else found.cut


def open_subject(model: str | Path) -> Subject:
    """The model at a path, ready to predict."""
    path = Path(model)
    if not path.exists():
        raise UsageError(
            f"there is no {path}; give the folder of a run, a folder with config.json and safetensors, or a GGUF file"
        )
    if path.is_dir() and (path / RUN).exists():
        return _ours(path)
    if path.is_dir() and (path / CONFIG).exists() and _kind(path) == "lengthwise":
        raise UsageError(
            f"{path} is a model of lengthwise without {RUN}, so its training items are not known; give a run"
        )
    found, path, _ = read_huggingface(path)
    if found.config.model_type not in DECODERS:
        raise UsageError(
            f"{path} is an encoder ({found.config.model_type}), which looks at what comes after a token too; "
            f"a bound needs a decoder ({', '.join(DECODERS)})"
        )
    predictor, gguf = TheirPredictor(found), path.is_file()
    kind = "GGUF file" if gguf else "folder"
    described = f"{found.config.model_type} from a {kind}, {predictor.parameters:,} weights"
    digest = f"{sha256(path)} {predictor.digest()}" if gguf else predictor.digest()
    name = path.stem if gguf else path.resolve().name
    return Subject(name, described, digest, predictor, None, path.parent if gguf else path, path if gguf else None)


def _ours(path: Path) -> Subject:
    run = load_run(path)
    model = run.model()
    form = run.plan.recipe.form
    if isinstance(form, Full):
        predictor, what = OurPredictor(model), "weights"
    else:
        predictor, what = FormedPredictor(model, form, run.plan.seed, load_coordinates(path)), "coordinates"
    count = sum(tensor.size for tensor in predictor.tensors().values())
    described = f"run of {run.plan.task_name} with {run.plan.position_name}, {count:,} {what}"
    return Subject(path.resolve().name, described, predictor.digest(), predictor, run, path)


def _kind(folder: Path) -> object:
    config = read_json(folder / CONFIG)
    return config.get("model_type") if isinstance(config, dict) else None
