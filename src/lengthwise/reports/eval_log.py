"""A measurement by prompts as a log of inspect_ai: `inspect view` shows it, `read_eval_log` reads it.

A log is a ZIP file of JSON: `header.json`, one file per sample, and their summaries. It is written without inspect_ai.
Each sample has two scores, `lenient` and `strict`: C for right, I for wrong, and N where there is no answer, which
counts in neither accuracy.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.outputs import ROOM, replace_output
from lengthwise.probes.prompted.store import stored_items
from lengthwise.records import Record
from lengthwise.version import __version__

_VERSION = 2  # of the layout of logs
_READINGS = ("lenient", "strict")
_STOPPED = {"stop": "stop", "length": "max_tokens", "refused": "content_filter", "overlong": "model_length"}
_ANSWERED = ("right", "wrong", "unread")
_SUMMED_UP = ("id", "epoch", "target", "scores", "metadata", "model_usage", "total_time")
_LONGEST = 1000  # characters of an input in a summary


def write_eval_log(record: Record, path: Path) -> None:
    """Write the items that a record of `prompted` was made from, as it left them in its folder."""
    lines = stored_items(record.data["folder"]) if record.data["folder"] else {}
    if not all((size, item) in lines for size, item, *_ in record.data["marks"]):
        raise UsageError("the prompts and answers of this measurement are not kept; measure again, with a folder")
    model = f"lengthwise/{record.data['subject']}"
    samples = [
        _sample({**lines[size, item], "outcome": outcome, "strict": strict}, model)
        for size, item, outcome, strict in record.data["marks"]
    ]
    header = _header(record, model, samples)
    with replace_output(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as file:
        start = {name: header[name] for name in ("version", "eval", "plan")}
        file.writestr("_journal/start.json", _json(start))
        for sample in samples:
            file.writestr(f"samples/{sample['id']}_epoch_1.json", _json(sample))
        file.writestr("summaries.json", _json([_summary(sample) for sample in samples]))
        last = zipfile.ZipInfo("header.json", datetime.now().timetuple()[:6])
        last.compress_type, last.comment = zipfile.ZIP_DEFLATED, ROOM
        file.writestr(last, _json(header))


def _sample(line: Mapping[str, Any], model: str) -> dict[str, Any]:
    prompt = line["prompt"]
    turns = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    answer = {"role": "assistant", "content": line["text"], "source": "generate", "model": model}
    usage: dict[str, Any] = {}
    output: dict[str, Any] = {
        "model": model,
        "choices": [{"message": answer, "stop_reason": _STOPPED.get(line["ending"], "unknown")}],
        "time": line["seconds"],
    }
    if line["prompt_tokens"] is not None and line["tokens"] is not None:
        read, wrote = line["prompt_tokens"], line["tokens"]
        output["usage"] = {"input_tokens": read, "output_tokens": wrote, "total_tokens": read + wrote}
        usage = {model: output["usage"]}
    known = {name: line[name] for name in ("size", "item", "outcome", "depth", "budget", "reasoning", "said")}
    return {
        "id": f"size-{line['size']}-item-{line['item']}",
        "epoch": 1,
        "input": prompt,
        "target": " ".join(line["right"]),
        "messages": [*turns, answer],
        "output": output,
        "scores": {
            reading: {"value": _value(line, reading), "answer": line["text"], "explanation": line["outcome"]}
            for reading in _READINGS
        },
        "metadata": known,
        "store": {},
        "events": [],
        "model_usage": usage,
        "total_time": line["seconds"],
        "attachments": {},
    }


def _value(line: Mapping[str, Any], reading: str) -> str:
    if line["outcome"] not in _ANSWERED:
        return "N"
    return "C" if (line["strict"] if reading == "strict" else line["outcome"] == "right") else "I"


def _header(record: Record, model: str, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    task = record.data["task"]
    number = hashlib.blake2b(_json([task, model, dict(record.settings)]).encode(), digest_size=11).hexdigest()
    ids = [sample["id"] for sample in samples]
    return {
        "version": _VERSION,
        "status": "success",
        "eval": {
            "eval_id": number,
            "run_id": number,
            "task_id": number,
            "created": now,
            "task": task,
            "task_args": dict(record.settings),
            "dataset": {"name": task, "samples": len(ids), "sample_ids": ids, "shuffled": False},
            "model": model,
            "model_args": {},
            "config": {"epochs": 1},
            "packages": {"lengthwise": __version__},
            "scorers": [{"name": reading, "metrics": [{"name": "accuracy"}]} for reading in _READINGS],
        },
        "plan": {"name": "plan", "steps": [], "config": {"temperature": 0.0}},
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples),
            "scores": [_score(reading, samples) for reading in _READINGS],
        },
        "stats": {"started_at": now, "completed_at": now, "model_usage": {}},
    }


def _score(reading: str, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values = [sample["scores"][reading]["value"] for sample in samples]
    scored = [value for value in values if value != "N"]
    share = scored.count("C") / len(scored) if scored else 0.0
    return {
        "name": reading,
        "scorer": reading,
        "params": {},
        "scored_samples": len(scored),
        "unscored_samples": len(values) - len(scored),
        "metrics": {"accuracy": {"name": "accuracy", "value": share, "params": {}}},
    }


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    asked = sample["input"] if isinstance(sample["input"], str) else sample["input"][-1]["content"]
    return {
        **{name: sample[name] for name in _SUMMED_UP},
        "input": asked[-_LONGEST:],
        "completed": True,
    }


def _json(content: Any) -> str:
    return json.dumps(content, allow_nan=False)
