"""A small reader of data directories, written from the description of the format: the tests' second
opinion.

It uses none of utrail's code, and fails with a message on anything odd. Thousands of tests use it,
so it must be fast.
"""

import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ENTRY, EXIT, LOST, EVENT = range(4)


@dataclass(slots=True)
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
    ppid: int  # the parent process, 0 for one that was not forked
    records: list


def value_bytes(item, raw, at):
    """The bytes of @raw from @at on that the value of the specification @item takes, padded to 4
    bytes (doc/formats/records.md, "Payloads")."""
    match = re.fullmatch(r"(arg|fparg|retval)\d*(?:/([a-zA-Z]?)(\d*)(?::[^%]*)?)?(?:%.*)?", item)
    assert match, item
    kind, letter, number = match[1], match[2] or "d", match[3]
    if letter in "sS":
        return (2 + struct.unpack_from("<H", raw, at)[0] + 3) & ~3
    if letter == "t":
        return (int(number) + 3) & ~3
    bits = int(number) if number else 8 if letter == "c" else 64
    assert bits in (8, 16, 32, 64, 80), f"{kind}: {item}"
    return (bits // 8 + 3) & ~3


@lru_cache(maxsize=64)  # most recordings have the C library's symbol file
def symbol_table(text, stem):
    """The path name and the rows of a symbol file. In its older form rows have no size: a symbol
    reaches to the next row. A row of kind "?" only ends the symbol before it."""
    owner, table = stem, []
    for line in text.splitlines():
        if line.startswith("# path name: "):
            owner = line[len("# path name: ") :]
        elif match := re.match(r"([0-9a-f]{16}) ([0-9a-f]{2,}) (\S) (.*)", line):
            table.append([int(match[1], 16), int(match[2], 16), match[3], match[4]])
        elif match := re.match(r"([0-9a-f]{16}) (\S) (.*)", line):
            table.append([int(match[1], 16), None, match[2], match[3]])
        else:
            assert line.startswith("#"), f"{stem}.sym: {line}"
    addresses = [row[0] for row in table]
    assert addresses == sorted(addresses), f"{stem}.sym: order"
    for row, after in zip(table, [*table[1:], None]):
        if row[1] is None:
            row[1] = after[0] - row[0] if after else 0
    return owner, tuple(tuple(row) for row in table if row[2] != "?")


TIDS = 1 << 22  # Linux' PID_MAX_LIMIT, proc(5)


class Recording:
    """A recording. @has_payloads: it has arguments and return values (-a). They are skipped."""

    def __init__(self, path, has_payloads=False):
        self.path = Path(path)
        self.has_payloads = has_payloads
        self.read_info()
        self.read_task_txt()
        self.maps = {p.name[4:20]: self.read_map(p) for p in self.path.glob("sid-*.map")}
        self.symbols = {}
        for path in self.path.glob("*.sym"):
            self.read_symbols(path)
        self.debug = {}
        for path in self.path.glob("*.dbg"):
            self.read_debug(path)
        self.auto = {ENTRY: self.read_table("argauto"), EXIT: self.read_table("retauto")}
        self.tasks = {}
        # Tasks in the order of their begin: numbers of processes may have wrapped round to the
        # lowest ones.
        first = min(self.begun, key=self.begun.get, default=0)
        for tid in sorted((int(path.stem) for path in self.path.glob("[0-9]*.dat")), key=lambda tid: (tid - first) % TIDS):
            path = self.path / f"{tid}.dat"
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
        self.sessions = []  # rows of (timestamp, pid, sid)
        self.parents = {}
        self.begun = {}  # begins by thread, in ns
        self.dlopens = []  # rows of (timestamp, sid, base, path)
        self.task_lines = (self.path / "task.txt").read_text().splitlines()
        for line in self.task_lines:
            kind, rest = line.split(" ", 1)
            words = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', rest))
            seconds, _, nanoseconds = words["timestamp"].partition(".")
            assert len(nanoseconds) == 9, line
            time = int(seconds) * 10**9 + int(nanoseconds)
            if kind in ("TASK", "FORK"):
                self.begun.setdefault(int(words["tid" if kind == "TASK" else "pid"]), time)
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
        owner, table = symbol_table(path.read_text(), path.stem)
        self.symbols[owner] = table

    def read_debug(self, path):
        specs = self.debug.setdefault(path.stem, {})
        for line in path.read_text().splitlines():
            if match := re.match(r"# path name: (.*)", line):
                specs = self.debug.setdefault(match[1], {})
            elif match := re.match(r"F: ([0-9a-f]+) ", line):
                func = specs.setdefault(int(match[1], 16), {})
            elif match := re.match(r"([AR]): @(.*)", line):
                func[ENTRY if match[1] == "A" else EXIT] = match[2].split(",")

    def read_table(self, key):
        rows = (row.partition("@") for text in self.info.get(key, []) for row in text.split(";") if row)
        return {name: items.split(",") for name, _, items in rows}

    def payload_bytes(self, tid, record, raw, at):
        """The size of a payload, by the function's own debug information, else by the table of
        known library functions."""
        path, offset, symbol = self.place_of(tid, record.time, record.addr)
        assert symbol, f"{self.path}: a payload of an unknown function"
        start = symbol[0]
        items = self.debug.get(path, {}).get(start, {}).get(record.kind) if symbol[2] != "P" else None
        items = items or self.auto[record.kind].get(symbol[3])
        assert items, f"{self.path}: a payload of {symbol[3]}, of which nothing says what it is"
        end = at
        for item in items if record.kind == ENTRY else items[:1]:
            end += value_bytes(item, raw, end)
        return (end - at + 7) & ~7

    def session_of(self, tid, time):
        """The sid that was valid at @time: that of the task, else of its process, else of the
        parent process."""
        while tid:
            own = [s for s in self.sessions if s[1] == tid and s[0] <= time]
            if own:
                return max(own)[2]
            pid, ppid = self.parents.get(tid, (0, 0))
            tid = pid if pid != tid else ppid
        return min(self.sessions)[2]

    def name_of(self, tid, time, addr):
        symbol = self.place_of(tid, time, addr)[2]
        return (symbol[3], symbol[2] == "P") if symbol else (f"<{addr:x}>", False)

    def place_of(self, tid, time, addr):
        """The path of the module at @addr, the offset in it, and the symbol, (offset, size, kind,
        name), or None."""
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
                    return path, addr - start, (offset, size, kind, name)
        return None, 0, None

    def read_records(self, tid, path):
        raw = path.read_bytes()
        assert len(raw) % 8 == 0, f"{path}: cut within a record"
        words = memoryview(raw).cast("Q")
        records, known, last, at, end = [], {}, 0, 0, len(words)
        has_places = len(self.sessions) > 1 or self.dlopens
        while at < end:
            time, word = words[at], words[at + 1]
            at += 2
            # Most second words are repeated many times, so the decoded ones are kept.
            key = (word, *self.when_of(tid, time)) if has_places else word
            said = known.get(key)
            if said is None:
                said = known[key] = self.read_word(tid, path, time, word)
            record = Record(time, *said)
            records.append(record)
            if record.kind <= EXIT:
                assert time >= last, f"{path}: time goes back at {8 * at - 16}"
                last = time
            if word & 4:
                assert self.has_payloads, f"{path}: a payload at {8 * at - 16}, though none was asked for"
                assert record.kind <= EXIT, f"{path}: a payload of an event at {8 * at - 16}"
                at += self.payload_bytes(tid, record, raw, 8 * at) // 8
        return records

    def read_word(self, tid, path, time, word):
        """A record's second word: kind, depth, address. Calls also have the name, and True when it
        is a library's."""
        assert word >> 3 & 7 == 5, f"{path}: magic {word >> 3 & 7} of {word:x}"
        kind, addr = word & 3, word >> 16
        return (kind, word >> 6 & 1023, addr, *(self.name_of(tid, time, addr) if kind <= EXIT else ()))

    def when_of(self, tid, time):
        """The session at @time and the number of libraries opened by then, which decide where
        libraries are."""
        return self.session_of(tid, time), sum(when <= time for when, *_ in self.dlopens)

    @property
    def lost(self):
        return sum(r.addr for t in self.tasks.values() for r in t.records if r.kind == LOST)
