"""The etrace text by its published description, not by utrail's sources: a reader that accepts
nothing else, and random valid texts.

All texts are bytes: names may have any encoding.
"""

import random
import re

PART = 900
HEAD = re.compile(rb"0: (0|[1-9]\d*),(0|[1-9]\d*),(0|[1-9]\d*),(0|[1-9]\d{0,8})!(.*)", re.S)

# The keys of each event in their order, and its texts with the keys of their sizes. A key that
# begins with "?" may be missing, with its text.
EVENTS = {
    b"New_proc": (["argsize", "prognameisize", "prognamepsize", "cwdsize"], [("PI", "prognameisize"), ("PP", "prognamepsize"), ("CW", "cwdsize")]),
    b"SchedFork": (["pid"], []),
    b"SysClone": (["flags"], []),
    b"SysCloneFailed": ([], []),
    b"Exit": (["status"], []),
    b"Open": (["fnamesize", "forigsize", "flags", "mode", "fd"], [("FN", "fnamesize"), ("FO", "forigsize")]),
    b"Pipe": (["fd1", "fd2", "flags"], []),
    b"RenameFrom": (["fnamesize"], [("RF", "fnamesize")]),
    b"Rename2From": (["fnamesize", "flags"], [("RF", "fnamesize")]),
    b"RenameTo": (["fnamesize"], [("RT", "fnamesize")]),
    b"RenameFailed": ([], []),
    b"LinkFrom": (["fnamesize"], [("LF", "fnamesize")]),
    b"LinkatFrom": (["fnamesize", "flags"], [("LF", "fnamesize")]),
    b"LinkTo": (["fnamesize"], [("LT", "fnamesize")]),
    b"LinkFailed": ([], []),
    b"Symlink": (["targetnamesize", "?resolvednamesize", "linknamesize"], [("ST", "targetnamesize"), ("SR", "resolvednamesize"), ("SL", "linknamesize")]),
    b"Close": (["fd"], []),
    b"Dup": (["oldfd", "newfd", "flags"], []),
    b"Mount": (["?sourcenamesize", "targetnamesize", "?typenamesize", "flags"],
               [("MS", "sourcenamesize"), ("MT", "targetnamesize"), ("MX", "typenamesize")]),
    b"MountFailed": ([], []),
    b"Umount": (["targetnamesize", "flags"], [("MT", "targetnamesize")]),
    b"UmountFailed": ([], []),
    b"Comm": (["size"], [("CN", "size")]),
}
# Events that need a first half, and events that may have one.
ENDS = {b"RenameTo": (b"RenameFrom", b"Rename2From"), b"LinkTo": (b"LinkFrom", b"LinkatFrom"), b"MountFailed": (b"Mount",), b"SysCloneFailed": (b"SysClone",)}
MAY_END = {b"RenameFailed": (b"RenameFrom", b"Rename2From"), b"LinkFailed": (b"LinkFrom", b"LinkatFrom"), b"UmountFailed": (b"Umount",),
           b"SchedFork": (b"SysClone",)}
HALVES = {half for halves in ENDS.values() for half in halves} - {b"Mount"}


def pieces(head, text, counted=False):
    """The lines that a text is cut into. @head is a tag, or b"A[3]" for an argument."""
    is_arg = head.startswith(b"A[")
    is_long = not is_arg and len(text) >= PART
    counted |= is_long
    found, nr, in_group = [], 0, False
    for number, line in enumerate(text.split(b"\n")):
        chunks = [line[at:at + PART] for at in range(0, len(line), PART)] or [b""]
        for at, chunk in enumerate(chunks):
            if number and at == 0:
                found.append(b"Cont|" + chunk)
                in_group = True
                continue
            if in_group:
                found.append(b"Cont_end|")
                in_group = False
            found.append((head if is_arg else head + (b"[%d]" % nr if counted else b"|")) + chunk)
            nr += 1
    if in_group:
        found.append(b"Cont_end|")
    return found + ([head + b"_end|"] if is_long else [])


