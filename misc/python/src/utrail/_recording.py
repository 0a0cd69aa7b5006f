"""A recording: its functions, events and tasks, and facts about the recording itself."""

import json
import os
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from ._calls import Calls
from ._tool import AnyPath, Error, Names, Range, Tids, Time, as_list, filters, lines_of, text_of


class Function(NamedTuple):
    """The sums over all calls of a function. Times are in nanoseconds.

    name: the name of the function. Events of the scheduler have the name "linux:schedule"
    calls: the number of calls
    total: the time in the function and in the functions that it called. The time of recursive
        calls is not counted twice
    self: the time in the function without the functions that it called
    min, max, avg: the minimum, maximum and average of the total times of the calls
    self_min, self_max, self_avg: the minimum, maximum and average of the self times of the calls
    p50, p90, p99: the times within which 50, 90 and 99 percent of the calls ended, accurate to one
        percent
    size: the size of the function's code in bytes, or 0 if it is unknown
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

    name: the name of the event, PROVIDER:EVENT
    timestamp: the time of the event, in nanoseconds
    tid: the number of the task
    pid: the number of the task's process
    data: the fields of the event by name
    text: the fields in the form in which utrail shows them
    """

    name: str
    timestamp: int
    tid: int
    pid: int
    data: Dict[str, Any]
    text: str


class Task(NamedTuple):
    """A thread that was recorded.

    timestamp: the time at which the task or the recording began, whichever is later, in nanoseconds
    megabytes: the size of the task's records
    """

    tid: int
    name: str
    timestamp: int
    megabytes: float


TASK = re.compile(r" *(\d+)\.(\d{9}) +\S* *\[ *(\d+)\] +(.*?) +(\d+\.\d+) MB *$")
INFO = re.compile(r"# (\S.*?) *: (.*)$")


class Recording:
    """A recording in a directory, opened by utrail.open(). The methods read the recording.

    Several methods have these arguments. The value None does not filter:

    function: only these functions and the functions that they call (one pattern, or several)
    notrace: all functions except these and the functions that they call
    depth: only calls within this number of levels
    time: only calls that took at least this time, and their callers. The time is a number of
        nanoseconds, or a text like "1.5ms"
    range: only this part of the recording: (FROM, TO), two timestamps in nanoseconds, each of which
        may be None; or a text like "12.000000345~" with a timestamp, or "~1.5ms" with a time since
        the start
    tids: only the tasks with these numbers
    libcalls: False leaves out calls of library functions
    match: the kind of the patterns: "regex", "glob" or "simple"

    The arguments have the meanings that they have for ``utrail replay``. utrail-filter(7) has the
    details. The methods raise Error if utrail refuses an argument, or cannot read the recording.
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
        """Returns the calls: an iterable of Call, which can also return the calls as columns."""
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
        """Returns the rows of ``utrail report``, largest first. @sort is its option -s."""
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
        """Yields the events in the order of time, while they are read.

        event: only events with these names, "PROVIDER:EVENT" (one, or several)
        function: only events inside of calls of these functions
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
        """Returns the tasks, in the order in which they began."""
        found = map(TASK.match, text_of(self._words("info", "--task")).splitlines())
        return [
            Task(int(m[3]), m[4], int(m[1]) * 10**9 + int(m[2]), float(m[5])) for m in found if m
        ]

    def info(self) -> Dict[str, str]:
        """Returns the lines of ``utrail info`` by their names, like "cmdline" and "exit status"."""
        found = map(INFO.match, text_of(self._words("info")).splitlines())
        return {m[1]: m[2] for m in found if m}


def parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Error(f"utrail has printed what is not JSON: {error}") from error
