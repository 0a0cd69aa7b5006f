"""Importing logs of declared events: every line comes back as it was, and lines that are not in the
log's form are reported."""

import datetime
import json
import random
import re
import struct
from pathlib import Path

import pytest

import tools
from tools import peer, utrail

TIME = "2026-11-23 09:30:01.0000"


def write(name, *lines, end="\n"):
    Path(name).write_text("".join(line + end for line in lines))
    return name


def load(*words, status=0):
    result = utrail("events", "import", *words)
    assert result.status == status, result.err
    return result


def back(*words):
    return utrail("events", "export", "--as=fstrace", *words).must().out


REQUESTS = [
    f"{TIME}42 HTTP-REQUEST PID=12 UID=17 PATH=/index.html",
    f"{TIME}42 HTTP-REPLY PID=12 UID=17 STATUS=200",
    f"{TIME}41 HTTP-REQUEST PID=13 TID=139872034000000 UID=18 PATH=%00",
    f"{TIME}50 HTTP-REQUEST PID=13 TID=139872034000001 UID=19 PATH=",
    f"{TIME}51 QUIET ",
    f"{TIME}52 QUIET  two  blanks ",
]


def test_back_again(workdir):
    write("a.log", *REQUESTS)
    result = load("a.log")
    assert result.out == "6 events of 3 kinds in 4 tasks are in 'uftrace.data', 0 lines were left out\n" and result.err == ""
    assert back() == Path("a.log").read_text()
    shown = utrail("events", "show").must().out.splitlines()
    assert [line.split("[")[1] for line in shown[:4]] == [
        "    12] trace:HTTP-REQUEST PID=12 UID=17 PATH=/index.html", "    12] trace:HTTP-REPLY PID=12 UID=17 STATUS=200",
        "    13] trace:HTTP-REQUEST PID=13 TID=139872034000000 UID=18 PATH=%00", "4194305] trace:HTTP-REQUEST PID=13 TID=139872034000001 UID=19 PATH="]
    events = json.loads(utrail("events", "export", "--as=json").must().out)
    assert events[0]["args"] == {"PID": "12", "UID": "17", "PATH": "/index.html"}
    assert (events[3]["pid"], events[3]["tid"]) == (13, 4194305)
    assert back("--tid", "12") == "".join(line + "\n" for line in REQUESTS[:2])
    assert back("-E", "trace:QUIET") == "".join(line + "\n" for line in REQUESTS[4:])


def test_views(workdir):
    """utrail's commands and Debian's uftrace show the events, though no function is around them."""
    write("a.log", *REQUESTS)
    load("a.log")
    assert "/* trace:HTTP-REQUEST (PID=12 UID=17 PATH=/index.html) */" in utrail("replay").must().out
    assert "HTTP-REPLY" in utrail("dump").must().out and "HTTP-REPLY" in utrail("dump", "--format=chrome").must().out
    utrail("report").must()
    assert "12(a), 13(a)" in utrail("info").must().out
    if tools.PEER:
        for words in (["replay"], ["dump"]):
            assert "trace:HTTP-REPLY" in peer(*words, "-d", "uftrace.data").must().out
        peer("report", "-d", "uftrace.data").must()


def test_what_is_wrong(workdir):
    write("a.log", f"{TIME}42 A X=1", "no line", "9999-01-01 00:00:00.000000 A X=2", "1969-12-31 23:59:59.999999 A X=3", f"{TIME}43 A X=4")
    with open("a.log", "ab") as out:
        out.write(f"{TIME}44 A \x1b[31m\n{TIME}44 A\0B X\n{TIME}45 A X=5".encode())
    result = load("a.log", status=1)
    assert result.err.splitlines() == [
        "WARN: a.log:2:1: expected a time of the form YYYY-MM-DD hh:mm:ss.dddddd",
        "WARN: a.log:3:1: no record can have a time before 1970 or after 2262",
        "WARN: a.log:4:1: no record can have a time before 1970 or after 2262",
        "WARN: a.log:6:30: a byte that is not printable ASCII",
        "WARN: a.log:7:29: a byte that is not printable ASCII in the event's name",
        "WARN: a.log:8:33: the line has no end"]
    assert result.out.startswith("2 events of 1 kinds in 1 tasks are in") and result.out.endswith("6 lines were left out\n")
    assert back() == f"{TIME}42 A X=1\n{TIME}43 A X=4\n"