class Wrong(Exception):
    pass


def check(condition, line, why):
    if not condition:
        raise Wrong(f"{why}: {line!r}")


class Task:
    def __init__(self):
        self.lines = []
        self.events = []
        self.is_made = self.is_over = False


class Reader:
    """All tasks with their events: (tag, values by key, texts by tag, arguments). Raises Wrong for
    lines that the description does not have."""

    def __init__(self, text):
        lines = text.split(b"\n")
        check(lines.pop() == b"", text[-80:], "the last line has no end")
        check(lines[0].startswith(b"INITCWD="), lines[0], "the first line")
        self.tasks, self.environment, last = {}, {}, {}
        known = None
        for line in lines[1:]:
            head = HEAD.fullmatch(line)
            check(head and len(line) < 1024, line, "a head")
            upid, seconds, ns = int(head[1]), int(head[3]), int(head[4])
            time = seconds * 10**9 + ns
            check(upid < 2**63 and time > last.get(upid, -1), line, "times of a task rise")
            last[upid] = time
            known = known or self.tasks.setdefault(upid, Task())
            self.tasks.setdefault(upid, Task()).lines.append(head[5])
        known.is_made = True
        environment = self.tasks.pop(0, Task()).lines
        for task in self.tasks.values():
            self.read(task)
        for upid, task in self.tasks.items():
            check(task.is_made, upid, "nobody has made this task")
        self.read_environment(environment)

    def read_text(self, lines, head, size, counted=False):
        """The text in @lines. Raises Wrong if they are not exactly those that a text of that size
        is cut into."""
        text, taken = b"", 0
        while taken < len(lines):
            line = lines[taken]
            if line.startswith(b"Cont|"):
                text += b"\n" + line[5:]
            elif match := re.match(re.escape(head.split(b"[")[0]) + rb"(\[\d+\]|\|)", line):
                text += line[match.end():]
            elif line not in (b"Cont_end|", head + b"_end|"):
                break
            taken += 1
            if size is not None and len(text) > size:
                break
            if lines[:taken] == pieces(head, text, counted) and len(text) == size and (taken == len(lines) or not lines[taken].startswith(b"Cont|")):
                break
        check(lines[:taken] == pieces(head, text, counted), lines[:taken + 1], "parts")
        check(size is None or len(text) == size, lines[:taken + 1], f"it should have {size} bytes")
        del lines[:taken]
        return text

    def read_arguments(self, lines, size):
        args = []
        while lines and lines[0] != b"End_of_args|":
            head = re.match(rb"A\[(\d+)\]", lines[0])
            check(head and int(head[1]) >= len(args), lines[0], "an argument")
            args += [b""] * (int(head[1]) - len(args))
            end = next(i for i, line in enumerate(lines) if not line.startswith((head[0], b"Cont")))
            own = lines[:end]
            text = b"".join(b"\n" + line[5:] if line.startswith(b"Cont|") else line[len(head[0]):] for line in own if line != b"Cont_end|")
            check(text and own == pieces(head[0], text), own, "parts of an argument")
            args.append(text)
            del lines[:end]
        check(lines and lines.pop(0) == b"End_of_args|", args, "End_of_args")
        missing = size - sum(len(arg) + 1 for arg in args)
        check(missing >= 0, args, "argsize")
        return args + [b""] * missing

    def read_keys(self, line, names, text):
        values = {}
        for part in text.split(b",") if text else []:
            match = re.fullmatch(rb"([a-z0-9]+)=(-?(?:0|[1-9]\d*))", part)
            check(match, line, "a key")
            values[match[1].decode()] = int(match[2])
        given = list(values)
        wanted = [name.lstrip("?") for name in names if not name.startswith("?") or name[1:] in values]
        check(given == wanted, line, "keys, in their order")
        return values

    def read(self, task):
        lines, half = task.lines, None
        while lines:
            check(not task.is_over, lines[0], "a task is over")
            line = lines.pop(0)
            tag, bar, rest = line.partition(b"|")
            check(bar and tag in EVENTS, line, "an event")
            keys, texts = EVENTS[tag]
            values = self.read_keys(line, keys, rest)
            found = {name: self.read_text(lines, name.encode(), values[key]) for name, key in texts if key in values}
            args = self.read_arguments(lines, values["argsize"]) if tag == b"New_proc" else None
            check(half not in HALVES or half in ENDS.get(tag, ()) + MAY_END.get(tag, ()), line, "a second half")
            check(tag not in ENDS or half in ENDS[tag], line, "a first half")
            half = tag
            task.is_over = tag == b"Exit"
            task.events.append((tag, values, found, args))
            if tag == b"SchedFork":
                child = self.tasks.get(values["pid"])
                check(not child or not child.is_made, line, "it was made before")
                if child:
                    child.is_made = True
        check(half not in HALVES, half, "a second half is missing")

    def read_environment(self, lines):
        while lines:
            upids = set()
            while lines and lines[0].startswith(b"UPID|"):
                upid = int(lines.pop(0)[5:])
                check(upid in self.tasks, upid, "a task that nothing was told of")
                upids.add(upid)
            check(upids and lines and lines[0].startswith(b"Env[0]"), lines[:1], "a variable of somebody")
            text = self.read_text(lines, b"Env", None, counted=True)
            check(text not in self.environment, text, "a variable comes once")
            self.environment[text] = upids


