"""The page of `dump --format=html` of odd recordings, and after odd acts."""

from pathlib import Path

import pytest

from programs import build, program
from test_page import ActionChains, Keys, VARIANT, browser, button, driver_address, js, keep, needs_browser  # noqa: F401
from test_page import open_page, place_of, search, seen, started_browser, status, tab, table, wait_until  # noqa: F401
from tools import run, utrail


@needs_browser
class TestManyFunctions:
    NR = 3000

    def test_many(self, browser):  # noqa: F811
        """A key may not wait for thousands of rows: they are made when one scrolls there."""
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
        """Two functions of one name are two rows; each is chosen, and kept in the address, by itself."""
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
                caller, = wait_until(lambda: table(browser, "#function table:nth-of-type(1)"))
                callers.setdefault(at, set()).add((caller[0], caller[3]))
                assert len(browser.find_elements("css selector", "#functions-table tr.chosen")) == 1
                assert browser.find_element("css selector", "#function caption").text == "Callers of same"
        assert sorted(callers.values(), key=str) == [{("main", "1")}, {("other", "2")}]
        browser.refresh()
        wait_until(lambda: js(browser, "return 'ready' in document.documentElement.dataset"))
        ((caller, *_),) = wait_until(lambda: table(browser, "#function table:nth-of-type(1)"))
        assert {caller} == {name for name, _ in callers[1]}


FRAGMENTS = """# #view=nonsense #view=processes #range=abc #range=5ms~1ms #range=~ #range=100h~ #range=99999s~99999999s #range=1ns~1ns
    #zoom=9999999s~99999999999s #zoom=1ns~1ns #zoom=0~0 #zoom=NaN~5 #zoom=0ns~1000000000s #view=functions&function=%E0%A4%A
    #view=functions&function=nothing #hidden=1,2,x&pinned=-5 #search=%&sort=zzz #without=x #search=/(/ #view=flame&range=99999s~100000s""".split()


@needs_browser
class TestFragments:
    @pytest.mark.parametrize("clock", [(), ("--clock=realtime",)])
    def test_typed(self, browser, clock):  # noqa: F811
        """None of them leaves nothing to see, or something endless to draw."""
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
        """After a drag of a range, a zoom to it, another view, a function: each is taken back by itself."""
        utrail("record", "--no-event", "-d", "data", build(program("threads"), VARIANT)).must()
        open_page(browser, "data", "back")
        timeline, down = place_of(browser, 0)
        for left in (-200, 0):
            drag = ActionChains(browser).move_to_element_with_offset(timeline, left, down).key_down(Keys.SHIFT).click_and_hold()
            drag.move_by_offset(100, 0).pause(0.4).move_by_offset(50, 0).release().key_up(Keys.SHIFT).perform()
        second = browser.find_element("id", "range").get_attribute("value")
        button(browser, "Zoom to range").click()
        tab(browser, "Functions").click()
        # What a click on a row does; in that part nothing may have been called.
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
