"""The page of a simulation, from made-up points: it plays, turns and is read without a script; names stay text."""

import base64
import io
import itertools
import json
import re
import stat
from dataclasses import replace

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.reports.particles import film
from lengthwise.reports.particles.page import DRAWN, render_page, write_page
from lengthwise.reports.particles.simulation import (
    Mark,
    Simulation,
    energy_never_falls,
    measure,
    measured_claims,
    tracked_groups,
)
from lengthwise.reports.particles.view import COLOURS, SHAPES, grid_lines, look_of, viewed

EVIL = "</script><script>window.hacked = 1</script>"


def gathering(n=12, d=3, frames=16, poles=2, seed=0):
    """Tokens that go straight to one of a few orthogonal poles, [frames, n, d]."""
    drawn = np.random.default_rng(seed).standard_normal((n, d))
    goals = np.eye(d)[np.arange(n) % poles]
    share = np.linspace(0, 1, frames)[:, None, None]
    points = (1 - share) * drawn / np.linalg.norm(drawn, axis=1, keepdims=True) + share * 3 * goals
    return points / np.linalg.norm(points, axis=2, keepdims=True)


def simulation(points=None, beta=9.0, marks=(), title="12 tokens", name="one cluster"):
    points = gathering() if points is None else points
    measures = measure(np.linspace(0, 10, len(points)), points, beta)
    claim = Claim(
        name, True, "", "proved", assumptions=(Assumption(name, "violated"),), reference=Reference("key", "theorem 1")
    )
    claims = measured_claims(measures, 1e-9, 10, energy_never_falls(measures, beta, 1e-9))
    return Simulation(title, (("start", name),), beta, points, measures, (claim,), claims, marks)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("particles") / "page.html"
    return write_page(simulation(marks=(Mark(4.0, "T1"), Mark(1e6, "T2"))), path)


def held(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def commonest(names):
    names = names[names >= 0]
    return int(np.bincount(names).argmax()) if len(names) else -1


# Measures


def test_groups_keep_their_names_while_they_gather():
    points = gathering(frames=30)
    components, groups = tracked_groups(points, 0.95)
    assert components[-1] == 2 and sorted(set(groups[-1])) == [0, 1]
    assert (groups[-1] == groups[-1][np.arange(12) % 2]).all()
    for now, later in itertools.pairwise(groups):
        for name in set(later) - {-1}:  # the largest group of which most will have a name has it already
            before = [one for one in set(now) - {-1} if commonest(later[now == one]) == name]
            sizes = {one: (now == one).sum() for one in before}
            assert not before or (name in sizes and sizes[name] == max(sizes.values()))
    alone = [(groups[k] < 0).sum() for k in range(30)]
    assert alone[0] >= 6 and alone[-1] == 0
    for k in range(30):  # one group, one component; two groups, two
        for name in set(groups[k]) - {-1}:
            assert (groups[k] == name).sum() >= 2
        assert components[k] == alone[k] + len(set(groups[k]) - {-1})


def test_an_unequal_pair_of_looks_for_each_of_thirty_groups():
    assert len({look_of(group) for group in range(len(COLOURS) * len(SHAPES))}) == 30


def test_energy_is_called_falling_where_it_falls():
    rising = measure(range(16), gathering(), 9.0)
    falling = measure(range(16), gathering()[::-1], 9.0)
    assert rising.energy[-1] > rising.energy[0]
    assert not energy_never_falls(falling, 9.0, 1e-9) and energy_never_falls(falling, 9.0, 0.5)
    assert falling.own is not None and np.allclose(falling.energy * falling.own, 1)


def test_what_says_nothing_is_called_vacuous():
    measures = measure(range(16), gathering(), 0.0)
    assert measures.own is None
    first = measured_claims(measures, 1e-9, 1, None)[0]
    assert first.status == "vacuous" and first.value is None


def test_shares_of_pairs_add_up():
    assert np.allclose(measure(range(16), gathering(), 9.0).shares.sum(axis=1), 1)
    assert not measure(range(4), gathering(1, frames=4, poles=1), 9.0).shares.any()


# The view


@pytest.mark.parametrize("d", [2, 3, 7])
def test_the_view_is_a_rotation_and_keeps_what_it_says(d):
    points = gathering(d=d)
    view = viewed(points)
    assert np.allclose(view.rotation @ view.rotation.T, np.eye(3)) and np.isclose(np.linalg.det(view.rotation), 1)
    lengths = np.linalg.norm(view.points, axis=2)
    assert np.isclose((lengths**2).mean(), view.kept) and lengths.max() <= 1 + 1e-12
    assert view.flat == (d == 2) and ("principal" in view.words) == (d > 3)
    assert view.kept == 1 if d <= 3 else 0 < view.kept < 1


def test_no_other_three_directions_keep_more():
    points = gathering(d=7)
    best = viewed(points).kept
    for seed in range(50):
        other = np.linalg.qr(np.random.default_rng(seed).standard_normal((7, 3)))[0]
        assert ((points @ other) ** 2).sum(axis=2).mean() <= best


def test_the_view_does_not_depend_on_the_signs_of_eigenvectors(monkeypatch):
    points, eigh = gathering(d=7), np.linalg.eigh
    expected = viewed(points)
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (eigh(matrix)[0], eigh(matrix)[1] * (-1) ** np.arange(7)))
    np.testing.assert_allclose(viewed(points).points, expected.points, atol=1e-12)


