"""What a release is made of: one version, pinned and hashed packages, archives, the bill of materials, and the programs
in release/ that make and try them. `make release` does all of it for real."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import Distribution
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

import lengthwise as lw
from archives import unlike
from audit import Audit
from audit import main as audited
from lock import LOCKED, is_of, named, pins, plain, written
from materials import bill, closure, installed
from pages import Step, steps
from pages import main as carried_out
from site_texts import ROOT

LOCK = pins(LOCKED.read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GITHUB = ROOT / ".github"


# --- what a stranger finds --------------------------------------------------------------------------------------------


def test_the_version_has_one_home() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"] and "version" not in PROJECT["project"]
    home = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{lw.__version__}"' in home.read_text(encoding="utf-8")


def test_the_citation_can_be_read() -> None:
    """The keys that the Citation File Format 1.2.0 requires, with the types that it wants."""
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert content["cff-version"] == "1.2.0" and content["type"] == "software"
    assert content["version"] == lw.__version__ and content["license"] == PROJECT["project"]["license"]
    assert all(isinstance(content[key], str) and content[key] for key in ("title", "message", "abstract"))
    assert content["authors"] and all(set(author) <= {"name", "website"} for author in content["authors"])


def test_the_workflow_runs_what_ci_runs() -> None:
    jobs = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    commands = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert commands == {"test": [".ci/run"], "release": ["make release AUDIT=--required"]}
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    settings = [step.get("with", {}) for job in jobs.values() for step in job["steps"]]
    versions = {given["python-version"] for given in settings if "python-version" in given}
    assert versions == {PROJECT["project"]["requires-python"].removeprefix(">=")}


@pytest.mark.parametrize("name", ["bug", "claim", "feature"])
def test_an_issue_form_can_be_filled_in(name: str) -> None:
    form = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml").read_text(encoding="utf-8"))
    assert form["name"] and form["description"]
    assert any(field.get("validations", {}).get("required") for field in form["body"])
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids)) and all(field["attributes"]["label"] for field in form["body"])


def test_contributing_names_every_room_and_every_program() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = [path.name for path in (ROOT / "src" / "lengthwise").iterdir() if (path / "__init__.py").exists()]
    missing = [room for room in rooms if f"`{room}/`" not in told and room not in ("testing", "text", "shift")]
    assert not missing
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", told)) <= targets


# --- pinned and hashed ------------------------------------------------------------------------------------------------


def test_every_locked_package_is_pinned_as_in_the_constraints() -> None:
    tested = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert {name: version for name, (version, _) in LOCK.items()} == {name: tested[name][0] for name in LOCK}
    assert all(hashes and len(set(hashes)) == len(hashes) for _, hashes in LOCK.values())


def test_all_that_the_package_requires_is_locked() -> None:
    here = installed_here()
    direct = {plain(re.split(r"[><=\[ ]", line)[0]) for line in PROJECT["project"]["dependencies"]}
    needed = {name for root in direct for name in closure(here, root)}
    assert {name for name in needed if not name.startswith(("nvidia-", "cuda-", "triton"))} <= set(LOCK)


def installed_here() -> dict[str, Distribution]:
    return {name: found for place in reversed(sys.path) for name, found in installed(Path(place)).items() if place}


def test_named_wheels_have_their_hash_in_the_list() -> None:
    wheels = named(LOCKED.read_text(encoding="utf-8"))
    assert wheels  # torch without CUDA, which the index does not have
    for wheel, digest in wheels.items():
        (name,) = [name for name, (version, _) in LOCK.items() if is_of(wheel, name, version)]
        assert digest in LOCK[name][1]


def test_a_lock_reads_back() -> None:
    a, b, c = (letter * 64 for letter in "abc")
    text = written({"torch": ("2.1.0", [b]), "numpy": ("1.0", [a])}, {"torch-2.1.0+cpu-cp311-any.whl": c})
    assert pins(text) == {"numpy": ("1.0", [a]), "torch": ("2.1.0", [c, b])}
    assert "torch==2.1.0+cpu ; sys_platform == 'linux'" in text and "torch==2.1.0 ; sys_platform != 'linux'" in text
    assert named(text) == {"torch-2.1.0+cpu-cp311-any.whl": c}
    assert not is_of("torch-2.1.1-cp311-any.whl", "torch", "2.1.0")


# --- audited ----------------------------------------------------------------------------------------------------------


def answer(**packages: Any) -> str:
    """What pip-audit prints: identifiers of vulnerabilities, or why a package was skipped."""
    rows = [
        {"name": name, "skip_reason": said}
        if isinstance(said, str)
        else {"name": name, "vulns": [{"id": i} for i in said]}
        for name, said in packages.items()
    ]
    return json.dumps({"dependencies": rows})


@pytest.mark.parametrize(
    "printed, codes, shown",
    [
        (answer(numpy=[], torch=[]), (0, 0), "audited 2 of 2"),
        (answer(numpy=["PYSEC-1"], torch=[]), (1, 1), "VULNERABLE numpy: PYSEC-1"),
        (answer(numpy="not found", torch=[]), (0, 1), "NOT AUDITED: numpy"),
        (answer(numpy="not found"), (0, 1), "audited 0 of 1"),
        ("", (0, 1), "NOT AUDITED: pip-audit could not run: no network"),
    ],
)
def test_an_audit_says_what_was_not_audited(
    printed: str, codes: tuple[int, int], shown: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    done = SimpleNamespace(stdout=printed, stderr="trace\nno network\n", returncode=0)
    monkeypatch.setattr(subprocess, "run", lambda *words, **how: done)
    for required, code in zip((False, True), codes, strict=True):
        assert audited(required) == code and shown in capsys.readouterr().out


def test_an_audit_counts_packages() -> None:
    audit = Audit.read(answer(numpy=["PYSEC-1"], torch="not found", rich=[]))
    assert audit.audited == ("numpy", "rich") and set(audit.skipped) == {"torch"} and set(audit.vulnerable) == {"numpy"}


# --- archives and materials -------------------------------------------------------------------------------------------


def test_files_that_a_wheel_lacks_or_adds_are_named() -> None:
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as files:
        for name in ("lengthwise/a.py", "lengthwise/odd.py", "lengthwise-1.dist-info/METADATA"):
            files.writestr(name, "")
        files.writestr("lengthwise-1.data/data/share/page.1", "")
    package = ["src/lengthwise/a.py", "src/lengthwise/data.json"]
    shared = ["share/page.1", "share/shell"]
    assert unlike(wheel.getvalue(), package, shared) == ["lengthwise/data.json", "lengthwise/odd.py", "share/shell"]


def distribution(folder: Path, name: str, *lines: str) -> None:
    place = folder / f"{name}-1.0.dist-info"
    place.mkdir()
    words = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *lines])
    (place / "METADATA").write_text(words + "\n", encoding="utf-8")


def test_the_bill_lists_what_is_needed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path, "lengthwise", "Requires-Dist: Some.Part>=1", "Requires-Dist: extra-part; extra == 'more'")
    distribution(tmp_path, "some_part", "License-Expression: MIT", "Requires-Dist: deep")
    distribution(tmp_path, "deep", "License: BSD", "Requires-Dist: windows-part; sys_platform == 'win32'")
    distribution(tmp_path, "bystander")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    made = bill(installed(tmp_path), {"deep": ("1.0", ["a" * 64])})
    assert made == bill(installed(tmp_path), {"deep": ("1.0", ["a" * 64])})
    parts = {part["purl"]: part for part in made["components"]}
    assert set(parts) == {"pkg:pypi/some-part@1.0", "pkg:pypi/deep@1.0"}
    assert parts["pkg:pypi/some-part@1.0"]["licenses"] == [{"expression": "MIT"}]
    assert parts["pkg:pypi/deep@1.0"]["externalReferences"][0]["hashes"][0]["content"] == "a" * 64
    assert {one["ref"]: one["dependsOn"] for one in made["dependencies"]} == {
        "pkg:pypi/lengthwise@1.0": ["pkg:pypi/some-part@1.0"],
        "pkg:pypi/some-part@1.0": ["pkg:pypi/deep@1.0"],
        "pkg:pypi/deep@1.0": [],
    }
    assert made["metadata"]["timestamp"] == "1970-01-01T00:00:00+00:00"


def test_a_package_that_is_needed_and_missing_is_refused(tmp_path: Path) -> None:
    distribution(tmp_path, "lengthwise", "Requires-Dist: absent")
    with pytest.raises(SystemExit, match="absent"):
        closure(installed(tmp_path))


# --- pages, carried out -----------------------------------------------------------------------------------------------


def test_the_steps_of_the_tutorial() -> None:
    found = list(steps((ROOT / "docs" / "tutorial" / "index.md").read_text(encoding="utf-8")))
    assert [step.name for step in found if step.kind == "save"] == ["first.toml", "mytask.py", "my.py"]
    assert len([step for step in found if step.kind == "program"]) == 1
    commands = [step.name for step in found if step.kind == "run"]
    assert len(commands) >= 12 and all(command.startswith("lengthwise ") for command in commands)


PAGE = """
Save this as `a.txt`:

