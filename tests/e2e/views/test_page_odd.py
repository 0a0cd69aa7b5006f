"""The page of `dump --format=html` for odd recordings, and after odd actions."""

import random
import struct
from pathlib import Path

import pytest

from programs import build, program
from test_page import ActionChains, Keys, VARIANT, browser, button, devtools, driver_address, js, keep, needs_browser  # noqa: F401
from test_page import open_page, place_of, reported, search, seen, started_browser, status, sums, tab, table, wait_until  # noqa: F401
from test_page_events import touch
from tools import run, utrail


@needs_browser
class TestManyFunctions:
    NR = 3000

    def test_many(self, browser):  # noqa: F811
        """A key must not wait for thousands of rows: rows are made when they are scrolled to."""
        Path("many.c").write_text(
            "".join(f"void f{i}(void) {{}}\n" for i in range(self.NR))
            + "int main(void) {\n" + "".join(f"f{i}();\n" for i in range(self.NR)) + "return 0; }\n"
        )
        run("gcc", "-pg", "-O0", "-o", "many", "many.c").must()
        utrail("record", "--no-libcall", "--no-event", "-d", "data", "./many").must()
        open_page(browser, "data", "many-functions", "#view=functions")
        wait_until(lambda: table(browser))
        assert len(table(browser)) == 200
        assert browser.find_element("id", "more-functions").text == "2,801 more: scroll, or search."
        browser.find_element("id", "functions-table").send_keys(Keys.END)
        wait_until(lambda: len(table(browser)) > 200)
        for _ in range(20):
            js(browser, "const box = document.getElementById('functions-table'); box.scrollTop = box.scrollHeight")
            wait_until(lambda: js(browser, "const box = document.getElementById('functions-table');"
                                           "return views.functions.nrMade > 3000 || box.scrollTop + box.clientHeight * 2 <= box.scrollHeight"))
        assert len({row[0] for row in table(browser)}) == self.NR + 1
        assert browser.find_element("id", "more-functions").text == ""
        search(browser, "f2999")
        wait_until(lambda: [row[0] for row in table(browser)] == ["f2999"])
        search(browser, "main")
        wait_until(lambda: [row[0] for row in table(browser)] == ["main"])
        browser.find_element("css selector", "#functions-table tbody button").click()
        wait_until(lambda: "and 2,800 more" in browser.find_element("id", "function").text)

    def test_same_names(self, browser):  # noqa: F811
        """Two functions with one name have a row each; the address tells which one is chosen."""
        Path("a.c").write_text("static void same(void) {}\nvoid other(void);\nint main(void) { same(); other(); return 0; }\n")
        Path("b.c").write_text("static void same(void) {}\nvoid other(void) { same(); same(); }\n")
        run("gcc", "-pg", "-O0", "-o", "names", "a.c", "b.c").must()
        utrail("record", "--no-libcall", "--no-event", "-d", "data", "./names").must()
        open_page(browser, "data", "same-names", "#view=functions")
        callers = {}
        for _ in range(2):
            for at in range(2):
                rows = [b for b in browser.find_elements("css selector", "#functions-table tbody button") if b.text == "same"]
                assert len(rows) == 2
                rows[at].click()
                # Draw now: otherwise the table may be the earlier one.
                js(browser, "views.draw()")
                caller, = wait_until(lambda: table(browser, "#function table:nth-of-type(1)"))
                callers.setdefault(at, set()).add((caller[0], caller[3]))
                assert len(browser.find_elements("css selector", "#functions-table tr.chosen")) == 1
                assert browser.find_element("css selector", "#function caption").text == "Callers of same"
        assert sorted(callers.values(), key=str) == [{("main", "1")}, {("other", "2")}]
        browser.refresh()
        wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))
        ((caller, *_),) = wait_until(lambda: table(browser, "#function table:nth-of-type(1)"))
        assert {caller} == {name for name, _ in callers[1]}


DEEP = """
volatile int sink;
__attribute__((noinline)) void deep(int n) { for (int i = 0; !n && i < 3000000; i++) sink++; if (n) deep(n - 1); sink++; }
int main(void) { deep(%d); return 0; }
"""
BOX = """views.draw(); const b = views.flame.boxes.find(({ node }) => node === %s);
    return b ? [b.x, b.y, views.flame.canvas.clientHeight] : null"""


def is_seen(browser, node):  # noqa: F811
    """True when the whole box is inside the picture."""
    box = js(browser, BOX % node)
    return bool(box) and 0 <= box[1] <= box[2] - 18


