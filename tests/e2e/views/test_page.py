"""The page of `dump --format=html` in a real browser (headless Chromium), and the picture of `--format=svg`.

Screenshots are kept in $UTRAIL_SCREENSHOTS when it is set.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from programs import CACHE, Variant, build, program
from test_export import calls, dump, mixed, record_strange_names, strange_names  # noqa: F401  (fixtures)
from tools import TOP, run, utrail, wait_until

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.remote.file_detector import UselessFileDetector
except ImportError:
    webdriver = None

VARIANT = Variant("gcc", "pg", "O2")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (webdriver and CHROMIUM and DRIVER),
    reason="no browser (apt-get install chromium chromium-driver python3-selenium)",
)

ARGUMENTS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync --remote-debugging-pipe --window-size=1400,900"""


@pytest.fixture(scope="module")
def driver_address():
    """The test starts the driver itself: a bare system has no address for "localhost", where
    selenium looks for its own. The pipe is for reading the port."""
    driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, text=True, cwd="/")
    started = (re.search(r"started successfully on port (\d+)", line) for line in driver.stdout)
    port = next((match[1] for match in started if match), None)
    assert port, f"{DRIVER} did not start, status {driver.wait(timeout=10)}"
    yield f"http://127.0.0.1:{port}"
    driver.terminate()
    driver.communicate(timeout=30)


@pytest.fixture(scope="module")
def started_browser(tmp_path_factory, driver_address):
    """One browser for all tests: starting it takes longer than most of them."""
    options = Options()
    options.binary_location = CHROMIUM
    for argument in ARGUMENTS.split():
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Remote(driver_address, options=options)
    # Typed text must not be taken for the name of a file.
    driver.file_detector = UselessFileDetector()
    yield driver
    driver.quit()


@pytest.fixture
def browser(started_browser):
    """A new tab for each test. The test fails if the browser's log has a complaint."""
    first, size = started_browser.current_window_handle, started_browser.get_window_size()
    started_browser.switch_to.new_window("tab")
    yield started_browser
    log = started_browser.get_log("browser")
    started_browser.close()
    started_browser.switch_to.window(first)
    started_browser.set_window_size(size["width"], size["height"])
    assert not log


def open_page(browser, directory, name, fragment=""):
    browser.get(dump("html", directory).resolve().as_uri() + fragment)
    wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))
    keep(browser, name)


def keep(browser, name):
    """Save a screenshot, and check that something is drawn on it."""
    path = Path(os.environ.get("UTRAIL_SCREENSHOTS", ".")) / f"{name}.png"
    browser.save_screenshot(str(path))
    assert path.stat().st_size > 8000


def js(browser, code, *arguments):
    """Run JavaScript that may use the page's objects app, recording and views."""
    return browser.execute_script("const { app, recording, views } = window.utrail || {};" + code, *arguments)


def devtools(browser, command, parameters):
    """Run a command of the browser for which WebDriver has none."""
    browser.command_executor._commands["devtools"] = ("POST", "/session/$sessionId/goog/cdp/execute")
    return browser.execute("devtools", {"cmd": command, "params": parameters})["value"]


def tab(browser, name):
    return next(t for t in browser.find_elements("css selector", "[role=tab]") if t.text == name)


def button(browser, name):
    return next(b for b in browser.find_elements("tag name", "button") if b.is_displayed() and b.text == name)


def search(browser, text):
    """Type into the search field. Returns the message after the whole recording was searched."""
    (field,) = browser.find_elements("css selector", "input[type=search]")
    field.clear()
    field.send_keys(text)
    return wait_until(lambda: "…" not in (said := status(browser)) and said)


def status(browser):
    (found,) = browser.find_elements("css selector", "[role=status]")
    return found.text


ROWS = """return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(
    (row) => [...row.children].map((cell) => cell.innerText.trim()))"""


def table(browser, selector="#functions-table"):
    return js(browser, ROWS, selector)


def counted(browser):
    """By function: calls, from the table."""
    if "Functions" not in browser.find_element("css selector", "[aria-selected=true]").text:
        tab(browser, "Functions").click()
    rows = wait_until(lambda: table(browser))
    return {row[0]: int(row[3].replace(",", "")) for row in rows}


