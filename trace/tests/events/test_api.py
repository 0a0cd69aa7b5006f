"""Each function of fstrace.h: what it does, and what it does when it cannot."""

import ctypes
import errno
import os
import re
import signal
import subprocess
import sys
import time
from ctypes import c_int, c_void_p
from pathlib import Path

import pytest
from built import HEADERS, LIBRARIES
from library import SELECT, Log, is_enabled, lib, libc, log

NAME = re.compile(r"t-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\.log")


@pytest.fixture
def trace(tmp_path):
    one = Log(tmp_path / "t")
    yield one
    one.close()


def bodies(trace):
    return [line.split(b" ", 3)[3] for line in trace.text().splitlines()]


def in_child(job):
    pid = os.fork()
    if pid == 0:
        try:
            job()
            os._exit(0)
        except BaseException as wrong:
            print(wrong, file=sys.stderr, flush=True)
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_log_begins_with_its_first_record(trace):
    event = trace.declare("A", "")
    assert not trace.path.exists()
    mask = os.umask(0o022)
    log(event)
    os.umask(mask)
    assert trace.path.stat().st_mode & 0o777 == 0o600


def test_an_old_log_is_set_aside(tmp_path):
    (tmp_path / "t.log").write_text("old\n")
    trace = Log(tmp_path / "t")
    assert [NAME.fullmatch(path.name) is not None for path in trace.rotated()] == [True]
    assert trace.rotated()[0].read_text() == "old\n"
    trace.close()


def test_open_fails_with_a_reason(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError) as raised:
        Log(tmp_path / "file" / "t")
    assert raised.value.errno == errno.ENOTDIR


def test_records_that_cannot_be_written_are_lost(tmp_path):
    trace = Log(tmp_path / "no such directory" / "t")
    log(trace.declare("A", ""))
    assert trace.text() == b""
    trace.close()


def test_direct(tmp_path):
    libc.fopen.restype = c_void_p
    stream = libc.fopen(os.fsencode(tmp_path / "f"), b"w")
    handle = lib.fstrace_direct(stream)
    event = lib.fstrace_declare(handle, b"A", b"N=%d")
    lib.fstrace_select_event(event, 1)
    libc.fputs(b"before\n", c_void_p(stream))
    log(event, c_int(1))
    libc.fputs(b"between\n", c_void_p(stream))
    log(event, c_int(2))
    assert lib.fstrace_close(handle) == 0
    libc.fputs(b"behind\n", c_void_p(stream))
    libc.fclose(c_void_p(stream))
    lines = (tmp_path / "f").read_text().splitlines()
    assert [line.split(" ")[-1] for line in lines] == ["before", "N=1", "between", "N=2", "behind"]


def test_direct_to_memory(tmp_path):
    libc.open_memstream.restype = c_void_p
    where, size = ctypes.c_char_p(), ctypes.c_size_t()
    stream = libc.open_memstream(ctypes.byref(where), ctypes.byref(size))
    handle = lib.fstrace_direct(stream)
    event = lib.fstrace_declare(handle, b"A", b"in memory")
    lib.fstrace_select_event(event, 1)
    log(event)
    assert where.value.endswith(b" A in memory\n")
    lib.fstrace_close(handle)
    libc.fclose(c_void_p(stream))


def test_selection(trace):
    events = {id: trace.declare(id, "", enabled=False) for id in ("NET-IN", "NET-OUT", "DISK-IN")}

    def on():
        return {id for id, event in events.items() if is_enabled(event)}

    assert on() == set()
    assert lib.fstrace_select_regex(trace.handle, b"IN$", b"^D") and on() == {"NET-IN"}
    assert lib.fstrace_select_regex(trace.handle, b"T-", None) and on() == {"NET-IN", "NET-OUT"}
    assert not lib.fstrace_select_regex(trace.handle, b"(", None) and on() == {"NET-IN", "NET-OUT"}
    assert not lib.fstrace_select_regex(trace.handle, b"D", b"[") and on() == {"NET-IN", "NET-OUT"}
    seen = []
    choice = SELECT(lambda data, id: seen.append(id) or {b"NET-IN": -7, b"NET-OUT": 0, b"DISK-IN": 9}[id])
    lib.fstrace_select(trace.handle, choice, None)
    assert on() == {"NET-OUT", "DISK-IN"} and len(seen) == 3
    assert lib.fstrace_select_regex(trace.handle, None, None) and on() == set()
    lib.fstrace_select_safe(trace.handle, choice, None)
    assert on() == {"DISK-IN"}
    lib.fstrace_select_event(events["DISK-IN"], 0)
    assert on() == {"DISK-IN"}
    lib.fstrace_select_event(events["DISK-IN"], -1)
    lib.fstrace_select_event(None, 1)
    assert on() == set()
    # Declared later: off.
    assert not is_enabled(trace.declare("NET-LATE", "", enabled=False))


