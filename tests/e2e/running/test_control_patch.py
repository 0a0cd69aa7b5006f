"""`utrail control ... patch` and `unpatch` put hooks in and take them out while the program
runs."""

import os
import random
import re
import subprocess
import time
from pathlib import Path

import pytest

from programs import Variant, build, program
from test_attach import called, executables, names, record_briefly, unexpected
from test_attach_patch import BUILDS, Hot
from test_control import start as start_any  # a fixture
from test_control import Running, check_pairs, entries, notes, recorder_name, say
from tools import LIMIT_S, UTRAIL, environment, utrail, wait_until

VARIANTS = {
    "none": Variant("gcc", "none", "O2"),
    "patchable": Variant("gcc", "patchable", "O2"),
    "xray": Variant("clang", "xray", "O2"),
    "pg": Variant("gcc", "pg", "O2"),
}
each_method = pytest.mark.parametrize("method", VARIANTS)
ALL = {"outer", "inner", "leaf", "other", "recurse"}
# The number of changes. misc/test.sh steering makes more of them.
CHANGES = int(os.environ.get("UTRAIL_TEST_CHANGES", "300"))


@pytest.fixture
def start(start_any):
    return lambda method, *options, **kw: start_any("-g", *options, variant=VARIANTS[method], **kw)


def rounds(running):
    """Returns two times; between them only functions with hooks are recorded."""
    running.wait_for_rounds()
    since = time.monotonic_ns()
    running.wait_for_rounds()
    return since, time.monotonic_ns()


@each_method
def test_patch_and_unpatch(start, method):
    """A patched function is recorded from then on, an unpatched one is not; threads run all the
    while."""
    running = start(method, "-P", ".") if method != "pg" else start(method)
    windows = []
    for words, said, on in [
        (["unpatch", "leaf;other"], (0, 2), ALL - {"leaf", "other"}),
        (["patch", "leaf", "unpatch", "recurse"], (1, 1), ALL - {"other", "recurse"}),
        (["match", "glob", "unpatch", "*"], (0, None), set()),
        (["patch", "inner"], (1, 0), {"inner"}),
        (["patch", "recurse", "filter", "recurse"], (1, 0), {"recurse"}),
        (["clear", "patch", "."], (None, 0), ALL),
    ]:
        text = running.control(*words)
        for number, word in zip(said, ["patched", "unpatched"], strict=True):
            wanted = "[0-9]+" if number is None else number
            assert re.search(rf"^{word}: {wanted} functions$", text, re.M), (words, text)
        assert "places stay" not in text
        # A change of the code takes effect at once. A filter takes effect when the process has
        # asked for its new plan.
        if on and ("filter" in words or "clear" in words):
            running.wait_until_taken()
        windows.append((*rounds(running), on, words))
    status = running.control("status")
    assert "patch: inner\n" in status and "patch: .\n" in status
    recording = running.end()
    check_pairs(recording)
    for since, until, on, words in windows:
        assert {r.name for r in entries(recording, since, until)} == on, words
    assert [text for _, text in notes()][:2] == ["unpatch leaf;other", "patch leaf unpatch recurse"]


def test_library(start):
    """A library that no option has named is patched: readers have the names of its functions."""
    running = start("none", "-P", "leaf")
    assert "patched: 1 functions\n" in running.control("patch", "^clock_nanosleep$@libc.so")
    since, until = rounds(running)
    running.control("unpatch", "^clock_nanosleep$@libc.so")
    quiet = rounds(running)
    recording = running.end()
    assert {r.name for r in entries(recording, since, until)} == {"leaf", "clock_nanosleep"}
    assert {r.name for r in entries(recording, *quiet)} == {"leaf"}


def changed_functions(pid):
    """The functions of the program whose code differs from its file, with "" for code between
    functions."""
    exe = os.readlink(f"/proc/{pid}/exe")
    symbols = subprocess.run(["nm", "-S", "--defined-only", exe], check=True, capture_output=True, text=True).stdout
    functions = [(int(w[0], 16), int(w[1], 16), w[3]) for w in map(str.split, symbols.splitlines()) if len(w) == 4 and w[2] in "tT"]
    load = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if line.endswith(exe)]
    base = int(load[0][0].split("-")[0], 16)
    text = Path(exe).read_bytes()
    changed = set()
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for place, flags, offset, *_ in load:
            if "x" not in flags:
                continue
            start, end = (int(at, 16) for at in place.split("-"))
            memory.seek(start)
            now, offset = memory.read(end - start), int(offset, 16)
            # The file may end within a page. The memory after its end has no bytes to compare with.
            different = [i for i, (a, b) in enumerate(zip(now, text[offset:], strict=False)) if a != b]
            for at in {start + i - base for i in different}:
                changed.add(next((name for low, size, name in functions if low <= at < low + size), ""))
    return changed


def test_ends_go_with_their_calls(start):
    """XRay has hooks of its own at the end of a function. These are taken out with the hook at the
    beginning, but not while open calls need them."""
    running = start("xray", "-P", ".")
    assert changed_functions(running.pid) >= ALL | {"main", "worker"}
    for word, functions, changed in [
        ("unpatch", "leaf;recurse", ALL - {"leaf", "recurse"} | {"main", "worker"}),
        ("unpatch", ".", {"main", "worker"}),
        ("patch", "recurse", {"main", "worker", "recurse"}),
    ]:
        # The hook at the end of a function stays while a call is open. A thread without a CPU may
        # have a call open for long. In this case a later change takes out the hook.
        wait_until(lambda: running.control(word, functions) and changed_functions(running.pid) == changed)
    rounds(running)
    recording = running.end()
    check_pairs(recording)
    assert sum(r.name == "worker" for r in entries(recording)) == 8


