"""The page in a browser: figures, filters, tables, themes, paper, phones, and names that would like to be code."""

from __future__ import annotations

import pytest

from lengthwise.reports.page import write_report
from processes import wait_until

MARKS = """[...document.querySelectorAll('.plot')].map(plot => {
    const box = plot.querySelector('svg').getBoundingClientRect();
    const marks = [...plot.querySelectorAll('.role-mark path, .role-mark line, .role-mark text')];
    const sized = marks.filter(mark => { const b = mark.getBoundingClientRect(); return b.width + b.height > 1; });
    return {kind: plot.dataset.kind, width: box.width, height: box.height, marks: sized.length};
})"""
LINES = "document.querySelectorAll('#curves .plot')[0].querySelectorAll('.mark-line path').length"
FIRST_CELLS = "[...document.querySelectorAll('[data-table=runs] tbody tr td:nth-child({})')].map(td => td.textContent)"

EVERY = ["reach", "curves", "agreement", "published", "seeds", "training", "comparisons"]
WITH_ALL = {"analyses": EVERY}


@pytest.fixture(scope="module")
def rich_report(tmp_path_factory, synthetic_study):
    """Every section there is, with more encodings than colours."""
    positions = ["none", "learned+offset", "rope", "alibi", "fire", "t5", "kerple", "sinusoidal", "learned"]
    folder = tmp_path_factory.mktemp("rich") / "rich"
    return write_report(synthetic_study(folder, ["sort", "(aa)*"], positions, seeds=2, study=WITH_ALL))


