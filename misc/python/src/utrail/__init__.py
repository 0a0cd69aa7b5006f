"""Recordings of utrail in Python, for notebooks and scripts.

    import utrail

    recording = utrail.open("uftrace.data")
    for f in recording.functions()[:10]:
        print(f"{f.self / 1e6:10.3f} ms  {f.calls:8}  {f.name}")
    slow = [c for c in recording.calls(time="1ms") if c.depth < 3]
    table = recording.calls(function="parse").numpy()

All times are integers, in nanoseconds. Timestamps are those of the recording's clock, as
``utrail dump`` shows them. A recording that cannot be read raises `Error` with the words of
the program. Nothing that a recording says is ever run.
"""

import os as _os
from typing import Union as _Union

from ._calls import Call, Calls, Columns
from ._recording import Event, Function, Recording, Task
from ._tool import Error, RecordingWarning, find_program as _find_program
from ._version import VERSION as __version__

__all__ = [
    "Call",
    "Calls",
    "Columns",
    "Error",
    "Event",
    "Function",
    "Recording",
    "RecordingWarning",
    "Task",
    "__version__",
    "open",
]


def open(
    path: "_Union[str, _os.PathLike[str]]" = "uftrace.data",
    *,
    utrail: "_Union[str, _os.PathLike[str], None]" = None,
) -> Recording:
    """Open the recording in the directory @path, made by utrail or by uftrace.

    utrail: the program that reads the recording. The default is the first of $UTRAIL,
    ``bin/utrail`` of the prefix that this package is installed in, and ``utrail`` of $PATH.

    Raises Error when there is no such program, or @path is not a recording.
    """
    return Recording(path, _find_program(utrail))
