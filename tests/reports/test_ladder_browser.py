"""The page of a study with ladders in a browser: the first screen, the menus and the trace explorer."""

from __future__ import annotations

SHOWN = "[...document.querySelectorAll('#risk-panels .slot:not([hidden])')].map(slot => slot.dataset.group)"
EXPLORER = "#traces [data-widget=traces]"


def test_the_first_screen_holds_the_answer_and_the_picture(visit, ladder_report):
    opened = visit(ladder_report)
    opened.wait("[...document.querySelectorAll('#risk-panels .slot:not([hidden]) .plot')].every(p => p.dataset.drawn)")
    ends = opened.ask("['h1', '.answer', '#risk-panels svg'].map(name => "
                      "document.querySelector(name).getBoundingClientRect().bottom)")  # fmt: skip
    assert ends == sorted(ends) and ends[-1] <= 800, ends
    lines = opened.ask("[...document.querySelectorAll('#risk-panels .slot:not([hidden]) svg')]"
                       ".map(svg => svg.querySelectorAll('.mark-line path').length)")  # fmt: skip
    assert lines == [18] * 3
    assert opened.complaints == []


def test_the_metric_is_switched_by_keyboard(visit, ladder_report):
    opened = visit(ladder_report)
    assert opened.ask(SHOWN) == ["features"] * 3
    opened.page.locator("#answer fieldset input:checked").focus()
    opened.page.keyboard.press("ArrowRight")
    assert opened.ask(SHOWN) == ["contour"] * 3
    wide = "document.querySelector('#risk-panels .slot:not([hidden]) svg')?.getBoundingClientRect().width"
    opened.wait(f"{wide} > 300")  # drawn while hidden, then fitted to its room
    titles = "[...document.querySelectorAll('#risk-panels .slot:not([hidden]) .role-axis-title text')]" \
             ".map(text => text.textContent).join()"  # fmt: skip
    assert "open moves" in opened.ask(titles) and opened.complaints == []


def test_hovering_names_the_configuration_and_lifts_its_line(visit, ladder_report):
    opened = visit(ladder_report)
    opened.wait("document.querySelector('#risk-panels .plot').dataset.drawn")
    opened.hover("#risk-panels svg .mark-symbol.role-mark path")
    told = opened.page.locator("#vg-tooltip-element").inner_text()
    assert "width " in told and "Spearman" in told
    lifted = "[...document.querySelectorAll('#risk-panels svg')[0].querySelectorAll('.mark-line path')]" \
             ".filter(path => path.getAttribute('stroke-width') === '3.5').length"  # fmt: skip
    opened.wait(f"{lifted} === 1")
    assert opened.complaints == []


def test_the_bound_follows_its_menus(visit, ladder_report):
    opened = visit(ladder_report, "?all")
    opened.page.locator("#bound .plot").scroll_into_view_if_needed()
    opened.wait("document.querySelector('#bound .plot').dataset.drawn")
    numbers = "[...document.querySelectorAll('#bound .mark-text text')].map(text => text.textContent).join()"
    before = opened.ask(numbers)
    opened.page.locator("#bound select[data-sets=which]").select_option("certified")
    opened.wait(f"{numbers} !== {before!r}")
    certified = opened.ask(numbers)
    opened.page.locator("#bound select[data-sets=model]").select_option(index=5)
    opened.wait(f"{numbers} !== {certified!r} && {numbers}.length > 10")
    assert opened.complaints == []


def test_the_explorer_shows_where_a_model_goes_wrong(visit, ladder_report):
    opened = visit(ladder_report, "?all")
    opened.wait(f"document.querySelector('{EXPLORER}').dataset.ready === 'true'")
    box = opened.page.locator(EXPLORER)
    assert "first goes wrong" in box.locator(".said").inner_text()
    assert box.locator("svg .node.wrong").count() == 1 and box.locator("dd .wrong").count() == 2
    assert box.locator("svg .node.path").count() > 2
    for name, value in (("task", "tree_maze"), ("model", "rope, 3 layers, width 32"), ("level", "training")):
        box.locator(f"select[data-menu={name}]").select_option(value)
    box.locator("select[data-menu=item]").select_option(label="2: right")
    assert "rightly, token for token" in box.locator(".said").inner_text()
    assert box.locator(".wrong").count() == 0 and box.locator("svg .later").count() == 0
    assert opened.complaints == []


def test_the_search_is_stepped_through_by_keyboard(visit, ladder_report):
    opened = visit(ladder_report, "?all")
    box = opened.page.locator(EXPLORER)
    slider = box.locator("input[type=range]")
    slider.focus()
    opened.page.keyboard.press("Home")
    nodes = box.locator("svg .node").count()
    assert box.locator("svg .node.later").count() == nodes - 2  # the root and the first node are there
    assert box.locator("output").inner_text().startswith("1 of ")
    opened.page.keyboard.press("End")
    assert box.locator("svg .node.later").count() == 0
    assert box.locator(".event.now").count() == 1 and box.locator("svg .node.now").count() == 1


def test_labels_of_the_tree_do_not_overlap(visit, ladder_report):
    opened = visit(ladder_report, "?all")
    overlapping = """(() => {
        const boxes = [...document.querySelectorAll('#traces svg rect')].map(rect => rect.getBoundingClientRect());
        return boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left < b.right && b.left < a.right &&
            a.top < b.bottom && b.top < a.bottom)).length;
    })()"""
    inside = """[...document.querySelectorAll('#traces svg .node')].every(node => {
        const rect = node.querySelector('rect').getBoundingClientRect();
        const text = node.querySelector('text').getBoundingClientRect();
        return rect.left <= text.left && text.right <= rect.right;
    })"""
    for task in ("subset_sum", "countdown", "tree_maze"):
        opened.page.locator(f"{EXPLORER} select[data-menu=task]").select_option(task)
        levels = opened.ask("[...document.querySelector('[data-menu=level]').options].map(o => o.value)")
        assert len(levels) == 4
        for level in levels:
            opened.page.locator(f"{EXPLORER} select[data-menu=level]").select_option(level)
            assert opened.ask(overlapping) == 0 and opened.ask(inside), (task, level)


def test_a_phone_does_not_scroll_sideways(visit, ladder_report):
    opened = visit(ladder_report, "?all", viewport={"width": 390, "height": 700}, has_touch=True, color_scheme="dark")
    assert opened.ask("document.documentElement.scrollWidth") <= 390
    outside = "[...document.querySelectorAll('.plot, .scroll, .answer, select, .drawing')].filter(box => " \
              "box.getBoundingClientRect().right > innerWidth + 1).length"  # fmt: skip
    assert opened.ask(outside) == 0 and opened.complaints == []


def test_without_scripts_an_example_is_told_in_words(browser, ladder_report):
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(ladder_report.as_uri())
    opened.locator("#traces summary").first.click()  # a fold opens without scripts
    text = opened.locator("#traces").inner_text()
    context.close()
    assert "switched off here" in text and "first goes wrong at token" in text
