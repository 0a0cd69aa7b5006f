"""The page of `dump --diff DIR --format=html`, which compares two recordings, in Chromium, and the
same comparison as a picture (--format=svg)."""

import json
import re
import shutil
import struct
from itertools import product
from pathlib import Path

import pytest

from programs import Variant, build, program
from test_page import axe, browser, button, devtools, driver_address, js, keep, needs_browser, search, started_browser, status, tab  # noqa: F401
from test_export import record_strange_names, strange_names  # noqa: F401
from tools import TOP, run, utrail, wait_until

try:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
except ImportError:
    pass

SOURCE = """
#include <unistd.h>
#define F __attribute__((noinline)) void
volatile int sink;
F leaf(void) { for (int i = 0; i < 100; i++) sink++; }
F work(int n) { for (int i = 0; i < n; i++) leaf(); }
F fib(int n) { if (n > 1) { fib(n - 1); fib(n - 2); } sink++; }
#ifdef NEW
F cache(void) { work(500); }
int main(void) { fib(6); work(50); cache(); work(90); usleep(2000); return 0; }
#else
F parse(void) { work(80); usleep(1000); }
F old(void) { parse(); sink++; }
int main(void) { fib(6); work(40); old(); usleep(100); return 0; }
#endif
"""


@pytest.fixture
def two():
    """Make the recordings before.data and after.data of a program and its changed version."""
    Path("v.c").write_text(SOURCE)
    for name, options in (("before", []), ("after", ["-DNEW"])):
        run("gcc", "-O1", "-pg", *options, "-o", name, "v.c").must()
        utrail("record", "-d", f"{name}.data", f"./{name}").must()


def dump_diff(*options, format="html", base="before.data", pair="after.data"):
    done = utrail("dump", "-d", base, "--diff", pair, f"--format={format}", *options, preempted=True).must()
    assert not done.err
    path = Path(f"diff.{format}")
    path.write_text(done.out)
    return path


def open_diff(browser, name, fragment="", *options, **sides):  # noqa: F811
    browser.get(dump_diff(*options, **sides).resolve().as_uri() + fragment)
    wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))
    keep(browser, name)


def expected(*options, base="before.data", pair="after.data"):
    """The values of `report --diff`, by function and column."""
    out = utrail("report", "-d", base, "--diff", pair, "--format=json", *options, preempted=True).must().out
    rows = {}
    for row in json.loads(out or "[]"):
        rows[row["name"]] = {
            f"{measure}-{part}": row[key][part]
            for (measure, key), part in product({"total": "total", "self": "self", "calls": "call"}.items(), ("base", "pair", "diff"))
        }
    return rows


def numbers(browser):  # noqa: F811
    rows = js(browser, "return views.functions.find()")
    return {
        row["name"]: {f"{m}-{p}": v for m in ("total", "self", "calls") for p, v in (
            ("base", row["base"][m]), ("pair", row["pair"][m]), ("diff", row["pair"][m] - row["base"][m]))}
        for row in rows
    }


def cells(browser):  # noqa: F811
    rows = js(browser, """return [...document.querySelectorAll("#functions-table tbody tr")].map(
        (row) => [...row.children].map((cell) => cell.innerText.trim()))""")
    return {row[0]: row[1:] for row in rows}


COLUMNS = [f"{m}-{p}" for m in ("total", "self", "calls") for p in ("base", "pair", "diff", "percent") if (m, p) != ("calls", "percent")]


def percent(row, measure):
    base, pair = row[f"{measure}-base"], row[f"{measure}-pair"]
    return (pair - base) * 100 / base if base and pair else 0