```text
hello
```

```console
$ pip install nothing
$ cp a.txt b.txt
```

```text
shown
```

```python
import os
assert open("b.txt").read() == "hello\\n" and "PYTHONPATH" not in os.environ
```
"""


def test_a_page_is_carried_out(tmp_path: Path, capfd: Any) -> None:
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    kinds = [(step.kind, step.name) for step in steps(PAGE)]
    assert kinds == [("save", "a.txt"), ("run", "cp a.txt b.txt"), ("program", "program: import os")]
    assert carried_out(sys.executable, str(tmp_path / "work"), str(tmp_path / "page.md")) == 0
    assert "3 steps" in capfd.readouterr().out and (tmp_path / "work" / "b.txt").exists()


def test_a_page_ends_at_the_first_failure(tmp_path: Path, capfd: Any) -> None:
    (tmp_path / "page.md").write_text("```console\n$ false\n$ touch later\n```\n", encoding="utf-8")
    assert carried_out(sys.executable, str(tmp_path / "work"), str(tmp_path / "page.md")) == 1
    assert "exit code 1: false" in capfd.readouterr().out and not (tmp_path / "work" / "later").exists()


def test_a_block_that_nobody_would_run_is_an_error() -> None:
    with pytest.raises(SystemExit, match="toml"):
        list(steps("```toml\na = 1\n```\n"))
    assert list(steps("Save this as\n`a.toml`:\n\n```toml\na = 1\n```\n")) == [Step("save", "a.toml", "a = 1\n")]


# --- the wheel, alone -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and links to what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    venv.create(folder / "env", with_pip=False)
    (site,) = (folder / "env").glob("lib/python*/site-packages")
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(site)
    here = installed_here()
    direct = [plain(re.split(r"[><=\[ ]", line)[0]) for line in PROJECT["project"]["dependencies"]]
    for name in {name for root in direct for name in closure(here, root)}:
        files_of = here[name].files or ()
        for top in {path.parts[0] for path in files_of if path.parts[0] not in ("..", "__pycache__")}:
            target = site / top
            if not target.exists():
                target.symlink_to(Path(str(here[name].locate_file(top))))
    return folder / "env" / "bin" / "python"


@pytest.mark.system
def test_the_wheel_passes_the_smoke_tests_without_packages_of_developers(alone: Path) -> None:
    # -B: what is linked to belongs to another environment
    smoke = [str(alone), "-I", "-B", str(ROOT / "release" / "smoke.py")]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(smoke, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stdout.count("passed") == 4, done.stdout + done.stderr


def test_the_smoke_tests_refuse_an_environment_of_developers() -> None:
    smoke = [sys.executable, str(ROOT / "release" / "smoke.py")]
    done = subprocess.run(smoke, capture_output=True, text=True)
    assert done.returncode == 1 and "not an empty environment" in done.stderr