def test_two_events_of_one_name(trace):
    one, two = trace.declare("SAME", "1"), trace.declare("SAME", "2", enabled=False)
    assert one != two and is_enabled(one) and not is_enabled(two)


def test_many_events(trace):
    events = [trace.declare(f"E{i}", f"{i}") for i in range(10000)]
    assert len(set(events)) == 10000
    log(events[9999])
    assert bodies(trace) == [b"9999"]


def test_common_format(trace):
    event = trace.declare("A", "own")
    for format in (b"PID=%P %F:%L %e %%", None, b"C", b"", b"C", b"%d", b"C", b"%q"):
        lib.fstrace_set_common_format(trace.handle, format)
        ctypes.set_errno(0)
        log(event)
    first = f"PID={os.getpid()} unit.c:7 0 % own".encode()
    assert bodies(trace) == [first, b"own", b"C own", b"own", b"C own", b"own", b"C own", b"own"]


def test_choice_is_for_children_too(trace):
    event = trace.declare("A", "N=%d", enabled=False)
    ready, go = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        lib.fstrace_select_event(event, 1)
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        own = trace.declare("CHILD", "", enabled=True)
        log(own)
        os._exit(is_enabled(event))
    os.read(ready[0], 1)
    assert is_enabled(event)
    mine = trace.declare("PARENT", "")
    lib.fstrace_select_event(event, -1)
    os.write(go[1], b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    log(mine)
    assert [line.split()[2] for line in trace.text().splitlines()] == [b"CHILD", b"PARENT"]


def rotate(trace, times):
    event = trace.declare("A", "%s")
    for _ in range(times):
        log(event, ctypes.c_char_p(b"x" * 100))
    return trace.rotated()


def test_rotation(tmp_path):
    trace = Log(tmp_path / "t", 300)
    old = rotate(trace, 12)
    assert all(NAME.fullmatch(path.name) for path in old)
    # 130 bytes each: 390 are more than 300.
    assert [path.read_bytes().count(b"\n") for path in old] == [3, 3, 3] and trace.path.read_bytes().count(b"\n") == 3
    trace.close()


def test_size_itself_is_not_too_much(tmp_path):
    trace = Log(tmp_path / "t", 130 * 2)
    old = rotate(trace, 6)
    assert [path.stat().st_size for path in old] == [130 * 3]
    trace.close()


@pytest.mark.parametrize("set, value, left", [
    ("file_count", 2, 3), ("file_count", 0, 1), ("file_count", -1, 10),
    ("byte_count", 260, 3), ("byte_count", 259, 2), ("byte_count", 1, 1), ("byte_count", -1, 10),
    ("file_age", 0, 2), ("file_age", 3600, 10), ("file_age", -1, 10),
])
def test_limits(tmp_path, set, value, left):
    (tmp_path / "t-notes.log").write_text("stays")
    (tmp_path / "other-2001-01-01T00:00:00.000000.log").write_text("stays")
    trace = Log(tmp_path / "t", 0)
    getattr(lib, f"fstrace_limit_rotation_{set}")(trace.handle, value)
    event = trace.declare("A", "%s")
    for _ in range(11):
        log(event, ctypes.c_char_p(b"x" * 100))
        time.sleep(0.001)
    # The time of a file is when it was renamed: with an age of 0 all are too old, and the newest of them stays.
    expected = 1 if (set, value) == ("file_age", 0) else left
    assert len([path for path in trace.rotated() if NAME.fullmatch(path.name)]) == expected
    assert (tmp_path / "t-notes.log").exists() and len(list(tmp_path.glob("other-*"))) == 1
    trace.close()


def test_limits_of_a_directory_that_cannot_be_listed(tmp_path):
    """Nothing is deleted, and the program's own descriptors stay what they are."""
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(tmp_path, 65534, 65534)
    tmp_path.chmod(0o300)

    def child():
        os.chdir(tmp_path)
        if is_root:
            os.setuid(65534)
        before = os.fstat(0)
        lib.fstrace_set_lock_path(b"lock")  # the child ends by _exit(), and leaves the file
        trace = Log("t", 0)
        event = trace.declare("A", "")
        for set in "file_count", "file_age", "byte_count":
            getattr(lib, f"fstrace_limit_rotation_{set}")(trace.handle, 1)
        for _ in range(4):
            log(event)
        assert os.path.samestat(os.fstat(0), before)

    in_child(child)
    tmp_path.chmod(0o700)
    assert len(list(tmp_path.glob("t*.log"))) == 4


def test_reopening_takes_no_descriptors(tmp_path):
    trace = Log(tmp_path / "t")
    log(trace.declare("A", ""))
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        assert lib.fstrace_reopen(trace.handle) == 0
    assert os.listdir("/proc/self/fd") == before
    trace.close()


def test_signals_are_blocked_as_before(tmp_path):
    """The thread has the same mask after it has opened, rotated and reopened a log."""
    with_mask = signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR2})
    trace = Log(tmp_path / "t", 0)
    event = trace.declare("A", "")
    for _ in range(3):
        log(event)
    assert lib.fstrace_reopen(trace.handle) == 0 and lib.fstrace_reinit() == 0
    trace.close()
    assert signal.pthread_sigmask(signal.SIG_SETMASK, with_mask) == {signal.SIGUSR2}


