"""One question as text."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.prompts.template import BUILT_IN, Template


@dataclass(frozen=True)
class Prompt:
    """One question as text. `system` and `shots` are the same for every item of a task, so that their computation can
    be shared; an item that would be among its own examples gets another example in that place."""

    system: str  # the instruction
    shots: tuple[tuple[str, str], ...]  # worked examples: question, answer
    question: str
    template: Template = BUILT_IN

    def messages(self) -> list[dict[str, str]]:
        """For a chat template or a server: the instruction, each example as a question and its answer, the question."""
        found = [{"role": "system", "content": self.system}] if self.system else []
        for question, answer in self.shots:
            found.append({"role": "user", "content": self._asked(question)})
            found.append({"role": "assistant", "content": answer})
        return [*found, {"role": "user", "content": self._asked(self.question)}]

    def shared(self) -> str:
        """The plain text up to the question, for a completion without a chat template."""
        examples = "".join(self.template.example(*shot) for shot in self.shots)
        return self.template.once(self.system, examples) + self.template.before

    def text(self) -> str:
        """The plain text: what is shared, the question, and the cue for the answer, without white space at its end."""
        return self.shared() + self.question + self.template.cue

    def _asked(self, question: str) -> str:
        return self.template.before + question + self.template.cue
