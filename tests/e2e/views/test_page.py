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
    """A driver of our own: a bare system has no address for "localhost", where selenium looks for its. Hence the pipe, too."""
    driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, text=True, cwd="/")
    started = (re.search(r"started successfully on port (\d+)", line) for line in driver.stdout)
    port = next((match[1] for match in started if match), None)
    assert port, f"{DRIVER} did not start, status {driver.wait(timeout=10)}"
    yield f"http://127.0.0.1:{port}"
    driver.terminate()
    driver.communicate(timeout=30)


@pytest.fixture(scope="module")
def started_browser(tmp_path_factory, driver_address):
    """One for all tests: starting it takes longer than most of them."""
    options = Options()
    options.binary_location = CHROMIUM
    for argument in ARGUMENTS.split():
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Remote(driver_address, options=options)
    yield driver
    driver.quit()


@pytest.fixture
def browser(started_browser):
    """A page of its own for each test, which may not complain."""
    first, size = started_browser.current_window_handle, started_browser.get_window_size()
    started_browser.switch_to.new_window("tab")
    yield started_browser
    log = started_browser.get_log("browser")
    started_browser.close()
    started_browser.switch_to.window(first)
    started_browser.set_window_size(size["width"], size["height"])
    assert not log


def open_page(browser, directory, name):
    browser.get(dump("html", directory).resolve().as_uri())
    keep(browser, name)


def keep(browser, name):
    """A screenshot; something has been drawn on it."""
    path = Path(os.environ.get("UTRAIL_SCREENSHOTS", ".")) / f"{name}.png"
    browser.save_screenshot(str(path))
    assert path.stat().st_size > 8000


def js(browser, code, *arguments):
    return browser.execute_script(code, *arguments)


def counted(browser):
    return {row["name"]: row["calls"] for row in js(browser, "return utrail.functionRows()")}


