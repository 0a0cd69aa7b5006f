"""Tracepoints of the kernel, -E system:event@kernel: they are recorded, shown in the calls during
which they occur, and read from files made by hand."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import kernel
import pytest
from archive import unpack
from data import Recording
from programs import Variant, build, program
from tools import LIMIT_S, NOBODY, UTRAIL, environment, peer, run, utrail, wait_until, why_not_as_nobody

PG = Variant("gcc", "pg", "O2")
TRACEFS = Path("/sys/kernel/tracing")
SLEEPS = "syscalls:sys_(enter|exit)_(clock_)?nanosleep@kernel"


def why_not():
    """The reason why this machine cannot record events of its kernel; None when it can."""
    if os.getuid() != 0:
        return "only root can record events of the kernel"
    if os.readlink("/proc/self/ns/pid") != "pid:[4026531836]":
        return "in a pid name space of its own"
    if not (TRACEFS / "available_events").exists():
        run("mount", "-t", "tracefs", "nodev", TRACEFS)
    events = TRACEFS / "available_events"
    if not events.exists():
        return "tracefs cannot be mounted"
    if "syscalls:sys_enter_clock_nanosleep" not in events.read_text():
        return "the kernel has no events of system calls"
    return None


REASON = why_not()
needs_kernel = pytest.mark.skipif(REASON is not None, reason=REASON or "")
has_fields = "tracepoints" in utrail("--version").out.split()
needs_fields = pytest.mark.skipif(not has_fields, reason="built without libtraceevent")


def said(result):
    """The text on stderr without the warning that a build without libtraceevent prints once."""
    line = "WARN: events of the kernel are shown without their fields: utrail was built without libtraceevent\n"
    assert result.err.count(line) == (0 if has_fields else 1)
    return result.err.replace(line, "")


def instances():
    return {p.name for p in (TRACEFS / "instances").glob("utrail-*")}


@pytest.fixture(autouse=True)
def no_instance_is_left_behind():
    """Each recorder removes its instance in the kernel when it ends; others may be at work."""

    def left():
        names = instances() if REASON is None else set()
        return {name for name in names if not os.path.exists(f"/proc/{name.split('-')[1]}")}

    before = left()
    yield
    for _ in range(100):  # recorders of other tests may be about to end
        if left() <= before:
            break
        time.sleep(0.05)
    assert left() <= before


def record(*args, events=SLEEPS, status=0):
    """Record without a message."""
    result = utrail("record", "-E", events, *args).must(status)
    assert result.err == ""
    return result


@pytest.fixture(scope="module")
def sleeper(tmp_path_factory):
    """A program that sleeps in nap(): in main(), in a thread, in a forked child."""
    path = tmp_path_factory.mktemp("sleeper")
    (path / "sleeper.c").write_text(
        """
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void nap(void) { struct timespec t = { 0, 2000000 }; nanosleep(&t, NULL); }
static void *work(void *unused) { nap(); nap(); return NULL; }
int main(int argc, char **argv)
{
	pthread_t thread;
	work(NULL);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		work(NULL);
		return 0;
	}
	wait(NULL);
	if (argc > 1)
		execl(argv[0], argv[0], NULL);
	puts("slept");
	return 3;
}
"""
    )
    run("gcc", "-pg", "-O0", "sleeper.c", "-o", "sleeper", "-pthread", cwd=path).must()
    return path / "sleeper"


def lines_by_task(text):
    """{tid: [the text right of the bar, without indentation]} of a replay."""
    found = {}
    for line in text.splitlines():
        m = re.match(r".*\[ *(\d+)\] \| +(.*)", line)
        if m:
            found.setdefault(int(m[1]), []).append(re.sub(r"^/\* (\S+).*", r"\1", m[2]))
    return found


# --- recorded here ------------------------------------------------------------------------------------------


@needs_kernel
def test_events_are_in_the_calls_they_happen_in(sleeper):
    """Events of threads and forked children are in their calls, too; the program's output and
    status are its own."""
    result = record(sleeper, status=3)
    assert result.out == "slept\n"
    tasks = lines_by_task(utrail("replay", "--no-libcall", "--no-sched").must().out)
    assert len(tasks) == 3
    for lines in tasks.values():
        text = " ".join(lines)
        nap = r"nap\(\) \{ syscalls:sys_enter_\w*nanosleep syscalls:sys_exit_\w*nanosleep \} /\* nap \*/"
        assert len(re.findall(nap, text)) == 2, text
        assert text.count("nanosleep") == 4


@needs_kernel
def test_after_exec(sleeper):
    record("-D", "9", sleeper, "again", status=3)
    tasks = lines_by_task(utrail("replay", "--no-sched").must().out)
    assert sum(line.startswith("syscalls:sys_enter") for lines in tasks.values() for line in lines) == 12


@needs_kernel
def test_sched_switch_agrees_with_perf(sleeper):
    """perf and the tracepoint agree within a few microseconds when a task leaves the CPU."""
    record(sleeper, events="sched:sched_switch@kernel;linux:schedule", status=3)
    text = utrail("dump").must().out
    outs, switches = {}, {}
    for m in re.finditer(r"^(\d+)\.(\d{9}) +(\d+): \[event\] (\S+)\(\d+\)(?: prev_comm=\S+ prev_pid=(\d+))?", text, re.M):
        when = int(m[1]) * 10**9 + int(m[2])
        if m[4].startswith("linux:sched-out"):
            outs.setdefault(m[3], []).append(when)
        elif m[4] == "sched:sched_switch" and m[5] in (m[3], None):
            switches.setdefault(m[3], []).append(when)
    assert outs
    for tid, times in outs.items():
        for when in times:
            assert any(0 <= when - t < 500000 for t in switches[tid]), (tid, when)


@needs_kernel
@needs_fields
def test_what_the_fields_say(sleeper):
    record(sleeper, events="sched:sched_switch@kernel;raw_syscalls:sys_enter@kernel", status=3)
    tids = set(Recording(Path("uftrace.data")).tasks)
    text = utrail("replay").must().out
    switch = r"/\* sched:sched_switch \(prev_comm=.* prev_pid=(\d+) prev_prio=\d+ prev_state=\S+ ==> next_comm=.* next_pid=(\d+) next_prio=\d+\) \*/"
    found = re.findall(r"\[ *(\d+)\] \| +" + switch, text)
    assert found and text.count("sched:sched_switch") == len(found)
    for tid, prev, next_ in found:
        assert int(tid) in tids
        assert tid == prev or (tid == next_ and int(prev) not in tids)
    assert re.search(r"/\* raw_syscalls:sys_enter \(NR \d+ \((\w+, ){5}\w+\)\) \*/", text)


@needs_kernel
def test_options_of_reading(sleeper):
    record(sleeper, status=3)
    assert "syscalls:" not in utrail("replay", "--no-event").must().out
    assert "syscalls:" in utrail("replay", "--no-sched").must().out
    flat = utrail("replay", "--flat").must().out
    assert len(re.findall(r"!!! \d+: syscalls:sys_enter_\w*nanosleep", flat)) == 6
    tid = list(Recording(Path("uftrace.data")).tasks)[-1]
    only = utrail("replay", "--tid", tid).must().out
    assert only.count("syscalls:") == 4
    assert "syscalls:" not in utrail("dump", "--no-event").must().out
    # Without the option, the commands show no event of the kernel.
    for command in (["report"], ["graph"], ["info"]):
        assert "sys_enter" not in utrail(*command).must().out.replace(SLEEPS, "")


@needs_kernel
def test_events_outside_of_functions(sleeper):
    """The event of the program's own exec is in none of its functions: only --event-full shows
    it."""
    record(sleeper, events="sched:sched_process_exec@kernel", status=3)
    assert "sched_process_exec" not in utrail("replay").must().out
    assert utrail("replay", "--event-full").must().out.count("sched:sched_process_exec") == 1


@needs_kernel
@pytest.mark.parametrize("clock", ["mono", "mono_raw", "boot"])
def test_clocks(sleeper, clock):
    record("--clock", clock, sleeper, status=3)
    assert len(re.findall("syscalls:sys_exit", utrail("replay").must().out)) == 6


@needs_kernel
def test_no_clock(sleeper):
    result = utrail("record", "--clock=realtime", "-E", SLEEPS, sleeper).must(3)
    assert re.fullmatch(r"WARN: cannot record events of the kernel: .*realtime clock; use --clock=mono\n", result.err)
    assert not list(Path("uftrace.data").glob("kernel*"))


@needs_kernel
def test_keep_pid(sleeper):
    record("--keep-pid", sleeper, status=3)
    assert len(re.findall("syscalls:sys_exit", utrail("replay").must().out)) == 6


@needs_kernel
def test_names_that_nothing_has(sleeper):
    result = utrail("record", "-E", "nosuch:event@kernel", sleeper).must(3)
    assert re.fullmatch(r"WARN: cannot record events of the kernel: no event .*'nosuch:event@kernel'.*\n", result.err)
    assert not list(Path("uftrace.data").glob("kernel*"))
    result = utrail("record", "-E", f"nosuch:event@kernel;{SLEEPS}", sleeper).must(3)
    assert re.fullmatch(r"WARN: no event of the kernel is called 'nosuch:event@kernel'.*\n", result.err)
    assert utrail("replay").must().out.count("syscalls:") == 12


@needs_kernel
def test_without_permission(sleeper):
    """A line of warning has the reason, and the recording goes on."""
    if reason := why_not_as_nobody():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory() as work:  # pytest's own directories are root's
        os.chmod(work, 0o777)
        shutil.copy(sleeper, work)
        result = run(*NOBODY, UTRAIL, "record", "-E", SLEEPS, "./sleeper", cwd=work).must(3)
        line = r"WARN: cannot record events of the kernel: cannot open '.*': Permission denied; root can\n"
        assert re.fullmatch(line, result.err)
        assert result.out == "slept\n"
        assert "nap() {" in utrail("replay", "-d", Path(work) / "uftrace.data").must().out


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A program that makes many system calls in one call."""
    path = tmp_path_factory.mktemp("busy")
    (path / "busy.c").write_text(
        "#include <stdlib.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
        "static void spin(int n) { for (int i = 0; i < n; i++) syscall(SYS_getppid); }\n"
        "int main(int argc, char **argv) { spin(atoi(argv[1])); return 0; }\n"
    )
    run("gcc", "-pg", "-O0", "busy.c", "-o", "busy", cwd=path).must()
    return path / "busy"


