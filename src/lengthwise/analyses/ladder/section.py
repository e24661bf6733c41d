"""What the sections of a report on ladders share: when they apply, and how models look in their figures.

The encoding is a colour, the number of layers a dash.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Configuration, Evidence, layers_text
from lengthwise.figures.style import alt, wrapping_legend
from lengthwise.messages import explain, sentence
from lengthwise.records import Figure, Record
from lengthwise.tasks.ladder import TRAINING

explain({"ladder.none": "The study has no ladders: none of its runs was measured with the probe ladder."})

FAR = "farthest level"
# From the deepest model to the shallowest: a line that is drawn through, then ever more broken.
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 4]]


class LadderAnalysis(Analysis):
    """An analysis of the ladders of a study: `found` makes the record, and `says` whether they are enough for one."""

    def analyse(self, study: StudyContent) -> Record:
        if study.evidence is None:
            name = str(analyses.spec_of(self)["name"])
            return Record(name, title=name, failed=sentence("ladder.none"))
        return self.found(study.evidence, study)

    def applies(self, study: StudyContent) -> bool:
        return study.evidence is not None and bool(study.evidence.climbs) and self.says(study.evidence)

    @abstractmethod
    def found(self, evidence: Evidence, study: StudyContent) -> Record: ...

    def says(self, evidence: Evidence) -> bool:  # noqa: ARG002
        return True


def task_panels(
    key: str,
    words: str,
    template: Mapping[str, Any],
    data: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]],
    values: Mapping[str, Any] = {},
) -> list[Figure]:
    """One panel per task that has data. The last part of the key is the group; `words` is the key of the sentence that
    describes a panel, filled with its task and the values."""
    return [
        Figure(f"{key}.{number}", template, own, task, sentence(words, {"task": task, **values}), key.split(".")[-1])
        for number, (task, own) in enumerate(data.items(), start=1)
        if any(own.values())
    ]


def looks(configuration: Configuration, name: str = "model") -> dict[str, str]:
    """What the colour, the dash and the words of a model are made of; the words are in the column `name`."""
    _, position, depth, _ = configuration
    return {"encoding": position, "layers": layers_text(depth), name: configuration.model}


def encoding_colour(encodings: Sequence[str]) -> Any:
    """The colour of an encoding, the same as in all other figures of the study."""
    legend = wrapping_legend(encodings, 3, orient="top", symbolType="stroke", offset=4)
    return alt.Color("encoding:N", scale=alt.Scale(domain=list(encodings)), legend=legend)


def layers_dash(layers: Sequence[int]) -> Any:
    """The dash of a number of layers; no legend where there is one number alone."""
    names = [layers_text(depth) for depth in layers]
    dashes = [_DASHES[place % len(_DASHES)] for place in reversed(range(len(names)))]
    return _dash("layers:N", names, dashes, legend=len(names) > 1)


def where_dash() -> Any:
    """Lines of the training range are drawn through, those of the farthest level are broken."""
    return _dash("where:N", [TRAINING, FAR], [[1, 0], [4, 3]])


def _dash(field: str, names: list[str], dashes: list[list[int]], legend: bool = True) -> Any:
    shown = wrapping_legend(names, 3, symbolType="stroke", offset=8) if legend else None
    return alt.StrokeDash(field, scale=alt.Scale(domain=names, range=dashes), legend=shown)