@needs_browser
class TestPage:
    def test_small_program(self, browser):
        utrail("record", "-d", "data", build(program("recursion"), VARIANT))
        open_page(browser, "data", "page-small")
        assert counted(browser) == calls("data")
        assert browser.title == "recursion – utrail"

    def test_strange_names(self, browser, strange_names):  # noqa: F811
        open_page(browser, strange_names, "page-names")
        assert {'say "hi"', "back\\slash; <b>&amp;", "tab\\x09here größe"} <= set(counted(browser))
        js(browser, "utrail.show('table'); utrail.drawNow()")
        assert 'say "hi"' in browser.find_element("id", "table").text

    def test_arguments_are_shown(self, browser):
        utrail("record", "-A", "fib@arg1/i32", "-R", "fib@retval/i32", "-d", "data", self.fib())
        open_page(browser, "data", "page-arguments")
        js(browser, "utrail.search('fib'); utrail.go(1)")
        assert browser.find_element("id", "details").text.startswith("fib(4) = 3")

    def fib(self):
        Path("fib.c").write_text(
            "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nint main(void) { return fib(4) - 3; }\n"
        )
        run("gcc", "-pg", "-O0", "-o", "fib", "fib.c").must()
        return "./fib"

    def test_timeline(self, browser):
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-threads")
        assert counted(browser) == calls("data")
        width = "return utrail.view.to - utrail.view.from"
        all_of_it = js(browser, width)
        timeline = browser.find_element("id", "timeline")
        timeline.send_keys("w")
        assert js(browser, width) < all_of_it
        before = js(browser, "return utrail.view.from")
        timeline.send_keys(Keys.ARROW_RIGHT)
        after = js(browser, "return utrail.view.from")
        assert after > before
        ActionChains(browser).drag_and_drop_by_offset(timeline, 200, 0).perform()
        assert js(browser, "return utrail.view.from") < after
        timeline.send_keys("0")
        assert js(browser, width) == all_of_it

    def test_click_shows_a_call(self, browser):
        utrail("record", "--no-libcall", "-d", "data", build(program("plain"), VARIANT))
        open_page(browser, "data", "page-plain")
        timeline = browser.find_element("id", "timeline")
        high = timeline.size["height"]
        # The first row of the first task: behind the axis and the task's name.
        ActionChains(browser).move_to_element_with_offset(timeline, 0, 26 + 22 + 8 - high // 2).click().perform()
        assert browser.find_element("id", "details").text.startswith("main")
        assert "took" in browser.find_element("id", "tip").text

    def test_events_are_marks(self, browser):
        self.fib()
        utrail("record", "--no-event", "-T", "fib@read=proc/statm", "-d", "data", "./fib").must()
        open_page(browser, "data", "page-events")
        assert js(browser, "return utrail.meta.tasks[0].points.length") == 18
        timeline = browser.find_element("id", "timeline")
        # Where the mark is that stands for the first of them: in the line with the task's name.
        x = js(
            browser,
            "const [time] = utrail.tasks[0].points[0], { from, to } = utrail.view;"
            "return (time - from) / (to - from) * arguments[0]",
            timeline.size["width"],
        )
        left, high = round(x) - timeline.size["width"] // 2, timeline.size["height"]
        ActionChains(browser).move_to_element_with_offset(timeline, left, 26 + 14 - high // 2).perform()
        assert browser.find_element("id", "tip").text.startswith("read:proc/statm (vmsize=")

    def test_search(self, browser):
        utrail("record", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-search")
        browser.find_element("id", "timeline").send_keys("/")
        field = browser.switch_to.active_element
        field.send_keys("LEAF")
        assert browser.find_element("id", "found").text == f"{calls('data')['leaf']} calls"
        field.send_keys(Keys.ENTER)
        assert browser.find_element("id", "found").text.startswith("1 of")
        assert browser.find_element("id", "details").text.startswith("leaf")
        keep(browser, "page-search")
        field.send_keys(Keys.ESCAPE)
        assert browser.find_element("id", "found").text == ""

    def test_flame_graph(self, browser):
        utrail("record", "--no-event", "-d", "data", build(program("threads"), VARIANT))
        open_page(browser, "data", "page-flame")
        browser.find_element("css selector", "[data-view=flame]").click()
        js(browser, "utrail.drawNow()")
        keep(browser, "page-flame")
        tops = js(browser, "return utrail.flame.boxes.filter((b) => b.node.parent && b.node.parent.func < 0).map((b) => b.node.func)")
        assert {js(browser, "return utrail.meta.functions[arguments[0]]", f) for f in tops} >= {"main", "worker"}

    def test_million_calls(self, browser):
        run("gcc", "-O2", "-pg", "-pthread", "-o", "tree", TOP / "tests/bench/src/tree.c").must()
        utrail("record", "--no-libcall", "--no-event", "-d", "data", "./tree", 4, 1000000).must()
        open_page(browser, "data", "page-million")
        assert counted(browser) == calls("data")
        frame_ms = js(
            browser,
            """
            utrail.zoom(0.3);
            const step = (utrail.view.to - utrail.view.from) * 0.02, begin = performance.now();
            for (let i = 0; i < 30; i++) {
                utrail.view.from += step;
                utrail.view.to += step;
                utrail.drawNow();
            }
            return (performance.now() - begin) / 30;
            """,
        )
        print(f"a frame of a million calls takes {frame_ms:.1f} ms")
        assert frame_ms < 100  # this machine may be busy; 16 is a display's

    def test_processes(self, browser):
        """Two jobs: one has two programs one after the other, the other one is short; then one that fails, alone."""
        Path("Makefile").write_text(
            "all: long short\n\tsh -c 'sleep 0.02; exit 3' '<i>'\nlong:\n\tsleep 0.3; sleep 0.2 & wait\nshort:\n\tsleep 0.05\n"
        )
        assert utrail("build", "-d", "data", "--", "make", "-j2").status == 2
        open_page(browser, "data", "page-processes")
        # There is nothing else in it.
        assert browser.find_element("id", "processes").is_displayed()
        lanes = js(browser, "const { jobs, most, slots, n } = utrail.lanes; return { jobs, most, slots, n }")
        rows = js(browser, "return utrail.meta.executions")
        assert lanes.pop("most") <= 2 and lanes == {"jobs": 2, "slots": 2, "n": len(rows)}
        commands = js(
            browser,
            "return utrail.lanes.path.filter((p) => p.to - p.from > 10e6).map((p) => utrail.meta.executions[p.i])"
            ".map((e) => e.command).filter((c) => c.startsWith('sleep'))",
        )
        # The last one always; which of the jobs ends last a busy machine decides.
        assert commands[-1] == "sleep 0.02" and commands[:-1] in (["sleep 0.3", "sleep 0.2"], ["sleep 0.05"])
        self.check_path(browser)
        # What worked by itself, in all, is what worked at each moment.
        own, levels = js(
            browser,
            "const { self, levels } = utrail.lanes; let sum = 0;"
            "levels.forEach(({ time, nr }, k) => { if (k) sum += (time - levels[k - 1].time) * levels[k - 1].nr; });"
            "return [self.reduce((a, b) => a + b, 0), sum]",
        )
        assert abs(own - levels) < 10
        idle = js(browser, "return utrail.idle()")
        assert idle["lost"] >= idle["some"] > 0
        self.check_tables(browser)

    def check_path(self, browser):
        """It has no gaps, from the beginning to the end of the first process."""
        path = js(browser, "return utrail.lanes.path")
        make = js(browser, "return utrail.meta.executions[0]")
        assert (path[0]["from"], path[-1]["to"]) == (make["start"], make["start"] + make["dur"])
        assert all(a["to"] == b["from"] for a, b in zip(path, path[1:]))

    def check_tables(self, browser):
        slowest = [row.text for row in browser.find_elements("css selector", "#slowest tbody tr")]
        assert len(slowest) == 10 and "(-j2)" in browser.find_element("id", "summary").text
        # On a busy machine make itself may be the slowest, and nobody has made that.
        made = next(i for i, text in enumerate(slowest) if "sleep" in text)
        browser.find_elements("css selector", "#slowest tbody tr")[made].click()
        assert "made by" in browser.find_element("id", "details").text
        js(browser, "utrail.select([utrail.lanes, utrail.meta.executions.findIndex((e) => e.status === 3)])")
        details = browser.find_element("id", "details").text
        assert details.startswith("sh -c sleep 0.02; exit 3 <i>") and "status 3" in details
        lanes = browser.find_element("id", "lanes")
        ActionChains(browser).move_to_element_with_offset(lanes, 0, 26 + 70 + 4 + 8 - lanes.size["height"] // 2).click().perform()
        assert browser.find_element("id", "details").text.startswith("make -j2")
        lanes.send_keys("w")
        assert js(browser, "return utrail.view.to - utrail.view.from < utrail.last - utrail.first")
        browser.find_element("id", "search").send_keys("SLEEP")
        assert browser.find_element("id", "found").text == "4 executions"

    def test_processes_beside_calls(self, browser):
        """A program with a probe: both are there, and the calls come first."""
        utrail("record", "--proc", "-d", "data", "/bin/sh", "-c", '"$0"; exit 4', build(program("recursion"), VARIANT))
        open_page(browser, "data", "page-both")
        assert browser.find_element("id", "timeline").is_displayed()
        found = counted(browser)
        # The shell's child calls it, and another program goes on: report counts no such call, the page does.
        assert found.pop("execve", 1) == 1
        assert found == calls("data")
        browser.find_element("id", "has-processes").click()
        js(browser, "utrail.drawNow()")
        assert browser.find_element("id", "processes").is_displayed()
        assert js(browser, "return utrail.meta.executions.filter((e) => e.status === 4).map((e) => e.command)")[0].startswith("/bin/sh -c")


def test_page_needs_no_network():
    page = (TOP / "utils/export/page/page.html").read_text()
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")
    assert "default-src 'none'" in page


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

        names = ['say "hi": 1 calls', "back\\slash; <b>&amp;:"]
        # Boxes that are too narrow are left out: they are, beside a call that was interrupted for long.
        wait_until(are_shown)

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


SPEEDSCOPE = "1.25.0"


@pytest.fixture(scope="module")
def speedscope():
    """speedscope itself, as npm has it; kept for the next run."""
    place = CACHE / f"speedscope-{SPEEDSCOPE}"
    release = place / "node_modules/speedscope/dist/release/index.html"
    if not release.exists():
        if not shutil.which("npm"):
            pytest.skip("npm is not installed (apt-get install npm)")
        scratch = CACHE / f"speedscope-{os.getpid()}"
        scratch.mkdir(parents=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", scratch, f"speedscope@{SPEEDSCOPE}"]
        try:
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            done = False
        if not done:
            shutil.rmtree(scratch)
            pytest.skip(f"npm cannot install speedscope@{SPEEDSCOPE} here")
        shutil.rmtree(place, ignore_errors=True)
        scratch.rename(place)
    return release


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}

# Its numbers are floating-point microseconds since the machine started, of which small differences are taken.
INEXACT_NS = 0.5

# The rows of its table of functions: total, self, name.
SANDWICH = """return [...document.querySelectorAll('tr')].map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText))
    .filter(row => row.length == 3 && row[0].includes('%'))"""


def shown_ns(cell):
    """Of "6.34µs (17%)": nanoseconds, and how much of them may have been rounded away."""
    number, unit = re.fullmatch(r"([\d.]+)(ns|µs|ms|s)\s*\(.*\)", cell.strip()).groups()
    return float(number) * UNITS[unit], 0.0051 * UNITS[unit]


def open_in_speedscope(browser, speedscope, path, name):
    data = base64.b64encode(path.read_bytes()).decode()
    # The way in which its own command line tool hands over a file.
    Path("profile.js").write_text(f"speedscope.loadFileFromBase64('profile.json', '{data}')")
    browser.get(f"{speedscope.as_uri()}#localProfilePath={Path('profile.js').resolve()}")
    wait_until(lambda: "profile.json" in browser.title or f"{name}" in browser.title)


@needs_browser
@pytest.mark.parametrize("form", ["chrome", "speedscope"])
@pytest.mark.parametrize("name", ["recursion", "exceptions"])
def test_speedscope(browser, speedscope, name, form):
    """It shows the times that report shows."""
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
    # How long it took, and what it thinks of the graphics card, is no complaint.
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]


def own_times(browser):
    """function: [self time, how much of it may have been rounded away], in all profiles of a file."""
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
    """
    Threads, forks, exceptions: each task is a profile of its own, and together they show what report shows. This holds for its own format:
    its reader of chrome's format takes a begin and an end at the same time, as of fork in a child, for the wrong ones.
    """
    open_in_speedscope(browser, speedscope, dump("speedscope", mixed), "mixed")
    shown = own_times(browser)
    expected = json.loads(utrail("report", "-d", mixed, "--format=json").must().out)
    assert set(shown) == {row["name"] for row in expected}
    for row in expected:
        own, rounded = shown[row["name"]]
        assert abs(own - row["self"]) <= rounded + INEXACT_NS, (row, own, rounded)
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
