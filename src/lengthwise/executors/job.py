"""What goes into an executor and what comes out: a job, and how it ended."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lengthwise.errors import UsageError

Kind = Literal["done", "failed", "died", "silent", "stopped"]


@dataclass(frozen=True)
class Job:
    """A call of an importable function, wherever there is room for it.

    `call` is "package.module:function". The arguments and what the function returns are JSON-ready data. `beat` is a
    file that the job touches while it is alive and getting on (it is touched once when the job begins); a job without
    one is not watched.
    """

    key: str
    call: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    beat: Path | None = None

    def text(self) -> str:
        """The job as one line of JSON, for the process that runs it."""
        if not re.fullmatch(r"[\w.]+:[\w.]+", self.call) or self.call.startswith("__main__:"):
            raise UsageError(
                f'a job calls "package.module:function", importable where it runs, which {self.call!r} is not'
            )
        try:
            arguments = json.dumps(dict(self.arguments))
        except (TypeError, ValueError) as error:
            raise UsageError(f"the arguments of the job {self.key!r} are not JSON-ready: {error}") from error
        beat = str(self.beat.absolute()) if self.beat else None
        return f'{{"call": {json.dumps(self.call)}, "arguments": {arguments}, "beat": {json.dumps(beat)}}}'


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    - done: `value` is what the function returned;
    - failed: it raised an exception; `reason` is that in one sentence, `detail` the traceback;
    - died: its process, node or allocation is gone; `detail` holds the last it wrote, where that is known;
    - silent: it gave no sign of life and was killed;
    - stopped: it was asked to stop, or had not begun, when the executor was stopped.
    """

    key: str
    kind: Kind
    value: Any = None
    reason: str = ""
    detail: str = ""
