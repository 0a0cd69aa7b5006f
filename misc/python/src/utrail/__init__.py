"""Recordings of utrail in Python, for notebooks and scripts.

    import utrail

    recording = utrail.open("uftrace.data")
    for f in recording.functions()[:10]:
        print(f"{f.self / 1e6:10.3f} ms  {f.calls:8}  {f.name}")
    slow = [c for c in recording.calls(time="1ms") if c.depth < 3]
    table = recording.calls(function="parse").numpy()

All times are integers, in nanoseconds. Timestamps are those of the recording's clock, as
``utrail dump`` shows them. If a recording cannot be read, the functions raise `Error` with the
message of utrail. No content of a recording is ever executed.
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

    utrail: the path of the program that reads the recording. The default is $UTRAIL. If that is
        not set, the default is ``bin/utrail`` of the prefix in which this package is installed. If
        there is no such file, the default is ``utrail`` in $PATH

    Raises Error if there is no such program, or if @path is not a recording.
    """
    return Recording(path, _find_program(utrail))
