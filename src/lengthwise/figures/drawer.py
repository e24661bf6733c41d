"""The program that draws: started by `drawing.py`, it answers until its input ends. A request is a line of JSON, then
a text of as many bytes as it says; an answer is the same."""

from __future__ import annotations

import json
import sys


def main() -> None:
    sys.path[:] = json.loads(sys.argv[1])
    import vl_convert

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while line := source.readline():
        asked = json.loads(line)
        text = source.read(asked["size"]).decode()
        error, content = {}, b""
        try:
            made = getattr(vl_convert, asked["call"])(*([text] if asked["text"] else []), **asked["settings"])
            content = made if isinstance(made, bytes) else made.encode()
        except Exception as wrong:
            error = {"error": " ".join(str(wrong).split())[:400]}
        sink.write(json.dumps({"size": len(content), **error}).encode() + b"\n" + content)
        sink.flush()


if __name__ == "__main__":
    main()
