"""libutrail-trace by ctypes: functions with variable arguments take any values."""

import ctypes
import os
import sys
from ctypes import c_char_p, c_double, c_int, c_int64, c_ssize_t, c_uint, c_uint64, c_void_p
from pathlib import Path

# Scripts that tests run import this module, too. In these scripts pytest has not extended the path.
sys.path.append(str(Path(__file__).resolve().parents[1]))
from built import LIBRARIES  # noqa: E402

LIBRARY = LIBRARIES / "libutrail-trace.so.1"
CALLBACK = ctypes.CFUNCTYPE(c_void_p, c_void_p)
SELECT = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p)

lib = ctypes.CDLL(str(LIBRARY), use_errno=True)
for name, result, arguments in (
    ("fstrace_open", c_void_p, [c_char_p, c_ssize_t]),
    ("fstrace_direct", c_void_p, [c_void_p]),
    ("fstrace_close", c_int, [c_void_p]),
    ("fstrace_declare", c_void_p, [c_void_p, c_char_p, c_char_p]),
    ("fstrace_set_common_format", None, [c_void_p, c_char_p]),
    ("fstrace_select", None, [c_void_p, SELECT, c_void_p]),
    ("fstrace_select_safe", None, [c_void_p, SELECT, c_void_p]),
    ("fstrace_select_regex", ctypes.c_bool, [c_void_p, c_char_p, c_char_p]),
    ("fstrace_select_event", None, [c_void_p, c_int]),
    ("fstrace_get_unique_id", c_uint64, []),
    ("fstrace_set_lock_path", None, [c_char_p]),
    ("fstrace_chown", c_int, [c_uint, c_uint]),
    ("fstrace_reinit", c_int, []),
    ("fstrace_reopen", c_int, [c_void_p]),
    ("fstrace_limit_rotation_file_count", None, [c_void_p, c_int]),
    ("fstrace_limit_rotation_file_age", None, [c_void_p, c_int]),
    ("fstrace_limit_rotation_byte_count", None, [c_void_p, c_int64]),
    ("fstrace_signed_repr", c_char_p, [c_int64]),
    ("fstrace_unsigned_repr", c_char_p, [c_uint64]),
    ("fstrace_hex_repr", c_char_p, [c_uint64]),
):
    getattr(lib, name).restype = result
    getattr(lib, name).argtypes = arguments
lib.fstrace_log.restype = lib.fstrace_log_2.restype = None

libc = ctypes.CDLL(None)
libc.pthread_self.restype = ctypes.c_ulong
TYPES = {
    "int": c_int, "unsigned": c_uint, "int64": c_int64, "uint64": c_uint64, "ssize": c_ssize_t,
    "double": c_double, "address": c_void_p, "socklen": c_uint, "string": c_char_p,
}


class Event(ctypes.Structure):
    _fields_ = [("impl", c_void_p), ("enabled", c_int)]


def is_enabled(event):
    return Event.from_address(event).enabled


class Log:
    """A log with its events."""

    def __init__(self, prefix, rotate=-1):
        self.prefix = Path(prefix)
        self.handle = lib.fstrace_open(os.fsencode(prefix), rotate)
        if not self.handle:
            raise OSError(ctypes.get_errno(), "fstrace_open")

    def declare(self, id, format, enabled=True):
        event = lib.fstrace_declare(self.handle, id.encode(), format.encode())
        if event and enabled:
            lib.fstrace_select_event(event, 1)
        return event

    @property
    def path(self):
        return Path(f"{self.prefix}.log")

    def rotated(self):
        return sorted(self.prefix.parent.glob(f"{self.prefix.name}-*.log"))

    def text(self):
        return b"".join(path.read_bytes() for path in [*self.rotated(), self.path] if path.exists())

    def close(self):
        assert lib.fstrace_close(self.handle) == 0


def log(event, *arguments, file=b"unit.c", line=7):
    lib.fstrace_log_2(c_void_p(event), c_char_p(file), c_uint(line), *arguments)
