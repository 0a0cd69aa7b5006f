"""utrail show, when the page gets a recording in parts: the server's answers agree with the whole
page, report and graph. A recording that grows is followed."""

import contextlib
import json
import select
import socket
import struct
import subprocess
import time
from collections import Counter

import pytest

from data import Recording
from programs import Variant, build, program
from test_page import browser, driver_address, js, needs_browser, started_browser  # noqa: F401  (fixtures)
from test_page import reported, search, status, sums, tab
from test_show import open_shown, showing
from tools import LIMIT_S, UTRAIL, environment, utrail, wait_until

pytestmark = pytest.mark.skipif(" show " not in utrail("--version").out, reason="built without libmicrohttpd")

VARIANT = Variant("gcc", "pg", "O2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for name in ("threads", "recursion", "many_calls"):
        # narrow() asks for each 16 us, so a pause of some seconds would make it ask for hours.
        for _ in range(20):
            utrail("record", "-d", folder / f"{name}.data", build(program(name), VARIANT))
            if lasted_ns(folder / f"{name}.data") < 200_000_000:
                break
    return folder


def lasted_ns(directory):
    """The time from the first record of a recording to its last one."""
    times = [r.time for task in Recording(directory).tasks.values() for r in task.records]
    return max(times) - min(times)


@contextlib.contextmanager
def shown(browser, *words):
    """Show the page, and leave it before its server ends: the page would report the server's end."""
    with showing(*words) as server:
        open_shown(browser, server.address)
        yield server
        browser.get("about:blank")


def state_of(server):
    def ask():
        state = json.loads(server.get("/0/state")[1])
        return state["isDone"] and state
    return wait_until(ask)


def decode_all(data):
    """Decode the bytes that answers.c writes. Returns by task: [(start, duration, self, path of
    functions, text)], [(time, kind, text)]."""
    tasks, at = {}, 0
    while at < len(data):
        task, n, nodes, marks, has_texts, _ = struct.unpack_from("<6I", data, at)
        at += 24
        columns = []
        for kind, count in (("d", n), ("d", n), ("d", n), ("d", n * has_texts), ("d", marks), ("d", marks),
                            ("I", n), ("I", n), ("i", nodes), ("i", nodes), ("I", marks)):
            columns.append(struct.unpack_from(f"<{count}{kind}", data, at))
            at += struct.calcsize(f"<{count}{kind}")
        at += 4 * (marks % 2)
        start, dur, own, texts, times, said, ctx, _, func, parent, kinds = columns
        paths = [()]
        for node in range(1, nodes):
            paths.append((*paths[parent[node]], func[node]))
        calls = [(int(s), int(d), int(o), paths[c], int(t)) for s, d, o, c, t in zip(start, dur, own, ctx, texts or [0] * n)]
        tasks[task] = calls, [(int(time), kind, int(text)) for time, kind, text in zip(times, kinds, said)]
    return tasks


def decode(data):
    """By task: [(start, duration, self, path of functions)]"""
    return {task: [call[:4] for call in calls] for task, (calls, _) in decode_all(data).items()}


def calls_of(server, begin=0, end=10**15, width=16384, tasks=range(100)):
    answer, body = server.get(f"/0/calls?from={begin}&to={end}&width={width}&tasks={','.join(map(str, tasks))}")
    assert answer == 200
    return decode(body)


def narrow(server, state):
    """All calls, from ranges so narrow that a pixel is a nanosecond."""
    first, last = min(t["start"] for t in state["tasks"]), max(t["end"] for t in state["tasks"])
    found = {}
    for begin in range(first, last + 1, 16000):
        for task, calls in calls_of(server, begin, min(begin + 15999, last)).items():
            found.setdefault(task, set()).update(calls)
    return found


def ended(directory):
    """Returns {function: number of calls} of all tasks together, as report counts them."""
    rows = json.loads(utrail("report", "-d", directory, "--format=json", preempted=True).must().out)
    return {row["name"]: row["call"] for row in rows}


@pytest.mark.parametrize("name", ["threads", "recursion"])
def test_all_calls_are_there(folder, name):
    with showing("--parts", folder / f"{name}.data") as server:
        state = state_of(server)
        names, counts = state["functions"], Counter()
        for task, calls in narrow(server, state).items():
            assert len(calls) == state["tasks"][task]["calls"]
            assert max(len(path) for *_, path in calls) == state["tasks"][task]["depth"]
            counts.update(names[path[-1]] for *_, path in calls)
            by_path = {(start, path): (dur, own) for start, dur, own, path in calls}
            for (start, path), (dur, own) in by_path.items():
                inner = sum(d for (s, p), (d, _) in by_path.items() if p[:-1] == path and start <= s and s + d <= start + dur)
                assert own == dur - inner or len([1 for s, p in by_path if p == path]) > 1
        assert counts == ended(folder / f"{name}.data")
        assert dict(zip(names, state["calls"])) == counts


def test_functions_and_tree_are_those_of_report(folder):
    directory = folder / "threads.data"
    with showing("--parts", directory) as server:
        state = state_of(server)

        def functions(words=""):
            rows = json.loads(server.get(f"/0/functions?{words}")[1])
            return {row["name"]: (row["calls"], row["total"], row["self"]) for row in rows}

        assert functions() == reported(directory)
        base, zero = int(state["base"]), state["zero"]
        last = max(task["end"] for task in state["tasks"])
        for k in range(4):
            begin, end = zero + (last - zero) * k // 5, zero + (last - zero) * (k + 2) // 5
            clock = [f"{(base + t) // 10**9}.{(base + t) % 10**9:09}" for t in (begin, end)]
            assert functions(f"from={begin}&to={end}") == reported(directory, "-r", "~".join(clock)), k
        nodes = json.loads(server.get("/0/tree?")[1])
        counts, seen = Counter(), sum(total for depth, _, _, total in nodes if not depth) / 50000
        for _, function, calls, _ in nodes:
            counts[function] += calls
        # Calls may be missing from the picture if they are too short to be visible.
        missing = {name: calls for name, calls in ended(directory).items() if counts[name] != calls}
        assert all(counts[name] < calls and reported(directory)[name][1] <= seen * calls + 1 for name, calls in missing.items()), missing
        relatives = json.loads(server.get("/0/tree?name=main")[1])
        assert [row["name"] for row in relatives["callers"]] == [""] and relatives["callees"]
        assert json.loads(server.get("/0/tree?name=nosuch")[1]) == {"callers": [], "callees": []}


def test_many_calls_are_a_picture(folder):
    """The answer for any range has only as many calls as a picture can show."""
    with showing("--parts", folder / "many_calls.data") as server:
        state = state_of(server)
        whole = sum(task["calls"] for task in state["tasks"])
        (calls,) = calls_of(server, width=50, tasks=[0], begin=state["tasks"][0]["start"], end=state["tasks"][0]["end"]).values()
        assert 3 < len(calls) < min(whole, 50 * 8 * state["tasks"][0]["depth"])


def test_next_and_previous(folder):
    """Next and previous lead through all calls of a function in several tasks."""
    with showing("--parts", folder / "threads.data") as server:
        state = state_of(server)
        function = max(range(len(state["calls"])), key=lambda f: state["calls"][f] if state["functions"][f] != "main" else 0)
        wanted = sorted((start, task, len(path) - 1) for task, calls in narrow(server, state).items()
                        for start, _, _, path in calls if path[-1] == function)

        def walk(back):
            words = ""
            while True:
                found = json.loads(server.get(f"/0/search?functions={function}{words}{back}")[1])
                if not found:
                    return
                yield found["start"], found["task"], found["depth"]
                words = "&task={task}&at={start}&depth={depth}".format(**found)

        assert len(wanted) > 3
        assert list(walk("")) == wanted and list(walk("&back=1")) == wanted[::-1]
        assert json.loads(server.get("/0/search?functions=999,x")[1]) == {}
        assert server.get("/0/search")[0] == 400


def test_a_task_is_given_once(folder):
    """A task is in the answer once, even if the question names it thousands of times."""
    with showing("--parts", folder / "recursion.data") as server:
        state_of(server)
        once = server.get("/0/calls?from=0&to=1000000000000&tasks=0")
        assert server.get(f"/0/calls?from=0&to=1000000000000&tasks={'0,' * 5000}0") == once and once[1]


def test_questions_that_are_given_up(folder):
    """Clients that leave before the answer do not affect others."""
    directory = folder / "threads.data"
    with showing("--parts", directory) as server:
        state_of(server)
        head = f"GET /{server.token}/0/functions? HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
        gone = [server.connect() for _ in range(40)]
        for sock in gone:
            sock.sendall(head.encode())
            sock.close()
        rows = json.loads(server.get("/0/functions?")[1])
        assert {row["name"]: (row["calls"], row["total"], row["self"]) for row in rows} == reported(directory)


def has_answer(sock):
    """True when an answer has begun. A connection that was cut is readable, too, but has no
    bytes."""
    try:
        return sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except (BlockingIOError, ConnectionError):
        return False


def ask_and_end(folder):
    """Ask for 200 sums, and end the server after the first answer. Returns what it has said to each."""
    with showing("--parts", folder / "many_calls.data") as server:
        state_of(server)
        head = f"GET /{server.token}/0/%s? HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n"
        asked = []
        for k in range(200):  # all send at once: with many connections, silent ones are cut
            asked.append(server.connect())
            asked[k].sendall((head % ("tree" if k % 2 else "functions")).encode())
        wait_until(lambda: any(map(has_answer, select.select(asked, [], [], 0)[0])))
    said = []
    for sock in asked:
        with contextlib.closing(sock), contextlib.suppress(ConnectionError):
            said.append(b"".join(iter(lambda: sock.recv(1 << 20), b"")))
    return said


def test_ctrl_c_ends_sums(folder):
    """Ctrl-C ends the server without waiting for a sum in progress or for those in the queue."""
    # If this test has no CPU for long, the server may give all answers before the Ctrl-C.
    for _ in range(20):
        said = ask_and_end(folder)
        whole = [text for text in said if text.startswith(b"HTTP/1.1 200")]
        if len(whole) < 150:
            break
    # Some questions have a complete answer, and most have none.
    assert 1 <= len(whole) < 150
    assert all(json.loads(text.partition(b"\r\n\r\n")[2]) for text in whole)
    assert all(b"utrail show ends" in text for text in said if text.startswith(b"HTTP/1.1 5"))


def test_wrong_questions(folder):
    with showing("--parts", folder / "recursion.data") as server:
        state_of(server)
        for words in ["", "from=0", "from=2&to=1&tasks=0", "from=-1&to=5&tasks=0", "from=0&to=99999999999999999999&tasks=0", "from=a&to=b&tasks=0"]:
            assert server.get(f"/0/calls?{words}")[0] == 400, words
        for words in ["tasks=", "tasks=7", "tasks=-1", "tasks=99999999999999999999999", "tasks=x,0", "tasks=,,", "tasks=0&width=0", "tasks=0&width=99999999999999999999"]:
            answer, body = server.get(f"/0/calls?from=0&to=1000000000000&{words}")
            assert answer == 200 and len(decode(body)) <= 1, words
        for rest in ["/0/calls/", "/0/part", "/0/state/x", "/7/state"]:
            assert server.get(rest)[0] == 404
        for path in ("functions", "tree"):
            for words in ["from=5&to=2", "from=5", "to=5", "from=&to=5", "from=a&to=5", "from=-1&to=5", "from=0&to=99999999999999999999"]:
                assert server.get(f"/0/{path}?{words}")[0] == 400, words
            for words in ["", "from=0&to=1", "from=7&to=7"]:
                assert server.get(f"/0/{path}?{words}")[0] == 200, words
        assert server.ask("/0/state")[0] == 403


@needs_browser
class TestParts:
    def test_views(self, folder, browser):
        directory = folder / "threads.data"
        with shown(browser, "--parts", directory):
            assert js(browser, "return recording.meta.served") == "parts"
            wait_until(lambda: js(browser, "return recording.tasks.some((task) => task.n) && views.timeline.draw() > 3"))
            tab(browser, "Functions").click()
            wait_until(lambda: js(browser, "return views.functions.find().length"))
            assert sums(browser) == reported(directory)
            tab(browser, "Flame graph").click()
            wait_until(lambda: js(browser, "return views.flame.draw()") > 3)
            search(browser, "main")
            assert status(browser) == "1 call"

    def test_what_is_missing(self, folder, browser):
        """A line tells what a view does not have, and names a command that has it, with the visible
        range."""
        with shown(browser, "--parts", folder / "threads.data"):
            line = browser.find_element("id", "missing")
            assert not line.is_displayed()
            tab(browser, "Functions").click()
            wait_until(lambda: js(browser, "return views.functions.find().length"))
            assert not line.is_displayed()
            # The range is the second half of the recording. A range in its middle might have no end
            # of a call.
            js(browser, "app.change({ zoom: { from: (recording.first + recording.last) / 2, to: recording.last }, func: 'main' })")
            said, command, words = line.text.partition(" With them: utrail ")
            assert said == "In parts, without durations and slowest calls."
            wait_until(lambda: js(browser, "return views.functions.find().length"))
            seen = sums(browser)
            tab(browser, "Flame graph").click()
            assert not line.is_displayed()
            search(browser, "main")
            assert line.text.startswith("In parts, without a search in arguments and texts of events. With them: utrail show --no-parts -r ")
        name, *options = words.split()
        assert name == "show"
        with shown(browser, *options, folder / "threads.data"):
            assert js(browser, "return recording.meta.served") == "whole"
            self.check_whole(browser, seen)

    def check_whole(self, browser, seen):
        assert not browser.find_element("id", "missing").is_displayed()
        assert {name for name, (calls, *_) in sums(browser).items() if calls} >= {name for name, (calls, *_) in seen.items() if calls}

    def test_search_goes_on(self, folder, browser):
        with shown(browser, "--parts", folder / "many_calls.data"):
            search(browser, "leaf")
            selected = "const c = app.selectedCall; return c && c[0].start[c[1]]"
            places = [None]
            for _ in range(4):
                js(browser, "app.go(1)")
                places.append(wait_until(lambda: (at := js(browser, selected)) and at != places[-1] and at))
            assert places[1:] == sorted(places[1:]) and len(set(places)) == 5
            js(browser, "app.go(-1)")
            assert wait_until(lambda: js(browser, selected) == places[3])

    def test_zoom_and_selection(self, folder, browser):
        with shown(browser, "--parts", folder / "many_calls.data"):
            wait_until(lambda: js(browser, "return recording.tasks[0].n"))
            js(browser, "const t = recording.tasks[0]; app.select([t, t.rows[t.rows.length - 1][0] ?? 0])")
            before = js(browser, "const [t, i] = app.selected; return [t.start[i], t.dur[i], t.self(i)]")
            js(browser, "app.zoomTo(app.selected)")
            wait_until(lambda: js(browser, "return !recording.supplier.isAsking && recording.supplier.has === recording.supplier.asked"))
            assert js(browser, "const [t, i] = app.selected; return [t.start[i], t.dur[i], t.self(i)]") == before

    def test_the_server_ends(self, folder, browser):
        """The page reports the server's end once, and asks nothing more, whatever the user does."""
        counted = "if (!window.asked) { const put = window.fetch; window.asked = 1; window.fetch = (...a) => { window.asked++; return put(...a); }; }"
        with showing("--parts", folder / "threads.data") as server:
            open_shown(browser, server.address)
            js(browser, counted)
            tab(browser, "Functions").click()
            wait_until(lambda: js(browser, "return views.functions.find().length"))
        said = browser.find_element("id", "loading")
        # The page notices the end of the server at its next request. If there was none since, this
        # zoom causes one.
        js(browser, "app.zoomBy(0.5)")
        wait_until(lambda: said.is_displayed() and said.text == "utrail show has ended: the page keeps what it has.")
        asked = js(browser, "return window.asked")
        for view in ("Timeline", "Flame graph", "Functions"):
            tab(browser, view).click()
            js(browser, "app.zoomBy(0.7); views.draw()")
        search(browser, "leaf")
        js(browser, "app.go(1)")
        time.sleep(2.5)  # more than the pause between two requests
        assert js(browser, "return window.asked") == asked < 100
        assert said.text == "utrail show has ended: the page keeps what it has."
        # The browser itself complains of failed requests, and of nothing else.
        assert 0 < len(log := browser.get_log("browser")) < 10 and all("ERR_CONNECTION" in line["message"] for line in log)

    def test_one_that_grows(self, browser, tmp_path):
        """The page shows new calls while the program runs; at the end it has all."""
        directory = tmp_path / "grows.data"
        exe = build(program("paced"), VARIANT)
        recorder = subprocess.Popen([UTRAIL, "record", "-d", directory, exe, "await"], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            wait_until(lambda: directory.exists() and any(p.stat().st_size for p in directory.glob("*.dat")))
            with shown(browser, directory):
                assert js(browser, "return recording.meta.served") == "parts"
                before = js(browser, "return recording.calls")
                recorder.communicate(b"\n", timeout=LIMIT_S)
                final = sum(ended(directory).values())
                assert before < final
                wait_until(lambda: js(browser, "return recording.calls") == final)
        finally:
            recorder.kill()
            recorder.wait()


def test_growth_is_answered(folder, tmp_path):
    """A longer recording replaces the files: the server's answer has a new generation."""
    directory = tmp_path / "a.data"
    utrail("record", "-d", directory, build(program("recursion"), VARIANT))
    with showing("--parts", directory) as server:
        first = state_of(server)
        utrail("record", "-d", directory, build(program("threads"), VARIANT))
        wait_until(lambda: json.loads(server.get("/0/state?generation=1&known=2")[1])["generation"] > first["generation"])
        state = state_of(server)
        assert dict(zip(state["functions"], state["calls"])) == ended(directory)