def test_nothing_to_import(workdir):
    """No recording is made from a missing file, or from a file without any line of a log. An
    existing recording stays."""
    write("a.log", f"{TIME}42 A X=1")
    load("a.log")
    write("none.log", "no line")
    result = load("none.log", status=1)
    assert "no line of the given files is a line of a log" in result.err
    assert "cannot open 'nowhere.log'" in load("a.log", "nowhere.log", status=1).err
    assert "'a.log' is given twice" in load("a.log", "a.log", status=2).err
    assert back() == f"{TIME}42 A X=1\n"
    assert not Path("uftrace.data.old").exists()


def test_rotated(workdir):
    """Files of one log are ordered by the times in their names, several logs by the times of their
    lines."""
    names = ["x-2025-12-31T23:59:59.999999.log", "x-2026-11-23T09:30:01.000000.log", "x.log"]
    for nr, name in enumerate(names):
        write(name, f"{TIME}4{nr} A FILE={nr}", f"{TIME}4{nr} A FILE={nr} AGAIN=true")
    write("y.log", f"{TIME}41 B Y=1", f"{TIME}59 B Y=2")
    load("y.log", *reversed(names))
    assert re.findall(r"(?:FILE|Y)=(\d)", back()) == ["0", "0", "1", "1", "1", "2", "2", "2"]


def test_clock_is_set_back(workdir):
    """The text keeps its times, and the recording's clock never goes back."""
    lines = ["2026-11-23 09:30:01.000000 A N=1", "2026-11-23 09:30:00.999990 A N=2", "2026-11-23 08:30:01.000000 A N=3",
             "2026-11-23 08:30:02.000000 A N=4"]
    write("a.log", *lines)
    assert load("a.log").err == "WARN: a.log:3: the clock was set back: later lines are moved by as much in the recording\n"
    assert back().splitlines() == lines
    times = [float(line.split()[0]) for line in utrail("events", "show").must().out.splitlines()]
    assert times == sorted(times) and 0.9 < times[3] - times[2] < 1.1 and times[2] - times[0] < 0.1


def test_common_format(workdir):
    write("a.log", f"{TIME}42 A [12] 139872034000000 X=1", f"{TIME}43 A [x] 1 X=2")
    result = load("--common", "[%P] %T", "a.log", status=1)
    assert result.err == "WARN: a.log:2:31: expected the number of a process, as in the common format\n"
    assert "[    12] trace:A [12]" in utrail("events", "show").must().out
    assert "'%d' is no common format" in load("--common", "%d", "a.log", status=2).err
    assert "option '--common' means nothing for events check" in utrail("events", "check", "--common", "%P", "a.log").err
    assert "--into and --data exclude each other" in load("-d", "x", "--into", "y", "a.log", status=2).err


