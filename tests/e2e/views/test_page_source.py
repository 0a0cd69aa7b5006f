"""The chosen function on the page of `dump --format=html`: source, calls, arguments and results."""

import json
import os
import re
import time
from pathlib import Path

from test_export import dump
from test_page import browser, button, driver_address, js, needs_browser, open_page, started_browser, table  # noqa: F401
from test_page import keep
from tools import run, utrail, wait_until

PROGRAM = """#include <stdlib.h>
/* outside of all functions */
static int twice(int n)
{
\tif (n < 0) /* </script><b>&amp; \u202e\x1b[31m */
\t\treturn -1;

\treturn n * 2;
}

int one(int n) { return n + 1; }

int main(void)
{
\tint sum = 0;

\tfor (int i = 0; i < 4; i++)
\t\tsum += twice(i) + one(i);
\treturn sum == 22 ? 0 : 1;
}
"""


def record(*options, source="calls.c"):
    Path(source).write_text(PROGRAM)
    run("gcc", "-g", "-O0", "-pg", "-o", "calls", source).must()
    utrail("record", "-d", "data", "--no-event", *options, "./calls").must()


def meta():
    page = dump("html", "data").read_text()
    return json.loads(re.search(r'<script type="application/json" id="meta">(.*?)</script>', page, re.S)[1])


def source_of(function):
    """The source file of a function, as the page has it."""
    data = meta()
    places = data["places"]
    at = next(i for i in range(0, len(places), 3) if data["functions"][places[i]] == function)
    return data["sources"][places[at + 1]]


class TestText:
    def test_functions(self):
        record("--srcline")
        assert meta()["places"][2::3] == [13, 3, 11]
        assert utrail("replay", "-d", "data", "--srcline").must().out.count("/* calls.c:3 */") == 4
        source = source_of("twice")
        assert source["file"] == "calls.c" and source["ends"] == [3, 9, 11, 11, 13, 20]
        lines = PROGRAM.replace("\x1b", "\\x1b").replace("\u202e", "\\xe2\\x80\\xae").expandtabs().split("\n")
        assert source["runs"] == [[3, *lines[2:9]], [11, lines[10]], [13, *lines[12:20]]]

    def test_not_recorded(self):
        record()
        assert meta()["places"] == meta()["sources"] == []

    def why(self):
        source = source_of("twice")
        assert "runs" not in source
        return source["why"]

    def test_reasons(self):
        record("--srcline")
        path = Path("calls.c")
        path.rename("gone.c")
        assert self.why() == "is not there"
        os.mkfifo(path)
        assert self.why() == "cannot be read"
        path.unlink()
        # A recording by a stranger may name any file.
        Path("secret").write_text(PROGRAM)
        path.symlink_to("secret")
        assert self.why() == "does not have the name of a source file"
        path.unlink()
        Path("gone.c").rename(path)
        assert "runs" in source_of("twice")
        later = time.time() + 3600
        os.utime(path, (later, later))
        assert self.why() == "is newer than the program"

    def test_strange_contents(self):
        record("--srcline")
        old = os.stat("calls.c").st_mtime_ns

        def becomes(data):
            Path("calls.c").write_bytes(data)
            os.utime("calls.c", ns=(old, old))

        becomes(b"int\0" * 10)
        assert self.why() == "is no text"
        becomes(b"\n" * (4 << 20) + b"x")
        assert self.why() == "is larger than 4 MB"
        becomes(b"")
        assert source_of("twice")["runs"] == []
        becomes(b"1\n2\nint twice(int n) { return 'x" + b"x" * 1000)
        (run_,) = source_of("twice")["runs"]
        assert len(run_) == 2 and len(run_[1]) == 304 and run_[1].endswith("x ...")
        becomes(b"\xff\n" * 100)
        assert source_of("twice")["runs"][0][1] == "\\xff"

    def test_other_names(self):
        """A recording names other files than sources: neither a device nor a private file is
        read."""
        record("--srcline")
        debug = Path("data/calls.dbg")
        text = debug.read_text()
        for name in ("/etc/shadow", "/proc/self/environ", "/dev/zero", "/dev/stdin", "data/info", "x/../../y.c\x1b"):
            debug.write_text(text.replace("calls.c", name))
            assert source_of("twice")["why"], name

    def test_beside_the_program(self):
        record("--srcline")
        Path("elsewhere").mkdir()
        os.chdir("elsewhere")
        os.rename("../data", "data")
        assert source_of("twice")["runs"]

    def test_much(self):
        """The page has a megabyte of source at most."""
        Path("calls.c").write_text(
            "".join(f"/* {'x' * 250} */\nvoid f{i}(void)\n{{\n" + f"/* {'y' * 250} */\n" * 50 + "}\n" for i in range(200))
            + "int main(void)\n{\n" + "".join(f"f{i}();" for i in range(200)) + "return 0;\n}\n"
        )
        run("gcc", "-g", "-O0", "-pg", "-o", "calls", "calls.c").must()
        utrail("record", "-d", "data", "--srcline", "./calls").must()
        assert dump("html", "data").stat().st_size < 1.4e6
        data = meta()
        assert 70 < len(data["sources"][0]["runs"]) < 85 and len(data["places"]) == 3 * 201

    def test_python(self):
        Path("work.py").write_text("def deco(f):\n    return f\n@deco\ndef work(\n    n\n):\n\n    return n\nwork(3)\n")
        utrail("record", "-d", "data", "--srcline", "/usr/bin/python3", "work.py").must()
        source = source_of("work")
        assert source["ends"] == [1, 2, 1, 2, 3, 8] and source["runs"][0][-1] == "    return n"


