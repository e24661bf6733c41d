"""The server: who is answered, what a browser may do with the answer, and names that would like to be code."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lengthwise.cli import main
from lengthwise.records import Claim, Figure, Record
from lengthwise.view import bundle
from lengthwise.view.app import LOOPBACK, PageServer, make_app
from lengthwise.view.watch import FolderWatch
from synthetic_runs import write_run

TOKEN, PORT = "t0ken", 4321


@pytest.fixture
def client_of() -> Callable[..., TestClient]:
    def make(folder: Path, host: str = f"{LOOPBACK}:{PORT}") -> TestClient:
        app = make_app(FolderWatch(folder, pause=0.0), TOKEN, PORT, lambda: b"// vega")
        return TestClient(app, base_url=f"http://{host}")

    return make


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_run(tmp_path / "runs" / "one")
    return tmp_path / "runs"


ADDRESSES = ("", "view.js", "view.css", "vega.js", "api/changes", "api/runs/0", "api/runs/0/records/curve")


def test_this_machine_with_the_token_is_answered(client_of, runs: Path) -> None:
    for host in (f"{LOOPBACK}:{PORT}", f"localhost:{PORT}", f"LOCALHOST:{PORT}"):
        client = client_of(runs, host)
        client.get(f"/{TOKEN}/api/changes")
        assert [client.get(f"/{TOKEN}/{address}").status_code for address in ADDRESSES] == [200] * len(ADDRESSES)


HOSTS = [
    *("", "evil.example", f"evil.example:{PORT}", LOOPBACK, f"{LOOPBACK}:80", "localhost", f"[::1]:{PORT}"),
    *(
        f"127.0.0.2:{PORT}",
        f"localhost:{PORT}.evil.example",
        f"x@{LOOPBACK}:{PORT}",
        f"{LOOPBACK}:{PORT}, evil.example",
    ),
]


def test_another_host_is_refused(client_of, runs: Path) -> None:
    client = client_of(runs)
    for host in HOSTS:
        answers = [client.get(f"/{TOKEN}/{address}", headers={"host": host}) for address in ADDRESSES]
        assert {answer.status_code for answer in answers} == {403}, host
    twice = [("host", f"{LOOPBACK}:{PORT}"), ("host", "evil.example")]
    assert client.get(f"/{TOKEN}/", headers=twice).status_code == 403


def test_without_the_token_nothing_is_answered(client_of, runs: Path) -> None:
    client = client_of(runs)
    wrong = ["", "t0ke/", "t0kenn/", "T0KEN/", "%00/", "ü/", "/t0ken/", "?token=t0ken", "favicon.ico", "x/t0ken/"]
    for path in (*wrong, *ADDRESSES):
        answer = client.get(f"/{path}", follow_redirects=False)
        assert answer.status_code == 403 and TOKEN not in answer.text, path


def test_nothing_can_be_changed(client_of, runs: Path) -> None:
    client = client_of(runs)
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert client.request(method, f"/{TOKEN}/api/changes").status_code == 405
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    for address in ADDRESSES:
        client.get(f"/{TOKEN}/{address}")
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before


def test_every_answer_has_a_strict_policy(client_of, runs: Path) -> None:
    client = client_of(runs)
    for path in (*(f"/{TOKEN}/{address}" for address in ADDRESSES), f"/{TOKEN}/nothing", "/"):
        headers = client.get(path).headers
        rules = dict(rule.strip().partition(" ")[::2] for rule in headers["content-security-policy"].split(";"))
        assert rules["default-src"] == "'none'" and rules["frame-ancestors"] == "'none'"
        assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


def test_the_page_has_no_script_or_style_inside(client_of, runs: Path) -> None:
    page = client_of(runs).get(f"/{TOKEN}/").text
    assert "<style" not in page and " style=" not in page and not re.search(r" on[a-z]+=", page)
    kinds = re.findall(r"<script([^>]*)>", page)
    assert kinds and all("src=" in kind or 'type="application/json"' in kind for kind in kinds)
    assert not re.search(r"https?:", re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL))


@pytest.mark.parametrize("address", ["nothing", "api/runs/9", "api/runs/-1", "api/runs/x", "api/runs/0/records/no",
                                     "api/runs/0/records/..%2frun", "../one/run.json", "..%2f..%2fone"])  # fmt: skip
def test_what_is_not_there_is_not_found(client_of, runs: Path, address: str) -> None:
    client = client_of(runs)
    client.get(f"/{TOKEN}/api/changes")
    assert client.get(f"/{TOKEN}/{address}").status_code in (403, 404)


def test_odd_questions_are_answered(client_of, runs: Path) -> None:
    client = client_of(runs)
    for query in (
        "cursor=x&journals=1-2",
        "journals=,,9-9-9,-1-0-0,٣-٣-٣",
        f"cursor={'9' * 5000}",
        "journals=" + "0-0-0," * 99,
    ):
        found = client.get(f"/{TOKEN}/api/changes?{query}").json()
        assert len(found["rows"]) == 1 and found["journals"] == {}


def test_changes_come_with_a_cursor(client_of, runs: Path) -> None:
    client = client_of(runs)
    first = client.get(f"/{TOKEN}/api/changes").json()
    assert [row["path"] for row in first["rows"]] == ["one"]
    write_run(runs / "two", seed=1)
    second = client.get(f"/{TOKEN}/api/changes?cursor={first['cursor']}").json()
    assert [row["path"] for row in second["rows"]] == ["two"] and not second["reset"]


def test_hostile_names_stay_text(client_of, tmp_path: Path, synthetic_study: Callable[..., Path], hostile) -> None:
    folder = synthetic_study(tmp_path / "runs" / "s", list(hostile), ["<i>none</i>"], seeds=1, failed=0)
    claim = Claim("x.y", hostile[0], "share", "measured", evidence={"why": hostile[1]})
    figure = Figure("x.figure", {"mark": "point"}, {"rows": [{"x": hostile[2]}]}, hostile[3], hostile[4])
    record = Record("x", title=hostile[5], text=(hostile[0],), claims=(claim,), figures=(figure,), failed=hostile[1])
    write_run(folder.parent / "<b>bold</b>", more={"x": record})
    client = client_of(folder.parent)
    found = client.get(f"/{TOKEN}/api/changes")
    assert found.headers["content-type"] == "application/json"
    rows = {row["path"]: row for row in found.json()["rows"]}
    assert {row["task"] for row in rows.values() if row.get("study")} == set(hostile)
    mine = rows["<b>bold</b>"]["id"]
    shown = client.get(f"/{TOKEN}/api/runs/{mine}/records/x").json()["html"]
    assert not re.search(r"<(script|img|svg|iframe|b>)", shown) and "&lt;script&gt;" in shown
    for place in (row["id"] for row in rows.values() if row.get("study")):
        shown = client.get(f"/{TOKEN}/api/runs/{place}/records/curve").json()["html"]
        assert not re.search(r"<(script|img|svg|i>)", shown)


def test_a_folder_whose_name_is_no_text_is_listed(client_of, tmp_path: Path) -> None:
    name = b"\xff\xfe-run".decode("utf-8", "surrogateescape")
    write_run(tmp_path / "runs" / name)
    (row,) = client_of(tmp_path / "runs").get(f"/{TOKEN}/api/changes").json()["rows"]
    assert row["path"] == name


def test_a_damaged_record_is_a_sentence(client_of, runs: Path) -> None:
    client = client_of(runs)
    client.get(f"/{TOKEN}/api/changes")
    (runs / "one" / "records" / "curve.json").write_text("{}")
    assert client.get(f"/{TOKEN}/api/runs/0").json()["reason"]
    (runs / "one" / "run.json").write_text("{}")
    found = client.get(f"/{TOKEN}/api/runs/0").json()
    assert found["reason"] and found["records"] == [] and found["curve"] == []


def test_it_listens_on_this_machine_alone(tmp_path: Path) -> None:
    server = PageServer(FolderWatch(tmp_path))
    try:
        assert server.url == f"http://127.0.0.1:{server.port}/{server.token}/" and len(server.token) >= 32
        assert server._socket.getsockname()[0] == LOOPBACK
    finally:
        server._socket.close()


@pytest.mark.parametrize(
    "words", [["nowhere"], [".", "--port", "0"], [".", "--port", "99999999"], [".", "--bundle", "b", "--port", "5"],
              [".", "--bundle", "b", "--open"]],
)  # fmt: skip
def test_bad_input_is_one_sentence(tmp_path: Path, monkeypatch, capsys, words: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.wording
def test_a_port_that_does_not_exist_is_named_with_the_largest(tmp_path: Path, capsys) -> None:
    assert main(["view", str(tmp_path), "--port", "65536"]) == 2
    assert "--port must be at most 65,535" in capsys.readouterr().err


def test_without_the_extra_there_is_one_sentence(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["view", str(tmp_path)]) == 2
    complaint = capsys.readouterr().err
    assert "lengthwise[view]" in complaint and len(complaint.splitlines()) == 1


def test_what_a_bundle_holds_is_what_the_server_says(client_of, runs: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(bundle.Vega, "text", lambda self: b"// vega")
    page = bundle.write_bundle(FolderWatch(runs), tmp_path / "site")
    text = (page.parent / "data" / "run-0.js").read_text().partition(" = ")[2].rstrip(";\n")
    client = client_of(runs)
    client.get(f"/{TOKEN}/api/changes")
    served = {"run": client.get(f"/{TOKEN}/api/runs/0").json()}
    served["records"] = {"curve": client.get(f"/{TOKEN}/api/runs/0/records/curve").json()}
    assert json.loads(text) == served
    assert main(["view", str(runs), "--bundle", str(tmp_path), "--quiet"]) == 2, "a folder with other files"
    (page.parent / "data" / "run-7.js").write_text("")
    bundle.write_bundle(FolderWatch(runs), page.parent)
    assert sorted(path.name for path in (page.parent / "data").iterdir()) == ["run-0.js", "snapshot.js"]
    page.write_text("mine")
    assert main(["view", str(runs), "--bundle", str(page.parent), "--quiet"]) == 2
