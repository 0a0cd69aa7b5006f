"""The bytes between _feed.py and _calls.py: frames in the machine's own order of bytes.

A frame is HEADER, names, columns. Names are those that no frame before had, each in UTF-8 with
NAME_END after it. The columns stand in ORDER, large elements first, so that each is aligned
where the first one is. A frame without calls is the last one.
"""

import struct

# Number of calls, number of bytes of names.
HEADER = struct.Struct("=QQ")
NAME_END = b"\0"
# The format of an element, as the module struct has it, and its bytes.
FORMATS = {
    "timestamp": ("Q", 8),
    "duration": ("Q", 8),
    "function": ("I", 4),
    "tid": ("i", 4),
    "depth": ("H", 2),
}
ORDER = tuple(FORMATS)