GETPPID = "syscalls:sys_enter_getppid@kernel"


@needs_kernel
def test_many_events(busy):
    record("--no-libcall", busy, 200000, events=GETPPID)
    assert utrail("replay", "--no-libcall").must().out.count("sys_enter_getppid") == 200000
    # Each page is full before the next one begins.
    used = sum(p.stat().st_size for p in Path("uftrace.data").glob("kernel-cpu*.dat"))
    assert used < 200000 * 24 * 1.1 + 20 * 4096


@needs_kernel
def test_lost_events_are_counted(busy):
    """With a buffer of two pages, lost and recorded events add up to the number of calls. The probe
    adds two or three calls of its own."""
    proc = subprocess.Popen(
        [UTRAIL, "record", "--no-libcall", "--kernel-buffer", "8k", "-E", GETPPID, busy, "100000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
    _, err = proc.communicate(timeout=60)
    assert proc.returncode == 0
    shown = utrail("replay", "--no-libcall", "--event-full").must()
    there = shown.out.count("sys_enter_getppid")
    if there >= 100000:
        pytest.skip("this recorder was fast enough to lose nothing")
    lost = int(re.fullmatch(r"WARN: (\d+) events of the kernel were lost; a larger buffer .*\n", err)[1])
    assert 100000 <= there + lost < 100010
    # The kernel counts the lost events only where the page has room for the number.
    assert re.fullmatch(r"WARN: (more than )?(\d+ )?events of the kernel were lost when this was recorded .*\n", said(shown))
    assert "events were lost here" in utrail("dump").must().out


@needs_kernel
def test_flight_keeps_the_newest(busy):
    record("--flight=128k", "--max-size=256k", "--no-libcall", busy, 100000, events=GETPPID)
    kept = [p.stat().st_size for p in Path("uftrace.data").glob("kernel-cpu*.dat")]
    assert 4096 <= sum(kept) and max(kept) <= 256 * 1024 / 8
    dump = utrail("dump").must().out
    times = [float(t) for t in re.findall(r"^(\d+\.\d{9}).*sys_enter_getppid", dump, re.M)]
    end = float(re.findall(r"^(\d+\.\d{9}).*\[exit \] spin", dump, re.M)[-1])
    assert 100 < len(times) < 100000
    assert end - max(times) < 0.1


@needs_kernel
def test_max_size_leaves_room_for_calls(busy):
    result = utrail("record", "--max-size=1m", "--no-libcall", "-E", GETPPID, busy, 100000).must()
    assert re.match("WARN: events of the kernel reached half of --max-size", result.err)
    assert sum(p.stat().st_size for p in Path("uftrace.data").glob("kernel-cpu*.dat")) <= 512 * 1024
    assert "spin() {" in utrail("replay", "--no-libcall").must().out


@needs_kernel
def test_killed_recorder(sleeper):
    """The next recorder removes the instance that a killed one leaves in the kernel. The killed
    one's records can be read."""
    is_alone = "PYTEST_XDIST_WORKER" not in os.environ  # the next recorder may be another test's
    proc = subprocess.Popen([UTRAIL, "record", "--force", "-E", "sched:.*@kernel", "sleep", "2"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    wait_until(lambda: any(p.stat().st_size for p in Path(".").glob("uftrace.data/[0-9]*.dat")))
    os.kill(proc.pid, signal.SIGKILL)
    proc.wait()
    assert not is_alone or f"utrail-{proc.pid}" in instances()
    utrail("replay", "--event-full").must()
    assert "KERNEL" in utrail("dump").must().out
    record("-d", "next.data", sleeper, status=3)
    assert f"utrail-{proc.pid}" not in instances()
    proc.communicate()


@needs_kernel
def test_program_that_cannot_be_executed(tmp_path):
    """The instance in the kernel exists before the program is executed. When the program cannot be
    executed, the instance is removed."""
    (tmp_path / "none.c").write_text("int main(void) { return 0; }\n")
    run("gcc", "-pg", "none.c", "-o", "none", "-Wl,--dynamic-linker=/nowhere/ld.so").must()
    result = utrail("record", "-E", SLEEPS, "./none").must(1)
    assert re.fullmatch(r"utrail: cannot run './none': No such file or directory\n", result.err)
    assert not instances() or "PYTEST_XDIST_WORKER" in os.environ


@needs_kernel
def test_killed_program():
    proc = subprocess.Popen([UTRAIL, "record", "--force", "-E", "syscalls:.*nanosleep@kernel", "sleep", "30"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    tid = wait_until(lambda: [int(p.stem) for p in Path(".").glob("uftrace.data/[0-9]*.dat")])[0]
    wait_until(lambda: Path(f"/proc/{tid}/syscall").read_text().startswith("230 "))  # clock_nanosleep
    os.kill(tid, signal.SIGKILL)
    proc.communicate(timeout=LIMIT_S)
    assert proc.returncode == 128 + 9
    assert "nanosleep" in utrail("replay", "--event-full").must().out


@needs_kernel
def test_while_it_runs(sleeper):
    """live shows the same as replay does afterwards."""
    live = utrail("live", "--record", "--no-sched", "-E", SLEEPS, sleeper).must(3).out
    replay = utrail("replay", "--no-sched").must().out
    assert replay.count("syscalls:") == 12
    assert lines_by_task(live) == lines_by_task(replay)


@needs_kernel
def test_exporters(sleeper):
    record(sleeper, status=3)
    for form in ("jsonl", "perfetto"):
        assert "syscalls:sys_enter_" in utrail("dump", f"--format={form}").must().out, form
    for form in ("chrome", "html", "sqlite", "speedscope", "folded", "callgrind", "mermaid", "graphviz", "firefox", "pprof"):
        utrail("dump", f"--format={form}").must()


# --- the peer -----------------------------------------------------------------------------------------------


def dump_lines(text):
    """The lines of a dump with single spaces: the column of tasks has another width in the
    peer's."""
    return [re.sub(r"^(\S+) +(\d+): ", r"\1 \2: ", line).rstrip() for line in text.splitlines()
            if re.match(r"reading kernel-cpu|\S+ +\d+: \[event\] (?!linux:)", line)]


def by_file(lines):
    files = {}
    for line in lines:
        if line.startswith("reading "):
            files[line] = last = []
        else:
            last.append(line)
    return files


def has_absolute_times(directory):
    """True when a record has an absolute time. The kernel writes one when an interrupt comes while
    it takes another record's time, in about one of 60 recordings."""
    return any(31 in kernel.record_kinds(path.read_bytes()) for path in directory.glob("kernel-cpu*.dat"))


@needs_kernel
@needs_fields
@pytest.mark.needs_peer
def test_peer_reads_it(sleeper):
    """The peer shows the same records of the same tasks with the same text. It also shows those of
    other tasks, as task 0's."""
    events = f"sched:sched_switch@kernel;sched:sched_wak.*@kernel;raw_syscalls:.*@kernel;{SLEEPS}"
    record(sleeper, events=events, status=3)
    # Record again until no file has an absolute time: the peer ends the file there, without a
    # message.
    for _ in range(20):
        if not has_absolute_times(Path("uftrace.data")):
            break
        record(sleeper, events=events, status=3)
    ours = by_file(dump_lines(utrail("dump").must().out))
    theirs = by_file(line for line in dump_lines(peer("dump", "--no-pager").must().out) if " 0: [event]" not in line)
    assert sum(map(len, theirs.values())) > 20
    assert theirs == {name: ours[name] for name in theirs}
    replay = peer("replay", "--no-pager").must().out
    assert "syscalls:sys_enter_clock_nanosleep (" in replay or "syscalls:sys_enter_nanosleep (" in replay


# --- made by hand -------------------------------------------------------------------------------------------


TIME = 5_000_000_000
ONE, TWO, STRANGER = 100, 101, 77


def handmade(pages, header=None, feat=4, name="hand.data", more=None):
    """Make a recording of two tasks, each in one call of main for a millisecond."""
    info = b"Ftrace!\0" + struct.pack("<IHBBQQH6x", 4, 40, 1, 2, 0x22 | feat, 0, 1024)
    task = (f"SESS timestamp=4.0 pid={ONE} sid=0123456789abcdef exename=\"/bin/prog\"\n"
            f"TASK timestamp=4.1 tid={ONE} pid={ONE}\nTASK timestamp=4.2 tid={TWO} pid={ONE}\n")
    records = struct.pack("<QQQQ", TIME, 5 << 3 | 0x401000 << 16, TIME + 10**6, 1 | 5 << 3 | 0x401000 << 16)
    files = {
        "info": info,
        "task.txt": task.encode(),
        "sid-0123456789abcdef.map": b"00400000-00402000 r-xp 00000000 00:00 0    /bin/prog\n",
        "prog.sym": b"# symbols: 1\n# path name: /bin/prog\n0000000000001000 00000100 T main\n",
        f"{ONE}.dat": records,
        f"{TWO}.dat": records,
        "kernel_header": header or kernel.header(),
        **{f"kernel-cpu{cpu}.dat": content for cpu, content in pages.items()},
        **(more or {}),
    }
    shutil.rmtree(name, ignore_errors=True)
    unpack(files, Path(name))
    return name


def good_pages(big=False):
    ids = kernel.event_ids()
    first = kernel.Page(TIME + 10, big)
    first.record(TIME + 10, ids["syscalls:sys_enter_clock_nanosleep"], ONE, kernel.nanosleep(big))
    first.record(TIME + 20, ids["sched:sched_switch"], ONE, kernel.sched_switch(("one", ONE), ("idle", 0), big))
    first.record(TIME + 30, ids["sched:sched_switch"], 0, kernel.sched_switch(("idle", 0), ("two", TWO), big))
    first.record(TIME + 40, ids["sched:sched_switch"], STRANGER, kernel.sched_switch(("x", STRANGER), ("y", 78), big))
    second = kernel.Page(TIME + 15, big)
    second.record(TIME + 15, ids["raw_syscalls:sys_enter"], TWO, struct.pack((">" if big else "<") + "7Q", *range(7)))
    second.record(TIME + 900000, 60000, TWO, b"a new one")
    return {0: first.pack(), 3: second.pack()}


def shown(name, *args):
    return lines_by_task(utrail("replay", "-d", name, *args).must().out)


def test_handmade():
    """Each task's events are in order, whatever the CPU. A switch from an unknown task belongs to
    the task that comes; unknown tasks have no events. (test_kernel_calls.py has the calls.)"""
    assert shown(handmade(good_pages())) == {
        ONE: ["main() {", "syscalls:sys_enter_clock_nanosleep", "sched:sched_switch", "} /* main */"],
        TWO: ["main() {", "raw_syscalls:sys_enter", "sched:sched_switch", "kernel_event:60000", "} /* main */"],
    }


@needs_fields
def test_fields_of_handmade():
    text = utrail("replay", "-d", handmade(good_pages())).must().out
    assert ("/* syscalls:sys_enter_clock_nanosleep (which_clock: 0x00000001, flags: 0x00000002, "
            "rqtp: 0x7ffc12345678, rmtp: 0x00000000) */") in text
    assert ("/* sched:sched_switch (prev_comm=one prev_pid=100 prev_prio=120 prev_state=S ==> "
            "next_comm=idle next_pid=0 next_prio=100) */") in text
    assert "/* raw_syscalls:sys_enter (NR 0 (1, 2, 3, 4, 5, 6)) */" in text


@pytest.mark.parametrize("form", ["chrome", "html", "jsonl", "perfetto", "firefox", "callgrind", "pprof"])
def test_handmade_in_exporters(form):
    """Exporters show events with unknown numbers by their numbers."""
    data = handmade(good_pages())
    with open("out", "wb") as out:
        subprocess.run([UTRAIL, "dump", f"--format={form}", "-d", data], stdout=out, check=True)
    text = Path("out").read_bytes()
    assert b"sched:sched_switch" in text and b"kernel_event:60000" in text


@needs_fields
def test_fields_in_chrome():
    """Chrome's format has the fields of a kernel's event as one text."""
    text = utrail("dump", "--format=chrome", "-d", handmade(good_pages())).must().out
    [event] = [e for e in json.loads(text)["traceEvents"] if e["name"] == "raw_syscalls:sys_enter"]
    assert (event["ph"], event["cat"], event["args"]) == ("i", "raw_syscalls", {"data": "NR 0 (1, 2, 3, 4, 5, 6)"})


@needs_fields
def test_addresses_have_names():
    number = kernel.event_ids()["timer:hrtimer_expire_entry"]
    page = kernel.Page(TIME + 10)
    for i, address in enumerate((0xFFFFFFFF81000100, 0xFFFFFFFF81000000, 0x1234)):
        page.record(TIME + 10 + i, number, ONE, struct.pack("<QqQ", 1, 2, address))
    more = {"kallsyms": b"ffffffff81000000 T first\nffffffff81000100 t second\t[module]\n"}
    text = utrail("replay", "-d", handmade({0: page.pack()}, more=more)).must().out
    assert re.findall(r"function=(\S+)", text) == ["second", "first", "0x1234"]


@needs_fields
def test_control_characters_do_not_break_lines():
    page = kernel.Page(TIME + 10)
    page.record(TIME + 10, kernel.event_ids()["sched:sched_switch"], ONE, kernel.sched_switch(("a\nb\x1b", ONE), ("c", 0)))
    text = utrail("replay", "-d", handmade({0: page.pack()})).must().out
    assert "prev_comm=a b? prev_pid" in text


def test_long_records_and_long_times():
    ids = kernel.event_ids()
    page = kernel.Page(TIME + 1)
    name = b"/" + b"x" * 200 + b"\0"
    page.record(TIME + 1, ids["sched:sched_process_exec"], ONE, struct.pack("<HHii", 20, len(name), ONE, ONE) + name)
    page.record(TIME + 999000, ids["sched:sched_switch"], ONE, kernel.sched_switch(("one", ONE), ("idle", 0)))
    page.record(TIME + 10**10, ids["sched:sched_switch"], ONE, kernel.sched_switch(("one", ONE), ("idle", 0)))
    text = utrail("replay", "-d", handmade({0: page.pack()}), "--event-full").must().out
    assert text.count("sched:sched_switch") == 2
    if has_fields:
        assert f"filename={name[:-1].decode()} pid=100" in text


def test_damaged_page_costs_that_page_only():
    """A warning names the damaged file; its other pages are read."""
    good = good_pages()
    bad = bytearray(good[0])
    struct.pack_into("<Q", bad, 8, 4081)
    result = utrail("replay", "-d", handmade({0: bytes(bad) + good[0], 3: good[3]}))
    assert result.status == 1
    assert re.fullmatch(r"utrail: cannot read 'hand.data/kernel-cpu0.dat': page at offset 0: .*4081.*\n", said(result))
    assert result.out.count("sched:sched_switch") == 2


@pytest.mark.parametrize("content", [b"", b"PAGE_SIZE: 17\n", b"\0" * 100], ids=["empty", "wrong", "zeros"])
def test_damaged_header(content):
    """If the header is damaged, the kernel's events are not shown. The program's calls are."""
    result = utrail("replay", "-d", handmade(good_pages(), header=content or b"\n"))
    assert result.status == 1
    assert re.match(r"utrail: cannot read 'hand.data/kernel_header': offset \d+: expected", result.err)
    assert result.out.count("main() {") + result.out.count("main();") == 2


def test_formats_that_make_no_sense():
    """Malformed formats of events: the names are shown, the fields partly or not at all, and no
    command crashes."""
    good = kernel.header(only=["sched:sched_switch"])
    for old, new in ((b"REC->prev_pid", b"REC->prev_pix"), (b"__print_flags", b"__print_flogs"), (b"print fmt", b"print"),
                     (b"offset:56", b"offset:65000"), (b"size:16", b"size:-1"), (b", {", b", {{{{"), (b"field:", b"f")):
        assert old in good
        bad = good.replace(old, new)
        length = len(bad) - bad.index(b"name: sched_switch")
        bad = re.sub(rb"(sched_switch/format: )\d+", rb"\g<1>%d" % length, bad)
        text = utrail("replay", "-d", handmade(good_pages(), header=bad)).must().out
        assert text.count("sched:sched_switch") >= 1, (old, new)


def test_files_that_are_cut():
    whole = good_pages()
    for length in (0, 7, 15, 16, 19, 100, 200, 4095):
        utrail("replay", "-d", handmade({0: whole[0][:length]})).must()


def test_a_hole_is_not_read():
    name = handmade(good_pages())
    with open(Path(name) / "kernel-cpu0.dat", "ab") as f:
        f.truncate(1 << 40)
    utrail("replay", "-d", name, limit=20).must()  # reading a whole terabyte would take longer


def test_lost_events_of_handmade():
    page = kernel.Page(TIME + 10).record(TIME + 10, kernel.event_ids()["raw_syscalls:sys_enter"], ONE, bytes(56))
    result = utrail("replay", "-d", handmade({0: page.pack(missed=1234)})).must()
    assert said(result) == "WARN: 1234 events of the kernel were lost when this was recorded (see --kernel-buffer)\n"
    assert "1234 events were lost here\n" in utrail("dump", "-d", "hand.data").must().out


def test_other_byte_order():
    """The kernel's files have the other byte order, the records of calls have this machine's."""
    info = Path(handmade(good_pages(big=True), header=kernel.header(big=True)))
    assert shown(info)[ONE] == ["main() {", "syscalls:sys_enter_clock_nanosleep", "sched:sched_switch", "} /* main */"]
