"""Six recordings for tests that compare both tools. For each of them there are the values that the
words in braces in option_sets.py stand for."""

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from programs import CACHE, SOURCES, Variant, build, build_here, program
from tools import peer, utrail

WAY = Variant("gcc", "pg", "O2")


def sample(name):
    return lambda directory: build(program(name), WAY)


def values(directory):
    return build_here(directory, SOURCES / "args/values.c", ["gcc", "-g", "-O1", "-pg"])


@dataclass
class Made:
    """The way to make a recording, and its contents. @status is that of the recorder."""

    tool: object
    exe: object
    options: str
    words: dict
    status: int = 0


RECORDINGS = {
    "ours-threads": Made(
        utrail, sample("threads"), "--no-event", {"inner": "work", "leaf": "leaf", "library": "pthread_create", "some": "^(start|work)"}
    ),
    "ours-cplusplus": Made(
        utrail,
        sample("cplusplus"),
        "-a --srcline --no-event",
        {"inner": "shapes::Circle::Circle", "leaf": "twice", "library": "printf", "some": "^shapes"},
    ),
    "ours-spawn": Made(
        utrail,
        sample("spawn"),
        "--no-event",
        {"inner": "spawn_child", "leaf": "wait_child", "library": "waitpid", "some": "^(child|wait)"},
        6,
    ),
    "peers-plain": Made(
        peer, sample("filtered"), "--no-libcall --no-event", {"inner": "second", "leaf": "fifth", "library": "usleep", "some": "^f"}
    ),
    "peers-values": Made(
        peer,
        values,
        "-A number@arg1/i64 -A text@arg1/s,arg2/c -A ints@arg1,arg2,arg5 -A floats@fparg1/32,fparg2/64 -R number@retval -R text@retval/s --no-event",
        {"inner": "main", "leaf": "number", "library": "printf", "some": "^(ints|floats)"},
    ),
    "peers-events": Made(
        peer,
        sample("sleeps"),
        "--no-sched-preempt -T outer@read=proc/statm -T quick@read=page-fault",
        {"inner": "outer", "leaf": "quick", "library": "usleep", "some": "^nap"},
    ),
}


def made(name):
    """The directory of recording @name, which is made once for all tests."""
    made = RECORDINGS[name]
    exe = made.exe(Path.cwd())
    key = hashlib.sha256(made.options.encode() + exe.read_bytes()).hexdigest()[:12]
    place = CACHE / "same-answer" / f"{name}-{key}"
    if (place / "info").exists():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(f"{place}.{os.getpid()}")
    for _ in range(50):
        made.tool("record", *made.options.split(), "-d", scratch, exe).must(made.status)
        # Record again if the program was pre-empted: the tools name that differently (KNOWN of
        # test_interop.py). Record again, too, if it was paused so long that elapsed() has four
        # digits before the point.
        times = starts_of(scratch)[0]
        shown = [tool("dump", "--chrome", "-d", scratch, preempted=True).out for tool in (utrail, peer)]
        if times[-1] - times[0] < 900_000_000 and not any("pre-empted" in text for text in shown):
            break
    os.utime(scratch / "info", (0, 0))  # 0.13 takes this time for that of the recording
    try:
        scratch.rename(place)
    except OSError:  # another process has made it first
        shutil.rmtree(scratch)
    return place


def stamp(ns):
    return f"{ns // 10**9}.{ns % 10**9:09d}"


def elapsed(ns):
    """A text of a duration a little longer than @ns. uftrace 0.13 reads only three digits before
    the point, and three after it."""
    return f"{ns // 1000 + 1}us" if ns < 999_000 else f"{ns / 1e6 + 0.001:.3f}ms"


def starts_of(place):
    """The sorted times of a recording's calls, and the tids in the order of their first calls in
    dump."""
    starts, tids = [], []
    for line in peer("dump", "-d", place).out.splitlines():
        match = re.match(r"(\d+)\.(\d{9}) +(\d+): \[(entry|exit )", line)
        if match:
            starts.append(int(match[1]) * 10**9 + int(match[2]))
            if match[3] not in tids:
                tids.append(match[3])
    return sorted(starts), tids


def words(name):
    """The values that replace words in braces, like {tid}, in commands for recording @name."""
    place = made(name)
    starts, tids = starts_of(place)
    first, low, high = starts[0], starts[len(starts) // 4], starts[3 * len(starts) // 4]
    return {
        **RECORDINGS[name].words,
        "short": "1us",
        "long": "1ms",
        "from": stamp(low + 1),
        "to": stamp(high + 1),
        "after": elapsed(low - first),
        "before": elapsed(high - first),
        "tid": tids[-1],
        "tids": ",".join(tids[:2]),
        "other": made("ours-threads" if name == "peers-plain" else "peers-plain"),
    }