@needs_browser
class TestDeepFlame:
    NR = 1000

    def record(self, name, nr):
        Path(f"{name}.c").write_text(DEEP % nr)
        run("gcc", "-pg", "-O0", "-o", name, f"{name}.c").must()
        utrail("record", "--no-libcall", "--no-event", "--max-stack=2000", "-d", f"{name}.data", f"./{name}").must()

    def depth(self, browser):  # noqa: F811
        """The number of levels. Each has a box, so the picture has their height."""
        return js(browser, "let n = 0; for (let at = views.flame.tree; at; at = at.sorted()[0]) n++; return n")

    def walk(self, browser):  # noqa: F811
        """Scroll the picture by wheel, keys and fingers: each box becomes visible, and is found at
        its place."""
        levels = self.depth(browser)
        assert js(browser, "return views.flame.scroller.scrollHeight") == levels * 18 + 8
        flame, place = browser.find_element("id", "flame-canvas"), "return views.flame.scroller.scrollTop"
        devtools(browser, "Input.dispatchMouseEvent", {"type": "mouseWheel", "x": 300, "y": 500, "deltaX": 0, "deltaY": 500})
        wait_until(lambda: js(browser, place) > 100)
        flame.send_keys(Keys.HOME)
        wait_until(lambda: js(browser, place) == 0)
        flame.send_keys(Keys.PAGE_DOWN)
        high = js(browser, "return views.flame.scroller.clientHeight")
        wait_until(lambda: high / 2 < js(browser, place) <= high)
        flame.send_keys(Keys.END)
        wait_until(lambda: js(browser, place) == levels * 18 + 8 - high)
        last, left, top = js(
            browser,
            "views.draw(); const r = views.flame.canvas.getBoundingClientRect(), boxes = views.flame.boxes;"
            "const b = boxes.reduce((a, b) => (b.y > a.y ? b : a)); window.chosen = b.node;"
            "return [views.flame.name(b.node), r.x + b.x + 3, r.y + b.y + 9]",
        )
        assert last == "deep" and is_seen(browser, "window.chosen")
        devtools(browser, "Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
        touch(browser, [(left, top)])
        wait_until(lambda: js(browser, "return views.flame.root === window.chosen"))
        assert is_seen(browser, "window.chosen")
        x, y = js(browser, "const r = views.flame.canvas.getBoundingClientRect(); return [r.x + 20, r.y + 30]")
        before = js(browser, place)
        touch(browser, *([(x, y + d)] for d in range(0, 101, 10)))
        wait_until(lambda: js(browser, place) < before - 20)
        devtools(browser, "Emulation.setTouchEmulationEnabled", {"enabled": False})
        # The arrow keys lead back up the path, and bring each box into view.
        for _ in range(40):
            flame.send_keys(Keys.ARROW_UP)
        assert is_seen(browser, "views.flame.at")
        flame.send_keys(Keys.HOME)
        wait_until(lambda: js(browser, place) == 0)
        flame.send_keys(Keys.ARROW_DOWN)
        assert is_seen(browser, "views.flame.at")
        button(browser, "All").click()
        wait_until(lambda: js(browser, place) == 0)
        assert is_seen(browser, "views.flame.tree")

    def test_scrolls(self, browser):  # noqa: F811
        self.record("deep", self.NR)
        open_page(browser, "deep.data", "deep-flame", "#view=flame")
        assert self.depth(browser) > self.NR
        self.walk(browser)
        browser.find_element("id", "flame-canvas").send_keys(*[Keys.ARROW_DOWN] * 30, Keys.ENTER)
        assert js(browser, "return views.flame.root.parent.parent.parent !== null") and is_seen(browser, "views.flame.root")
        js(browser, "dispatchEvent(new Event('beforeprint'))")
        assert js(browser, "return views.flame.canvas.clientHeight") == min(8000, self.depth(browser) * 18 + 8)
        js(browser, "dispatchEvent(new Event('afterprint'))")
        # A shallow graph has no scroll bar, also on a narrow screen.
        self.record("shallow", 3)
        devtools(browser, "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        browser.get("about:blank")
        open_page(browser, "shallow.data", "shallow-flame", "#view=flame")
        for box in "flame.scroller", "timeline.scroller":
            assert js(browser, f"return views.{box}.scrollHeight === views.{box}.clientHeight"), box
            tab(browser, "Timeline").click()
        devtools(browser, "Emulation.clearDeviceMetricsOverride", {})

    def test_difference(self, browser):  # noqa: F811
        self.record("deep", self.NR)
        self.record("deeper", self.NR + 50)
        done = utrail("dump", "-d", "deep.data", "--diff", "deeper.data", "--format=html", preempted=True).must()
        Path("diff.html").write_text(done.out)
        browser.get(Path("diff.html").resolve().as_uri() + "#view=flame")
        wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))
        assert self.depth(browser) > self.NR + 50
        self.walk(browser)
        js(browser, "app.change({ shown: 'base' })")
        js(browser, "views.draw()")
        assert js(browser, "return views.flame.scroller.scrollHeight") == (self.depth(browser) - 50) * 18 + 8


