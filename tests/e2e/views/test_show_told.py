"""Pages of utrail show that get a recording in parts. Their arguments, events, processes, sources
and losses are those of a page that has the whole recording."""

import json
import subprocess

import pytest

from test_page import browser, driver_address, js, keep, needs_browser, started_browser  # noqa: F401  (fixtures)
from test_page import button, open_page, search, status, tab
from test_page_odd import record_with_gap
from test_show import open_shown, showing
from test_show_parts import decode_all, narrow, shown, state_of
from tools import UTRAIL, environment, run, utrail, wait_until

pytestmark = pytest.mark.skipif(" show " not in utrail("--version").out, reason="built without libmicrohttpd")

PROGRAM = r"""#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* </script><script>alert(1)</script> */
__attribute__((noinline)) size_t length(const char *text) { return strlen(text); }
__attribute__((noinline)) int down(int n)
{
	return n ? down(n - 1) + 1 : 0;
}
int main(int argc, char **argv)
{
	size_t all = 0;

	for (int i = 1; i < argc; i++)
		all += length(argv[i]);
	if (fork() == 0)
		execl("/bin/true", "true", "<img src=x onerror=alert(1)>", (char *)0);
	wait(0);
	for (int i = 0; i < 30; i++)
		all += down(i % 5);
	return all == 0;
}
"""
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\x1b[31mred\x07", "\u202eright", '"\\\n', "x" * 3000, "\xff\xfe"]

# All data of a page about its tasks.
TOLD = """return recording.tasks.map((task) => [task.tid, task.info.points,
    [...task.start].map((start, i) => [start, task.dur[i], task.depth(i), recording.names[task.func(i)],
        task.text && task.text[i] ? recording.text(task.text[i]) : ""]),
    [...task.pointTime].map((time, k) => [time, recording.kinds[task.pointKind[k]].name, recording.text(task.pointText[k])])])"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("told")
    (folder / "told.c").write_text(PROGRAM)
    run("gcc", "-g", "-O0", "-pg", "-o", folder / "told", folder / "told.c").must()
    utrail("record", "-d", folder / "told.data", "--proc", "--srcline", "-a", "-A", "length@arg1/s", "-T", "down@read=proc/statm",
           "--no-libcall", folder / "told", *HOSTILE)
    return folder / "told.data"


def texts_of(server, state, numbers):
    numbers, texts = sorted(set(numbers)), {}
    for at in range(0, len(numbers), 64):
        some = numbers[at:at + 64]
        answer, body = server.get(f"/0/texts?generation={state['generation']}&of={','.join(map(str, some))}")
        assert answer == 200
        texts.update(zip(some, json.loads(body), strict=True))
    return texts


def told_in_parts(server, state):
    """The data of TOLD, from the server's answers."""
    calls, points = {}, {}
    first, last = min(t["start"] for t in state["tasks"]), max(t["end"] for t in state["tasks"])
    for begin in range(first, last + 1, 16000):
        end = min(begin + 15999, last)
        answer, body = server.get(f"/0/calls?from={begin}&to={end}&width=16384&tasks={','.join(map(str, range(100)))}")
        assert answer == 200
        for task, (some, marks) in decode_all(body).items():
            calls.setdefault(task, set()).update(some)
            points.setdefault(task, set()).update(marks)
    texts = texts_of(server, state, [c[4] for t in calls.values() for c in t if c[4]] + [p[2] for t in points.values() for p in t])
    texts[0] = ""
    kinds, names = state["kinds"], state["functions"]
    return [[info["tid"], info["points"],
             sorted([start, dur, len(path) - 1, names[path[-1]], texts[text]] for start, dur, _, path, text in calls[task]),
             sorted([time, kinds[depth % 4096]["name"], texts[text]] for time, depth, text in points[task])]
            for task, info in enumerate(state["tasks"])]


def press(browser, name):  # noqa: F811
    """Press a button of the bottom line, which each answer of the server makes anew."""
    js(browser, "[...document.querySelectorAll('#details button')].find((b) => b.textContent === arguments[0]).click()", name)


@needs_browser
def test_the_same_is_told(directory, browser):  # noqa: F811
    """The parts have each call with its arguments and result, each event with its values,
    processes, and source lines."""
    open_page(browser, directory, "told-whole")
    whole = [[tid, nr, sorted(calls), sorted(points)] for tid, nr, calls, points in js(browser, TOLD)]
    kinds = js(browser, "return recording.kinds")
    sources = js(browser, "return recording.names.map((name, f) => [name, recording.sources.of(f)])")
    executions = js(browser, "return recording.meta.executions")
    with showing("--parts", directory) as server:
        state = state_of(server)
        assert told_in_parts(server, state) == whole
        assert state["kinds"] == kinds and state["hasProcesses"] and state["leftOut"] == state["lost"] == 0
        assert json.loads(server.get("/0/processes")[1]) == executions
        assert b"<script" not in server.get("/0/sources")[1]
        open_shown(browser, server.address)
        wait_until(lambda: js(browser, "return recording.sources.places.size && recording.lanes.n"))
        known = {name: source for name, source in js(browser, "return recording.names.map((name, f) => [name, recording.sources.of(f)])")}
        assert all(known[name] == source for name, source in sources if source)
        assert js(browser, "return recording.meta.executions") == executions
        browser.get("about:blank")
    said = [text for _, _, calls, _ in whole for *_, text in calls]
    assert any("onerror" in text for text in said) and any("x" * 90 in text for text in said) and "(3) = 3" in said
    assert not any(c in text for text in said for c in "\x1b\u202e\n\x07")
    assert len([source for _, source in sources if source and source["lines"]]) >= 3 and len(executions) >= 2


@needs_browser
class TestPage:
    def test_arguments_and_source(self, directory, browser):  # noqa: F811
        """The bottom line and the chosen function show the call's values when the server has sent
        them."""
        with shown(browser, "--parts", directory):
            search(browser, "length")
            wait_until(lambda: status(browser) == f"{len(HOSTILE)} calls")
            js(browser, "app.go(1)")
            wait_until(lambda: browser.find_element("id", "details").text.startswith('length("</script><script>alert(1)</script>") = 34'))
            press(browser, "Function")
            said = "return document.getElementById(arguments[0])?.textContent || ''"
            wait_until(lambda: "size_t length(const char *text)" in js(browser, said, "source"))
            wait_until(lambda: js(browser, said, "this-call").startswith('length("</script>'))
            keep(browser, "parts-function")
            assert browser.find_element("id", "missing").text.startswith("In parts, without a search in arguments")
            js(browser, "app.change({ search: '' })")
            assert browser.find_element("id", "missing").text.startswith("In parts, without durations and slowest calls.")

    def test_events(self, directory, browser):  # noqa: F811
        """Each kind has marks with their values; steps lead through all events; a kind whose box is
        cleared is not found."""
        with shown(browser, "--parts", directory):
            wait_until(lambda: js(browser, "return recording.tasks.some((t) => t.pointTime.length)"))
            assert not browser.find_element("id", "missing").is_displayed()
            keep(browser, "parts-events")
            task = js(browser, "return recording.tasks.findIndex((t) => t.pointTime.length)")
            kind = "read:proc/statm"
            js(browser, """const task = recording.tasks[arguments[0]], kind = recording.kinds.findIndex(({ name }) => name === arguments[1]);
                app.selectEvent({ task, at: task.pointKind.indexOf(kind) })""", task, kind)
            said = browser.find_element("id", "details")
            wait_until(lambda: said.text.startswith(f"{kind} (") and " …" not in said.text.split(")")[0])
            places = "const { task, at } = app.event; return [task.pointTime[at], task.pointKind[at]]"
            seen = [js(browser, places)]
            for _ in range(5):
                press(browser, "Next event")
                seen.append(wait_until(lambda: (at := js(browser, places)) != seen[-1] and at))
            assert [time for time, _ in seen] == sorted({time for time, _ in seen}) and len({k for _, k in seen}) == 1
            # The event stays selected in other pictures, where it is one of many at its place.
            js(browser, "app.zoomBy(0.01)")
            wait_until(lambda: js(browser, "return !recording.supplier.isAsking && recording.supplier.has === recording.supplier.asked"))
            js(browser, "app.change({ zoom: null })")
            wait_until(lambda: js(browser, "return !recording.supplier.isAsking && recording.supplier.has === recording.supplier.asked"))
            assert js(browser, places) == seen[-1]
            press(browser, "Previous event")
            wait_until(lambda: js(browser, places) == seen[-2])
            button(browser, "Events").click()
            browser.find_element("css selector", f"#kinds input[data-kind='{kind}']").click()
            assert js(browser, "return app.event") is None
            wait_until(lambda: button(browser, "Events (1 hidden)"))

    def test_processes(self, directory, browser):  # noqa: F811
        with shown(browser, "--parts", directory):
            wait_until(lambda: js(browser, "return recording.lanes.n"))
            wait_until(lambda: tab(browser, "Processes").is_displayed())
            tab(browser, "Processes").click()
            assert js(browser, "return views.processes.draw()") >= 2
            assert "true <img src=x onerror=alert(1)>" in browser.find_element("id", "summary").text
            keep(browser, "parts-processes")
            search(browser, "true")
            assert status(browser).startswith("1 execution")


def test_wrong_questions(directory):
    """Questions with numbers of no text, or of another generation."""
    with showing("--parts", directory) as server:
        generation = state_of(server)["generation"]
        assert server.get("/0/texts")[0] == 400
        for words in ["of=", "of=x", "of=-1", "of=0", "of=99999999999999999999999", "of=18446744073709551615", f"of={'1,' * 9000}"]:
            answer, body = server.get(f"/0/texts?generation={generation}&{words}")
            texts = json.loads(body)
            assert answer == 200 and len(texts) <= 64 and (not any(texts) or "1," in words), words
        assert json.loads(server.get(f"/0/texts?generation={generation + 1}&of=1")[1]) == []
        # The answer is JSON of a bounded length, whatever the question.
        for at in range(1, 2000, 13):
            answer, body = server.get(f"/0/texts?generation={generation}&of={','.join(str(at + k) for k in range(64))}")
            assert answer == 200 and all(len(text) < 300000 for text in json.loads(body))
        for words in ["kinds=", "kinds=999", "kinds=x", "kinds=0&at=x"]:
            assert server.get(f"/0/search?{words}")[0] == 200
        for rest in ["/0/texts/", "/0/processes/x", "/0/sources/x", "/0/progress/x"]:
            assert server.get(rest)[0] == 404
        for path in ["texts?of=1", "processes", "sources", "progress"]:
            assert server.ask(f"/0/{path}")[0] == 403
            assert server.get(f"/0/{path}", Host="evil.example")[0] == 403 and server.get(f"/0/{path}", Origin="https://evil.example")[0] == 403
        assert json.loads(server.get("/0/progress")[1]) == {"part": -1}


def test_those_who_leave_end_their_sums(directory):
    """Fifty clients leave while their sums are made; a client after them is answered."""
    with showing("--parts", directory) as server:
        state_of(server)
        whole = server.get("/0/tree?")
        gone = [server.connect() for _ in range(50)]
        for k, sock in enumerate(gone):
            path = ["tree?", "functions?", f"texts?generation=1&of={k}", "calls?from=0&to=99999999999&tasks=0,1"][k % 4]
            sock.sendall(f"GET /{server.token}/0/{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
            sock.close()
        assert server.get("/0/tree?") == whole
        assert wait_until(lambda: json.loads(server.get("/0/progress")[1])["part"] == -1)


@needs_browser
def test_lost_records(browser):  # noqa: F811
    record_with_gap("data")
    with shown(browser, "--parts", "data"):
        wait_until(lambda: "20 records lost" in browser.find_element("id", "about").text)
        wait_until(lambda: js(browser, "return recording.tasks[0].pointTime.length") == 1)
        assert js(browser, "return [recording.calls, recording.kinds]") == [41, [{"name": "lost records", "count": 1}]]
        search(browser, "lost")
        assert status(browser) == "0 calls, 1 event"
        js(browser, "app.go(1)")
        wait_until(lambda: browser.find_element("id", "details").text.startswith("lost records (20)"))


@needs_browser
def test_one_that_grows(browser, tmp_path):  # noqa: F811
    """A page that is open gets the arguments of new calls, too."""
    (tmp_path / "waits.c").write_text("#include <unistd.h>\nint f(int n) { return n; }\n"
                                      "int main(void) { char c; f(1); read(0, &c, 1); for (int i = 2; i < 90; i++) f(i); return 0; }\n")
    run("gcc", "-g", "-pg", "-O0", "-o", tmp_path / "waits", tmp_path / "waits.c").must()
    directory = tmp_path / "grows.data"
    recorder = subprocess.Popen([UTRAIL, "record", "-a", "-d", directory, tmp_path / "waits"], env=environment(),
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        wait_until(lambda: directory.exists() and any(p.stat().st_size for p in directory.glob("*.dat")))
        with shown(browser, directory):
            recorder.communicate(b"x", timeout=60)
            search(browser, "/^f$/")
            wait_until(lambda: status(browser).startswith("89 calls"))
            js(browser, "app.go(-1)")
            wait_until(lambda: browser.find_element("id", "details").text.startswith("f(89) = 89"))
    finally:
        recorder.kill()
        recorder.wait()
