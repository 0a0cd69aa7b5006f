"""Events on the page of `dump --format=html`: marks, their texts, the choice of kinds. And the page
on a touch screen."""

import re
from pathlib import Path

from programs import build, program
from test_page import ActionChains, Keys, VARIANT, axe, browser, button, devtools, driver_address, js, keep  # noqa: F401
from test_page import needs_browser, open_page, place_of, search, seen, started_browser, status, tab, wait_until  # noqa: F401
from tools import run, utrail


def record():
    Path("fib.c").write_text(
        "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nint main(void) { return fib(4) - 3; }\n"
    )
    run("gcc", "-pg", "-O0", "-o", "fib", "fib.c").must()
    utrail("record", "--no-event", "-T", "fib@read=proc/statm;main@read=proc/statm", "-d", "data", "./fib").must()


KINDS = """return [...document.querySelectorAll("#kinds label")].map((label) =>
    [label.querySelector("span").innerText, label.querySelector("i").innerText, label.querySelector("input").checked])"""

# The event that the page finds at the place of the mark's time.
FOUND = """const task = recording.tasks[0], { from, to } = app.zoom, { timeline } = views;
    const x = (task.pointTime[arguments[0]] - from) / (to - from) * timeline.canvas.clientWidth;
    return timeline.find({ x, y: timeline.strips[0].top - timeline.scroller.scrollTop + 12 }).point ?? -1"""


def details(browser):  # noqa: F811
    return browser.find_element("id", "details").text