def test_the_grid_is_cut_at_the_edge():
    lines = grid_lines(np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0])
    assert {front for _, front in lines} == {True, False}
    assert max(np.linalg.norm(line, axis=1).max() for line, _ in lines) <= 1 + 1e-12


# The page as text


def test_names_stay_text():
    text = render_page(simulation(name=EVIL, title=EVIL, marks=(Mark(3.0, EVIL),)))
    assert text.count("<script") == 2 and text.count("&lt;/script&gt;") >= 5
    assert " style=" not in text and not re.search(r"https?://(?!www\.w3\.org)", text)


def test_places_come_back_to_five_digits():
    points = gathering()
    data = held(render_page(simulation(points)))
    stored = np.frombuffer(base64.b64decode(data["places"]), "<i2").reshape(16, 12, 3) / data["steps"]
    assert np.abs(stored - points).max() < 2e-5
    assert np.frombuffer(base64.b64decode(data["groups"]), "<i2").shape == (16 * 12,)


@pytest.mark.slow
def test_256_tokens_at_200_moments_are_below_3_megabytes():
    text = render_page(simulation(gathering(256, 16, 200)))
    assert len(text.encode()) < 3e6 and "principal directions of 16 dimensions" in text


def test_the_size_of_a_page_goes_with_its_coordinates():
    """From 64 tokens at 40 moments to 256 at 200; the slow test has the whole."""
    places = 8  # bytes of a token at a moment: four numbers of 16 bits, in base 64 a third more
    text = render_page(simulation(gathering(64, 16, 40)))
    rest = len(text.encode()) - 4 / 3 * places * 64 * 40
    assert "principal directions of 16 dimensions" in text
    assert 4 / 3 * places * 256 * 200 + 4 * rest < 3e6


def test_infinite_values_are_words():
    claim = Claim("caps persist until", float("inf"), "units of time", "proved")
    text = render_page(replace(simulation(), theory=(claim,)))
    assert "infinite units of time" in text and "inf units" not in text


def test_the_threshold_is_the_one_that_is_used(monkeypatch):
    monkeypatch.setattr("lengthwise.reports.particles.page.THRESHOLD", 0.87)
    assert "inner products above 0.87" in render_page(simulation())


def test_more_tokens_than_are_drawn():
    text = render_page(simulation(gathering(DRAWN + 5, 3, 3)))
    assert "leaves out 5 tokens" in text and held(text)["tokens"] == DRAWN


@pytest.mark.parametrize("n, d, frames, beta", [(1, 2, 2, 0.0), (2, 2, 2, 1e4), (3, 5, 2, 20.0)])
def test_small_simulations(n, d, frames, beta):
    text = render_page(simulation(gathering(n, d, frames), beta))
    assert "<svg" in text and "NaN" not in text and "nan" not in re.sub(r"[a-z]nan|nan[a-z]", "", text.split("data")[0])


def test_a_place_that_does_not_exist_is_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="a folder that exists"):
        write_page(simulation(), tmp_path / "no" / "page.html")


# The page in a browser

DRAWING = "document.getElementById('sphere').toDataURL()"


def test_it_plays_and_cursors_follow(visit, page):
    opened = visit(page)
    assert "t = 0:" in opened.ask("document.getElementById('now').textContent")
    opened.page.locator("#play").click()
    assert opened.ask("document.getElementById('play').textContent") == "Pause"
    opened.wait("Number(document.getElementById('moment').value) > 0")
    opened.wait("document.getElementById('moment').value === '15'")
    opened.wait("document.getElementById('play').textContent === 'Play'")
    assert "t = 10: 2 groups" in opened.ask("document.getElementById('now').textContent")
    assert "6 tokens6 tokens" in opened.ask("document.getElementById('legend').textContent")
    for cursor, edge in opened.ask(
        "[...document.querySelectorAll('.cursor')].map(line => [line.getBoundingClientRect().x,"
        " line.ownerSVGElement.getBoundingClientRect().right])"
    ):
        assert edge - 60 < cursor <= edge  # at the end of the axis of time
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []


