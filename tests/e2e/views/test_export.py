"""The output of `dump --format=...`, checked by programs that read these formats, and by counts:
each output must name as many calls of each function as report does."""

import collections
import csv
import io
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import pageblocks
from programs import Variant, build, program
from tools import peer, run, utrail

VARIANT = Variant("gcc", "pg", "O2")
PROGRAMS = ["plain", "recursion", "threads", "longjmp", "exceptions", "sleeps", "end_exit"]
PROTO = Path(__file__).resolve().parents[1] / "proto"
SCHEMA = Path(__file__).resolve().parents[1] / "schema"
TRACE_PROCESSOR = shutil.which("trace_processor_shell") or shutil.which("trace_processor")

# Names that need escaping in some format. A symbol file cannot hold a line break.
STRANGE = {
    "main": 'say "hi"',
    "a": "back\\slash; <b>&amp;",
    "b": "tab\there größe",
    "c": "n 12",
    "puts": "\udcff\udcfe %s",
}


def needs_sqlite():
    if "sqlite" not in utrail("--version").out.split():
        pytest.skip("this utrail was built without libsqlite3")


def needs(tool, package):
    return pytest.mark.skipif(not shutil.which(tool), reason=f"{tool} is not installed (apt-get install {package})")


@pytest.fixture(params=PROGRAMS)
def recording(request):
    """A recording with the scheduler's events. When the clocks of kernel and program differ, a wait
    may seem to end after the call that it was in, or after the task's last call. report does not
    know such a wait, so the program is recorded again."""
    for _ in range(20):
        utrail("record", "-d", "data", build(program(request.param), VARIANT))
        if "linux:sched-out" not in utrail("replay", "-d", "data", "-f", "none", preempted=True).out:
            break
    return Path("data")


@pytest.fixture
def strange_names():
    """A recording in which functions have the names of STRANGE."""
    return record_strange_names()


def record_strange_names():
    utrail("record", "--no-event", "-d", "data", build(program("plain"), VARIANT)).must()
    for path in Path("data").glob("plain.sym"):
        lines = []
        for line in path.read_text().splitlines():
            words = line.split(" ", 2)
            lines.append(" ".join([*words[:2], STRANGE.get(words[-1], words[-1])]))
        path.write_bytes(("\n".join(lines) + "\n").encode(errors="surrogateescape"))
    return Path("data")


def dump(name, directory, *options):
    """The exported file."""
    return dump_and_notes(name, directory, *options)[0]


