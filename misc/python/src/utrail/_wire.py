"""The format of the bytes that _feed.py sends to _calls.py: frames in the machine's byte order.

A frame consists of HEADER, names, and columns. The names are those that no earlier frame has, in
UTF-8, each followed by NAME_END. The order of the columns is ORDER. Columns with large elements
come first, so that all elements are aligned. The last frame has no calls.
"""

import struct

# The number of calls, and the number of bytes of names.
HEADER = struct.Struct("=QQ")
NAME_END = b"\0"
# For each column, the format of an element in the notation of struct, and its size in bytes.
FORMATS = {
    "timestamp": ("Q", 8),
    "duration": ("Q", 8),
    "function": ("I", 4),
    "tid": ("i", 4),
    "depth": ("H", 2),
}
ORDER = tuple(FORMATS)