FRAGMENTS = """# #view=nonsense #view=processes #range=abc #range=5ms~1ms #range=~ #range=100h~ #range=99999s~99999999s #range=1ns~1ns
    #zoom=9999999s~99999999999s #zoom=1ns~1ns #zoom=0~0 #zoom=NaN~5 #zoom=0ns~1000000000s #view=functions&function=%E0%A4%A
    #view=functions&function=nothing #hidden=1,2,x&pinned=-5 #search=%&sort=zzz #without=x #search=/(/ #view=flame&range=99999s~100000s""".split()


@needs_browser
class TestFragments:
    @pytest.mark.parametrize("clock", [(), ("--clock=realtime",)])
    def test_typed(self, browser, clock):  # noqa: F811
        """Whatever fragment a user types, the page shows one view, and its range stays near the
        recording."""
        utrail("record", *clock, "-d", "data", build(program("threads"), VARIANT)).must()
        open_page(browser, "data", "fragments")
        whole = seen(browser)
        for fragment in FRAGMENTS:
            js(browser, "location.hash = arguments[0]", fragment)
            wait_until(lambda: js(browser, "return location.hash || '#'") == fragment)
            drawn, low, high, panels = js(
                browser,
                "views.draw(); const { from, to } = app.zoom;"
                "return [from < to, from >= recording.first - (recording.last - recording.first), to - from,"
                "document.querySelectorAll('main > section:not([hidden])').length]",
            )
            assert drawn and low and 20 <= high <= whole * 1.05 and panels == 1, fragment

    def test_timestamps(self, browser):  # noqa: F811
        """Times of a clock that counts from 1970 are above 2^53 ns: they are exact to the
        nanosecond, as in report."""
        utrail("record", "--clock=realtime", "--no-event", "-d", "data", build(program("threads"), VARIANT)).must()
        open_page(browser, "data", "timestamps", "#view=functions")
        base, ends = js(
            browser,
            "return [recording.meta.base, recording.tasks.flatMap((t) => [...t.start].flatMap((s, i) => [s, s + t.dur[i]]))]",
        )
        assert int(base) > 2**60
        dice = random.Random(20)
        for _ in range(20):
            begin, end = (divmod(int(base) + int(time) + dice.randint(-1, 1), 10**9) for time in sorted(dice.sample(ends, 2)))
            text = "~".join(f"{s}.{ns:09}" for s, ns in (begin, end))
            js(browser, "location.hash = arguments[0]", f"#view=functions&range={text}")
            wait_until(lambda: text in js(browser, "return location.hash"))
            said = js(browser, "app.readAddress(); return [app.state.range.from, app.state.range.to]")
            assert [int(base) + int(ns) for ns in said] == [s * 10**9 + ns for s, ns in (begin, end)]
            assert sums(browser) == reported("data", "-r", text), text

    def test_zoom_to_the_last_nanosecond(self, browser):  # noqa: F811
        utrail("record", "-d", "data", build(program("threads"), VARIANT)).must()
        open_page(browser, "data", "close")
        for _ in range(80):
            js(browser, "app.zoomBy(0.5)")
        assert js(browser, "views.draw(); return app.zoom.to - app.zoom.from") == 20
        js(browser, "app.zoomBy(1e300)")
        assert js(browser, "return app.state.zoom") is None


@needs_browser
class TestBack:
    def test_back_is_the_view_before(self, browser):  # noqa: F811
        """Back undoes each step: a dragged range, a zoom to it, another view, a function."""
        utrail("record", "--no-event", "-d", "data", build(program("threads"), VARIANT)).must()
        open_page(browser, "data", "back")
        timeline, down = place_of(browser, 0)
        for left in (-200, 0):
            drag = ActionChains(browser).move_to_element_with_offset(timeline, left, down).key_down(Keys.SHIFT).click_and_hold()
            drag.move_by_offset(100, 0).pause(0.4).move_by_offset(50, 0).release().key_up(Keys.SHIFT).perform()
        second = browser.find_element("id", "range").get_attribute("value")
        button(browser, "Zoom to range").click()
        tab(browser, "Functions").click()
        # This makes the change that a click on a row makes. The range may have no calls, and then
        # there is no row for a click.
        js(browser, "app.change({ func: 'leaf' }, 'push')")
        zoom = js(browser, "return app.state.zoom")
        browser.back()
        wait_until(lambda: js(browser, "return app.state.func") == "")
        browser.back()
        wait_until(lambda: js(browser, "return app.state.view") == "timeline")
        assert js(browser, "return app.state.zoom") == zoom
        browser.back()
        wait_until(lambda: js(browser, "return app.state.zoom") is None)
        assert browser.find_element("id", "range").get_attribute("value") == second
        browser.back()
        wait_until(lambda: browser.find_element("id", "range").get_attribute("value") not in ("", second))
        browser.back()
        wait_until(lambda: browser.find_element("id", "range").get_attribute("value") == "")


