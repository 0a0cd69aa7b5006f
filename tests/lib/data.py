"""A small reader of data directories, written from the format's description alone: the tests' second opinion.

It knows nothing of the product's code, takes no care of speed, and fails loudly on anything odd.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

ENTRY, EXIT, LOST, EVENT = range(4)


@dataclass
class Record:
    time: int
    kind: int
    depth: int
    addr: int
    name: str = ""
    is_libcall: bool = False


@dataclass
class Task:
    tid: int
    pid: int
    ppid: int  # the parent process, 0 when it is not a forked one
    records: list


class Recording:
    def __init__(self, path):
        self.path = Path(path)
        self.read_info()
        self.read_task_txt()
        self.maps = {p.name[4:20]: self.read_map(p) for p in self.path.glob("sid-*.map")}
        self.symbols = {}
        for path in self.path.glob("*.sym"):
            self.read_symbols(path)
        self.tasks = {}
        for path in sorted(self.path.glob("[0-9]*.dat")):
            tid = int(path.stem)
            pid, ppid = self.parents.get(tid, (tid, 0))
            self.tasks[tid] = Task(tid, pid, ppid, self.read_records(tid, path))

    def read_info(self):
        raw = (self.path / "info").read_bytes()
        magic, version, size, endian, elf_class = struct.unpack("<8sIHBB", raw[:16])
        assert magic == b"Ftrace!\0" and version == 4 and size == 40, "info: header"
        assert endian == 1 and elf_class == 2, "info: made for x86_64"
        self.features, self.info_mask, self.max_stack = struct.unpack("<QQH", raw[16:34])
        self.info = {}
        for line in raw[40:].decode().splitlines():
            key, _, value = line.partition(":")
            self.info.setdefault(key, []).append(value)

    def read_task_txt(self):
        self.sessions = []  # (timestamp, pid, sid)
        self.parents = {}
        self.dlopens = []  # (timestamp, sid, base, path)
        self.task_lines = (self.path / "task.txt").read_text().splitlines()
        for line in self.task_lines:
            kind, rest = line.split(" ", 1)
            words = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', rest))
            seconds, _, nanoseconds = words["timestamp"].partition(".")
            assert len(nanoseconds) == 9, line
            time = int(seconds) * 10**9 + int(nanoseconds)
            if kind == "SESS":
                self.sessions.append((time, int(words["pid"]), words["sid"]))
            elif kind == "TASK":
                self.parents.setdefault(int(words["tid"]), (int(words["pid"]), 0))
            elif kind == "FORK":
                pid = int(words["pid"])
                self.parents[pid] = (pid, int(words["ppid"]))
            elif kind == "DLOP":
                name = words["libname"].strip('"')
                self.dlopens.append((time, words["sid"], int(words["base"], 16), name))
            else:
                raise AssertionError(f"task.txt: {line}")

    @staticmethod
    def read_map(path):
        modules = []
        for line in path.read_text().splitlines():
            words = line.split(None, 5)
            if len(words) < 6 or words[5].startswith("["):
                continue
            start, end = (int(x, 16) for x in words[0].split("-"))
            modules.append((start, end, re.sub(r" build-id:.*", "", words[5])))
        return modules

    def read_symbols(self, path):
        """With sizes, or in the older form: up to the next one, the names that end a part are no symbols."""
        owner, table = path.stem, []
        for line in path.read_text().splitlines():
            if line.startswith("# path name: "):
                owner = line[len("# path name: ") :]
            elif match := re.match(r"([0-9a-f]{16}) ([0-9a-f]{2,}) (\S) (.*)", line):
                table.append([int(match[1], 16), int(match[2], 16), match[3], match[4]])
            elif match := re.match(r"([0-9a-f]{16}) (\S) (.*)", line):
                table.append([int(match[1], 16), None, match[2], match[3]])
            else:
                assert line.startswith("#"), f"{path}: {line}"
        addresses = [row[0] for row in table]
        assert addresses == sorted(addresses), f"{path}: order"
        for row, after in zip(table, [*table[1:], None]):
            if row[1] is None:
                row[1] = after[0] - row[0] if after else 0
        self.symbols[owner] = [row for row in table if row[2] != "?"]

    def session_of(self, tid, time):
        """The sid that was valid: of the task itself, else of its process, else of the parent process."""
        while tid:
            own = [s for s in self.sessions if s[1] == tid and s[0] <= time]
            if own:
                return max(own)[2]
            pid, ppid = self.parents.get(tid, (0, 0))
            tid = pid if pid != tid else ppid
        return min(self.sessions)[2]

    def name_of(self, tid, time, addr):
        sid = self.session_of(tid, time)
        modules = list(self.maps.get(sid, []))
        for when, owner, base, name in self.dlopens:
            if owner == sid and when <= time:
                modules.insert(0, (base, base + 2**32, name))
        for start, end, path in modules:
            if not start <= addr < end:
                continue
            for offset, size, kind, name in self.symbols.get(path, []):
                if offset <= addr - start < offset + size:
                    return name, kind == "P"
        return f"<{addr:x}>", False

    def read_records(self, tid, path):
        raw = path.read_bytes()
        assert len(raw) % 8 == 0, f"{path}: cut within a record"
        records, cache, last, offset = [], {}, 0, 0
        while offset < len(raw):
            time, word = struct.unpack_from("<QQ", raw, offset)
            offset += 16
            kind, more, magic = word & 3, word >> 2 & 1, word >> 3 & 7
            depth, addr = word >> 6 & 1023, word >> 16
            assert magic == 5, f"{path}: magic {magic} at {offset - 16}"
            assert not more, f"{path}: a payload at {offset - 16}, though none was asked for"
            record = Record(time, kind, depth, addr)
            if kind in (ENTRY, EXIT):
                assert time >= last, f"{path}: time goes back at {offset - 16}"
                last = time
                key = (addr, self.session_of(tid, time) if len(self.sessions) > 1 else 0)
                if key not in cache or self.dlopens:
                    cache[key] = self.name_of(tid, time, addr)
                record.name, record.is_libcall = cache[key]
            records.append(record)
        return records

    @property
    def lost(self):
        return sum(r.addr for t in self.tasks.values() for r in t.records if r.kind == LOST)