def dump_and_notes(name, directory, *options):
    """The exported file, and the text on stderr."""
    path = Path(f"out.{name}")
    if name == "sqlite":
        needs_sqlite()
    with path.open("wb") as out:
        result = subprocess.run(
            [utrail.__globals__["UTRAIL"], "dump", f"--format={name}", "-d", directory, *options],
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert result.returncode == 0, result.stderr
    return path, result.stderr


def report(directory, *options):
    """The calls and the self time of each function, by its name."""
    text = utrail("report", "-d", directory, "--format=json", "-f", "self,call", *options, preempted=True).must().out
    return {row["name"]: (row["call"], row["self"]) for row in json.loads(text)}


def calls(directory):
    return {name: nr for name, (nr, _) in report(directory).items()}


def events_of(directory, *options):
    """The number of events of each name in the recording."""
    lines = [json.loads(line) for line in dump("jsonl", directory, *options).read_text().splitlines()]
    return collections.Counter(line["event"] for line in lines if "event" in line)


def shown_calls(directory):
    text = utrail("report", "-d", directory, "--format=csv", "-f", "call", preempted=True).must().out
    return {name: int(nr) for nr, name in list(csv.reader(io.StringIO(text)))[1:]}


def load_json(path):
    return json.loads(path.read_text())


# The count_...() functions count the calls of each function in a file.


def check_pairs(edges):
    """Check that begins and ends are in pairs, inner ones first. Calls that never return stay open.
    Returns the number of calls by function, and the open calls."""
    counts = collections.Counter()
    stacks = collections.defaultdict(list)
    last = {}
    for who, when, is_begin, name in edges:
        assert when >= last.get(who, when), "times go backwards"
        last[who] = when
        if is_begin:
            stacks[who].append(name)
            counts[name] += 1
        else:
            assert stacks[who] and stacks[who].pop() == name, f"{name} ends, but is not the innermost"
    return counts, stacks


def count_chrome(path):
    events = load_json(path)["traceEvents"]
    # speedscope cannot import a file in which pid or tid is missing.
    assert all(isinstance(e.get(key), int) for e in events for key in ("pid", "tid"))
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    edges = [
        ((e["pid"], e["tid"]), e["ts"], e["ph"] == "B", e["name"])
        for e in events
        if e["ph"] in "BE"
    ]
    assert {e[0] for e in edges} <= named
    return check_pairs(edges)[0]


def count_speedscope(path):
    data = load_json(path)
    frames = [f["name"] for f in data["shared"]["frames"]]
    total = collections.Counter()
    for profile in data["profiles"]:
        edges = [(0, e["at"], e["type"] == "O", frames[e["frame"]]) for e in profile["events"]]
        counts, stacks = check_pairs(edges)
        assert not stacks[0], "all must be closed"
        assert profile["startValue"] <= edges[0][1] and edges[-1][1] <= profile["endValue"]
        total += counts
    return total


def count_jsonl(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return collections.Counter(line["name"] for line in lines if "name" in line)


def count_graphviz(path):
    counts = collections.Counter()
    for line in path.read_text().splitlines():
        match = re.fullmatch(r'    "(?:.*)" -> "(.*)" \[xlabel = "(\d+)"\]', line)
        if match:
            counts[match[1].replace('\\"', '"').replace("\\\\", "\\")] += int(match[2])
    return counts


def decoded(path, message, proto):
    result = subprocess.run(
        ["protoc", f"--decode=p.{message}", f"--proto_path={PROTO}", proto],
        stdin=path.open("rb"),
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    text = result.stdout.decode()
    unknown = re.findall(r"^ *\d+[:{ ].*$", text, flags=re.M)
    assert not unknown, f"fields that nobody asked for: {unknown[:3]}"
    return text


def unquote(text):
    """The string that protoc has written with escapes."""
    return text.encode().decode("unicode_escape").encode("latin-1").decode()


def perfetto_edges(path):
    names, edges, sequence, iid, kind, time = {}, [], 0, None, None, 0
    for packet in decoded(path, "Trace", "perfetto.proto").split("\npacket {"):
        sequence = re.search(r"trusted_packet_sequence_id: (\d+)", packet)
        if not sequence:
            continue
        for iid, name in re.findall(r'iid: (\d+)\s+name: "(.*)"', packet):
            names[sequence[1], iid] = unquote(name)
        kind = re.search(r"type: (\w+)", packet)
        time = int(re.search(r"timestamp: (\d+)", packet)[1])
        if kind and kind[1] == "SLICE_BEGIN":
            name = names[sequence[1], re.search(r"name_iid: (\d+)", packet)[1]]
            edges.append((sequence[1], time, True, name))
        elif kind and kind[1] == "SLICE_END":
            edges.append((sequence[1], time, False, None))
    open_names = collections.defaultdict(list)
    paired = []
    for who, when, is_begin, name in edges:
        if is_begin:
            open_names[who].append(name)
        paired.append((who, when, is_begin, name if is_begin else open_names[who].pop()))
    return paired


def count_perfetto(path):
    return check_pairs(perfetto_edges(path))[0]


def count_pprof(path):
    text = decoded(path, "Profile", "profile.proto")
    strings = [unquote(s) for s in re.findall(r'^string_table: "(.*)"$', text, flags=re.M)]
    functions = dict(re.findall(r"^function {\s+id: (\d+)\s+name: (\d+)", text, flags=re.M))
    counts = collections.Counter()
    for ids, values in re.findall(r"^sample {((?:\s+location_id: \d+)+)((?:\s+value: \d+)+)", text, flags=re.M):
        leaf = re.search(r"\d+", ids)[0]
        counts[strings[int(functions[leaf])]] += int(re.search(r"\d+", values)[0])
    return counts


def count_sqlite(path):
    assert run("sqlite3", path, "PRAGMA integrity_check").must().out == "ok\n"
    rows = run("sqlite3", "-json", path, "select name, count from calls_by_function").must().out
    nesting = run(
        "sqlite3",
        path,
        "select count(*) from call c join call p on p.id = c.parent_id where c.ts < p.ts or c.depth != p.depth + 1 "
        "or c.utid != p.utid or (p.dur >= 0 and c.ts + c.dur > p.ts + p.dur)",
    )
    assert nesting.must().out == "0\n"
    return collections.Counter({row["name"]: row["count"] for row in json.loads(rows)})


def count_firefox(path):
    """The self times in Firefox' format, which has no calls; they are compared with those of
    folded."""
    data = load_json(path)
    shared = data["shared"]
    for table in ("stackTable", "frameTable", "funcTable"):
        assert {len(v) for k, v in shared[table].items() if k != "length"} == {shared[table]["length"]}
    own = collections.Counter()
    for thread in data["threads"]:
        samples = thread["samples"]
        assert len(samples["stack"]) == len(samples["time"]) == len(samples["weight"]) == samples["length"]
        for stack, weight in zip(samples["stack"], samples["weight"]):
            if stack is not None:
                func = shared["funcTable"]["name"][shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]]
                own[shared["stringArray"][func]] += round(weight * 1e6)
    return own


COUNTERS = {
    "sqlite": pytest.param(count_sqlite, marks=needs("sqlite3", "sqlite3")),
    "chrome": count_chrome,
    "speedscope": count_speedscope,
    "jsonl": count_jsonl,
    "graphviz": count_graphviz,
    "perfetto": pytest.param(count_perfetto, marks=needs("protoc", "protobuf-compiler")),
    "pprof": pytest.param(count_pprof, marks=needs("protoc", "protobuf-compiler")),
}


def params(table):
    return [
        pytest.param(name, *value.values, marks=value.marks, id=name)
        if hasattr(value, "values") and not callable(value)
        else pytest.param(name, value, id=name)
        for name, value in table.items()
    ]


@pytest.mark.parametrize(("name", "count"), params(COUNTERS))
def test_calls_are_those_of_report(recording, name, count):
    expected = collections.Counter(calls(recording))
    if name == "pprof":
        expected += events_of(recording)
    assert dict(count(dump(name, recording))) == dict(expected)


@pytest.mark.parametrize(("name", "count"), params(COUNTERS))
def test_strange_names(strange_names, name, count):
    expected = calls(strange_names)
    if name == "graphviz":
        # graphviz' text is for people: hidden characters are escaped.
        expected = shown_calls(strange_names)
    assert count(dump(name, strange_names)) == expected


@needs("sqlite3", "sqlite3")
@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_of_sqlite(name):
    """The view "functions" has the three numbers of report, also for functions that call themselves
    or never return."""
    needs_sqlite()
    # Record without the scheduler: if its clock differs from the program's, waits are shortened.
    utrail("record", "--no-event", "-d", "data", build(program(name), VARIANT))
    text = run("sqlite3", "-json", dump("sqlite", "data"), "select * from functions").must().out
    rows = json.loads(utrail("report", "-d", "data", "--format=json").must().out)
    assert {row["name"]: (row["calls"], row["total"], row["self"]) for row in json.loads(text)} == {
        row["name"]: (row["call"], row["total"], row["self"]) for row in rows
    }


# Options that hide calls. The time of a hidden call does not count for its caller.
HIDING = ["--no-libcall", "--no-event", "-D 2", "-N usleep", "-F main@depth=2", "-t 100us"]


@needs("sqlite3", "sqlite3")
@pytest.mark.parametrize("options", HIDING)
@pytest.mark.parametrize("name", ["sleeps", "exceptions", "longjmp", "end_exit"])
def test_self_times_where_calls_are_hidden(name, options):
    """The self times in SQLite are those in the lines of JSON: as report counts them, also for
    calls that never returned."""
    utrail("record", "-d", "data", build(program(name), VARIANT))
    query = "select name, calls, self from functions"
    text = run("sqlite3", "-json", dump("sqlite", "data", *options.split()), query).must().out
    expected = collections.defaultdict(lambda: [0, 0])
    for line in map(json.loads, dump("jsonl", "data", *options.split()).read_text().splitlines()):
        if "self" in line:
            expected[line["name"]][0] += 1
            expected[line["name"]][1] += line["self"]
    assert {row["name"]: [row["calls"], row["self"]] for row in json.loads(text or "[]")} == expected


class TestFolded:
    LINE = re.compile(r"[^;\n]+(;[^;\n]*)* [1-9][0-9]*")

    def test_self_times(self, recording):
        own = collections.Counter()
        for line in dump("folded", recording).read_text().splitlines():
            assert self.LINE.fullmatch(line)
            path, ns = line.rsplit(" ", 1)
            own[path.split(";")[-1]] += int(ns)
        # All but waits is compared: if the kernel's clock differs from the program's, waits are
        # shortened.
        expected = {n: s for n, (_, s) in report(recording, "--no-event").items() if s}
        own = collections.Counter()
        for line in dump("folded", recording, "--no-event").read_text().splitlines():
            path, ns = line.rsplit(" ", 1)
            own[path.split(";")[-1]] += int(ns)
        assert own == expected

    def test_strange_names(self, strange_names):
        lines = dump("folded", strange_names).read_text().splitlines()
        assert all(self.LINE.fullmatch(line) for line in lines)
        leaves = {line.rsplit(" ", 1)[0].split(";")[-1] for line in lines}
        assert {"back\\slash: <b>&amp:", "n_12", 'say "hi"', "tab\\x09here größe"} <= leaves


def test_firefox_self_times(strange_names):
    own = {name: ns for name, (_, ns) in report(strange_names).items() if ns}
    counted = count_firefox(dump("firefox", strange_names))
    assert sorted(counted.values()) == sorted(own.values())
    assert counted['say "hi"'] == own['say "hi"']


@needs("jq", "jq")
@pytest.mark.parametrize("name", ["chrome", "speedscope", "jsonl", "firefox"])
def test_jq(strange_names, name):
    run("jq", "-e", ".", dump(name, strange_names)).must()


@needs("jq", "jq")
def test_jq_counts_the_calls(recording):
    query = '[.traceEvents[] | select(.ph == "B") | .name] | group_by(.) | map({key: .[0], value: length}) | from_entries'
    assert json.loads(run("jq", query, dump("chrome", recording)).must().out) == calls(recording)
    query = '[inputs, . | select(.name) | .name] | group_by(.) | map({key: .[0], value: length}) | from_entries'
    assert json.loads(run("jq", query, dump("jsonl", recording)).must().out) == calls(recording)


@pytest.mark.parametrize("name", ["chrome", "speedscope"])
def test_schema(recording, strange_names, name):
    jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
    schema = load_json(SCHEMA / f"{name}.json")
    for directory in (recording, strange_names):
        jsonschema.validate(load_json(dump(name, directory)), schema)


@pytest.mark.skipif(not TRACE_PROCESSOR, reason="trace_processor_shell is not on the PATH: Debian has no package of it")
@pytest.mark.parametrize("name", ["perfetto", "chrome"])
def test_trace_processor(recording, name):
    query = Path("query.sql")
    query.write_text("select name, count(*) from slice group by name;")
    rows = csv.reader(run(TRACE_PROCESSOR, "-q", query, dump(name, recording)).must().out.splitlines())
    assert {row[0]: int(row[1]) for row in list(rows)[1:]} == calls(recording)


@needs("dot", "graphviz")
def test_dot(strange_names):
    """The calls in the graph that dot makes."""
    graph = json.loads(run("dot", "-Tdot_json", dump("graphviz", strange_names)).must().out)
    names = {node["_gvid"]: node["name"] for node in graph["objects"]}
    counts = collections.Counter()
    for edge in graph["edges"]:
        counts[names[edge["head"]]] += int(edge["xlabel"])
    # dot's JSON has only UTF-8, and keeps the backslashes of quotes: names are not compared.
    assert sorted(counts.values()) == sorted(calls(strange_names).values())
    assert counts['say "hi"'] == calls(strange_names)['say "hi"']


@needs("callgrind_annotate", "valgrind")
def test_callgrind(recording):
    path = dump("callgrind", recording)
    out = run("callgrind_annotate", "--auto=no", "--threshold=100", "--show-percs=no", "--tree=both", path).must()
    assert "WARNING" not in out.err
    counts = collections.Counter()
    callers = collections.Counter()
    for line in out.out.splitlines():
        match = re.fullmatch(r"\s*[\d,]+(?: \(.*\))?\s+< \?\?\?:(.*) \(([\d,]+)x\) \[.*\]", line)
        if match:
            callers[match[1]] += int(match[2].replace(",", ""))
            continue
        match = re.fullmatch(r"\s*[\d,]+\s+\*\s+\?\?\?:(.*) \[.*\]", line)
        if match:
            counts[match[1]] = sum(callers.values())
            callers.clear()
    # callgrind counts calls at their callers. Functions without a caller are missing: main(),
    # functions of threads, code before main().
    lines = [json.loads(line) for line in dump("jsonl", recording).read_text().splitlines()]
    expected = collections.Counter(line["name"] for line in lines if line.get("depth"))
    expected += events_of(recording)
    assert {name: nr for name, nr in counts.items() if nr} == expected
    total = int(re.search(r"([\d,]+) +PROGRAM TOTALS", out.out)[1].replace(",", ""))
    assert total == sum(
        int(line.rsplit(" ", 1)[1]) for line in dump("folded", recording).read_text().splitlines()
    )


def go_pprof(path, *options):
    return run("go", "tool", "pprof", *options, path, env={"HOME": Path.cwd()}).must().out


@needs("go", "golang-go")
def test_go_pprof_reads_strange_names(strange_names):
    assert 'say "hi"' in go_pprof(dump("pprof", strange_names), "-raw")


@needs("go", "golang-go")
def test_go_pprof_counts_the_calls(recording):
    options = ["-top", "-sample_index=calls", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0"]
    lines = go_pprof(dump("pprof", recording), *options).splitlines()
    rows = [line.split(None, 5) for line in lines if re.match(r" *\d+ +[\d.]+%", line)]
    assert {row[5]: int(row[0]) for row in rows} == {**calls(recording), **events_of(recording)}


def test_mermaid(strange_names):
    text = dump("mermaid", strange_names).read_text()
    body = re.search(r'<div class="mermaid"[^>]*>\nflowchart TB\n(.*)</div>', text, flags=re.S)[1]
    edge = re.compile(r'  \d+_\d+\["[^"]*"\] -->\|(\d+)\| \d+_\d+\["([^"]*)"\];')
    counts = collections.Counter()
    for line in body.splitlines():
        nr, name = edge.fullmatch(line).groups()
        counts[name] += int(nr)
    assert sorted(counts.values()) == sorted(calls(strange_names).values())


def test_filters_hold(recording):
    path = dump("chrome", recording, "--no-libcall", "-D", "2")
    names = set(count_chrome(path)) - {"linux:schedule", "linux:schedule (pre-empted)"}
    assert names == set(report(recording, "--no-libcall", "-D", "2", "--no-event"))


class TestPoints:
    """Events that are no calls: each format has them, or a message reports that it leaves them
    out."""

    NAME = "read:proc/statm"
    HAVE = ["chrome", "perfetto", "jsonl", "firefox", "sqlite", "html", "callgrind", "pprof"]
    LACK = ["flame-graph", "folded", "svg", "graphviz", "mermaid", "speedscope"]

    @pytest.fixture
    def recording(self):
        source = "int leaf(int n) { return n; }\nint main(void) { return leaf(leaf(0)); }\n"
        Path("two.c").write_text(source)
        run("gcc", "-pg", "-O0", "-o", "two", "two.c").must()
        utrail("record", "--no-event", "-T", "leaf@read=proc/statm", "-d", "data", "./two").must()
        return Path("data")

    @pytest.mark.parametrize("name", HAVE)
    def test_nothing_is_left_out(self, recording, name):
        if name == "sqlite":
            needs_sqlite()
        path, notes = dump_and_notes(name, recording)
        assert notes == b"" and self.NAME.encode() in path.read_bytes()

    @pytest.mark.parametrize("name", LACK)
    def test_what_is_left_out_is_said(self, recording, name):
        path, notes = dump_and_notes(name, recording)
        assert re.fullmatch(rf"WARN: 4 events are left out of {name}: [^\n]+\n", notes.decode())
        assert self.NAME not in path.read_text()
        # If one kind of event is chosen, only its events are counted as left out.
        _, notes = dump_and_notes(name, recording, "--Event=diff:proc/statm")
        assert b"2 events are left out" in notes
        _, notes = dump_and_notes(name, recording, "--Event=linux:task-new")
        assert b"left out" not in notes

    def test_chrome(self, recording):
        events = load_json(dump("chrome", recording))["traceEvents"]
        found = [e for e in events if e["ph"] == "i" and e["name"] == self.NAME]
        assert [(e["cat"], e["s"]) for e in found] == [("read", "t")] * 2
        assert all(e["pid"] == e["tid"] > 0 for e in found)
        assert all(set(e["args"]) == {"vmsize", "vmrss", "shared"} for e in found)
        assert all(e["args"]["vmsize"] > e["args"]["vmrss"] > 0 for e in found)
        # The event's time is between the begin and the end of its call.
        order = [e["ph"] + e["name"] for e in events if e["name"] in ("leaf", self.NAME)]
        assert order == ["Bleaf", "i" + self.NAME, "Eleaf"] * 2

    def test_firefox(self, recording):
        data = load_json(dump("firefox", recording))
        markers = data["threads"][0]["markers"]
        assert {len(v) for k, v in markers.items() if k != "length"} == {markers["length"]} == {4}
        names = [data["shared"]["stringArray"][name] for name in markers["name"]]
        assert names == [self.NAME, "diff:proc/statm"] * 2
        assert set(markers["phase"]) == {0} and set(markers["endTime"]) == {None}
        assert all(d["type"] == "Event" for d in markers["data"]) and markers["data"][0]["text"].startswith("vmsize=")

    def test_html(self, recording):
        text = dump("html", recording).read_text()
        found = pageblocks.points(text)
        assert [said.split(" ")[0] for _, said in found] == [self.NAME, "diff:proc/statm"] * 2
        assert found == sorted(found, key=lambda point: point[0])

    def test_callgrind(self, recording):
        leaf = dump("callgrind", recording).read_text().split("\nfn=leaf\n")[1].split("\n\n")[0]
        assert f"cfn={self.NAME}\ncalls=2 0\n0 0" in leaf

    @pytest.mark.parametrize("name", ["callgrind", "pprof", "folded"])
    def test_in_several_threads(self, name):
        utrail("record", "--no-event", "-T", "leaf@read=page-fault", "-d", "data", build(program("threads"), VARIANT)).must()
        results = []
        for nr in (1, 4):
            path, notes = dump_and_notes(name, "data", f"--num-thread={nr}")
            results.append((path.read_bytes(), notes))
        assert results[0] == results[1]
        assert (b"left out" in results[0][1]) == (name == "folded")


class TestPayload:
    """Arguments and results in all formats."""

    # The calls of fib() in the order of their ends: arguments and result.
    FIBS = [(f"({n})", str(r)) for n, r in ((1, 1), (0, 0), (2, 1), (1, 1), (3, 2), (1, 1), (0, 0), (2, 1), (4, 3))]

    @pytest.fixture
    def fib(self):
        source = "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nint main(void) { return fib(4) - 3; }\n"
        Path("fib.c").write_text(source)
        run("gcc", "-pg", "-O0", "-o", "fib", "fib.c").must()
        utrail("record", "-A", "fib@arg1/i32", "-R", "fib@retval/i32", "-d", "data", "./fib").must()
        return Path("data")

    def test_chrome(self, fib):
        events = [e for e in load_json(dump("chrome", fib))["traceEvents"] if e["name"] == "fib"]
        assert [e["args"] for e in events[:3]] == [{"arguments": f"({n})"} for n in (4, 3, 2)]
        assert events[-1]["args"] == {"retval": "3"}
        assert "args" not in dump("chrome", fib, "--no-args").read_text().replace('"args":{"name"', "")

    def test_jsonl(self, fib):
        lines = [json.loads(line) for line in dump("jsonl", fib).read_text().splitlines()]
        fibs = [(call["arguments"], call["retval"]) for call in lines if call.get("name") == "fib"]
        assert fibs == self.FIBS
        assert not any("arguments" in call or "retval" in call for call in lines if call.get("name") != "fib")
        assert "retval" not in dump("jsonl", fib, "--no-args").read_text()

    @needs("sqlite3", "sqlite3")
    def test_sqlite(self, fib):
        query = "select arguments, retval from slice where name = 'fib' order by ts + dur, depth desc"
        rows = json.loads(run("sqlite3", "-json", dump("sqlite", fib), query).must().out)
        assert [(row["arguments"], row["retval"]) for row in rows] == self.FIBS
        query = "select count(*) from call where arguments is not null or retval is not null"
        assert run("sqlite3", dump("sqlite", fib), query).must().out == "9\n"
        assert run("sqlite3", dump("sqlite", fib, "--no-args"), query).must().out == "0\n"

    def test_firefox(self, fib):
        data = load_json(dump("firefox", fib, "--no-event"))
        markers = data["threads"][0]["markers"]
        assert {len(v) for k, v in markers.items() if k != "length"} == {markers["length"]} == {9}
        assert {data["shared"]["stringArray"][name] for name in markers["name"]} == {"fib"}
        assert [(call["arguments"], call["retval"]) for call in markers["data"]] == self.FIBS
        assert all(start <= end for start, end in zip(markers["startTime"], markers["endTime"]))
        assert {call["type"] for call in markers["data"]} == {"Call"}
        assert {schema["name"] for schema in data["meta"]["markerSchema"]} == {"Call", "Event"}
        assert load_json(dump("firefox", fib, "--no-args", "--no-event"))["threads"][0]["markers"]["length"] == 0

    def test_calls_that_never_return(self):
        source = "#include <unistd.h>\nvoid last(int n) { _exit(n); }\nint main(void) { last(7); return 1; }\n"
        Path("last.c").write_text(source)
        run("gcc", "-pg", "-O0", "-o", "last", "last.c").must()
        utrail("record", "-A", "last@arg1/i32", "-d", "data", "./last").must(7)
        lines = [json.loads(line) for line in dump("jsonl", "data").read_text().splitlines()]
        assert [call["arguments"] for call in lines if call.get("name") == "last"] == ["(7)"]
        assert load_json(dump("firefox", "data", "--no-event"))["threads"][0]["markers"]["data"] == [{"type": "Call", "arguments": "(7)"}]

    @needs("protoc", "protobuf-compiler")
    def test_perfetto(self, fib):
        text = decoded(dump("perfetto", fib), "Trace", "perfetto.proto")
        assert re.search(r'name: "arguments"', text) and re.search(r'string_value: "\(4\)"', text)
        assert text.count('name: "retval"') == 9 == text.count('name: "arguments"')


class TestOptions:
    def test_old_names(self, strange_names):
        for name in ("chrome", "flame-graph", "graphviz", "mermaid"):
            result = utrail("dump", "-d", strange_names, f"--{name}").must()
            assert result.out == utrail("dump", "-d", strange_names, f"--format={name}").must().out
            assert result.err == f"WARN: --{name} is an old name: use --format={name}\n"

    def test_sample_time(self, strange_names):
        text = utrail("dump", "-d", strange_names, "--format=flame-graph", "--sample-time=1ns").must().out
        folded = utrail("dump", "-d", strange_names, "--format=folded").must().out
        assert text == re.sub(r"^plain;", "", folded, flags=re.M)

    def test_wrong_words(self):
        result = utrail("dump", "--format=csv")
        assert result.status == 2 and "chrome" in result.err
        result = utrail("report", "--format=chrome")
        assert result.status == 2 and "expected one of normal, html, csv" in result.err


# The peer's own formats are compared for recordings without the scheduler's events. With such
# events, the begins and ends in the peer's output may cross.


def same_as_the_peer(text, theirs):
    if theirs:
        text = re.sub(r"uftrace v0.13 \(.*?\)", "TOOL", text)
        # The peer's lines have no tid for the first thread of a process. speedscope takes these
        # lines for those of another thread.
        text = re.sub(r'("pid":(\d+)),"name"', r'\1,"tid":\2,"name"', text)
    else:
        text = re.sub(r"utrail v.*? \(.*?\)", "TOOL", text)
    # The peer writes the name of a process for each thread, although a thread is no process.
    return [line for line in text.splitlines() if '"ph":"M"' not in line]


def same_line(ours, theirs):
    """True when the lines are equal, or the peer's has lost the last digits of a number: of `main
    3704465`, which is 4 ms, it prints `main 3704`."""
    return ours == theirs or (ours.startswith(theirs) and re.search(r" \d{4,}$", theirs) and re.search(r" \d{5,}$", ours))


@pytest.mark.needs_peer
@pytest.mark.parametrize("name", ["plain", "recursion", "threads", "cplusplus", "exceptions", "ctors", "dlopen"])
@pytest.mark.parametrize("format", ["chrome", "flame-graph", "graphviz"])
def test_same_text(name, format):
    utrail("record", "--no-event", "-d", "data", build(program(name), VARIANT))
    # The peer rounds the time of each call, so it counts samples of callers twice: samples of 1 ns
    # avoid that.
    options = ["--sample-time=1ns"] if format == "flame-graph" else []
    ours = utrail("dump", "-d", "data", f"--format={format}", *options).must().out
    if format == "chrome":
        # The peer takes the time of the file `info` for the time of the recording. The file's time
        # may be a second later than the time that `info` contains.
        recorded = re.search(r'"recorded_time":"(.*)"', ours)[1]
        os.utime("data/info", (0, time.mktime(time.strptime(recorded))))
    theirs = peer("dump", "-d", "data", f"--{format}", *options).must().out
    ours, theirs = same_as_the_peer(ours, False), same_as_the_peer(theirs, True)
    if format == "flame-graph":
        assert len(ours) == len(theirs)
        assert not [pair for pair in zip(ours, theirs) if not same_line(*pair)]
    else:
        assert ours == theirs


# Time ranges: calls are open where a range begins and ends.


def own_of_lines(path):
    own = collections.Counter()
    for line in path.read_text().splitlines():
        calls_of_it, ns = line.rsplit(" ", 1)
        own[calls_of_it.split(";")[-1]] += int(ns)
    return own


def own_of_callgrind(path):
    """The self time of each function. The numbers after a call belong to the called function."""
    own, name, is_call = collections.Counter(), None, False
    for line in path.read_text().splitlines():
        if line.startswith("fn="):
            name = line[3:]
        elif re.fullmatch(r"0 \d+", line) and not is_call:
            own[name] += int(line[2:])
        is_call = line.startswith("calls=")
    return own


OWN_TIMES = {
    "folded": own_of_lines,
    "flame-graph": own_of_lines,
    "callgrind": own_of_callgrind,
    "firefox": count_firefox,
}


def clock(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


class TestRange:
    """A range of main{nap_10ms{} quick{} outer{nap_30ms{} quick{}} nap_30ms{}}, from the middle of
    a nap to the middle of another one"""

    COUNTS = {"main": 1, "outer": 1, "nap_30ms": 2, "usleep": 2, "quick": 1}

    @pytest.fixture
    def naps(self):
        utrail("record", "--no-event", "-d", "data", build(program("sleeps"), VARIANT)).must()
        lines = [json.loads(line) for line in dump("jsonl", "data").read_text().splitlines()]
        first, second = [(line["ts"], line["dur"]) for line in lines if line["name"] == "nap_30ms"]
        return [first[0] + first[1] // 2, second[0] + second[1] // 2]

    def range(self, start, stop):
        return ["-r", f"{clock(start)}~{clock(stop)}"]

    @pytest.mark.parametrize(("name", "count"), params(COUNTERS))
    def test_calls(self, naps, name, count):
        assert count(dump(name, "data", *self.range(*naps))) == self.COUNTS

    def test_begin_and_end(self, naps):
        """Open calls have the times of the range's edges, and are inside their callers."""
        start, stop = naps
        events = load_json(dump("chrome", "data", *self.range(start, stop)))["traceEvents"]
        edges = [(e["ph"], round(e["ts"] * 1000), e["name"]) for e in events if e["ph"] in "BE"]
        inside = ["main", "outer", "nap_30ms", "usleep"]
        assert edges[:4] == [("B", start, name) for name in inside]
        assert edges[-3:] == [("E", stop, name) for name in ("usleep", "nap_30ms", "main")]
        lines = [json.loads(line) for line in dump("jsonl", "data", *self.range(start, stop)).read_text().splitlines()]
        assert [(line["name"], line["depth"]) for line in lines] == [
            *[("usleep", 3), ("nap_30ms", 2), ("quick", 2), ("outer", 1)],
            *[("usleep", 2), ("nap_30ms", 1), ("main", 0)],
        ]
        assert [line["name"] for line in lines if line["ts"] == start] == ["usleep", "nap_30ms", "outer", "main"]
        assert sum(line["self"] for line in lines) == lines[-1]["dur"] == stop - start

    @pytest.mark.parametrize("name", OWN_TIMES)
    def test_self_times(self, naps, name):
        lines = [json.loads(line) for line in dump("jsonl", "data", *self.range(*naps)).read_text().splitlines()]
        expected = collections.Counter()
        for line in lines:
            expected[line["name"]] += line["self"]
        options = ["--sample-time=1ns"] if name == "flame-graph" else []
        assert OWN_TIMES[name](dump(name, "data", *self.range(*naps), *options)) == expected

    def test_texts(self, naps):
        """Pages and pictures have the calls of the range, too."""
        for name in ("mermaid", "svg", "html"):
            text = dump(name, "data", *self.range(*naps)).read_text()
            # Calls that are too narrow to be visible are not drawn.
            assert {func for func in self.COUNTS if func not in text} <= {"quick"} and "nap_10ms" not in text, name

    @pytest.mark.parametrize("options", [[], ["-T", "usleep@time=1ns"], ["-F", "main"]])
    def test_nothing_happens(self, naps, options):
        """The range has only calls that last through all of it."""
        start, stop = naps[0], naps[0] + 1000
        text = dump("jsonl", "data", *self.range(start, stop), *options).read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        assert [(line["name"], line["ts"], line["dur"]) for line in lines] == [
            (name, start, 1000) for name in ("usleep", "nap_30ms", "outer", "main")
        ]

    def test_filters(self, naps):
        """Filters treat calls that are open at the start of the range like other calls."""
        counts = [
            (["-F", "outer"], {"outer": 1, "nap_30ms": 1, "usleep": 1, "quick": 1}),
            (["-N", "outer"], {"main": 1, "nap_30ms": 1, "usleep": 1}),
            (["-D", "2"], {"main": 1, "outer": 1, "nap_30ms": 1}),
            (["--no-libcall", "-T", "quick@time=1s"], {"main": 1, "outer": 1, "nap_30ms": 2}),
        ]
        for options, expected in counts:
            assert count_chrome(dump("chrome", "data", *self.range(*naps), *options)) == expected, options

    def test_one_edge(self, naps):
        start, stop = naps
        assert count_chrome(dump("chrome", "data", "-r", f"{clock(start)}~")) == self.COUNTS
        counts = count_chrome(dump("chrome", "data", "-r", f"~{clock(stop)}"))
        assert counts == {**self.COUNTS, "nap_10ms": 1, "usleep": 3, "quick": 2, "__cxa_atexit": 1}

    def test_off_the_cpu(self):
        """If a task waits at an edge of the range, the wait is shown up to the edge, or from there
        on."""
        utrail("record", "-d", "data", build(program("sleeps"), VARIANT)).must()
        lines = [json.loads(line) for line in dump("jsonl", "data").read_text().splitlines()]
        waits = [(line["ts"], line["dur"]) for line in lines if line.get("name") == "linux:schedule"]
        if len(waits) < 2:
            pytest.skip("the kernel does not tell when tasks are off the CPU")
        start, stop = waits[0][0] + waits[0][1] // 2, waits[-1][0] + waits[-1][1] // 2
        path = dump("jsonl", "data", *self.range(start, stop))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found = [(line["ts"], line["ts"] + line["dur"]) for line in lines if line.get("name") == "linux:schedule"]
        assert len(found) == len(waits) and found[0] == (start, sum(waits[0])) and found[-1] == (waits[-1][0], stop)
        edges = load_json(dump("chrome", "data", *self.range(start, stop)))["traceEvents"]
        assert sum(e["ph"] == "B" for e in edges) == sum(e["ph"] == "E" for e in edges) == len(lines)

    def test_another_program(self):
        """exec has ended the calls of the old program, so they are not open."""
        utrail("record", "--no-event", "-d", "data", build(program("exec"), VARIANT))
        second = re.findall(r"SESS timestamp=(\d+)\.(\d+)", Path("data/task.txt").read_text())[1]
        lines = [json.loads(line) for line in dump("jsonl", "data").read_text().splitlines()]
        after = [line for line in lines if line["ts"] > int("".join(second))]
        path = dump("jsonl", "data", "-r", f"{clock(min(line['ts'] for line in after) - 1)}~")
        assert [json.loads(line) for line in path.read_text().splitlines()] == after


# All cases in one program: threads, recursion, exceptions, a child that returns through inherited
# calls, one that ends at once, a call that never returns.
MIXED = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#define FN __attribute__((noipa))
#define KEEP() __asm__ volatile("" ::: "memory")
FN void leaf() { KEEP(); }
FN int fib(int n) { if (n < 2) { leaf(); return n; } int sum = fib(n - 1) + fib(n - 2); KEEP(); return sum; }
FN void *worker(void *arg) { for (int i = 0; i < 50; i++) leaf(); fib(5); KEEP(); return arg; }
FN void thrower(int n) { if (n == 0) throw n; thrower(n - 1); KEEP(); }
FN void catcher() { try { thrower(3); } catch (int) { leaf(); } KEEP(); }
FN void give_up() { leaf(); _exit(0); }
FN void forks_and_gives_up() { if (fork() == 0) give_up(); wait(NULL); KEEP(); }
FN int forks() { int pid = fork(); if (pid == 0) fib(6); else wait(NULL); KEEP(); return pid; }
int main()
{
	pthread_t threads[2];
	for (pthread_t &thread : threads)
		pthread_create(&thread, NULL, worker, NULL);
	for (pthread_t &thread : threads)
		pthread_join(thread, NULL);
	fib(7);
	catcher();
	forks_and_gives_up();
	int pid = forks();
	catcher();
	if (pid)
		give_up();
	return 0;
}
"""


def paired(edges):
    """The times of each call: (function, total, self). A call that is open at the end ends with the
    last edge of its task."""
    edges = list(edges)
    stacks = collections.defaultdict(list)
    last = {who: when for who, when, _, _ in edges}
    found = []

    def leave(who, when):
        name, start, inner = stacks[who].pop()
        found.append((name, when - start, when - start - inner))
        if stacks[who]:
            stacks[who][-1][2] += when - start

    for who, when, is_begin, name in edges:
        if is_begin:
            stacks[who].append([name, when, 0])
        else:
            leave(who, when)
    for who, stack in stacks.items():
        while stack:
            leave(who, last[who])
    return found


def sums(found):
    """By function: [calls, self time]"""
    rows = collections.defaultdict(lambda: [0, 0])
    for name, _, own in found:
        rows[name][0] += 1
        rows[name][1] += own
    return dict(rows)


@pytest.fixture
def mixed():
    Path("mixed.cc").write_text(MIXED)
    run("g++", "-pg", "-O2", "-o", "mixed", "mixed.cc", "-lpthread").must()
    utrail("record", "--no-event", "-d", "data", "./mixed").must()
    return Path("data")


class TestTotals:
    """The calls and self times of each format are report's. The scheduler's events are left out: if
    its clock differs from the program's, waits are shortened."""

    def rows(self, directory):
        rows = {name: list(row) for name, row in report(directory).items()}
        # Two tasks return from calls that one has entered: the child of fork() inherits them.
        assert rows["main"][0] == rows["forks"][0] == 2 and rows["fork"][0] == 4 and rows["fib"][0] == 41 + 2 * 15 + 25
        assert rows["thrower"][0] == 3 * 4 and rows["give_up"][0] == 2 and rows["forks_and_gives_up"][0] == 1
        return rows

    @needs("sqlite3", "sqlite3")
    def test_sqlite(self, mixed):
        text = run("sqlite3", "-json", dump("sqlite", mixed), "select * from functions").must().out
        rows = json.loads(utrail("report", "-d", mixed, "--format=json").must().out)
        assert {row["name"]: (row["calls"], row["total"], row["self"]) for row in json.loads(text)} == {
            row["name"]: (row["call"], row["total"], row["self"]) for row in rows
        }

    @needs("jq", "jq")
    def test_jsonl(self, mixed):
        query = "[inputs, . | select(.name)] | group_by(.name) | map({key: .[0].name, value: [length, (map(.self) | add)]}) | from_entries"
        assert json.loads(run("jq", query, dump("jsonl", mixed)).must().out) == self.rows(mixed)

    @needs("jq", "jq")
    def test_chrome(self, mixed):
        query = '.traceEvents[] | select(.ph == "B" or .ph == "E") | [.tid, (.ts * 1000 | round), .ph == "B", .name]'
        lines = run("jq", "-c", query, dump("chrome", mixed)).must().out.splitlines()
        assert sums(paired(map(json.loads, lines))) == self.rows(mixed)

    @needs("jq", "jq")
    @pytest.mark.parametrize("levels", [1, 2, 3, 4])
    def test_levels_of_a_forked_child(self, mixed, levels):
        """-D counts from the first call of a forked child, and not from the calls that it was forked in."""
        query = '.traceEvents[] | select(.ph == "B" or .ph == "E") | [.tid, (.ts * 1000 | round), .ph == "B", .name]'
        lines = run("jq", "-c", query, dump("chrome", mixed, "-D", str(levels))).must().out.splitlines()
        found = {name: nr for name, (nr, _) in sums(paired(map(json.loads, lines))).items()}
        assert found == {name: row[0] for name, row in report(mixed, "-D", str(levels)).items()}

    @needs("jq", "jq")
    def test_speedscope(self, mixed):
        query = (
            ". as $all | .profiles | to_entries[] | .key as $n | .value.events[] | "
            '[$n, .at, .type == "O", $all.shared.frames[.frame].name]'
        )
        lines = run("jq", "-c", query, dump("speedscope", mixed)).must().out.splitlines()
        assert sums(paired(map(json.loads, lines))) == self.rows(mixed)

    @needs("protoc", "protobuf-compiler")
    def test_perfetto(self, mixed):
        assert sums(paired(perfetto_edges(dump("perfetto", mixed)))) == self.rows(mixed)

    @needs("go", "golang-go")
    @pytest.mark.parametrize(("index", "column"), [("calls", 0), ("wall", 1)])
    def test_pprof(self, mixed, index, column):
        options = ["-top", f"-sample_index={index}", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", "-unit=ns"]
        lines = go_pprof(dump("pprof", mixed), *options).splitlines()
        rows = [line.split(None, 5) for line in lines if re.match(r" *\d+(ns)? +[\d.]+%", line)]
        found = {row[5]: int(row[0].removesuffix("ns")) for row in rows}
        expected = {name: row[column] for name, row in self.rows(mixed).items()}
        assert {name: nr for name, nr in found.items() if nr} == {name: nr for name, nr in expected.items() if nr}

    @needs("callgrind_annotate", "valgrind")
    def test_callgrind(self, mixed):
        path = dump("callgrind", mixed)
        out = run("callgrind_annotate", "--auto=no", "--threshold=100", "--show-percs=no", path).must().out
        rows = re.findall(r"^ *([\d,]+) +\?\?\?:(.*) \[.*\]$", out, flags=re.M)
        expected = {name: own for name, (_, own) in self.rows(mixed).items() if own}
        assert {name: int(own.replace(",", "")) for own, name in rows if own != "0"} == expected
        # The format of callgrind has the number of calls with each caller, so the calls of
        # functions without a caller are missing.
        called = collections.Counter()
        for name, nr in re.findall(r"^cfn=(.*)\ncalls=(\d+) ", path.read_text(), flags=re.M):
            called[name] += int(nr)
        outermost = {"main", "worker", "__cxa_atexit"}
        expected = {name: nr for name, (nr, _) in self.rows(mixed).items() if name not in outermost}
        assert {name: nr for name, nr in called.items() if name not in outermost} == expected

    @pytest.mark.parametrize("name", ["folded", "flame-graph", "firefox"])
    def test_self_times(self, mixed, name):
        options = ["--sample-time=1ns"] if name == "flame-graph" else []
        found = OWN_TIMES[name](dump(name, mixed, *options))
        assert found == {name: own for name, (_, own) in self.rows(mixed).items() if own}

    @needs("dot", "graphviz")
    def test_graphviz(self, mixed):
        graph = json.loads(run("dot", "-Tdot_json", dump("graphviz", mixed)).must().out)
        names = {node["_gvid"]: node["name"] for node in graph["objects"]}
        counts = collections.Counter()
        for edge in graph["edges"]:
            counts[names[edge["head"]]] += int(edge["xlabel"])
        assert counts == {name: nr for name, (nr, _) in self.rows(mixed).items()}

    def test_mermaid(self, mixed):
        edges = re.findall(r'-->\|(\d+)\| \d+_\d+\["([^"]*)"\];', dump("mermaid", mixed).read_text())
        counts = collections.Counter()
        for nr, name in edges:
            counts[name] += int(nr)
        assert counts == {name: nr for name, (nr, _) in self.rows(mixed).items()}