@needs_browser
class TestDifference:
    def test_numbers(self, browser, two):  # noqa: F811
        """The page's numbers are those of report --diff, for the whole recording and for ranges;
        the cells show them."""
        open_diff(browser, "difference-functions", "#view=functions")
        report = expected()
        assert numbers(browser) == report
        assert report["parse"]["calls-pair"] == 0 and report["cache"]["calls-base"] == 0
        shown = cells(browser)
        assert list(shown) == list(report)  # rows have the same order, too
        assert shown["parse"][8:] == ["1", "–", "-1"] and shown["parse"][3] == "gone" and shown["parse"][2].startswith("-")
        assert shown["cache"][8:] == ["–", "1", "+1"] and shown["cache"][3] == "new" and shown["cache"][2].startswith("+")
        assert shown["leaf"][8:] == ["120", "640", "+520"]
        assert shown["usleep"][3] == f"{percent(report['usleep'], 'total'):+.2f} %"
        for text in ("0ns~100us", "20us~500us", "1ms~", "~1.5ms"):
            js(browser, f"location.hash = '#view=functions&range={text}'")
            wait_until(lambda: text in js(browser, "return location.hash") and js(browser, "return app.state.range"))
            assert numbers(browser) == expected("-r", text), text

    @pytest.mark.parametrize("name", ["threads", "signal", "longjmp", "exceptions", "recursion"])
    def test_numbers_of_programs(self, browser, name):  # noqa: F811
        """Programs with several tasks, recursion, and calls that do not end by a return, compiled
        with -O0 and -O2."""
        for data, level in (("before.data", "O0"), ("after.data", "O2")):
            utrail("record", "-d", data, build(program(name), Variant("gcc", "pg", level)))
        open_diff(browser, f"difference-{name}", "#view=functions")
        assert numbers(browser) == expected()
        end = js(browser, "return Math.round((recording.last - recording.meta.zero) / 3)")
        js(browser, f"location.hash = '#view=functions&range={end}ns~{2 * end}ns'")
        wait_until(lambda: js(browser, "return app.state.range"))
        assert numbers(browser) == expected("-r", f"{end}ns~{2 * end}ns")

    def test_order(self, browser, two):  # noqa: F811
        """A click on a heading sorts by the column, a second click reverses the order. A column of
        changes has one order more, the first: by size, without regard to the sign."""
        open_diff(browser, "difference-order", "#view=functions")
        report = expected()
        for key in COLUMNS:
            measure, part = key.split("-")
            value = (lambda row: percent(row, measure)) if part == "percent" else (lambda row: row[key])
            is_change = part in ("diff", "percent")
            for order in ["other", "descending", "ascending"] if is_change else ["descending", "ascending"]:
                browser.find_element("css selector", f"[data-column={key}]").click()
                heading = browser.find_element("css selector", "#functions-table th[aria-sort]")
                assert heading.get_attribute("aria-sort") == order, key
                values = [value(report[name]) for name in cells(browser)]
                values = [abs(v) for v in values] if order == "other" else values
                assert values == sorted(values, reverse=order != "ascending"), (key, order)
        browser.find_element("css selector", "[data-column=name]").click()
        assert list(cells(browser)) == sorted(report)

    def test_row_leads_to_both_timelines(self, browser, two):  # noqa: F811
        open_diff(browser, "difference-row", "#view=functions")
        report = expected()
        for name in ("leaf", "parse"):
            row = next(r for r in browser.find_elements("css selector", "#functions-table tbody button") if r.text == name)
            row.click()
            assert browser.find_element("css selector", "[aria-selected=true]").text == "Timeline"
            was, now = (report[name][f"calls-{side}"] for side in ("base", "pair"))
            call = lambda n: f"{n} call{'s' if n != 1 else ''}"  # noqa: E731
            assert wait_until(lambda: "…" not in (said := status(browser)) and said) == f"base: {call(was)}; new: {call(now)}"
            selected = js(browser, "return app.apps.map((a) => a.selected && a.recording.names[a.selected[0].func(a.selected[1])])")
            assert selected == [name if was else None, name if now else None]
            footer = browser.find_element("id", "details").text
            assert ("Base:" in footer) == bool(was) and ("New:" in footer) == bool(now)
            keep(browser, f"difference-{name}")
            if name == "leaf":
                tab(browser, "Functions").click()
                assert len(cells(browser)) == len(report)
            else:
                browser.back()
                wait_until(lambda: js(browser, "return app.state.view") == "functions")

    def test_keys(self, browser, two):  # noqa: F811
        """n and N walk through the matches in the recording that was clicked last; keys for zoom
        and Escape act on both."""
        open_diff(browser, "difference-keys", "#view=timeline")
        search(browser, "leaf")
        scrollers = [browser.find_element("id", f"{name}-scroller") for name in ("timeline", "pair-timeline")]
        place = "return app.apps.map((a) => a.place)"
        scrollers[0].send_keys("n", "n")
        assert js(browser, place) == [2, 0]
        js(browser, "app.apps[1].go(1)")
        scrollers[0].send_keys("n", "n", "N")
        assert js(browser, place) == [2, 2]
        details = browser.find_element("id", "details").text
        assert "Base:" in details and "New:" in details
        scrollers[1].send_keys("+")
        zooms = js(browser, "return app.apps.map((a) => a.zoom)")
        assert zooms[0] == zooms[1]
        scrollers[1].send_keys("[")
        assert "range=" in browser.current_url
        # A range needs two places: this one would be 0 ns long.
        before = js(browser, "return app.state.range")
        scrollers[1].send_keys("]")
        assert js(browser, "return app.state.range") == before
        assert browser.find_element("id", "part").text == "The range would be 0 ns long: move on, then press the key."
        scrollers[1].send_keys("a", "a", "a", "]")
        assert "end before it begins" in browser.find_element("id", "part").text
        scrollers[1].send_keys("d", "d", "d", "d", "d", "d", "]")
        assert js(browser, "return app.state.range.to") > before["from"]
        assert browser.find_element("id", "part").text.startswith("Range: ")
        scrollers[1].send_keys(Keys.ESCAPE)
        assert js(browser, "return app.apps.map((a) => a.selected)") == [None, None]
        assert status(browser) == "" and js(browser, "return app.state.range") is None
        scrollers[1].send_keys("2")
        browser.find_element("css selector", "input[value=difference]").send_keys(Keys.ARROW_RIGHT)
        assert js(browser, "return app.state.shown") == "new"
        browser.find_element("css selector", "input[value=new]").send_keys("0", "3")
        assert js(browser, "return app.state.view") == "functions"
        tab(browser, "Timeline").click()
        button(browser, "Collapse all").click()
        assert js(browser, "views.draw(); return [...document.querySelectorAll('.heading .toggle')].map((t) => t.ariaExpanded)") == ["false"] * 2
        button(browser, "Expand all").click()

    def test_lost_records(self, browser, two):  # noqa: F811
        """When records of one recording are lost, the title of that recording says so."""
        (path,) = Path("after.data").glob("[0-9]*.dat")
        path.write_bytes(path.read_bytes()[:-64] + struct.pack("<QQ", 0, 2 | 5 << 3 | 20 << 16))
        open_diff(browser, "diff-lost")
        assert browser.find_element("id", "about").text.endswith(", 20 records of new lost")
        assert "20 records lost" in browser.find_element("id", "pair-timeline-title").get_property("textContent")
        assert "lost" not in browser.find_element("id", "timeline-title").get_property("textContent")

    def test_timelines_share_time(self, browser, two):  # noqa: F811
        """Both timelines have one scale and begin together. Wheel, drag, keys and ranges act on
        both. The address of the page has the range and the zoom."""
        open_diff(browser, "difference-timelines", "#view=timeline")
        titles = [t.text for t in browser.find_elements("css selector", "#timeline h2")]
        assert titles[0].startswith("Base: before.data (") and titles[1].startswith("New: after.data (")
        zeros, ends = js(browser, "return [app.apps.map((a) => a.recording.meta.zero), app.apps.map((a) => [a.recording.first, a.recording.last])]")
        assert zeros[0] == zeros[1] and ends[0] == ends[1]
        first = js(browser, "return app.apps.map((a) => Math.min(...a.recording.tasks.map((t) => t.start[0])))")
        assert first == zeros
        canvas = browser.find_element("id", "pair-timeline-canvas")
        drag = ActionChains(browser).move_to_element_with_offset(canvas, -200, 0).key_down(Keys.SHIFT).click_and_hold()
        drag.move_by_offset(300, 0).release().key_up(Keys.SHIFT).perform()
        text = re.search(r"range=([^&]*)", browser.current_url)[1]
        tab(browser, "Functions").click()
        assert numbers(browser) == expected("-r", text)
        tab(browser, "Timeline").click()
        button(browser, "Zoom to range").click()
        zooms = js(browser, "return app.apps.map((a) => a.zoom)")
        assert zooms[0] == zooms[1] == js(browser, "return app.state.range")
        wait_until(lambda: "zoom=" in browser.current_url)
        browser.refresh()
        wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))
        assert js(browser, "return app.apps.map((a) => a.zoom)") == zooms
        ActionChains(browser).move_to_element(canvas := browser.find_element("id", "pair-timeline-canvas")).click().perform()
        assert canvas.is_displayed()
        browser.find_element("id", "reset").click()
        assert js(browser, "return app.state.zoom") is None

    def test_flame_graph(self, browser, two):  # noqa: F811
        """The widths of boxes are those of the new recording, and their colours show the change.
        The page lists the functions that only one recording has. A click on such a function shows
        this recording alone, and so does a radio button."""
        open_diff(browser, "difference")
        assert browser.find_element("css selector", "[aria-selected=true]").text == "Flame graph"
        boxes = """views.draw(); return views.flame.boxes.filter((b) => b.node.func >= 0).map((b) =>
            [views.flame.name(b.node), b.wide, views.flame.fill(b.node), b.node.base.total, b.node.pair.total])"""
        shown = js(browser, boxes)
        names = [name for name, *_ in shown]
        assert "cache" in names and "old" not in names
        total = js(browser, "return views.flame.tree.pair.total")
        width = browser.find_element("id", "flame-canvas").size["width"]
        for name, wide, fill, base, pair in shown:
            assert abs(wide - width * pair / total) < 1, name
            assert ("hsl(4" in fill) == (pair - base > 0.01 * max(base, pair)), name
            assert ("hsl(212" in fill) == (base - pair > 0.01 * max(base, pair)), name
        main = next(box for box in shown if box[0] == "main")
        assert (main[3], main[4]) == (expected()["main"]["total-base"], expected()["main"]["total-pair"])
        only = browser.find_element("id", "flame-only")
        assert re.search(r"Only in base: ?\n?old", only.text) and re.search(r"Only in new: ?\n?cache", only.text)
        next(b for b in only.find_elements("tag name", "button") if b.text.startswith("old")).click()
        assert "of=base" in browser.current_url
        assert browser.find_element("css selector", "input[name=shown]:checked").get_attribute("value") == "base"
        assert {"old", "parse"} <= {name for name, *_ in js(browser, boxes)}
        assert js(browser, "return views.flame.name(views.flame.root)") == "old"
        assert "new: not called here" in browser.find_element("id", "flame-chosen").text
        keep(browser, "difference-base")
        browser.back()
        wait_until(lambda: js(browser, "return app.state.shown") == "difference")
        browser.find_element("css selector", "input[value=new]").click()
        assert "of=new" in js(browser, "app.change({}, 'push'); return location.hash")
        fills = dict(js(browser, "return app.apps[1].recording.names.map((name, k) => [name, app.apps[1].recording.fills[k]])"))
        assert all(fill == fills[name] for name, _, fill, *_ in js(browser, boxes))
        assert search(browser, "parse") == "base: 1 call; new: 0 calls"

    @pytest.mark.parametrize("choice, names", [("old", {"old"}), ("cache", {"cache"}), ("main", {"main"})])
    def test_one_has_nothing(self, browser, two, choice, names):  # noqa: F811
        """Filters may leave one of the recordings without calls."""
        open_diff(browser, f"difference-only-{choice}", "#view=functions", "-F", choice, "-D", "1", "--no-event")
        assert set(cells(browser)) == names
        for view in ("Flame graph", "Timeline"):
            tab(browser, view).click()
            keep(browser, f"difference-only-{choice}-{view.split()[0]}")

    def test_other_programs(self, browser, two):  # noqa: F811
        """Two recordings have only main() in common: all other functions are gone, or new."""
        Path("w.c").write_text("void other(void) { } int main2(void) { other(); return 0; } int main(void) { return main2(); }")
        run("gcc", "-O0", "-pg", "-o", "w", "w.c").must()
        utrail("record", "--no-libcall", "--no-event", "-d", "other.data", "./w").must()
        open_diff(browser, "difference-programs", "#view=functions", pair="other.data")
        assert numbers(browser) == expected(pair="other.data")
        words = {name: row[3] for name, row in cells(browser).items()}
        assert words.pop("main").endswith("%")
        assert {name for name, word in words.items() if word == "new"} == {"main2", "other"}
        assert set(words.values()) == {"new", "gone"}

    def test_strange_names(self, browser, strange_names):  # noqa: F811
        """Names of the recording and its directory are shown as text. Functions are matched,
        whatever their names are."""
        hostile = "<img src=x onerror=alert(1)>\"'&\u202e.data"
        shutil.copytree(strange_names, hostile)
        open_diff(browser, "difference-names", "#view=functions", base=strange_names, pair=hostile)
        report = expected(base=strange_names, pair=hostile)
        # Each output escapes names in its own way.
        values = lambda rows: sorted(tuple(row.values()) for row in rows.values())  # noqa: E731
        assert values(numbers(browser)) == values(report) and len(report) > 5
        assert all(row["total-diff"] == row["calls-diff"] == 0 for row in report.values())
        for button_ in browser.find_elements("css selector", "#functions-table tbody button")[:3]:
            name = button_.get_attribute("textContent")
            js(browser, "arguments[0].click()", button_)
            selected = js(browser, "return app.apps.map((a) => a.selected && a.recording.names[a.selected[0].func(a.selected[1])])")
            assert selected == [name, name]
            browser.back()
            wait_until(lambda: js(browser, "return app.state.view") == "functions")
        assert not browser.find_elements("css selector", "img")

    def test_million_calls(self, browser):  # noqa: F811
        run("gcc", "-O2", "-pg", "-pthread", "-o", "tree", TOP / "tests/bench/src/tree.c").must()
        for name in ("before.data", "after.data"):
            utrail("record", "--no-libcall", "--no-event", "-d", name, "./tree", 4, 1000000).must()
        page = dump_diff()
        print(f"two million calls: {page.stat().st_size} bytes")
        assert page.stat().st_size < 5e6 or "zlib" not in utrail("--version").out.split()
        open_diff(browser, "difference-million", "#view=functions")
        paint = js(browser, "return performance.getEntriesByName('first-contentful-paint').map((e) => e.startTime)")
        print(f"first paint after {paint} ms")
        assert numbers(browser) == expected()

    def test_print(self, browser, two):  # noqa: F811
        open_diff(browser, "difference-print", "#view=functions")
        devtools(browser, "Emulation.setEmulatedMedia", {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        for view in ("functions", "timeline", "flame"):
            js(browser, f"location.hash = '#view={view}'; dispatchEvent(new Event('beforeprint'))")
            keep(browser, f"difference-print-{view}")
            assert not browser.find_element("id", "search").is_displayed()
            assert js(browser, "return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            if view == "timeline":  # both pictures are whole, one below the other
                boxes = [box.rect for box in browser.find_elements("css selector", ".of-one")]
                assert boxes[0]["y"] + boxes[0]["height"] < boxes[1]["y"] + 1
                canvases = browser.find_elements("css selector", "#timeline .scroller canvas")
                assert [c.rect["height"] for c in canvases] == js(browser, "return views.timelines.map((t) => t.strips[t.strips.length - 1].bottom)")
            js(browser, "dispatchEvent(new Event('afterprint'))")
        devtools(browser, "Emulation.setEmulatedMedia", {"media": "", "features": []})

    @pytest.mark.parametrize("width", [1280, 360])
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_accessible(self, browser, axe, two, scheme, width):  # noqa: F811
        devtools(browser, "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        devtools(browser, "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        open_diff(browser, f"difference-{scheme}-{width}")
        for way in ("view=flame", "view=flame&of=base&search=parse", "view=functions", "view=functions&function=leaf&range=1us~1ms",
                    "view=timeline", "view=timeline&search=leaf"):
            js(browser, "location.hash = arguments[0]", way)
            view = way.split("&")[0].split("=")[1]
            wait_until(lambda: browser.find_element("id", view).is_displayed())
            if "search=leaf" in way:
                js(browser, "for (const one of app.apps) one.go(1)")
            keep(browser, f"difference-{scheme}-{width}-{re.sub('[^a-z]+', '-', way)}")
            js(browser, axe)
            found = browser.execute_async_script("axe.run().then(({ violations }) => arguments[0](violations))")
            assert not [(v["id"], v["help"], [n["html"] for n in v["nodes"]]) for v in found], way
            assert js(browser, "return document.documentElement.scrollWidth") <= width, way
        devtools(browser, "Emulation.clearDeviceMetricsOverride", {})
        devtools(browser, "Emulation.setEmulatedMedia", {"features": []})


def test_picture(two):
    """`dump --diff --format=svg` gives the same picture as graph."""
    graph = utrail("graph", "-d", "before.data", "--diff", "after.data", "--format=svg", preempted=True).must().out
    assert dump_diff(format="svg").read_text() == graph


def fails(*options, base="before.data"):
    done = utrail("dump", "-d", base, *options, preempted=True)
    assert done.status not in (0, None) and not done.out, (done.status, done.out[:200])
    return done.err.strip()


def test_errors(two):
    says = "utrail: --diff is for --format=html and --format=svg, not for"
    assert fails("--diff", "after.data", "--format=chrome") == f"{says} chrome"
    # The peer accepts this option, and ignores it.
    raw = utrail("dump", "-d", "before.data", "--diff", "after.data", preempted=True).must()
    assert raw.out == utrail("dump", "-d", "before.data", preempted=True).out
    assert "option '--diff' means nothing for dump without --format" in raw.err
    assert "dump compares with one recording only" in fails("--diff", "after.data", "--diff", "after.data", "--format=html")
    Path("link").symlink_to("before.data")
    for same in ("before.data", "./before.data", "link"):
        assert "--diff compares two recordings" in fails("--diff", same, "--format=html")
    assert "cannot open 'nothing.data': No such file" in fails("--diff", "nothing.data", "--format=html")
    Path("empty.data").mkdir()
    assert "empty.data" in fails("--diff", "empty.data", "--format=svg")
    assert "empty.data" in fails("--diff", "after.data", "--format=html", base="empty.data")


def test_damaged(two):
    """A damaged recording gives a complete page with its readable part."""
    records = max(Path("after.data").glob("[0-9]*.dat"), key=lambda path: path.stat().st_size)
    data = bytearray(records.read_bytes())
    data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    records.write_bytes(data)
    done = utrail("dump", "-d", "before.data", "--diff", "after.data", "--format=html", preempted=True)
    assert done.status == 1 and "the part before that is shown" in done.err
    assert done.out.endswith("</html>\n") and done.out.count('id="pair-meta"') == 1
