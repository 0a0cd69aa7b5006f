"""The calls of a recording, as single objects or as columns of numbers."""

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Any, Dict, Generator, Iterator, List, NamedTuple, Tuple

from ._tool import Child, running
from ._wire import FORMATS, HEADER, NAME_END

# "names" is a list of str, all other values are memoryviews; see Calls.columns().
Columns = Dict[str, Any]

FEED = Path(__file__).resolve().with_name("_feed.py")
# A whole frame usually fits into the pipe, so that neither side waits often for the other one.
PIPE_BYTES = 1 << 20


class Call(NamedTuple):
    """A call that has ended.

    name: the name of the function. Bytes that are not UTF-8 are written as ``\\xNN``
    tid: the number of the task
    timestamp: the time at which the function was entered, in nanoseconds
    duration: the duration of the call, in nanoseconds
    depth: the number of calls that were open around this call
    """

    name: str
    tid: int
    timestamp: int
    duration: int
    depth: int


class Calls:
    """Calls of a recording, in the order in which they ended, over all tasks.

    Each method reads the recording anew. Calls that were still open at the end of the recording
    are left out.

    All methods raise Error if the program utrail fails. If the recording is damaged, they issue a
    RecordingWarning, and return the calls before the damage. If a loop over the calls is left
    early, or ended by Ctrl-C, the program utrail ends, too.
    """

    def __init__(self, program: str, directory: str, options: List[str]) -> None:
        self._program = program
        self._directory = directory
        self._options = options

    def __iter__(self) -> Iterator[Call]:
        with contextlib.closing(self._read()) as batches:
            for c in batches:
                name = map(c["names"].__getitem__, c["function"])
                rows = zip(name, c["tid"], c["timestamp"], c["duration"], c["depth"])
                yield from map(Call._make, rows)

    def batches(self) -> Iterator[Columns]:
        """Like columns(), but in batches of some ten thousand calls, so that memory is bounded.

        "names" is one list, to which each batch may append names. A number in "function" has one
        meaning in all batches.
        """
        return self._read()

    def _read(self) -> Generator[Columns, None, None]:
        ours, theirs = os.pipe()
        words = [self._program, "script", "--no-pager", "--no-progress", f"--script={FEED}"]
        words += [f"--data={self._directory}", *self._options, str(theirs)]
        with contextlib.ExitStack() as stack:
            pipe = stack.enter_context(os.fdopen(ours, "rb", buffering=0))
            try:
                widen(ours)
                child = stack.enter_context(running(words, pass_fds=[theirs]))
            finally:
                os.close(theirs)
            yield from take_batches(pipe, child)

    def columns(self) -> Columns:
        """Returns all calls: a dictionary of memoryviews that have one element for each call.

        "function": the index of the function's name in "names" (format I). Two functions may have
            one name
        "timestamp": the time at which the function was entered, in nanoseconds (Q)
        "duration": the duration of the call, in nanoseconds (Q)
        "depth": the number of calls that were open around this call (H)
        "tid": the number of the task (i)
        "names": the names of functions, a list of str

        A call takes 26 bytes. Use batches() if this is too much for all calls.
        """
        collected = {key: bytearray() for key in FORMATS}
        names: List[str] = []
        for batch in self.batches():
            names = batch["names"]
            for key, column in collected.items():
                column += batch[key].cast("B")
        columns: Columns = {"names": names}
        for key, column in collected.items():
            columns[key] = memoryview(column).cast(FORMATS[key][0])
        return columns

    def numpy(self) -> Columns:
        """Like columns(), but with arrays of numpy, which share the memory of the columns.

        Raises ImportError if numpy is not installed.
        """
        import numpy

        columns = self.columns()
        return {key: c if key == "names" else numpy.asarray(c) for key, c in columns.items()}


def widen(pipe: int) -> None:
    """Enlarge the pipe's buffer. A limit of the system may forbid that, which makes reading
    slower."""
    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_BYTES)


def take(pipe: Any, size: int) -> bytearray:
    """Read @size bytes from @pipe. Returns fewer bytes if the child has ended."""
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        now = pipe.readinto(view[got:])
        if not now:
            break
        got += now
    view.release()
    del data[got:]
    return data


def take_batches(pipe: Any, child: Child) -> Iterator[Columns]:
    """Yields the frames from @pipe. Raises Error if @child ends before the last frame."""
    names: List[str] = []
    while True:
        header = take(pipe, HEADER.size)
        if len(header) < HEADER.size:
            break
        nr_calls, names_bytes = HEADER.unpack(header)
        if nr_calls == 0:
            child.finish()
            return
        text = take(pipe, names_bytes)
        names += text.decode().split(NAME_END.decode())[:-1]
        data = take(pipe, nr_calls * sum(size for _, size in FORMATS.values()))
        columns: Columns = {"names": names}
        columns.update(cut(data, nr_calls))
        yield columns
    child.finish(complete=False)


def cut(data: bytearray, nr_calls: int) -> Iterator[Tuple[str, memoryview]]:
    """Yields the columns of a frame with @nr_calls calls, as views of the frame's bytes."""
    begin, view = 0, memoryview(data)
    for key, (form, size) in FORMATS.items():
        yield key, view[begin : begin + nr_calls * size].cast(form)
        begin += nr_calls * size