@needs_browser
class TestKinds:
    def test_kinds(self, browser):  # noqa: F811
        """Each kind has a check box and a count. The address of the page keeps the boxes that were
        cleared."""
        record()
        open_page(browser, "data", "kinds")
        button(browser, "Events").click()
        assert js(browser, KINDS) == [["read:proc/statm", "10 events", True], ["diff:proc/statm", "10 events", True]]
        keep(browser, "kinds")
        # Marks are below the text of the heading.
        high = "return document.querySelector('.marked b').getBoundingClientRect().bottom - views.timeline.canvas.getBoundingClientRect().top"
        assert js(browser, high) <= 16
        kinds = js(browser, "return [...recording.tasks[0].pointKind]")
        assert kinds.count(0) == kinds.count(1) == 10
        assert js(browser, FOUND, 0) == 0
        # The menu fits into the window of a telephone, too.
        button(browser, "Events").click()
        devtools(browser, "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 640, "deviceScaleFactor": 1, "mobile": False})
        button(browser, "Events").click()
        left, right = js(browser, "const { left, right } = document.getElementById('kinds').getBoundingClientRect(); return [left, right]")
        devtools(browser, "Emulation.clearDeviceMetricsOverride", {})
        assert 0 <= left and right <= 360
        browser.find_element("css selector", "#kinds label").click()
        wait_until(lambda: button(browser, "Events (1 hidden)"))
        assert "without=read%3Aproc/statm" in browser.current_url or "without=read:proc/statm" in browser.current_url
        # With the kind hidden, the nearest event is of the other kind.
        at = js(browser, FOUND, 0)
        assert at < 0 or kinds[at] == 1
        browser.refresh()
        wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))
        button(browser, "Events (1 hidden)").click()
        assert [row[2] for row in js(browser, KINDS)] == [False, True]
        button(browser, "No events").click()
        assert all(js(browser, FOUND, at) == -1 for at in range(20))
        button(browser, "All kinds").click()
        assert [row[2] for row in js(browser, KINDS)] == [True, True]
        browser.back()
        browser.back()
        wait_until(lambda: [row[2] for row in js(browser, KINDS)] == [False, True])

    def test_search_counts_what_is_shown(self, browser):  # noqa: F811
        record()
        open_page(browser, "data", "kinds-search")
        assert search(browser, "proc/statm") == "0 calls, 20 events"
        wait_until(lambda: "search=" in browser.current_url)
        js(browser, "location.hash = location.hash + '&without=diff:proc/statm'")
        wait_until(lambda: status(browser) == "0 calls, 10 events")

    def test_keyboard(self, browser):  # noqa: F811
        record()
        open_page(browser, "data", "kinds-keys")
        browser.find_element("id", "timeline-scroller").send_keys("e")
        chosen = browser.switch_to.active_element
        assert chosen.get_attribute("data-kind") == "read:proc/statm"
        chosen.send_keys(Keys.ARROW_DOWN)
        browser.switch_to.active_element.send_keys(Keys.SPACE)
        wait_until(lambda: [row[2] for row in js(browser, KINDS)] == [True, False])
        browser.switch_to.active_element.send_keys(Keys.ESCAPE)
        assert not browser.find_element("id", "kinds").is_displayed()
        assert browser.switch_to.active_element.text == "Events (1 hidden)"

    def test_is_accessible(self, browser, axe):  # noqa: F811
        record()
        for scheme in ("light", "dark"):
            devtools(browser, "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            browser.get("about:blank")
            open_page(browser, "data", f"kinds-{scheme}")
            button(browser, "Events").click()
            js(browser, axe)
            found = browser.execute_async_script("axe.run().then(({ violations }) => arguments[0](violations))")
            assert not [(v["id"], [n["html"] for n in v["nodes"]]) for v in found]

    def test_an_event_is_told_of(self, browser):  # noqa: F811
        """A click on an event's mark shows its values below, and the arrows go to the next
        event."""
        record()
        open_page(browser, "data", "event")
        x = js(browser, "const { from, to } = app.zoom; return (recording.tasks[0].pointTime.at(-1) - from) / (to - from)"
                        " * views.timeline.canvas.clientWidth")
        timeline, down = place_of(browser, 0)
        mark = ActionChains(browser).move_to_element_with_offset(timeline, round(x) - 3 - timeline.size["width"] // 2, down - 12)
        mark.perform()
        tip = browser.find_element("id", "tip").text
        assert re.match(r"diff:proc/statm \(vmsize=\S+ vmrss=\S+ shared=\S+\)\nat ", tip)
        mark.click().perform()
        assert details(browser).startswith(tip.split("\n")[0]) and re.search(r"\nwithin (main|fib)\n", details(browser))
        keep(browser, "event")
        button(browser, "Next event").click()
        assert js(browser, "return app.event.at") == js(browser, "return recording.tasks[0].pointKind.indexOf(1)")
        button(browser, "Previous event").click()
        assert details(browser).startswith(tip.split("\n")[0])
        button(browser, "Call").click()
        assert details(browser).startswith("main")
        # The key n goes to the next event that was found.
        search(browser, "read:proc")
        for at in range(2):
            browser.find_element("id", "search").send_keys(Keys.ENTER)
            assert details(browser).startswith("read:proc/statm (")
            found = js(browser, "return [...recording.tasks[0].pointKind].map((kind, at) => kind ? -1 : at).filter((at) => at >= 0)")
            assert js(browser, "return app.event.at") == found[at]


def touch(browser, *steps):  # noqa: F811
    """Touch the screen with several fingers: each step is a list of their places."""
    kind = "touchStart"
    for points in [*steps, []]:
        devtools(
            browser,
            "Input.dispatchTouchEvent",
            {"type": kind if points else "touchEnd", "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]},
        )
        kind = "touchMove"


@needs_browser
class TestTouch:
    def open(self, browser):  # noqa: F811
        utrail("record", "--no-libcall", "-d", "data", build(program("threads"), VARIANT))
        devtools(browser, "Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
        devtools(browser, "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 2, "mobile": True})
        open_page(browser, "data", "touch")
        assert js(browser, "return visualViewport.scale") == 1
        return js(browser, "const { x, y, width } = views.timeline.canvas.getBoundingClientRect(); return [x, y, width]")

    def close(self, browser):  # noqa: F811
        assert js(browser, "return visualViewport.scale") == 1
        devtools(browser, "Emulation.setTouchEmulationEnabled", {"enabled": False})
        devtools(browser, "Emulation.clearDeviceMetricsOverride", {})

    def test_pinch(self, browser):  # noqa: F811
        """Pinching keeps the part between the fingers in place; the page itself does not zoom."""
        x, y, width = self.open(browser)
        whole, y = seen(browser), y + 40
        time = "return app.zoom.from + (app.zoom.to - app.zoom.from) / 2"
        middle, before = x + width / 2, js(browser, time)
        touch(browser, *([(middle - d, y), (middle + d, y)] for d in (20, 40, 60, 80, 100)))
        assert abs(seen(browser) - whole / 5) < whole / 20
        assert abs(js(browser, time) - before) < whole / 20
        touch(browser, *([(middle - d, y), (middle + d, y)] for d in (100, 60, 20)))
        assert abs(seen(browser) - whole) < whole / 10
        self.close(browser)

    def test_heading(self, browser):  # noqa: F811
        """On the name of a task, too, fingers drag and pinch; a tap collapses the task."""
        x, y, width = self.open(browser)
        heading = js(browser, "return document.querySelector('.heading .toggle').getBoundingClientRect().right")
        folded = "return views.timeline.strips[0].isFolded"
        touch(browser, [(x + 40, y + 10)])
        wait_until(lambda: js(browser, "views.draw();" + folded))
        js(browser, "views.timeline.toggleAll(true); views.draw()")
        whole, other = seen(browser), min(heading + 150, x + width - 10)
        touch(browser, *([(x + 30, y + 10), (other - d, y + 10)] for d in (100, 80, 60, 40, 20, 0)))
        part = seen(browser)
        assert part < whole * 0.8 and not js(browser, folded)
        before = js(browser, "return app.zoom.from")
        touch(browser, *([(x + 80 - d, y + 10)] for d in range(0, 61, 10)))
        assert js(browser, "return app.zoom.from") > before and not js(browser, folded)
        self.close(browser)

    def test_drag(self, browser):  # noqa: F811
        x, y, width = self.open(browser)
        js(browser, "app.zoomBy(0.25)")
        part, before = seen(browser), js(browser, "return app.zoom.from")
        touch(browser, *([(x + 200 - d, y + 60)] for d in range(0, 101, 10)))
        moved = js(browser, "return app.zoom.from") - before
        assert abs(moved - part * 100 / width) < part / 20
        assert seen(browser) == part
        # A vertical drag scrolls the list, and the time stays.
        before = js(browser, "return app.zoom.from")
        touch(browser, *([(x + 200, y + 300 - d)] for d in range(0, 201, 10)))
        assert abs(js(browser, "return app.zoom.from") - before) < part / 20
        self.close(browser)

    def test_vertical_drag_scrolls(self, browser):  # noqa: F811
        x, y, width = self.open(browser)
        js(browser, "views.timeline.scroller.style.flex = 'none'; views.timeline.scroller.style.height = '90px'; views.draw()")
        touch(browser, *([(x + 200, y + 80 - d)] for d in range(0, 61, 5)))
        wait_until(lambda: js(browser, "return views.timeline.scroller.scrollTop") > 10)
        self.close(browser)

    def test_tap(self, browser):  # noqa: F811
        x, y, width = self.open(browser)
        touch(browser, [(x + width / 2, y + 24 + 8)])
        wait_until(lambda: "took" in details(browser))
        assert details(browser).startswith("main")
        # A tap zooms to a box of the flame graph, and opens a row of the table.
        tab(browser, "Flame graph").click()
        box = js(browser, "views.draw(); const b = views.flame.boxes[2], r = views.flame.canvas.getBoundingClientRect();"
                          "return [r.x + b.x + b.wide / 2, r.y + b.y + 9, views.flame.name(b.node)]")
        touch(browser, [tuple(box[:2])])
        wait_until(lambda: browser.find_element("id", "flame-chosen").text.startswith(box[2]))
        tab(browser, "Functions").click()
        place = js(browser, "views.draw(); const r = document.querySelector('#functions-table tbody button').getBoundingClientRect();"
                            "return [r.x + 5, r.y + 5]")
        touch(browser, [tuple(place)])
        wait_until(lambda: "function=" in browser.current_url)
        self.close(browser)