class Writer:
    """A random text, as one recorder would write it: upids count tasks, each line is a nanosecond
    later than the one before, variables are sorted."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ns = self.random.randrange(1, 2 * 10**9)
        self.out = []
        self.live, self.done = {}, []
        self.nr = 0
        self.environment = {}
        self.last = {}
        self.choices = [self.open, self.close, self.dup, self.pipe, self.rename, self.link, self.symlink, self.mount, self.umount, self.comm, self.fork,
                        self.fork, self.exec, self.exit, self.clone_fails]

    def text(self, least=1):
        kind = self.random.random()
        length = self.random.choice([1, 2, 3, 9, 40]) if kind < 0.7 else self.random.choice([898, 899, 900, 901, 1799, 1800, 1801, 2700, 3001])
        length = max(length, least)
        letters = b"abc/ |=[]_\xff\xc3\xa4\x01\t" + (b"\n" if self.random.random() < 0.3 else b"")
        text = bytearray(self.random.choices(letters, k=length))
        # Newlines beside the places where texts are cut.
        for at in (898, 899, 900, 901, length - 1, 0):
            if at < length and self.random.random() < 0.1:
                text[at] = 10
        return bytes(text)

    def flags(self):
        return self.random.choice([0, 1, 2, 0x80000, 0xffffffff, self.random.getrandbits(32)])

    def line(self, upid, cpu, data, pauses=False):
        self.ns += self.random.randrange(10**9) if pauses and self.random.random() < 0.2 else 0
        self.out.append(b"0: %d,%d,%d,%d!%s" % (upid, cpu, self.ns // 10**9, self.ns % 10**9, data))
        self.ns += 1

    def put(self, tag, upid, texts=(), **values):
        """Write an event. @texts: (tag, key, text). The size of each text is the value of its
        key; the keys come in the order that EVENTS gives."""
        sizes = {key: len(text) for _, key, text in texts}
        keys = [key.lstrip("?") for key in EVENTS[tag][0]]
        given = [(key, {**sizes, **values}[key]) for key in keys if key in sizes or key in values]
        self.last[upid] = tag
        is_first = tag not in ENDS and tag not in MAY_END
        self.line(upid, self.cpu, tag + b"|" + b",".join(b"%s=%d" % (key.encode(), value) for key, value in given), is_first)
        for name, _, text in texts:
            for piece in pieces(name.encode(), text):
                self.line(upid, self.cpu, piece)

    def open(self, upid):
        name = self.text()
        given = name if self.random.random() < 0.5 else self.text()
        self.put(b"Open", upid, [("FN", "fnamesize", name), ("FO", "forigsize", given)], flags=self.flags(), mode=self.random.randrange(0o10000), fd=self.fd())

    def fd(self):
        return self.random.randrange(300)

    def close(self, upid):
        self.put(b"Close", upid, fd=self.fd())

    def dup(self, upid):
        self.put(b"Dup", upid, oldfd=self.fd(), newfd=self.fd(), flags=self.random.choice([0, 0x80000]))

    def pipe(self, upid):
        self.put(b"Pipe", upid, fd1=self.fd(), fd2=self.fd(), flags=self.flags())

    def two(self, upid, name, second, letter):
        source = [(letter + "F", "fnamesize", self.text())]
        fails = self.random.random() < 0.3
        if not fails or self.random.random() < 0.5:
            if self.random.random() < 0.5:
                self.put(name + b"From", upid, source)
            else:
                self.put(second + b"From", upid, source, flags=self.flags())
        if fails:
            self.put(name + b"Failed", upid)
        else:
            self.put(name + b"To", upid, [(letter + "T", "fnamesize", self.text())])

    def rename(self, upid):
        self.two(upid, b"Rename", b"Rename2", "R")

    def link(self, upid):
        self.two(upid, b"Link", b"Linkat", "L")

    def symlink(self, upid):
        resolved = [("SR", "resolvednamesize", self.text())] if self.random.random() < 0.5 else []
        self.put(b"Symlink", upid, [("ST", "targetnamesize", self.text()), *resolved, ("SL", "linknamesize", self.text())])

    def mount(self, upid):
        source = [("MS", "sourcenamesize", self.text())] if self.random.random() < 0.5 else []
        kind = [("MX", "typenamesize", self.text())] if self.random.random() < 0.5 else []
        self.put(b"Mount", upid, [*source, ("MT", "targetnamesize", self.text()), *kind], flags=self.flags())
        if self.random.random() < 0.3:
            self.put(b"MountFailed", upid)

    def umount(self, upid):
        fails = self.random.random() < 0.3
        # A failure alone would belong to the event before it.
        if not fails or self.last.get(upid) == b"Umount" or self.random.random() < 0.5:
            self.put(b"Umount", upid, [("MT", "targetnamesize", self.text())], flags=self.flags())
        if fails:
            self.put(b"UmountFailed", upid)

    def comm(self, upid):
        self.put(b"Comm", upid, [("CN", "size", self.text())])

    def clone_fails(self, upid):
        self.put(b"SysClone", upid, flags=1 + self.random.getrandbits(31))
        self.put(b"SysCloneFailed", upid)

    def new_task(self, is_thread):
        """A new upid. Its pid is free; it may be that of a task that has ended."""
        pid = self.random.choice(self.done) if self.done and self.random.random() < 0.3 else self.random.randrange(1, 2**22 - 1)
        while pid in {upid & (2**22 - 1) for upid in self.live}:
            pid = self.random.randrange(1, 2**22 - 1)
        self.nr += 1
        self.live[self.nr << 22 | pid] = is_thread
        return self.nr << 22 | pid

    def fork(self, upid):
        if len(self.live) > 8:
            return
        flags = self.random.choice([None, 0, 17, 0x1200011, 0x4111, 0x3d0f00, self.random.getrandbits(33)])
        if flags is not None:
            self.put(b"SysClone", upid, flags=flags)
        self.put(b"SchedFork", upid, pid=self.new_task(bool(flags and flags & 0x10000)))

    def exec(self, upid, cwd=None):
        # A thread does not execute a program here: it would take over its process' number, which
        # the text cannot tell.
        if self.live.get(upid):
            return
        args = [self.text() if self.random.random() < 0.8 else b"" for _ in range(self.random.randrange(6))]
        cwd = self.text() if cwd is None else cwd
        texts = [("PI", "prognameisize", self.text()), ("PP", "prognamepsize", self.text()), ("CW", "cwdsize", cwd)]
        self.put(b"New_proc", upid, texts, argsize=sum(len(arg) + 1 for arg in args))
        for nr, arg in enumerate(args):
            for piece in pieces(b"A[%d]" % nr, arg) if arg else []:
                self.line(upid, self.cpu, piece)
        self.line(upid, self.cpu, b"End_of_args|")
        for _ in range(self.random.randrange(4)):
            self.environment.setdefault(b"V%d=" % self.random.randrange(9) + self.random.choice([b"", self.text()]), set()).add(upid)

    def exit(self, upid):
        if len(self.live) > 2:
            self.put(b"Exit", upid, status=self.random.randrange(256))
            del self.live[upid]
            self.done.append(upid & (2**22 - 1))

    def make(self, nr_events):
        cwd = self.text().replace(b"\n", b"-")
        self.cpu = 0
        wrapper = self.new_task(False)
        program = self.new_task(False)
        del self.live[wrapper]
        self.put(b"SchedFork", wrapper, pid=program)
        self.exec(program, cwd)
        for _ in range(nr_events):
            self.cpu = self.random.choice([0, 0, 1, 7])
            self.random.choice(self.choices)(self.random.choice(list(self.live)))
        for text in sorted(self.environment):
            for upid in sorted(self.environment[text]):
                self.line(0, 0, b"UPID|%d" % upid)
            for piece in pieces(b"Env", text, counted=True):
                self.line(0, 0, piece)
        return b"INITCWD=" + cwd + b"\n" + b"".join(line + b"\n" for line in self.out)


# --- the entries that CAS makes of a text ---

CLONE_THREAD = 0x10000


class Execution:
    """An entry of the JSON that the description defines: a process from one exec to the next one.
    @files: the way in which each path was used."""

    def __init__(self, upid, index, parent, program=None, cwd=None, args=()):
        self.upid, self.index, self.parent = upid, index, parent
        self.program, self.cwd, self.args = program, cwd, list(args)
        self.children, self.status, self.files = [], None, {}

    def use(self, path, reads, writes):
        before = self.files.get(path, (False, False))
        self.files[path] = (before[0] or reads, before[1] or writes)


def executions(reader):
    """The executions by (upid, index). Threads count for their process, as in a recording. The
    process that made the first program has no entry."""
    first = next(task.events[0][1]["pid"] for task in reader.tasks.values())
    found = {}

    def walk(upid, now):
        clone = source = None
        for tag, values, texts, args in reader.tasks[upid].events if upid in reader.tasks else []:
            if tag == b"New_proc":
                now = Execution(now.upid, now.index + 1, now.parent, texts["PP"], texts["CW"], args)
            elif tag == b"SchedFork" and clone and clone & CLONE_THREAD:
                walk(values["pid"], now)
            elif tag == b"SchedFork":
                now.children.append((values["pid"], clone))
                walk(values["pid"], Execution(values["pid"], 0, now, args=now.args))
            elif tag == b"Exit" and upid == now.upid:
                now.status = values["status"]
            elif tag == b"Open":
                access = values["flags"] & 3
                now.use(texts["FN"], access != 1, access in (1, 2))
            elif tag in (b"RenameFrom", b"Rename2From", b"LinkFrom", b"LinkatFrom"):
                source = texts.get("RF") or texts.get("LF")
            elif tag in (b"RenameTo", b"LinkTo"):
                now.use(source, True, False)
                now.use(texts.get("RT") or texts.get("LT"), False, True)
            elif tag == b"Symlink":
                now.use(texts["SL"], False, True)
                if "SR" in texts:
                    now.use(texts["SR"], True, False)
            clone = values["flags"] if tag == b"SysClone" else None
            found[now.upid, now.index] = now

    walk(first, Execution(first, 0, None))
    return found