def test_into_a_recording(workdir):
    """Imported events get the times and processes of the recording they are added to, whose own
    records stay."""
    Path("p.c").write_text("#include <unistd.h>\nint main(void) { return getpid() == 1; }")
    tools.run("gcc", "-pg", "-o", "p", "p.c").must()
    utrail("record", "--no-libcall", "-d", "data", "./p").must()
    before = utrail("replay", "-d", "data", "-f", "time,tid").must().out
    pid = re.search(r"\[ *(\d+)\]", before)[1]
    info = Path("data/info").read_text(errors="replace")
    offset = int(re.search(r"utc_offset:(\d+)", info)[1])
    second = offset + int(re.search(r"(\d+)\.\d{9}", before)[1])
    when = utrail("events", "export", "-d", "data", "--as=csv").must()
    assert when.out.count("\n") == 1
    day = datetime.datetime.fromtimestamp(second + 100, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    lines = [f"{day}.000001 A PID={pid} X=1", f"{day}.000002 A PID=4194000 X=2", f"{day}.000003 B X=3"]
    write("a.log", "1980-01-01 00:00:00.000000 A PID=1", *lines)
    result = load("--into", "data", "a.log", status=1)
    assert "older than the clock of the recording" in result.err and "to the second only" in result.err
    assert back("-d", "data") == "".join(line + "\n" for line in lines)
    after = utrail("replay", "-d", "data", "-f", "time,tid").must().out
    assert after == before
    shown = utrail("events", "show", "-d", "data").must().out
    assert abs(float(shown.split()[0]) - (second - offset + 100)) < 2
    rows = utrail("events", "export", "-d", "data", "--as=csv").must().out.splitlines()
    assert [row.split(",")[1:3] for row in rows[1:]] == [[pid, "4194305"], ["4194000", "4194000"], ["4194306", "4194306"]]
    load("--into", "data", write("b.log", lines[0]))
    assert utrail("events", "list", "-d", "data").must().out.count("trace:A") == 2
    if tools.PEER:
        assert "main" in peer("replay", "-d", "data").must().out
    assert "cannot open 'nowhere'" in load("--into", "nowhere", "b.log", status=1).err


def test_into_a_clock_that_has_no_such_time(workdir):
    """A recording may claim any time of day. No event gets a time that a reader cannot have."""
    Path("p.c").write_text("int main(void) { return 0; }")
    tools.run("gcc", "-pg", "-o", "p", "p.c").must()
    utrail("record", "-d", "data", "./p").must()
    info = Path("data/info")
    info.write_bytes(re.sub(rb"utc_offset:\d+", b"utc_offset:-9000000000", info.read_bytes()))
    result = load("--into", "data", write("a.log", f"{TIME}42 A X=1"), status=1)
    assert "no record can have such a time" in result.err


def test_killed(workdir):
    """Files that a killed import has left belong to no recording, neither this one nor a later
    one."""
    write("a.log", f"{TIME}42 A X=1")
    load("a.log")
    for suffix in ("evt", "dat"):
        Path(f"uftrace.data/.4194306.{suffix}.tmp").write_bytes(b"x" * 48)
    assert back() == f"{TIME}42 A X=1\n"
    load("--into", "uftrace.data", write("b.log", f"{TIME}43 B X=2"))
    assert back() == f"{TIME}42 A X=1\n{TIME}43 B X=2\n"
    assert not list(Path("uftrace.data").glob(".*"))


def test_generated(workdir):
    """Random lines of the grammar, in random processes, threads and events, come back as they
    were."""
    rng = random.Random(16)
    letters = [chr(c) for c in range(ord("!"), ord("~") + 1)]
    us = 0
    lines = []
    for _ in range(3000):
        us = min(us + rng.choice([0, 0, 1, 300000]), 899999999)
        name = "".join(rng.choices(letters, k=rng.choice([1, 1, 2, 300])))
        body = "".join(rng.choices(letters + [" "], k=rng.choice([0, 1, 20, 3000])))
        if rng.random() < 0.5:
            body = f"PID={rng.randrange(9)} TID={rng.randrange(2 ** 64)} " + body
        lines.append(f"2026-11-23 09:{us // 60000000:02}:{us // 1000000 % 60:02}.{us % 1000000:06} {name} {body}")
    write("a.log", *lines)
    load("a.log")
    assert back() == Path("a.log").read_text()


def test_limits(workdir):
    """A line may have 64 KB. A longer line is reported, and the lines after it are read."""
    head = f"{TIME}42 A "
    write("a.log", head + "x" * (65536 - len(head)), head + "x" * (65537 - len(head)), "y" * 1000000, head)
    result = load("a.log", status=1)
    assert result.err == "".join(f"WARN: a.log:{nr}:65537: the line is longer than 65536 bytes\n" for nr in (2, 3))
    assert back().splitlines() == [head + "x" * (65536 - len(head)), head]


@pytest.mark.parametrize("payload", [b"", b"1234567", struct.pack("<q", 2 ** 62) + b"X=1", struct.pack("<q", -1) + b"\x1b[5mX=\n2"])
def test_damaged_payload(workdir, payload):
    write("a.log", f"{TIME}42 A X=1")
    load("a.log")
    path = next(Path("uftrace.data").glob("*.evt"))
    head = struct.unpack("<QIHH", path.read_bytes()[:16])
    path.write_bytes(struct.pack("<QIHH", *head[:3], len(payload)) + payload + bytes(-len(payload) % 8))
    for words in (["replay"], ["dump", "--format=jsonl"], ["events", "show"], ["events", "export", "--as=fstrace"], ["events", "export", "--as=json"]):
        assert "\x1b" not in utrail(*words).must().out
