"""The script that `utrail script` runs for Calls: it writes columns to a pipe (_wire.py).

Its only argument is the descriptor of the pipe. The Python inside of utrail runs the script, so
the script uses only the standard library.
"""

import os
import sys
from typing import Any, Dict

from _wire import HEADER, NAME_END, ORDER

pipe = -1
names_sent = 0
# False after an exception. Then the script does not send the last frame, so that _calls.py notices
# the loss.
whole = True


def send(piece: Any) -> None:
    """Write all of @piece. The script ends if _calls.py has closed the pipe."""
    view = memoryview(piece).cast("B")
    try:
        while len(view):
            view = view[os.write(pipe, view) :]
    except BrokenPipeError:
        sys.exit()


def uftrace_begin(ctx: Dict[str, Any]) -> None:
    global pipe
    pipe = int(ctx["cmds"][0])


def uftrace_batch(calls: Dict[str, Any]) -> None:
    global names_sent, whole
    complete, whole = whole, False
    new = calls["names"][names_sent:]
    names_sent += len(new)
    text = b"".join(name.encode(errors="backslashreplace") + NAME_END for name in new)
    send(HEADER.pack(len(calls["tid"]), len(text)) + text)
    for key in ORDER:
        send(calls[key])
    whole = complete


def uftrace_end() -> None:
    if whole:
        send(HEADER.pack(0, 0))