def sums(browser):
    """By function: calls, total and self time in ns, for the visible part of time."""
    rows = js(browser, "return views.functions.find()")
    return {row["name"]: (row["calls"], row["total"], row["self"]) for row in rows}


def reported(directory, *options):
    rows = json.loads(utrail("report", "-d", directory, "--format=json", *options, preempted=True).must().out or "[]")
    return {row["name"]: (row["call"], row["total"], row["self"]) for row in rows}


def seen(browser):
    zoom = js(browser, "return app.zoom")
    return zoom["to"] - zoom["from"]


def place_of(browser, task, depth=0):
    """The place of a row of the timeline, relative to the middle of the canvas."""
    timeline = browser.find_element("id", "timeline-canvas")
    top = js(browser, "return views.timeline.strips.find((s) => s.tasks.includes(recording.tasks[arguments[0]])).top", task)
    return timeline, top + 24 + 18 * depth + 8 - timeline.size["height"] // 2


@needs_browser
class TestPage:
    def test_small_program(self, browser):
        utrail("record", "-d", "data", build(program("recursion"), VARIANT))
        open_page(browser, "data", "page-small")
        assert counted(browser) == calls("data")
        assert browser.title == "recursion – utrail"

    def test_roles_and_names(self, browser):
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-roles")
        tabs = browser.find_elements("css selector", "[role=tab]")
        assert [t.text for t in tabs if t.is_displayed()] == ["Timeline", "Flame graph", "Functions"]
        for name in ("Flame graph", "Functions", "Timeline"):
            tab(browser, name).click()
            chosen = browser.find_element("css selector", "[role=tab][aria-selected=true]")
            assert chosen.text == name
            (panel,) = (p for p in browser.find_elements("css selector", "[role=tabpanel]") if p.is_displayed())
            assert panel.get_attribute("aria-labelledby") == chosen.get_attribute("id")
            assert panel.get_attribute("id") == chosen.get_attribute("aria-controls")
        tab(browser, "Timeline").send_keys(Keys.ARROW_RIGHT)
        assert browser.switch_to.active_element.text == "Flame graph"

    def test_strange_names(self, browser, strange_names):  # noqa: F811
        open_page(browser, strange_names, "page-names")
        assert {'say "hi"', "back\\slash; <b>&amp;", "tab\\x09here größe"} <= set(counted(browser))

    def test_arguments_are_shown(self, browser):
        utrail("record", "-A", "fib@arg1/i32", "-R", "fib@retval/i32", "-d", "data", self.fib())
        open_page(browser, "data", "page-arguments")
        assert search(browser, "fib") == "9 calls"
        browser.switch_to.active_element.send_keys(Keys.ENTER)
        assert browser.find_element("id", "details").text.startswith("fib(4) = 3")
        # The search also finds arguments, and takes regular expressions.
        assert search(browser, "(2)") == "2 calls"
        assert search(browser, "/^fib$/") == "9 calls"
        assert search(browser, r"/^\([01]\)/") == "5 calls"
        assert search(browser, "/^(/") == "not a regular expression"

    def fib(self):
        Path("fib.c").write_text(
            "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nint main(void) { return fib(4) - 3; }\n"
        )
        run("gcc", "-pg", "-O0", "-o", "fib", "fib.c").must()
        return "./fib"

    def test_timeline(self, browser):
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-threads")
        all_of_it = seen(browser)
        timeline = browser.find_element("id", "timeline-scroller")
        timeline.send_keys("w")
        assert seen(browser) < all_of_it
        before = js(browser, "return app.zoom.from")
        timeline.send_keys(Keys.ARROW_RIGHT)
        after = js(browser, "return app.zoom.from")
        assert after > before
        ActionChains(browser).drag_and_drop_by_offset(timeline, 200, 0).perform()
        assert js(browser, "return app.zoom.from") < after
        timeline.send_keys("0")
        assert seen(browser) == all_of_it
        assert counted(browser) == calls("data")

    def test_click_shows_a_call(self, browser):
        utrail("record", "--no-libcall", "-d", "data", build(program("plain"), VARIANT))
        open_page(browser, "data", "page-plain")
        timeline, down = place_of(browser, 0)
        ActionChains(browser).move_to_element_with_offset(timeline, 0, down).click().perform()
        assert browser.find_element("id", "details").text.startswith("main")
        tip = browser.find_element("id", "tip")
        assert "took" in tip.text
        # The tip is about a call of the old view: it is hidden when a key changes the view.
        browser.find_element("id", "timeline-scroller").send_keys("2")
        assert not tip.is_displayed()
        assert browser.find_element("id", "details").text.startswith("Click a box to zoom")
        browser.find_element("id", "flame-canvas").send_keys("1")
        assert browser.find_element("id", "details").text.startswith("main")
        search(browser, "leaf")
        assert browser.find_element("id", "details").text.startswith("Click a call")

    def test_events_are_marks(self, browser):
        self.fib()
        utrail("record", "--no-event", "-T", "fib@read=proc/statm", "-d", "data", "./fib").must()
        open_page(browser, "data", "page-events")
        assert js(browser, "return recording.tasks[0].pointTime.length") == 18
        assert search(browser, "read:proc") == "0 calls, 9 events"
        # The mark of the first event is in the line with the task's name.
        x = js(
            browser,
            "const { from, to } = app.zoom, time = recording.tasks[0].pointTime[0];"
            "return (time - from) / (to - from) * views.timeline.canvas.clientWidth",
        )
        timeline, down = place_of(browser, 0)
        left = round(x) - timeline.size["width"] // 2
        ActionChains(browser).move_to_element_with_offset(timeline, left, down - 12).perform()
        assert browser.find_element("id", "tip").text.startswith("read:proc/statm (vmsize=")

    def test_search(self, browser):
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-search")
        browser.find_element("id", "timeline-scroller").send_keys("/")
        field = browser.switch_to.active_element
        field.send_keys("LEAF")
        assert status(browser) == f"{calls('data')['leaf']} calls"
        field.send_keys(Keys.ENTER)
        assert status(browser).startswith("1 of")
        assert browser.find_element("id", "details").text.startswith("leaf")
        field.send_keys(Keys.ENTER)
        assert status(browser).startswith("2 of")
        wait_until(lambda: js(browser, "return views.overview.marks.some((mark) => mark)"))
        keep(browser, "page-search")
        # A search for a task's number finds all its calls.
        tid, nr = js(browser, "const { tid, n } = recording.tasks[1]; return [tid, n]")
        assert search(browser, str(tid)) == f"{nr} calls"
        field.send_keys(Keys.ESCAPE)
        assert status(browser) == ""

    def test_flame_graph(self, browser):
        utrail("record", "--no-event", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-flame")
        tab(browser, "Flame graph").click()
        keep(browser, "page-flame")
        tops = js(
            browser,
            "views.draw(); return views.flame.boxes.filter((b) => b.node.parent && b.node.parent.func < 0).map((b) => views.flame.name(b.node))",
        )
        assert set(tops) >= {"main", "worker"}
        flame = browser.find_element("id", "flame-canvas")
        flame.send_keys(Keys.ARROW_DOWN)
        first = browser.find_element("id", "flame-chosen").text
        flame.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
        assert browser.find_element("id", "flame-chosen").text != first
        assert js(browser, "return views.flame.root.parent.parent !== null")

    def test_ranges(self, browser):
        """The numbers of a range are those of report -r, and the address has the range in the form
        of that option."""
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-range")
        first, last, zero = js(browser, "return [recording.first, recording.last, recording.meta.zero]")
        step = (last - zero) // 7
        for begin, end in ((0, 3), (1, 2), (2, 6), (4, 7)):
            text = f"{begin * step}ns~{end * step}ns"
            js(browser, f"location.hash = '#view=functions&range={text}'")
            wait_until(lambda: js(browser, "return app.state.range && app.state.view === 'functions'"))
            assert sums(browser) == reported("data", "-r", text), text
        # If a range is dragged or typed on the page, the page has the same sums as report -r.
        tab(browser, "Timeline").click()
        timeline, down = place_of(browser, 0)
        drag = ActionChains(browser).move_to_element_with_offset(timeline, -200, down).key_down(Keys.SHIFT).click_and_hold()
        drag.move_by_offset(300, 0).release().key_up(Keys.SHIFT).perform()
        text = re.search(r"range=([^&]*)", browser.current_url)[1]
        assert browser.find_element("id", "range").get_attribute("value") == text
        assert browser.find_element("id", "part").text.startswith("Range: ")
        assert sums(browser) == reported("data", "-r", text)
        field = browser.find_element("id", "range")
        field.clear()
        field.send_keys(f"{step}ns~{2 * step}ns", Keys.ENTER)
        assert sums(browser) == reported("data", "-r", f"{step}ns~{2 * step}ns")
        button(browser, "Zoom to range").click()
        assert seen(browser) == step
        button(browser, "Clear range").click()
        assert "range=" not in browser.current_url

    def test_address(self, browser):
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-address", "#view=functions&function=leaf&search=leaf")
        assert status(browser) == f"{calls('data')['leaf']} calls"
        assert browser.find_element("css selector", "[aria-selected=true]").text == "Functions"
        captions = [c.text for c in browser.find_elements("css selector", "#function caption")]
        assert captions[:2] == ["Callers of leaf", "Callees of leaf"]
        tab(browser, "Timeline").click()
        assert "view=timeline" in browser.current_url and "function=leaf" in browser.current_url
        tab(browser, "Flame graph").click()
        browser.back()
        assert browser.find_element("css selector", "[aria-selected=true]").text == "Timeline"
        browser.refresh()
        wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))
        assert status(browser) == f"{calls('data')['leaf']} calls"

    def test_function(self, browser):
        """Callers and callees of a function have the calls of report's graph."""
        utrail("record", "--no-event", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-functions")
        expected = calls("data")
        assert counted(browser) == expected
        heads = browser.find_elements("css selector", "#functions-table thead th")
        assert [h.text.rstrip(" ▾▴") for h in heads[:4]] == ["Function", "Total", "Self", "Calls"]
        row = next(r for r in browser.find_elements("css selector", "#functions-table tbody tr") if r.text.startswith("leaf"))
        row.click()
        captions = [c.text for c in browser.find_elements("css selector", "#function caption")]
        assert captions == ["Callers of leaf", "Callees of leaf", "How long its calls took", "Its slowest calls"]
        callers = table(browser, "#function table:nth-of-type(1)")
        assert sum(int(row[3].replace(",", "")) for row in callers) == expected["leaf"]
        buckets = table(browser, "#function table:nth-of-type(3)")
        assert sum(int(row[2].replace(",", "")) for row in buckets) == expected["leaf"]
        keep(browser, "page-function")
        slowest = browser.find_elements("css selector", "#function table:nth-of-type(4) tbody button")
        slowest[0].click()
        assert browser.find_element("id", "details").text.startswith("leaf")
        assert browser.find_element("css selector", "[aria-selected=true]").text == "Timeline"
        before = js(browser, "return app.selected[1]")
        button(browser, "Next call").click()
        assert js(browser, "return app.selected[1]") != before

    def test_many_threads(self, browser):
        """All threads can be reached: scrolled to, collapsed, sorted, and hidden."""
        Path("many.c").write_text(
            "#include <pthread.h>\n#include <stdlib.h>\nstatic pthread_barrier_t barrier;\n"
            "void leaf(void) { __asm__ volatile(\"\"); }\n"
            "void *work(void *nr) { pthread_barrier_wait(&barrier); for (long i = 0; i < (long)nr; i++) leaf(); return NULL; }\n"
            "int main(void) { pthread_t t[100]; pthread_barrier_init(&barrier, NULL, 101);\n"
            "for (long i = 0; i < 100; i++) pthread_create(&t[i], NULL, work, (void *)(i * 7 % 100));\n"
            "pthread_barrier_wait(&barrier);\n"
            "for (long i = 0; i < 100; i++) pthread_join(t[i], NULL); return 0; }\n"
        )
        run("gcc", "-pg", "-O0", "-pthread", "-o", "many", "many.c").must()
        utrail("record", "--no-libcall", "--no-event", "-d", "data", "./many").must()
        open_page(browser, "data", "page-many")
        scroller = browser.find_element("id", "timeline-scroller")
        high, all_of_it, at = "return views.timeline.scroller.clientHeight", "return views.timeline.scroller.scrollHeight", "return views.timeline.scroller.scrollTop"
        assert js(browser, all_of_it) > 10 * js(browser, high)
        scroller.send_keys(Keys.PAGE_DOWN)
        wait_until(lambda: js(browser, at) > 100)
        scroller.send_keys(Keys.END)
        wait_until(lambda: js(browser, at) + js(browser, high) >= js(browser, all_of_it) - 2)
        before = js(browser, all_of_it)
        button(browser, "Collapse all").click()
        wait_until(lambda: js(browser, all_of_it) < before)
        button(browser, "Sort").click()
        button(browser, "Calls").click()
        scroller.send_keys(Keys.HOME)
        wait_until(lambda: "thread" in headings(browser)[0])
        order = js(browser, "return views.timeline.strips.map((s) => s.tasks.reduce((sum, task) => sum + task.n, 0))")
        assert order == sorted(order, reverse=True) and len(order) == len(js(browser, "return views.timeline.strips"))
        assert "sort=calls" in js(browser, "app.change({}, 'push'); return location.hash")
        nr = len(order)
        hide = browser.find_element("css selector", ".heading .small")
        ActionChains(browser).move_to_element(hide).click(hide).perform()
        wait_until(lambda: js(browser, "views.draw(); return views.timeline.strips.length") == nr - 1)
        button(browser, "Show 1 hidden task").click()
        assert js(browser, "views.draw(); return views.timeline.strips.length") == nr

    def test_print(self, browser):
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-print", "#view=functions")
        devtools(browser, "Emulation.setEmulatedMedia", {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        js(browser, "dispatchEvent(new Event('beforeprint'))")
        keep(browser, "page-print")
        assert not browser.find_element("id", "search").is_displayed()
        assert js(browser, "return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert {row[0]: int(row[3].replace(",", "")) for row in table(browser)} == calls("data")
        js(browser, "dispatchEvent(new Event('afterprint'))")
        devtools(browser, "Emulation.setEmulatedMedia", {"media": "", "features": []})
        assert browser.find_element("id", "search").is_displayed()

    @pytest.mark.parametrize("width", [400, 360])
    def test_narrow(self, browser, width):
        """Names of functions are visible, and the header leaves them room."""
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        devtools(browser, "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        open_page(browser, "data", f"page-{width}", "#view=functions")
        names = browser.find_elements("css selector", "#functions-table tbody .name")
        assert all(0 <= name.rect["x"] and name.rect["x"] + name.rect["width"] < width for name in names)
        top = browser.find_element("tag name", "main").rect["y"]
        keep(browser, f"page-{width}-functions")
        assert top < 190
        assert js(browser, "return document.documentElement.scrollWidth") <= width
        devtools(browser, "Emulation.clearDeviceMetricsOverride", {})

    def test_million_calls(self, browser):
        run("gcc", "-O2", "-pg", "-pthread", "-o", "tree", TOP / "tests/bench/src/tree.c").must()
        utrail("record", "--no-libcall", "--no-event", "-d", "data", "./tree", 4, 1000000).must()
        assert dump("html", "data").stat().st_size < 2.5e6 or "zlib" not in utrail("--version").out.split()
        open_page(browser, "data", "page-million")
        assert counted(browser) == calls("data")
        assert sums(browser) == reported("data")
        tab(browser, "Timeline").click()
        frame_ms = js(
            browser,
            """
            app.zoomBy(0.3);
            let best = Infinity;
            for (let i = 0; i < 30; i++) {
                const begin = performance.now();
                app.pan(0.02);
                views.draw();
                best = Math.min(best, performance.now() - begin);
            }
            return best;
            """,
        )
        print(f"a frame of a million calls takes {frame_ms:.1f} ms")
        # A display takes 16 ms. The best frame counts: a busy machine may pause in any other one.
        assert frame_ms < 100

    def test_processes(self, browser):
        """Two jobs in parallel: one runs two programs in sequence, the other is short. Then one
        that fails runs alone."""
        Path("Makefile").write_text(
            "all: long short\n\tsh -c 'sleep 0.02; exit 3' '<i>'\nlong:\n\tsleep 0.3; sleep 0.2 & wait\nshort:\n\tsleep 0.05\n"
        )
        assert utrail("build", "-d", "data", "--", "make", "-j2").status == 2
        open_page(browser, "data", "page-processes")
        # Without calls, the page shows processes only.
        assert browser.find_element("id", "processes").is_displayed()
        tab(browser, "Timeline").click()
        assert browser.find_element("id", "details").text == "No calls were recorded. See Processes for the programs that ran."
        tab(browser, "Processes").click()
        lanes = js(browser, "const { jobs, most, slots, n } = recording.lanes; return { jobs, most, slots, n }")
        rows = js(browser, "return recording.meta.executions")
        assert lanes.pop("most") <= 2 and lanes == {"jobs": 2, "slots": 2, "n": len(rows)}
        commands = js(
            browser,
            "return recording.lanes.path.filter((p) => p.to - p.from > 10e6).map((p) => recording.meta.executions[p.i])"
            ".map((e) => e.command).filter((c) => c.startsWith('sleep'))",
        )
        # The last program is certain; which of the jobs ends later depends on the machine's load.
        assert commands[-1] == "sleep 0.02" and commands[:-1] in (["sleep 0.3", "sleep 0.2"], ["sleep 0.05"])
        self.check_path(browser)
        # The sum of all self times is the sum of the times that the slots worked.
        own, levels = js(
            browser,
            "const { own, levels } = recording.lanes; let sum = 0;"
            "levels.forEach(({ time, nr }, k) => { if (k) sum += (time - levels[k - 1].time) * levels[k - 1].nr; });"
            "return [own.reduce((a, b) => a + b, 0), sum]",
        )
        assert abs(own - levels) < 10
        assert re.search(r"\d+\.\d % of the slots were idle", browser.find_element("id", "summary").text)
        self.check_tables(browser)

    def check_path(self, browser):
        """The critical path has no gaps from the beginning to the end of the first process."""
        path = js(browser, "return recording.lanes.path")
        make = js(browser, "return recording.meta.executions[0]")
        assert (path[0]["from"], path[-1]["to"]) == (make["start"], make["start"] + make["dur"])
        assert all(a["to"] == b["from"] for a, b in zip(path, path[1:]))

    def check_tables(self, browser):
        slowest = [row.text for row in browser.find_elements("css selector", "#slowest tbody tr")]
        assert len(slowest) == 10 and "(-j2)" in browser.find_element("id", "summary").text
        # make may be the slowest on a busy machine, and has no parent in the build: take another
        # one.
        made = next(i for i, text in enumerate(slowest) if "sleep" in text)
        browser.find_elements("css selector", "#slowest tbody tr")[made].click()
        assert "made by" in browser.find_element("id", "details").text
        js(browser, "app.select([recording.lanes, recording.meta.executions.findIndex((e) => e.status === 3)])")
        details = browser.find_element("id", "details").text
        assert details.startswith("sh -c sleep 0.02; exit 3 <i>") and "status 3" in details
        lanes = browser.find_element("id", "lanes")
        ActionChains(browser).move_to_element_with_offset(lanes, 0, 26 + 70 + 4 + 8 - lanes.size["height"] // 2).click().perform()
        assert browser.find_element("id", "details").text.startswith("make -j2")
        browser.find_element("id", "summary").send_keys("w")
        assert seen(browser) < js(browser, "return recording.last - recording.first")
        assert search(browser, "SLEEP") == "4 executions"

    def test_processes_beside_calls(self, browser):
        """A program with a probe has calls and processes, and the calls come first."""
        utrail("record", "--proc", "-d", "data", "/bin/sh", "-c", '"$0"; exit 4', build(program("recursion"), VARIANT))
        open_page(browser, "data", "page-both")
        assert browser.find_element("id", "timeline").is_displayed()
        found = counted(browser)
        # execve() in the shell's child does not return: report does not count this call, the page
        # does.
        assert found.pop("execve", 1) == 1
        assert found == calls("data")
        tab(browser, "Processes").click()
        assert browser.find_element("id", "processes").is_displayed()
        assert js(browser, "return recording.meta.executions.filter((e) => e.status === 4).map((e) => e.command)")[0].startswith("/bin/sh -c")


def headings(browser):
    return js(browser, "return [...document.querySelectorAll('.heading')].map((h) => h.innerText)")


def test_page_needs_no_network():
    room = TOP / "utils/export/page"
    page = (room / "page.html").read_text()
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")
    assert "default-src 'none'" in page and "unsafe" not in page
    for path in [room / "style.css", *room.rglob("*.js")]:
        text = path.read_text()
        assert "http:" not in text and "https:" not in text and "innerHTML" not in text, path


class TestSvg:
    NAME = "{http://www.w3.org/2000/svg}"

    def boxes(self, directory):
        root = ElementTree.parse(dump("svg", directory)).getroot()
        for group in root.iter(self.NAME + "g"):
            box = group.find(self.NAME + "rect")
            yield group.find(self.NAME + "title").text, float(box.get("x")), float(box.get("width")), float(box.get("y"))

    def test_names(self):
        def are_shown():
            titles = [title for title, *_ in self.boxes(record_strange_names())]
            return all(any(title.startswith(name) for title in titles) for name in names)

        names = ['say "hi": 1 call,', "back\\slash; <b>&amp;:"]
        # Boxes may be too narrow to be drawn when another call was interrupted for long: zoom until
        # they are.
        wait_until(are_shown)

    @needs_browser
    def test_zoom_and_search(self, browser):
        """In an SVG file, a click on a box zooms in, and Reset shows all again. Text that is typed
        is searched for in the names of boxes."""
        utrail("record", "--no-event", "-d", "data", build(program("threads"), VARIANT))
        browser.get(dump("svg", "data").resolve().as_uri())
        widths = "return [...document.querySelectorAll('g')].map((g) => [g.dataset.name, g.getAttribute('visibility'), +g.querySelector('rect').getAttribute('width')])"
        before = js(browser, widths)
        box = next(g for g in browser.find_elements("css selector", "g") if g.get_attribute("data-name") == "worker")
        narrow = next(width for name, _, width in before if name == "worker")
        if narrow > 4:
            box.click()
        else:  # main() waited for long: the box is so narrow that its middle is outside
            js(browser, "arguments[0].dispatchEvent(new MouseEvent('click', { bubbles: true }))", box)
        after = js(browser, widths)
        (wide,) = (width for name, seen, width in after if name == "worker" and seen == "visible")
        assert wide > 1179 > narrow
        assert ["main", "hidden"] in [row[:2] for row in after]
        keep(browser, "svg-zoomed")
        browser.find_element("css selector", "[role=button]").click()
        assert [width for *_, width in js(browser, widths)] == pytest.approx([width for *_, width in before])
        field = browser.find_element("css selector", "input[type=search]")
        field.click()
        field.send_keys("WORKER")
        said = js(browser, "return document.querySelector('[role=status]').textContent")
        assert re.fullmatch(r"1 box, \d+\.\d %", said)
        assert float(said.split()[2]) == pytest.approx(100 * narrow / 1180, abs=0.2)

    def test_boxes_are_within_those_below(self):
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        rows = {}
        for _, x, width, y in self.boxes("data"):
            rows.setdefault(y, []).append((x, x + width))
        floors = sorted(rows, reverse=True)
        assert len(floors) > 2
        for below, above in zip(floors, floors[1:]):
            for left, right in rows[above]:
                assert any(l - 0.5 <= left and right <= r + 0.5 for l, r in rows[below])


AXE = "4.10.3"


@pytest.fixture(scope="module")
def axe():
    """The source of axe-core, which checks the rules of accessible pages."""
    return (npm_package("axe-core", AXE) / "axe.min.js").read_text()


WAYS = ["view=timeline", "view=timeline&search=leaf&sort=calls", "view=flame", "view=functions", "view=functions&function=leaf",
        "view=timeline&range=1us~20us", "view=processes"]


@needs_browser
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible(browser, axe, scheme, width):
    utrail("record", "--proc", "-d", "data", "/bin/sh", "-c", '"$0"; exit 4', build(program("threads"), VARIANT))
    devtools(browser, "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    devtools(browser, "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    open_page(browser, "data", f"page-{scheme}-{width}")
    for way in WAYS:
        js(browser, "location.hash = arguments[0]", way)
        view = way.split("&")[0].split("=")[1]
        wait_until(lambda: browser.find_element("id", view).is_displayed())
        keep(browser, f"page-{scheme}-{width}-{re.sub('[^a-z]+', '-', way)}")
        js(browser, axe)
        found = browser.execute_async_script("axe.run().then(({ violations }) => arguments[0](violations))")
        assert not [(v["id"], v["help"], [n["html"] for n in v["nodes"]]) for v in found], way


SPEEDSCOPE = "1.25.0"


def npm_package(name, version):
    """The directory of a package from npm, which is kept. The scripts of its dependencies are not
    run."""
    place = CACHE / f"{name}-{version}"
    inside = place / "node_modules" / name
    if not inside.exists():
        if not shutil.which("npm"):
            pytest.skip("npm is not installed (apt-get install npm)")
        scratch = CACHE / f"{name}-{os.getpid()}"
        scratch.mkdir(parents=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", scratch, f"{name}@{version}"]
        try:
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            done = False
        if not done:
            shutil.rmtree(scratch)
            pytest.skip(f"npm cannot install {name}@{version} here")
        shutil.rmtree(place, ignore_errors=True)
        scratch.rename(place)
    return inside


@pytest.fixture(scope="module")
def speedscope():
    """The page of speedscope, from npm."""
    return npm_package("speedscope", SPEEDSCOPE) / "dist/release/index.html"


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}

# speedscope takes differences of floating-point microseconds since the machine's start, which are
# inexact.
INEXACT_NS = 0.5

# The rows of speedscope's table of functions: total, self, name.
SANDWICH = """return [...document.querySelectorAll('tr')].map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText))
    .filter(row => row.length == 3 && row[0].includes('%'))"""


def shown_ns(cell):
    """From "6.34µs (17%)": nanoseconds, and the largest error by rounding."""
    number, unit = re.fullmatch(r"([\d.]+)(ns|µs|ms|s)\s*\(.*\)", cell.strip()).groups()
    return float(number) * UNITS[unit], 0.0051 * UNITS[unit]


def open_in_speedscope(browser, speedscope, path, name):
    data = base64.b64encode(path.read_bytes()).decode()
    # speedscope's own command line tool passes a file in this way.
    Path("profile.js").write_text(f"speedscope.loadFileFromBase64('profile.json', '{data}')")
    browser.get(f"{speedscope.as_uri()}#localProfilePath={Path('profile.js').resolve()}")
    wait_until(lambda: "profile.json" in browser.title or f"{name}" in browser.title)


@needs_browser
@pytest.mark.parametrize("form", ["chrome", "speedscope"])
@pytest.mark.parametrize("name", ["recursion", "exceptions"])
def test_speedscope(browser, speedscope, name, form):
    """speedscope shows the times of report."""
    utrail("record", "--no-event", "-d", "data", build(program(name), VARIANT))
    open_in_speedscope(browser, speedscope, dump(form, "data"), name)

    def rows():
        ActionChains(browser).send_keys("3").perform()
        return js(browser, SANDWICH)

    shown = {name.strip(): (total, own) for total, own, name in wait_until(rows)}
    expected = json.loads(utrail("report", "-d", "data", "--format=json").must().out)
    assert set(shown) == {row["name"] for row in expected}
    for row in expected:
        for cell, ns in zip(shown[row["name"]], (row["total"], row["self"])):
            about, rounded = shown_ns(cell)
            assert abs(about - ns) <= rounded + INEXACT_NS, (row, cell)
    # Messages about the duration and the graphics card are harmless.
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]


def own_times(browser):
    """By function: [self time, the largest error by rounding], over all profiles of a file."""
    times = {}
    place = "return document.body.innerText.match(/\\((\\d+)\\/(\\d+)\\)/)?.slice(1).map(Number)"
    ActionChains(browser).send_keys("3").perform()
    at, nr = wait_until(lambda: js(browser, place))
    for _ in range(at, 1, -1):
        ActionChains(browser).send_keys("p").perform()
    for number in range(1, nr + 1):
        wait_until(lambda: js(browser, place)[0] == number)
        for _, own, name in wait_until(lambda: js(browser, SANDWICH)):
            row = times.setdefault(name.strip(), [0, 0])
            for i, value in enumerate(shown_ns(own)):
                row[i] += value
        ActionChains(browser).send_keys("n").perform()
    return times


@needs_browser
def test_speedscope_of_many_tasks(browser, speedscope, mixed):  # noqa: F811
    """Threads, forks, exceptions: each task is a profile of its own, and together they show the
    times of report. The format is speedscope's: its reader of Chrome's format mixes up a begin and
    an end at the same time, as for fork() in a child."""
    open_in_speedscope(browser, speedscope, dump("speedscope", mixed), "mixed")
    shown = own_times(browser)
    expected = json.loads(utrail("report", "-d", mixed, "--format=json").must().out)
    assert set(shown) == {row["name"] for row in expected}
    for row in expected:
        own, rounded = shown[row["name"]]
        assert abs(own - row["self"]) <= rounded + INEXACT_NS, (row, own, rounded)
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
