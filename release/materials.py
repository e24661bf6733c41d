"""Write the software bill of materials of an environment as CycloneDX 1.6: `python release/materials.py SITE OUT`.

SITE is the site-packages folder of an environment that holds lengthwise and what it needs. The bill lists every package
that lengthwise needs there, with version, licence, package URL and what it needs in turn, and the files of
release/locked.txt that it may come from, by hash. The same environment gives the same bytes.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from lock import LOCKED, pins, plain

ROOT = "lengthwise"


def installed(site: Path) -> dict[str, Distribution]:
    return {plain(found.name): found for found in distributions(path=[str(site)])}


def needs(package: Distribution) -> list[str]:
    """The packages that one needs here, without extras."""
    asked = (Requirement(line) for line in package.requires or ())
    return sorted({plain(one.name) for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})})


def closure(packages: dict[str, Distribution], root: str = ROOT) -> list[str]:
    """The names of all that `root` needs, itself first."""
    found, waiting = [root], [root]
    while waiting:
        for name in needs(packages[waiting.pop()]):
            if name not in found:
                if name not in packages:
                    raise SystemExit(f"{name} is needed and not installed")
                found.append(name)
                waiting.append(name)
    return [root, *sorted(found[1:])]


def bill(packages: dict[str, Distribution], hashes: dict[str, tuple[str, list[str]]]) -> dict[str, Any]:
    names = closure(packages)
    urls = {name: f"pkg:pypi/{name}@{packages[name].version}" for name in names}
    content = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component(packages[ROOT], urls[ROOT], "application", [])},
        "components": [
            _component(packages[name], urls[name], "library", hashes.get(name, ("", []))[1]) for name in names[1:]
        ],
        "dependencies": [
            {"ref": urls[name], "dependsOn": [urls[one] for one in needs(packages[name])]} for name in names
        ],
    }
    if moment := os.environ.get("SOURCE_DATE_EPOCH"):
        content["metadata"]["timestamp"] = datetime.fromtimestamp(int(moment), UTC).isoformat()
    content["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))}"
    return content


def _component(package: Distribution, url: str, kind: str, hashes: list[str]) -> dict[str, Any]:
    told = package.metadata
    part: dict[str, Any] = {"type": kind, "bom-ref": url, "name": told["Name"], "version": package.version, "purl": url}
    if licences := list(_licences(package)):
        part["licenses"] = licences
    if hashes:  # one of these is the file that was installed, so they are hashes of distributions and not of the part
        listed = [{"alg": "SHA-256", "content": digest} for digest in hashes]
        part["externalReferences"] = [{"type": "distribution", "url": url, "hashes": listed}]
    return part


def _licences(package: Distribution) -> Iterator[dict[str, Any]]:
    """The expression if there is one; otherwise what the metadata call the licence, where that is a name."""
    told = package.metadata
    if expression := told.get("License-Expression"):
        yield {"expression": expression}
    elif (words := (told.get("License") or "").strip()) and "\n" not in words:
        yield {"license": {"name": words}}
    else:
        for line in told.get_all("Classifier") or ():
            if line.startswith("License :: "):
                yield {"license": {"name": line.rpartition(" :: ")[2]}}


def main(site: str, out: str) -> None:
    hashes = pins(LOCKED.read_text(encoding="utf-8"))
    content = bill(installed(Path(site)), hashes)
    Path(out).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{out}: {len(content['components'])} packages")


if __name__ == "__main__":
    main(*sys.argv[1:])
