"""The bytes between _feed.py and _calls.py: frames in the machine's own order of bytes.

A frame is HEADER, names, columns. It has the names that are in no earlier frame, in UTF-8, with
NAME_END after each. The columns stand in ORDER, large elements first, so that all are aligned.
The last frame has no calls.
"""

import struct

# The number of calls, the number of bytes of names.
HEADER = struct.Struct("=QQ")
NAME_END = b"\0"
# By column: the format of an element in the notation of struct, and its size in bytes.
FORMATS = {
    "timestamp": ("Q", 8),
    "duration": ("Q", 8),
    "function": ("I", 4),
    "tid": ("i", 4),
    "depth": ("H", 2),
}
ORDER = tuple(FORMATS)