def test_keys_move_time_and_turn_the_sphere(visit, page):
    opened = visit(page)
    moment = "document.getElementById('moment').value"
    opened.page.keyboard.press("ArrowRight")
    assert opened.ask(moment) == "1"
    opened.page.locator("#moment").focus()
    opened.page.keyboard.press("ArrowRight")
    assert opened.ask(moment) == "2"
    before = opened.ask(DRAWING)
    opened.page.locator("#sphere").focus()
    opened.page.keyboard.press("ArrowRight")
    assert opened.ask(moment) == "2" and opened.ask(DRAWING) != before
    opened.page.keyboard.press("ArrowLeft")
    opened.page.keyboard.press("Tab")
    assert opened.ask("document.activeElement.id") == "play"
    opened.page.keyboard.press("Space")
    opened.wait(f"Number({moment}) > 2")


def test_dragging_turns_the_sphere(visit, page):
    opened = visit(page)
    box = opened.page.locator("#sphere").bounding_box()
    before = opened.ask(DRAWING)
    opened.page.mouse.move(box["x"] + 200, box["y"] + 200)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 260, box["y"] + 220)
    opened.page.mouse.up()
    turned = opened.ask(DRAWING)
    assert turned != before
    opened.page.mouse.move(box["x"] + 100, box["y"] + 100)
    assert opened.ask(DRAWING) == turned


@pytest.mark.parametrize("context", [{"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}])
def test_themes_and_phones(visit, page, context):
    opened = visit(page, **context)
    assert opened.ask("document.documentElement.scrollWidth <= innerWidth")
    assert opened.ask("document.getElementById('sphere').clientWidth") >= 330
    dark = "getComputedStyle(document.body).backgroundColor"
    assert (opened.ask(dark) == "rgb(20, 23, 27)") == ("color_scheme" in context)
    assert opened.complaints == []


def test_claims_are_read_on_a_phone_without_scrolling_sideways(visit, page):
    opened = visit(page, viewport={"width": 390, "height": 844})
    assert opened.ask("[...document.querySelectorAll('.claims')].every(one => one.scrollWidth <= 390)")
    label = "getComputedStyle(document.querySelector('.claims .value'), '::before').content"
    assert "data-label" in opened.ask(label) or "value" in opened.ask(label)
    assert "none" in visit(page).ask(label)


def test_without_a_script_there_are_still_pictures(browser, page):
    context = browser.new_context(java_script_enabled=False)
    try:
        opened = context.new_page()
        opened.goto(page.as_uri())
        assert opened.locator("#stills svg").count() == 3 and opened.locator("#stills").is_visible()
        assert not opened.locator("#player").is_visible()
        assert "2 groups at t = 10" in opened.locator(".answer").inner_text()
    finally:
        context.close()


# Films


def test_a_gif_has_one_frame_a_moment(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = film.write_gif(simulation(), tmp_path / "film.gif")
    with image.open(io.BytesIO(path.read_bytes())) as opened:
        assert opened.n_frames == 16 and opened.size == (film.SIDE, film.SIDE) and opened.info["loop"] == 0
        first = np.asarray(opened.convert("RGB"))
        opened.seek(15)
        last = np.asarray(opened.convert("RGB"))
    blue = tuple(int(COLOURS[0][place : place + 2], 16) for place in (1, 3, 5))
    assert (last == blue).all(axis=2).sum() > 20 and (first != last).any(axis=2).sum() > 200
    assert path.stat().st_size < 5e6 and list(tmp_path.iterdir()) == [path]


def test_a_missing_tool_is_one_sentence(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="ffmpeg, which is not installed"):
        film.check_film_tools(gif=False, video=True)
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(UsageError, match="Pillow, which is not installed"):
        film.check_film_tools(gif=True, video=False)


@pytest.mark.parametrize("code", [0, 1])
def test_a_video_is_whole_or_not_there(tmp_path, monkeypatch, code):
    pytest.importorskip("PIL")
    tool = tmp_path / "tools" / "ffmpeg"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nfor last; do :; done\ncat > "$last"\necho no encoder >&2\nexit {code}\n')
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    path = tmp_path / "film.mp4"
    if code:
        with pytest.raises(UsageError, match="no encoder"):
            film.write_video(simulation(), path)
        assert not path.exists()
    else:
        film.write_video(simulation(), path)
        frames = path.stat().st_size // (3 * film.SIDE**2)  # the mark takes fewer bytes than a frame
        assert frames == 16 + round(1.5 * 1.6)
    assert not list(tmp_path.glob(".*"))