@needs_browser
class TestFunction:
    def choose(self, browser, name):  # noqa: F811
        rows = browser.find_elements("css selector", "#functions-table tbody button")
        next(row for row in rows if row.text == name).click()

    def test_source(self, browser):  # noqa: F811
        record("--srcline", "-a")
        open_page(browser, "data", "source", "#view=functions")
        self.choose(browser, "twice")
        source = browser.find_element("id", "source")
        assert source.text.startswith("Source: calls.c:3\n")
        (text,) = source.find_elements("tag name", "pre")
        assert text.text.split("\n")[2] == "5         if (n < 0) /* </script><b>&amp; \\xe2\\x80\\xae\\x1b[31m */"
        assert not source.find_elements("tag name", "b") and text.text.endswith("9 }")
        keep(browser, "source-twice")
        self.choose(browser, "one")
        assert browser.find_element("css selector", "#source pre").text == "11 int one(int n) { return n + 1; }"
        self.choose(browser, "__cxa_atexit")
        assert browser.find_element("id", "source").text == "The source line of this function is not known."

    def test_why_there_is_none(self, browser):  # noqa: F811
        record("--srcline")
        Path("calls.c").unlink()
        open_page(browser, "data", "source-gone", "#view=functions&function=twice")
        assert browser.find_element("id", "source").text == "Source: calls.c:3; it is not there."
        record()
        browser.get("about:blank")
        open_page(browser, "data", "source-none", "#view=functions&function=twice")
        assert browser.find_element("id", "source").text == "Source lines were not recorded: record --srcline does."

    def test_calls(self, browser):  # noqa: F811
        """Each step to the next call shows its arguments and result."""
        record("-a")
        open_page(browser, "data", "calls", "#view=functions&function=twice")
        said = []
        for _ in range(5):
            button(browser, "Next call").click()
            said.append(browser.find_element("id", "this-call").text.split(" took")[0])
        assert said == ["twice(0) = 0", "twice(1) = 2", "twice(2) = 4", "twice(3) = 6", "twice(0) = 0"]
        button(browser, "Previous call").click()
        assert browser.find_element("id", "this-call").text.startswith("twice(3) = 6 took")
        assert "called by main" in browser.find_element("id", "this-call").text
        # Another function is chosen, so the call is not shown any more.
        self.choose(browser, "one")
        assert browser.find_element("id", "this-call").text == ""
        button(browser, "Next call").click()
        assert browser.find_element("id", "this-call").text.startswith("one(3) = 4 took")
        button(browser, "Show in the timeline").click()
        assert browser.find_element("id", "details").text.startswith("one(3) = 4")
        button(browser, "Function").click()
        assert browser.find_element("id", "this-call").text.startswith("one(3) = 4 took")

    def test_slowest_are_jumps(self, browser):  # noqa: F811
        record("-a")
        open_page(browser, "data", "slowest", "#view=functions&function=twice")
        rows = table(browser, "#function table:nth-of-type(4)")
        assert len(rows) == 4
        for i, row in enumerate(rows):
            slowest = "#function table:nth-of-type(4) tbody button"
            wait_until(lambda: len(browser.find_elements("css selector", slowest)) == 4)
            browser.find_elements("css selector", slowest)[i].click()
            details = browser.find_element("id", "details").text
            assert details.startswith("twice(") and f"took {row[0]}" in details and f"at {row[1]}" in details
            # The list has calls of the visible part: "back" shows the whole recording again.
            browser.back()