@pytest.mark.parametrize("method", ["none", "xray"])
@pytest.mark.is_long(1 + CHANGES // 1000)
def test_many_changes(start, method):
    """Many changes while eight threads run. Nothing crashes, each entry has its exit, and functions
    without hooks are not recorded."""
    running = start(method, "-P", ".")
    name = recorder_name()
    changes = [
        ["unpatch", "leaf"],
        ["off"],
        ["patch", "leaf", "on"],
        ["clear", "filter", "inner"],
        ["match", "glob", "unpatch", "[ir]*"],
        ["depth", "3"],
        ["patch", "."],
        ["clear", "depth", "1024", "notrace", "recurse"],
        ["unpatch", "outer;other"],
        ["clear", "patch", "outer;other"],
    ]
    for i in range(CHANGES):
        error, text = say(name, *changes[i % len(changes)])
        assert error == 0, text
    assert f"changes: {CHANGES}\n" in running.control("status")
    running.control("unpatch", ".")
    quiet = rounds(running)
    running.control("patch", "leaf")
    loud = rounds(running)
    recording = running.end()
    check_pairs(recording)
    assert ALL <= {r.name for r in entries(recording)}
    assert entries(recording, *quiet) == []
    assert {r.name for r in entries(recording, *loud)} == {"leaf"}


def test_attached(tmp_path_factory):
    """Hooks are changed in a process that ran already. The process is left as it was, whether hooks
    are in or out at the end."""
    server = Hot(executables(tmp_path_factory, BUILDS, "hot")("plain"))
    try:
        recorder = subprocess.Popen(
            [UTRAIL, "record", "-g", "-p", str(server.pid), "-P", "check"], stderr=subprocess.PIPE, env=environment(), text=True
        )
        wait_until(lambda: utrail("control", str(server.pid), "status").status == 0 and server.is_let_go())
        changes = [
            (["patch", "leaf;tree"], {"leaf", "tree"}),
            (["unpatch", "check"], set()),
            (["patch", "check;mix"], {"mix"}),
            (["unpatch", "leaf"], set()),
        ]
        for words, wanted in changes:
            utrail("control", str(server.pid), *words).must()
            wait_until(lambda wanted=wanted: wanted <= called("--no-libcall"))
        recorder.terminate()
        assert (unexpected(recorder.communicate(timeout=LIMIT_S)[1]), recorder.returncode) == ("", 0)
        server.is_as_it_was()
        assert "check" in names()
        record_briefly(server.pid, "-P", ".", "--for=10ms")
        server.is_as_it_was()
        server.end()
    finally:
        server.proc.kill()
        server.proc.wait()


REFUSED = [
    (["patch", "laef"], 1, "cannot control 'uftrace.data': 'patch': no function of the program matches 'laef'; the nearest: leaf"),
    (["patch", "leaf", "unpatch", "laef"], 1, "cannot control .*: 'unpatch': no function of the program matches 'laef'.*"),
    (["patch", "leaf@libnone"], 1, "cannot control .*: 'patch': no function in a file whose name begins with 'libnone' matches 'leaf'"),
    (["patch", "@lib"], 2, "cannot control .*: '@lib': column 1: expected the name of a function"),
    (["patch", "_start"], 1, "cannot control .*: 'patch': no function .*'_start'.*"),
    (["patch", "leaf", "filter", "("], 2, r"cannot control .*: '\(': column 1: .*"),
    (["patch", "a", "b"], 2, "unknown word 'b'.*"),
    (["patch"], 2, r"'patch' needs an argument: patch FUNC\[@LIB\]"),
]


def test_refused(start):
    """Nothing changes when a part of the request cannot be done."""
    running = start("none", "-P", "outer")
    before = running.control("status")
    for words, status, message in REFUSED:
        result = utrail("control", "uftrace.data", *words).must(status)
        assert re.fullmatch(f"utrail: {message}\n", result.err), result.err
        assert result.out == ""
    after = running.control("status")
    assert re.sub(r"written: .*", "", after) == re.sub(r"written: .*", "", before)
    window = rounds(running)
    assert {r.name for r in entries(running.end(), *window)} == {"outer"}


def test_live_pid(start):
    running = start("none", "-P", "outer")
    assert utrail("live", "-p", str(running.pid), "-U", "outer", "-P", "leaf").must().out == "patched: 1 functions\nunpatched: 1 functions\n"
    window = rounds(running)
    assert {r.name for r in entries(running.end(), *window)} == {"leaf"}


def test_it_ends_meanwhile():
    """The status is the program's own, even when it ends during a change."""
    for _ in range(3):
        running = Running("-g", "-P", ".", variant=VARIANTS["none"])
        running.proc.stdin.close()
        while running.proc.poll() is None:
            utrail("control", "uftrace.data", "unpatch", "leaf")
            utrail("control", "uftrace.data", "patch", "leaf")
        assert (running.proc.stdout.read(), running.proc.returncode) == ("ended by itself\n", 0), running.proc.stderr.read()


def test_recorder_is_killed():
    """The recorder is killed at any moment: the program runs on and ends as untraced."""
    chance = random.Random()
    for _ in range(4):
        running = Running("-g", "-P", ".", variant=VARIANTS["none"])
        name = recorder_name()
        child = subprocess.Popen(
            [UTRAIL, "control", "uftrace.data", "unpatch", "."], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
        )
        say(name, "unpatch", "leaf")
        time.sleep(chance.uniform(0, 0.02))
        running.proc.kill()
        child.wait()
        assert running.proc.communicate(timeout=60)[0] == "ended by itself\n"