def test_a_child_that_closes_everything(tmp_path):
    trace = Log(tmp_path / "t")
    event = trace.declare("A", "N=%d")
    log(event, c_int(1))

    def child():
        os.closerange(3, 100)
        stranger = os.open(tmp_path / "stranger", os.O_CREAT | os.O_RDWR)
        assert lib.fstrace_reinit() == 0 and lib.fstrace_reopen(trace.handle) == 0
        log(event, c_int(2))
        assert os.fstat(stranger).st_size == 0

    in_child(child)
    log(event, c_int(3))
    assert bodies(trace) == [b"N=1", b"N=2", b"N=3"]
    trace.close()


def test_standard_descriptors_are_left_alone(tmp_path):
    def child():
        for fd in range(3):
            os.close(fd)
        lib.fstrace_set_lock_path(bytes(tmp_path / "lock"))
        trace = Log(tmp_path / "t")
        log(trace.declare("A", ""))
        for fd in range(3):
            with pytest.raises(OSError):
                os.fstat(fd)

    in_child(child)
    assert (tmp_path / "t.log").stat().st_size


def test_lock_file(tmp_path):
    """Each case has a process of its own: the path of the lock stays for good."""
    code = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
import os
from library import Log, lib
if len(sys.argv) > 1: lib.fstrace_set_lock_path(sys.argv[1].encode())
assert lib.fstrace_chown(os.getuid(), os.getgid()) == 0
# The lock is the first file that is opened then, and gets this number at first.
if len(sys.argv) == 1: os.close(0)
Log({str(tmp_path / 'l')!r})
print(*[p for p in (os.path.realpath(f'/proc/self/fd/{{fd}}') for fd in os.listdir('/proc/self/fd')) if 'lock' in p.rsplit('/')[-1]])
assert lib.fstrace_chown(os.getuid(), os.getgid()) == 0
"""
    for argument in ([], [str(tmp_path / "lock")]):
        done = subprocess.run([sys.executable, "-c", code, *argument], check=True, text=True, stdout=subprocess.PIPE)
        path = done.stdout.split()[0]
        assert path == argument[0] if argument else re.fullmatch(r"/tmp/fstrace\.lock\.\w{6}", path)
        assert not os.path.exists(path)
    failed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "no" / "lock")], text=True, stderr=subprocess.PIPE)
    assert failed.returncode and "fstrace_open" in failed.stderr


def test_unique_ids():
    ids = {lib.fstrace_get_unique_id() for _ in range(1000)}
    assert len(ids) == 1000 and all(id // 1000000 == os.getpid() for id in ids)
    in_child(lambda: None if lib.fstrace_get_unique_id() // 1000000 == os.getpid() else os._exit(1))


def test_reprs():
    for value in (0, -1, 2**63 - 1, -(2**63)):
        assert lib.fstrace_signed_repr(value) == str(value).encode()
    for value in (0, 2**64 - 1):
        assert lib.fstrace_unsigned_repr(value) == str(value).encode()
        assert lib.fstrace_hex_repr(value) == f"{value:x}".encode()


PROGRAM = r"""
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fstrace.h>

FSTRACE_DECL(FIRST_EVENT, "N=%d");
FSTRACE_DECL(SECOND_EVENT, "WHERE=%L");
static int evaluated;
static int count(void) { return ++evaluated; }
static volatile sig_atomic_t handled;
static void handler(int sig) { handled++; FSTRACE(FIRST_EVENT, sig); }

