"""Executions in exports: slices on tracks of their processes, with the command, the directory, and
the end."""

import json
import os
import re
from pathlib import Path

import pytest

from test_export import decoded, dump, load_json, needs, unquote
from tools import utrail

# make runs a program that fails, one that is killed, and two that run at the same time and wait for
# each other.
MAKEFILE = """
all: failed killed first second
failed:
\t-sh -c 'exit 3'
killed:
\t-sh -c 'kill -9 $$$$'
first second: fifo
\tcat fifo$@ > /dev/null & echo '<b>"$@' > fifo$@; wait
fifo:
\tmkfifo fifofirst fifosecond
"""
STRANGE = b'a "b"\n</script><b>\xff'


@pytest.fixture
def build(workdir):
    """Record into "data" a make whose programs end in all kinds of ways."""
    Path("Makefile").write_text(MAKEFILE)
    utrail("build", "-d", "data", "--", "make", "-j2").must()
    return Path("data")


def executions(directory):
    """The executions as `utrail build --as=json` has them: pid, argv, status or signal, start, and
    duration."""
    rows = json.loads(utrail("build", "-d", directory, "--as=json").must().out)
    return sorted((e["pid"], e["v"], e.get("signal") or e.get("!"), e["s"], e["e"]) for e in rows)


def rounded(slices):
    """The slices with times since the first of them, in ns."""
    first = min(s[3] for s in slices)
    return sorted((pid, argv, end, round(start - first), round(dur)) for pid, argv, end, start, dur in slices)


def ns(microseconds):
    """The number is read as text: JSON's numbers have 53 bits, which cannot hold the nanoseconds
    of an uptime of 105 days."""
    whole, _, part = microseconds.partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0"))


def chrome_slices(path):
    events = json.loads(path.read_text(), parse_float=ns)["traceEvents"]
    of_all = [e for e in events if e.get("cat") == "execution"]
    begins, ends = ([e for e in of_all if e["ph"] == ph] for ph in "be")
    assert [(e["pid"], e["id2"], e["name"]) for e in begins] == [(e["pid"], e["id2"], e["name"]) for e in ends]
    named = {e["pid"] for e in events if e["name"] == "process_name"}
    assert {e["pid"] for e in begins} <= named
    slices = []
    for begin, end in zip(begins, ends):
        args = begin["args"]
        slices.append((begin["pid"], args["argv"], args.get("signal") or args.get("status"), begin["ts"], end["ts"] - begin["ts"]))
    return slices


def perfetto_slices(path):
    parents, names, slices = {}, {}, []
    for packet in decoded(path, "Trace", "perfetto.proto").split("\npacket {"):
        number = {key: int(value) for key, value in re.findall(r"(\w+): (\d+)", packet)}
        if 'name: "executions"' in packet:
            parents[number["uuid"]] = number["parent_uuid"] & 0xFFFFFFFF
        elif "process {" in packet:
            names[number["pid"]] = re.search(r'process_name: "(.*)"', packet)[1]
        elif number.get("track_uuid") in parents and "SLICE_BEGIN" in packet:
            argv = re.search(r'name: "argv"\n(.*?)\n    }\n', packet, flags=re.S)[1]
            end = re.search(r'int_value: (\d+)\n +name: "(?:status|signal)"', packet)
            slices.append([parents[number["track_uuid"]], [unquote(a) for a in re.findall(r'string_value: "(.*)"', argv)],
                           int(end[1]) if end else None, number["timestamp"]])
        elif number.get("track_uuid") in parents:
            slices[-1].append(number["timestamp"] - slices[-1][3])
    assert {s[0] for s in slices} <= set(names) and "?" not in names.values()
    return slices


def test_chrome(build):
    slices = chrome_slices(dump("chrome", build))
    assert rounded(slices) == executions(build)
    ends = {tuple(argv): end for _, argv, end, _, _ in slices}
    assert ends["sh", "-c", "exit 3"] == 3 and ends["sh", "-c", "kill -9 $$"] == 9


@needs("protoc", "protobuf-compiler")
def test_perfetto(build):
    assert rounded(perfetto_slices(dump("perfetto", build))) == executions(build)


def test_chrome_is_valid_with_strange_arguments(workdir):
    utrail("build", "-d", "data", "--", "/bin/echo", os.fsdecode(STRANGE)).must()
    path = dump("chrome", Path("data"))
    (execution,) = chrome_slices(path)
    assert execution[1][1] == 'a "b"\n</script><b>\ufffd'
    jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
    jsonschema.validate(load_json(path), json.loads((Path(__file__).parents[1] / "schema" / "chrome.json").read_text()))


def test_what_is_chosen_holds_for_executions(build):
    pid = executions(build)[0][0]
    assert {s[0] for s in chrome_slices(dump("chrome", build, "--tid", str(pid)))} == {pid}
    first, *_, last = sorted(executions(build), key=lambda e: e[3])
    until = f"{last[3] // 2}ns"
    cut = rounded(chrome_slices(dump("chrome", build, "-r", f"~{until}")))
    assert [e[3] for e in cut] and 0 < len(cut) < len(executions(build))
    (make,) = (e for e in cut if e[:2] == first[:2])
    assert make[4] == last[3] // 2 and make[2] is None
