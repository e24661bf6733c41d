"""All that a report says about ladders: the answer, the sections in their order, the trace explorer and the claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.findings.evidence import Evidence
from lengthwise.records import Claim
from lengthwise.reports.content import Content
from lengthwise.reports.figure import Figure
from lengthwise.reports.ladder.section import Section

if TYPE_CHECKING:
    from lengthwise.findings.all import Findings
    from lengthwise.reports.ladder.explorer import Explorer


@dataclass(frozen=True)
class LadderPart:
    """`first` is the picture of risk against distance. `leads` says that every task of the study has a ladder, so that
    the ladders are what the study is about and stand first."""

    found: Findings
    first: Section
    sections: tuple[Section, ...]
    explorer: Explorer | None
    leads: bool

    @property
    def figures(self) -> list[Figure]:
        return [figure for section in (self.first, *self.sections) for figure in section.figures]

    def claims(self) -> list[Claim]:
        """Those the answer is made from come first; none is listed twice."""
        named: dict[str, Claim] = {}
        for claim in (*self.found.answer.claims, *self.found.claims()):
            named.setdefault(claim.title, claim)
        return list(named.values())


def ladder_part(content: Content) -> LadderPart | None:
    """None for a study without ladders."""
    evidence = content.evidence
    if evidence is None or not evidence.climbs:
        return None
    # Here and not above: most reports have no ladder, and should not wait for what findings are made with.
    from lengthwise.findings.all import findings
    from lengthwise.reports.ladder.explorer import explorer
    from lengthwise.reports.ladder.risk import risk_section

    found, encodings = findings(evidence), _encodings(content, evidence)
    return LadderPart(
        found=found,
        first=risk_section(evidence, found.monotone, encodings),
        sections=_sections(evidence, found, encodings),
        explorer=explorer(evidence),
        leads={run.task for run in content.runs} <= {climb.task for climb in evidence.climbs},
    )


def _sections(evidence: Evidence, found: Findings, encodings: Sequence[str]) -> tuple[Section, ...]:
    """Those that have something to show, in the order of the page."""
    from lengthwise.reports.ladder.behaviour import behaviour_section
    from lengthwise.reports.ladder.bound import bound_section
    from lengthwise.reports.ladder.collapse import collapse_section
    from lengthwise.reports.ladder.encoding import encoding_section
    from lengthwise.reports.ladder.floors import floors_section
    from lengthwise.reports.ladder.thresholds import thresholds_section

    made = (
        floors_section(found.floors, encodings),
        collapse_section(found.collapse, encodings),
        bound_section(found.bound),
        thresholds_section(found.thresholds, encodings),
        encoding_section(found.encodings),
        behaviour_section(evidence, encodings),
    )
    return tuple(section for section in made if section is not None)


def _encodings(content: Content, evidence: Evidence) -> Sequence[str]:
    """In the order of the study, so that an encoding has one colour in all figures of the page."""
    others = [climb.position for climb in evidence.climbs if climb.position not in content.encodings]
    return (*content.encodings, *dict.fromkeys(others))