def test_every_figure_renders_without_a_complaint(visit, report, rich_report):
    for path, kinds in ((report, 5), (rich_report, 5)):
        opened = visit(path, "?all")
        found = opened.ask(MARKS)
        assert len({figure["kind"] for figure in found}) == kinds
        for figure in found:
            assert figure["width"] > 200 and figure["height"] > 60 and figure["marks"] > 0, figure
        assert opened.complaints == []
        assert [url for url in opened.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_figures_are_drawn_unasked_where_they_are_few(visit, report):
    opened = visit(report)
    opened.wait_for_figures()
    assert opened.complaints == []


@pytest.mark.parametrize("tasks, positions", [(5, 3), (25, 2)])
def test_the_first_screen_holds_the_answer(visit, tmp_path, synthetic_study, tasks, positions):
    folder = synthetic_study(tmp_path / "s", [f"task_{n}" for n in range(tasks)], ["none", "rope", "t5"][:positions], 1)
    opened = visit(write_report(folder))
    opened.wait("document.querySelector('#answer .plot[data-drawn]') !== null")
    ends = opened.ask("['h1', '.answer', '#answer .plot svg', '.counts'].map(name => "
                      "document.querySelector(name).getBoundingClientRect().bottom)")  # fmt: skip
    assert ends == sorted(ends) and ends[-1] <= 800, ends


def test_the_legend_picks_an_encoding(visit, report):
    opened = visit(report, "?all")
    faded = "[...document.querySelectorAll('#curves .plot')[0].querySelectorAll('.mark-line path')]" \
            ".filter(path => path.getAttribute('opacity') === '0.1').length"  # fmt: skip
    assert opened.ask(faded) == 0
    opened.page.locator("#curves .plot").first.locator(".role-legend-label text", has_text="rope").click()
    opened.wait(f"{faded} === 2")
    assert opened.complaints == []


def test_no_legend_is_cut(visit, tmp_path, synthetic_study):
    """Four encodings fit beside each other before the axis has its share of the width, and not after."""
    positions = ["none", "learned", "learned+offset", "rope"]
    opened = visit(write_report(synthetic_study(tmp_path / "four", ["sort", "(aa)*"], positions, seeds=1)), "?all")
    cut = """[...document.querySelectorAll('.plot svg')].flatMap(svg => {
        const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('.role-legend-label text')].filter(text => {
            const own = text.getBoundingClientRect();
            return own.bottom > box.bottom + 1 || own.right > box.right + 1;
        }).map(text => text.textContent);
    })"""
    shown = "document.querySelectorAll('#curves .role-legend-label text').length"
    assert opened.ask(shown) == 8 and opened.ask(cut) == []
    opened.page.set_viewport_size({"width": 700, "height": 800})
    opened.wait("document.querySelector('#curves .plot svg').getBoundingClientRect().width > 560")
    assert opened.ask(cut) == []


def test_the_buttons_filter_all_panels_by_keyboard(visit, report):
    opened = visit(report, "?all")
    before = opened.ask(LINES)
    button = opened.page.locator("#curves .filter", has_text="rope")
    button.focus()
    opened.page.keyboard.press("Enter")
    opened.wait(f"{LINES} === {before - 1}")
    states = "[...document.querySelectorAll('.filter')].map(one => one.getAttribute('aria-pressed'))"
    assert opened.ask(states) == ["true", "true", "false"] * 2
    opened.page.keyboard.press("Enter")
    opened.wait(f"{LINES} === {before}")
    assert opened.complaints == []


def test_dragging_moves_and_scrolling_past_does_not_zoom(visit, report):
    opened = visit(report, "?all")
    plot = opened.page.locator("#curves .plot").first
    plot.scroll_into_view_if_needed()
    ticks = "[...document.querySelectorAll('#curves .plot')[0].querySelectorAll('.role-axis-label text')]" \
            ".map(text => text.textContent).join()"  # fmt: skip
    usual = opened.ask(ticks)
    box = plot.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + 120
    opened.page.mouse.move(*middle)
    before = opened.ask("window.scrollY")
    opened.page.mouse.wheel(0, 50)
    opened.wait(f"window.scrollY > {before}")
    assert opened.ask(ticks) == usual
    opened.page.keyboard.down("Shift")
    opened.page.mouse.wheel(0, -300)
    opened.page.keyboard.up("Shift")
    opened.wait(f"{ticks} !== {usual!r}")
    assert opened.complaints == []


def test_hovering_shows_numbers(visit, report):
    opened = visit(report, "?all")
    opened.hover("#answer .role-mark.mark-rect path")
    shown = opened.page.locator("#vg-tooltip-element").inner_text()
    assert "mean reach" in shown and "sort" in shown and "trained to" in shown
    assert opened.complaints == []


def test_predictions_stand_next_to_what_came(visit, tmp_path, synthetic_study, told, report_of):
    folder = synthetic_study(tmp_path / "s", ["sort", "gone.py::<b>Own"], ["none", "rope"], seeds=1, failed=0)
    path = report_of(folder, told({("sort", "none"): "can hold", ("sort", "rope"): "cannot hold"}))
    opened = visit(path, "?all")
    section = opened.page.locator("#agreement")
    assert "learned cell" in section.inner_text() and "cannot be rebuilt here" in section.text_content()
    signs = opened.ask(
        "[...document.querySelectorAll('#agreement .role-mark.mark-text text')].map(text => text.textContent)"
    )
    assert len(signs) == 4 and {text[0] for text in signs} <= set("✓✗○?×n–") and "?" in {text[0] for text in signs}
    cells = "#agreement table td.number"
    numbers = opened.ask(f"[...document.querySelectorAll('{cells}')].map(cell => Number(cell.textContent))")
    assert sum(numbers) == 4
    opened.hover("#agreement .role-mark.mark-rect path")
    shown = opened.page.locator("#vg-tooltip-element").inner_text()
    assert "predicted" in shown and "a witness says that sort can" in shown and "mean reach" in shown
    overlapping = """(() => {
        const plot = document.querySelector('#agreement .plot');
        const kinds = ['.role-axis-label text', '.role-legend-label text', '.role-mark.mark-text text'];
        const texts = [...plot.querySelectorAll(kinds.join())];
        const boxes = texts.map(text => text.getBoundingClientRect());
        return boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left < b.right - 1 && b.left < a.right - 1 &&
            a.top < b.bottom - 2 && b.top < a.bottom - 2)).length;
    })()"""
    assert opened.ask(overlapping) == 0 and opened.complaints == []


@pytest.mark.parametrize("kind, start", [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_a_figure_is_saved(visit, report, kind, start):
    opened = visit(report, "?all")
    with opened.page.expect_download() as waiting:
        opened.page.locator("#curves [data-save=" + kind + "]").first.click()
    saved = waiting.value
    assert saved.suggested_filename == f"curves.1-sort.{kind}"
    content = saved.path().read_bytes()
    assert content.startswith(start) and len(content) > 5000 and b"currentColor" not in content
    assert opened.complaints == []


def test_the_table_is_sorted_by_its_headings(visit, report):
    opened = visit(report, "?all")
    heading = opened.page.locator("[data-table=runs] thead button", has_text="reach")
    place = opened.ask(
        "[...document.querySelectorAll('[data-table=runs] th')].findIndex(h => h.textContent === 'reach')"
    )
    column = FIRST_CELLS.format(place + 1)

    def numbers():
        return [int(text.removeprefix("≥")) for text in opened.ask(column) if text]

    heading.focus()
    opened.page.keyboard.press("Enter")
    up = numbers()
    assert up == sorted(up) and len(up) == 17 and opened.ask(column)[-1] == ""  # the failed run comes last
    heading.click()
    assert numbers() == sorted(up, reverse=True) and opened.ask(column)[-1] == ""
    sort = "[...document.querySelectorAll('[data-table=runs] th')].map(h => h.getAttribute('aria-sort'))"
    assert opened.ask(sort)[place] == "descending" and set(opened.ask(sort)) == {"none", "descending"}


def test_the_table_is_searched(visit, report):
    opened = visit(report, "?all")
    opened.page.locator("[data-table=runs] input").fill("ROPE sort")
    opened.wait(f"{FIRST_CELLS.format(1)}.length === 3")
    assert opened.ask(FIRST_CELLS.format(1)) == ["sort"] * 3 and opened.ask(FIRST_CELLS.format(2)) == ["rope"] * 3
    assert "3 found" in opened.page.locator("[data-table=runs] .found").inner_text()
    opened.page.locator("[data-table=runs] input").fill("no such thing")
    opened.wait(f"{FIRST_CELLS.format(1)}.length === 0")


def test_claims_have_their_kind_as_a_label(visit, report):
    opened = visit(report, "?all")
    kinds = (
        "[...new Set([...document.querySelectorAll('[data-table=claims] tbody .kind')].map(k => k.textContent))].join()"
    )
    assert opened.ask(kinds) == "measured"
    assert opened.ask("document.querySelectorAll('[data-table=claims] tbody .caveat').length") > 0
    opened.page.locator("[data-table=claims] input").fill("predicted")
    opened.wait(f"{kinds}.includes('predicted')")


def luminance(colour: str) -> float:
    red, green, blue = (int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


INK = "getComputedStyle(document.querySelector('#curves .plot .role-axis-label text')).fill"
PAPER = "getComputedStyle(document.body).backgroundColor"


def test_light_and_dark_follow_the_reader(visit, report):
    opened = visit(report, "?all", color_scheme="light")
    assert luminance(opened.ask(INK)) < 0.2 and luminance(opened.ask(PAPER)) > 0.9
    opened.page.emulate_media(color_scheme="dark")
    assert luminance(opened.ask(INK)) > 0.8 and luminance(opened.ask(PAPER)) < 0.15


def test_paper_is_light_whole_and_without_controls(visit, report):
    opened = visit(report, "?all", color_scheme="dark", viewport={"width": 718, "height": 1000})
    opened.page.emulate_media(media="print")
    assert luminance(opened.ask(INK)) < 0.2
    hidden = ["nav", ".saving", ".filters", ".tools"]
    assert [opened.ask(f"getComputedStyle(document.querySelector('{name}')).display") for name in hidden] == [
        "none"
    ] * 4
    cut = "[...document.querySelectorAll('.plot svg')].filter(svg => " \
          "svg.getBoundingClientRect().right > innerWidth + 1).length"  # fmt: skip
    assert opened.ask(cut) == 0
    assert opened.ask("document.documentElement.scrollWidth - innerWidth") <= 0
    narrowest = "Math.min(...[6, 7, 8].map(place => document.querySelector("
    narrowest += "`[data-table=claims] th:nth-child(${place})`).getBoundingClientRect().width))"
    assert opened.ask(narrowest) > 718 / 11, "reasons and sources would be columns of single words"
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    assert opened.complaints == []


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_does_not_scroll_sideways(visit, rich_report, width):
    opened = visit(rich_report, "?all", viewport={"width": width, "height": 700}, has_touch=True)
    assert opened.ask("document.documentElement.scrollWidth") <= width
    outside = "[...document.querySelectorAll('.plot, .scroll, pre, .answer')].filter(box => " \
              "box.getBoundingClientRect().right > innerWidth + 1).length"  # fmt: skip
    assert opened.ask(outside) == 0
    assert opened.complaints == []


def test_a_turned_phone_draws_anew(visit, report):
    opened = visit(report, "?all", viewport={"width": 390, "height": 700})
    width = "document.querySelector('#curves svg').getBoundingClientRect().width"
    narrow = opened.ask(width)
    opened.page.set_viewport_size({"width": 700, "height": 390})
    opened.wait(f"{width} > {narrow} + 200")


def test_keys_reach_the_answer_and_everything_that_can_be_pressed(visit, report):
    opened = visit(report, "?all")
    opened.page.keyboard.press("Tab")
    assert opened.ask("document.activeElement.textContent") == "Skip to the answer"
    opened.page.keyboard.press("Enter")
    assert opened.ask("document.activeElement.id") == "answer"
    nameless = "[...document.querySelectorAll('button, a, input, [role=img], [role=region]')].filter(one => " \
               "!(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length)).length"  # fmt: skip
    assert opened.ask(nameless) == 0


def test_hostile_names_stay_text(visit, tmp_path, synthetic_study, hostile):
    study = {"question": hostile[1], **WITH_ALL}
    path = write_report(synthetic_study(tmp_path / "s", hostile, [*hostile[:3], hostile[-1]], seeds=2, study=study))
    opened = visit(path, "?all")
    assert opened.ask("window.hacked") is None
    assert opened.ask("document.querySelectorAll('img, iframe, object, embed').length") == 0
    assert opened.page.locator("h1").inner_text() == hostile[1]
    titles = opened.ask("[...document.querySelectorAll('#curves h3')].map(title => title.textContent)")
    assert titles == list(hostile)
    assert opened.ask(FIRST_CELLS.format(1))[0] == hostile[0]
    labels = opened.ask("[...document.querySelectorAll('#answer .role-axis-label text')].map(t => t.textContent)")
    assert hostile[0] in labels and any(label.startswith("</script><img src") for label in labels)  # the rest is cut
    opened.hover("#seeds .role-mark.mark-symbol path")
    assert hostile[0] in opened.page.locator("#vg-tooltip-element").inner_text()
    before = opened.ask(LINES)
    opened.page.locator("#curves .filter").first.click()
    opened.wait(f"{LINES} < {before}")
    with opened.page.expect_download():
        opened.page.locator("#curves [data-save=svg]").first.click()
    assert opened.ask("window.hacked") is None and opened.complaints == []


def test_the_browser_refuses_any_other_script(visit, report):
    opened = visit(report)
    opened.ask("""(() => {
        const script = document.createElement('script');
        script.textContent = 'window.ran = 1';
        const picture = document.createElement('div');
        picture.innerHTML = '<img src=x onerror="window.ran = 1">';
        document.body.append(script, picture);
    })()""")

    def refusals() -> bool:
        opened.page.wait_for_timeout(10)  # complaints are delivered meanwhile
        return sum("Content Security Policy" in text for text in opened.complaints) >= 2

    wait_until(refusals, "the refusal of both scripts")
    assert opened.ask("window.ran") is None


@pytest.mark.slow
def test_5000_runs_stay_usable(visit, large_report):
    opened = visit(large_report)
    opened.wait("document.querySelector('#answer .plot[data-drawn]') !== null")
    assert opened.ask("document.querySelectorAll('.plot').length") > 300
    assert opened.ask("document.querySelectorAll('.plot[data-drawn]').length") < 30  # the others wait to be seen
    assert opened.ask(FIRST_CELLS.format(1) + ".length") == 50
    opened.page.locator("#unfold").click()
    opened.page.locator("[data-table=runs] input").fill("task_99 encoding_9 done")
    opened.wait(f"{FIRST_CELLS.format(1)}.every(text => text === 'task_99')")
    opened.page.locator("[data-table=runs] thead button", has_text="reach").click()
    opened.page.locator("#curves .plot").nth(90).scroll_into_view_if_needed()
    opened.wait("document.querySelectorAll('#curves .plot')[90].dataset.drawn")
    assert opened.complaints == []


def test_nothing_done_yet_is_a_page_too(visit, tmp_path, synthetic_study):
    opened = visit(write_report(synthetic_study(tmp_path / "s", seeds=1, failed=12)), "?all")
    assert "All 12 runs failed" in opened.page.locator(".answer").inner_text()
    assert "failed" in opened.ask("document.querySelector('#answer .plot svg').textContent")
    assert opened.complaints == []