int main(int argc, char **argv)
{
	fstrace_set_lock_path("lock"); /* who crashes leaves it */
	fstrace_t *trace = fstrace_open(argv[1], -1);
	FSTRACE(FIRST_EVENT, count());
	fstrace_declare_globals(trace);
	FSTRACE(FIRST_EVENT, count());
	assert(!evaluated && !FSTRACE_ENABLED(NULL) && !FSTRACE_ENABLED(FIRST_EVENT));
	fstrace_select_regex(trace, "-EVENT$", NULL);
	errno = ENOENT;
	FSTRACE(FIRST_EVENT, count());
	if (SECOND_EVENT) FSTRACE_NO_ARGS(SECOND_EVENT); else abort();
	assert(errno == ENOENT);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	assert(handled == 1);
	FSTRACE_NO_ARGS(NULL);
	*(volatile int *)(argc > 1 ? NULL : argv) = 1;
}
"""

PROGRAM_CC = r"""
#include <cassert>
#include <vector>
#include <fstrace.h>
struct Thing : fsecure::fstrace::UniqueId { };
int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	Thing a, b(a), c(static_cast<Thing &&>(b));
	assert(a.id() != b.id() && c.id() == b.id());
	uint64_t id = c.id();
	c = a;
	assert(c.id() == id);
	fstrace_t *trace = fstrace_open(argv[1], -1);
	fstrace_event_t *event = fstrace_declare(trace, "LIST", "%J %J");
	fstrace_select_event(event, 1);
	using Texts = std::vector<std::string>;
	using Numbers = std::vector<uint64_t>;
	Texts texts{"a", "b,c"};
	Numbers numbers{1, UINT64_MAX};
	fsecure::fstrace::TraceIterator of_texts(texts.begin(), texts.end());
	fsecure::fstrace::TraceIterator<Numbers> of_numbers(numbers.begin(), numbers.end());
	FSTRACE(event, decltype(of_texts)::trace, &of_texts, decltype(of_numbers)::trace, &of_numbers);
	return fstrace_close(trace);
}
"""


def build(tmp_path, compiler, name, text, library):
    (tmp_path / name).write_text(text)
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-g", "-o", tmp_path / "program", tmp_path / name, f"-I{HEADERS}",
                    LIBRARIES / library, f"-Wl,-rpath,{LIBRARIES}", "-pthread"], check=True)
    return tmp_path / "program"


@pytest.mark.parametrize("library", ["libutrail-trace.so.1", "libutrail-trace.a"])
def test_program_that_crashes(tmp_path, library):
    program = build(tmp_path, ["gcc", "-std=gnu99"], "program.c", PROGRAM, library)
    assert subprocess.run([program, tmp_path / "t"], cwd=tmp_path).returncode == -11
    line = PROGRAM.splitlines().index("\tif (SECOND_EVENT) FSTRACE_NO_ARGS(SECOND_EVENT); else abort();") + 1
    assert [text.split(" ", 2)[2] for text in (tmp_path / "t.log").read_text().splitlines()] == [
        "FIRST-EVENT N=1", f"SECOND-EVENT WHERE={line}", "FIRST-EVENT N=10"]


def test_program_in_cpp(tmp_path):
    program = build(tmp_path, ["g++", "-std=c++17"], "program.cc", PROGRAM_CC, "libutrail-trace.so.1")
    subprocess.run([program, tmp_path / "t"], check=True)
    assert (tmp_path / "t.log").read_text().endswith(" LIST [a,b%2Cc] [1,18446744073709551615]\n")


def test_exports_are_the_headers():
    fstrace = (HEADERS / "fstrace.h").read_text()
    posix = (HEADERS / "utrail-posix/trace.h").read_text()
    exported = {line.split()[-1].split("@")[0] for line in subprocess.run(
        ["nm", "-D", "--defined-only", LIBRARIES / "libutrail-trace.so.1"], check=True, text=True,
        stdout=subprocess.PIPE).stdout.splitlines()} - {"UTRAIL_TRACE_1"}
    assert exported == {
        *re.findall(r"^[a-z][^\n]*?\b(fstrace_\w+)\(", fstrace, re.M),
        *re.findall(r"^[a-z][^\n]*?\b(posix_trace_\w+|utrail_sysconf|utrail_trace_\w+)\(", posix, re.M),
        "__cyg_profile_func_enter", "__cyg_profile_func_exit"}  # what compilers call with -finstrument-functions
