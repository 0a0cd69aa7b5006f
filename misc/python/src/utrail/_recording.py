"""A recording: its functions, events and tasks, and facts about how it was made."""

import json
import os
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from ._calls import Calls
from ._tool import AnyPath, Error, Names, Range, Tids, Time, as_list, filters, lines_of, text_of


class Function(NamedTuple):
    """All calls of a function together. Times are in nanoseconds.

    name: of the function; events of the scheduler are there as "linux:schedule"
    calls: their number
    total: the time in it, with all that it called; recursive calls are not counted twice
    self: the time in it alone
    min, max, avg: of the total times of its calls
    self_min, self_max, self_avg: of their self times
    p50, p90, p99: so many percent of its calls took this time or less, to within one percent
    size: of its code, in bytes; 0 if unknown
    """

    name: str
    calls: int
    total: int
    self: int
    min: int
    max: int
    avg: int
    self_min: int
    self_max: int
    self_avg: int
    p50: int
    p90: int
    p99: int
    size: int


# Fields of `utrail report --format=json`, in the order of Function.
FUNCTION_KEYS = (
    "name", "call", "total", "self", "total-min", "total-max", "total-avg",
    "self-min", "self-max", "self-avg", "p50", "p90", "p99", "size",
)
FUNCTION_FIELDS = (
    "total,self,call,total-avg,total-min,total-max,self-avg,self-min,self-max,p50,p90,p99,size"
)


class Event(NamedTuple):
    """An event of the program, of its processes or of the kernel.

    name: PROVIDER:EVENT
    timestamp: in nanoseconds
    tid: the task
    pid: its process
    data: its fields by name
    text: the same as the program shows it
    """

    name: str
    timestamp: int
    tid: int
    pid: int
    data: Dict[str, Any]
    text: str


class Task(NamedTuple):
    """A thread that was recorded.

    timestamp: when it began, or when recording did, in nanoseconds
    megabytes: the size of its records
    """

    tid: int
    name: str
    timestamp: int
    megabytes: float


TASK = re.compile(r" *(\d+)\.(\d{9}) +\S* *\[ *(\d+)\] +(.*?) +(\d+\.\d+) MB *$")
INFO = re.compile(r"# (\S.*?) *: (.*)$")


class Recording:
    """A recording in a directory, which utrail.open() makes. It is read when it is asked for.

    Arguments that several methods have, each None for all:

    function: only these functions and what they call (one pattern, or several)
    notrace: not these functions, nor what they call
    depth: only calls within so many levels
    time: only calls that took so long, and their callers: nanoseconds, or a text as "1.5ms"
    range: only this part: (FROM, TO), two timestamps in nanoseconds, each of which may be None;
        or a text as "12.000000345~" or "~1.5ms", times since the start
    tids: only these tasks
    libcalls: False: without calls of library functions
    match: how the patterns are read: "regex", "glob" or "simple"

    They mean what they mean to ``utrail replay``; utrail-filter(7) has the details. Methods raise
    Error when the program refuses them, or cannot read the recording.
    """

    def __init__(self, path: AnyPath, program: str) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self._program = program
        self.info()

    def __repr__(self) -> str:
        return f"<utrail.Recording {self.path!r}>"

    def _words(self, *words: str) -> List[str]:
        return [self._program, *words, "--no-pager", f"--data={self.path}"]

    def calls(
        self,
        function: Names = None,
        notrace: Names = None,
        depth: Optional[int] = None,
        time: Time = None,
        range: Range = None,
        tids: Tids = None,
        libcalls: bool = True,
        match: str = "regex",
    ) -> Calls:
        """The calls: an iterable of Call, with columns(), numpy() and batches() of many."""
        options = filters(function, notrace, depth, time, range, tids, libcalls, match)
        return Calls(self._program, self.path, options)

    def functions(
        self,
        function: Names = None,
        notrace: Names = None,
        depth: Optional[int] = None,
        time: Time = None,
        range: Range = None,
        tids: Tids = None,
        libcalls: bool = True,
        match: str = "regex",
        sort: str = "total",
    ) -> List[Function]:
        """The rows of ``utrail report``, in the order of @sort (its option -s), largest first."""
        words = self._words("report", "--format=json", "--no-progress", f"--sort={sort}")
        words.append(f"--output-fields={FUNCTION_FIELDS}")
        words += filters(function, notrace, depth, time, range, tids, libcalls, match)
        rows = parse(text_of(words))
        return [Function._make(row[key] for key in FUNCTION_KEYS) for row in rows]

    def events(
        self,
        event: Names = None,
        function: Names = None,
        range: Range = None,
        tids: Tids = None,
        match: str = "regex",
    ) -> Iterator[Event]:
        """The events, in the order of time, while they are read.

        event: only these: "PROVIDER:EVENT" (one, or several)
        function: only those inside of these functions
        """
        words = self._words("events", "--as=json")
        words += [f"--Event={name}" for name in as_list(event)]
        words += filters(function, range=range, tids=tids, match=match)
        for line in lines_of([*words, "export"]):
            if line.startswith("{"):
                e = parse(line.rstrip(",\n"))
                data = e.get("args") or {}
                yield Event(e["event"], e["ts"], e["tid"], e["pid"], data, e.get("text", ""))

    def tasks(self) -> List[Task]:
        """The tasks, in the order in which they began."""
        found = map(TASK.match, text_of(self._words("info", "--task")).splitlines())
        return [
            Task(int(m[3]), m[4], int(m[1]) * 10**9 + int(m[2]), float(m[5])) for m in found if m
        ]

    def info(self) -> Dict[str, str]:
        """The lines of ``utrail info`` by their names: "cmdline", "hostname", "exit status", ..."""
        found = map(INFO.match, text_of(self._words("info")).splitlines())
        return {m[1]: m[2] for m in found if m}


def parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Error(f"utrail has printed what is not JSON: {error}") from error
