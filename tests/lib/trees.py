"""The call tree of a task as one line of text, from the records, from replayed text, or from a
test's expectation.

    name{...}   a call and the calls inside it; without the last brace it never returned
    ~name       a return from a call without an entry, or whose entry another task has
    |           the next call is at an outer level, although open calls have not returned (exec)
    name*3{}    short for name{}name{}name{}, in expectations only

Blanks mean nothing. Names are those of the source: in C++ as demangled by --demangle=simple.
"""

import re
from collections import Counter
from fnmatch import fnmatchcase

from data import ENTRY, EXIT


class Walk:
    """Makes the text of a tree from entries and exits with their depths."""

    def __init__(self):
        self.text = []
        self.open = []  # rows of (name, depth)

    def entry(self, name, depth):
        if self.open and depth <= self.open[-1][1]:
            self.text.append("|")
            while self.open and depth <= self.open[-1][1]:
                self.open.pop()
        self.text.append(name + "{")
        self.open.append((name, depth))

    def exit(self, name, depth):
        if self.open and self.open[-1] == (name, depth):
            self.open.pop()
            self.text.append("}")
        else:
            assert not self.open or depth < self.open[-1][1], (
                f"exit of {name} at depth {depth} while {self.open[-1]} is open: "
                + "".join(self.text)[-2000:]
            )
            self.text.append("~" + name)

    def __str__(self):
        return "".join(self.text)


def of_tasks(tasks, demangle, without):
    """The number of tasks with each tree. A vfork child that calls only library functions before its
    exec has no tree."""
    return Counter(filter(None, (of_records(task, demangle, without) for task in tasks)))


def of_records(task, demangle=lambda name: name, without=()):
    """The tree of @task, without calls of functions that a pattern of @without matches; the calls
    inside those stay.

    Calls of library functions are left out, too: an expectation names the program's own functions.
    """
    walk, names = Walk(), {}
    for record in task.records:
        if record.kind not in (ENTRY, EXIT) or record.is_libcall:
            continue
        if record.name not in names:
            name = demangle(record.name)
            names[record.name] = None if any(fnmatchcase(name, p) for p in without) else name
        name = names[record.name]
        if name is None:
            continue
        if record.kind == ENTRY:
            walk.entry(name, record.depth)
        else:
            walk.exit(name, record.depth)
    return str(walk)


LINE = re.compile(r"^ \[ *(\d+)\] \|( *)(.*)$")


def of_replay(text, without=()):
    """The trees by tid from the output of `replay -f tid`, and the list of unfinished calls after
    them."""
    walks, known = {}, {}
    body, _, rest = text.partition("\nutrail stopped tracing with remaining functions\n")
    for line in body.splitlines():
        match = LINE.match(line)
        if not match:
            assert not line or line.startswith("#"), f"unexpected line: {line!r}"
            continue
        tid, indent, words = match.groups()
        if words.startswith("/*"):
            continue
        assert len(indent) % 2 == 1, line
        walk, depth = walks.get(tid) or walks.setdefault(tid, Walk()), len(indent) // 2
        if words not in known:
            known[words] = of_words(words, without)
        name, enters, leaves = known[words]
        if enters:
            walk.entry(name, depth)
        if leaves:
            walk.exit(name, depth)
    return {int(tid): str(walk) for tid, walk in walks.items()}, rest


def of_words(words, without):
    """Three facts about a line of `replay` after its indentation: the name, True if the call
    begins, True if it ends."""
    comment = re.fullmatch(r"\} /\* (.*) \*/", words)
    assert comment or words.endswith((" {", ";")), words
    name = comment[1] if comment else strip_parens(words.removesuffix(" {").removesuffix(";"))
    name = re.sub(r"\.\d+$", "", name)  # gcc numbers nested functions
    is_left_out = any(fnmatchcase(name, p) for p in without)
    return name, not comment and not is_left_out, not words.endswith("{") and not is_left_out


def strip_parens(name):
    return name[:-2] if name.endswith("()") and not name.endswith("operator()") else name


def expand(text):
    """An expectation without short forms: no blanks, no repetitions."""
    text = re.sub(r"\s+", "", text)
    while matches := list(re.finditer(r"([^{}~|]+)\*(\d+)(?={)", text)):
        match = matches[-1]  # the last repetition contains no other one
        end, level = match.end(), 0
        while True:
            level += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if level == 0:
                break
        text = text[: match.start()] + (match[1] + text[match.end() : end]) * int(match[2]) + text[end:]
    return text


def expand_task(text):
    """The tree and the count of a `task:` directive."""
    match = re.fullmatch(r"(.*?)(?:\s+x(\d+))?", text)
    return expand(match[1]), int(match[2] or 1)
