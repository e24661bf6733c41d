"""One question as text, with the instruction and the worked examples in front of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prompt:
    """One question as text. `system` and `shots` are the same for every item of a task, so their computation can be
    shared."""

    system: str
    shots: tuple[tuple[str, str], ...]
    question: str

    def messages(self) -> list[dict[str, str]]:
        """The prompt as a conversation, for a chat template or a server."""
        turns = [
            ("user", text) if place == 0 else ("assistant", text)
            for shot in self.shots
            for place, text in enumerate(shot)
        ]
        roles = [("system", self.system), *turns, ("user", self.question)]
        return [{"role": role, "content": text} for role, text in roles]

    def shared(self) -> str:
        """The plain text up to the question."""
        return self.system + "\n\n" + "".join(f"{asked}\nAnswer: {answer}\n\n" for asked, answer in self.shots)

    def text(self) -> str:
        """The whole prompt as plain text, which ends where the answer begins."""
        return f"{self.shared()}{self.question}\nAnswer:"
