"""The calls of a recording: one by one, or as columns of numbers."""

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
# Mostly room for a whole frame: neither side waits often for the other one.
PIPE_BYTES = 1 << 20


class Call(NamedTuple):
    """A call that has ended.

    name: of the function. Bytes that are not UTF-8 are ``\\xNN``
    tid: the task
    timestamp: when it was entered, in nanoseconds
    duration: in nanoseconds
    depth: the number of calls around it
    """

    name: str
    tid: int
    timestamp: int
    duration: int
    depth: int


class Calls:
    """Calls of a recording, in the order in which they ended, over all tasks.

    Each method reads the recording anew. Calls that had not ended when the recording ended are
    not there.

    All methods raise Error when the program fails. They warn (RecordingWarning) when the
    recording is damaged, and have the calls before the damage. A loop that is left early, and
    Ctrl-C, end the program, too.
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
        """Like columns(), in batches of some ten thousand calls: memory stays bounded.

        "names" is one list, which grows from one batch to the next. A number in "function" means
        the same in all batches.
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
        """All calls: a dictionary of memoryviews with one element for each call.

        "function": the name's place in "names" (format I; two functions may have one name)
        "timestamp": when it was entered, in nanoseconds (Q)
        "duration": in nanoseconds (Q)
        "depth": the number of calls around it (H)
        "tid": the task (i)
        "names": a list of str

        A call takes 26 bytes. Use batches() when that is too much.
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
        """Like columns(), with arrays of numpy, which share the memory of the columns.

        Raises ImportError where numpy is not installed.
        """
        import numpy

        columns = self.columns()
        return {key: c if key == "names" else numpy.asarray(c) for key, c in columns.items()}


def widen(pipe: int) -> None:
    """Let more bytes wait in the pipe. A limit of the system may forbid that; reading is slower
    then."""
    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_BYTES)


def take(pipe: Any, size: int) -> bytearray:
    """@size bytes of @pipe; fewer when the child has ended."""
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
    """The frames of @pipe. Raises Error when @child ends before the last one."""
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
    """The columns of a frame of @nr_calls calls, as views of its bytes."""
    begin, view = 0, memoryview(data)
    for key, (form, size) in FORMATS.items():
        yield key, view[begin : begin + nr_calls * size].cast(form)
        begin += nr_calls * size