THREADS = r"""#include <pthread.h>
void leaf(void) { __asm__ volatile(""); }
void *work(void *arg) { leaf(); return arg; }
int main(void)
{
	pthread_t threads[60];
	for (int i = 0; i < 60; i++) pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 60; i++) pthread_join(threads[i], NULL);
	return 0;
}
"""

FOCUS = "const e = document.activeElement; return [e.innerText, e.closest('.heading')?.innerText.split('\\n')[0] || e.id]"


@needs_browser
class TestKeysAlone:
    def test_headings(self, browser):  # noqa: F811
        """Tab leads to all threads, also to invisible ones. The focus stays when a thread is hidden
        or pinned."""
        Path("threads.c").write_text(THREADS)
        run("gcc", "-pg", "-O0", "-pthread", "-o", "threads", "threads.c").must()
        utrail("record", "--no-libcall", "--no-event", "-d", "data", "./threads").must()
        open_page(browser, "data", "keys-alone")
        # Let all tasks last until the end, so that each one has a row of its own.
        js(browser, "for (const task of recording.tasks) task.info.end = recording.last; views.draw()")
        settled = "return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
        browser.find_element("id", "timeline-scroller").send_keys("")
        headings = []
        for _ in range(61):
            for _ in range(3):
                ActionChains(browser).send_keys(Keys.TAB).perform()
                js(browser, settled)
            headings.append(js(browser, FOCUS)[1])
        titles = js(browser, "return views.timeline.strips.map((s) => `${s.title} ${s.about}`)")
        assert headings == titles
        # "Pin" of the last task has the focus; pinning moves the task to the top.
        ActionChains(browser).send_keys(Keys.ENTER).perform()
        js(browser, settled)
        assert js(browser, FOCUS) == ["Pin", titles[-1]]
        assert js(browser, "return views.timeline.strips[0].title + ' ' + views.timeline.strips[0].about") == titles[-1]
        ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
        ActionChains(browser).send_keys(Keys.ENTER).perform()
        wait_until(lambda: button(browser, "Show 1 hidden task"))
        js(browser, settled)
        assert js(browser, FOCUS)[1] in titles[:-1]

    def test_close(self, browser):  # noqa: F811
        """Closing the chosen function returns the focus to the place where it was chosen."""
        utrail("record", "--no-event", "-d", "data", build(program("recursion"), VARIANT))
        open_page(browser, "data", "keys-close", "#view=functions")
        wait_until(lambda: table(browser))
        browser.find_elements("css selector", "#functions-table tbody button")[1].send_keys(Keys.ENTER)
        wait_until(lambda: button(browser, "Close")).send_keys(Keys.ENTER)
        wait_until(lambda: not browser.find_element("id", "function").is_displayed())
        assert js(browser, FOCUS)[0] == table(browser)[1][0]


def record_with_gap(directory):
    """Record a main() that calls g() 50 times. The records of ten of these calls are lost, and a
    LOST record says so."""
    Path("calls.c").write_text("void g(void) {}\nint main(void) { for (int i = 0; i < 50; i++) g(); return 0; }\n")
    run("gcc", "-pg", "-O0", "-o", "calls", "calls.c").must()
    utrail("record", "--no-libcall", "--no-event", "-d", directory, "./calls").must()
    (path,) = (p for p in Path(directory).glob("[0-9]*.dat"))
    data = path.read_bytes()
    gap = struct.pack("<QQ", 0, 2 | 5 << 3 | 20 << 16)
    path.write_bytes(data[:41 * 16] + gap + data[61 * 16:])


@needs_browser
def test_lost_records(browser):  # noqa: F811
    """Losses are reported, and a mark is at their place."""
    record_with_gap("data")
    open_page(browser, "data", "lost")
    assert "20 records lost" in browser.find_element("id", "about").text
    assert js(browser, "return [recording.calls, recording.kinds]") == [41, [{"name": "lost records", "count": 1}]]
    before, at, after = js(browser, "const [t] = recording.tasks; return [t.start[20], t.pointTime[0], t.start[21]]")
    # A call may begin and end within a nanosecond.
    assert before <= at <= after
    search(browser, "lost")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    wait_until(lambda: browser.find_element("id", "details").text.startswith("lost records (20)"))
