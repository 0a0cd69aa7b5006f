"""record --proc: what processes do, compared with strace(1), and that recording does them no
harm."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from proc_ways import lacking, only_bpf, only_ptrace, proc, way  # noqa: F401  (a fixture)
from tools import LIMIT_S, UTRAIL, environment, has_sanitizer, run, state_of, utrail, wait_until

THREADS = """
#include <pthread.h>
#include <unistd.h>
static void *become(void *arg)
{
	execl("/bin/echo", "echo", "from a thread", (char *)0);
	return arg;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, become, 0);
	pthread_join(thread, 0);
}
"""

STATIC = """
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	if (fork() == 0)
		_exit(3);
	wait(0);
	return 4;
}
"""


def compile_here(directory, text, *options):
    (directory / "program.c").write_text(text)
    subprocess.run(["gcc", "-o", "program", "program.c", *options], cwd=directory, check=True)
    return directory / "program"


def record(*command, **kw):
    return utrail("record", proc(), "--no-libcall", *command, **kw)


def events(directory="uftrace.data"):
    return json.loads(utrail("events", "export", "--as=json", "-d", directory, "-E", "proc:*", "--match=glob").must().out)


def of_kind(all_events, name):
    return [event for event in all_events if event["event"] == "proc:" + name]


def args_of(event):
    return event["args"]["args"].split("\0")


def test_a_link_to_the_program_itself(workdir):
    """/proc/self/exe is the program that executes it, also in the way in which the recorder resolves names."""
    shutil.copy(os.path.realpath("/bin/sh"), "shell")
    os.symlink("/proc/self/exe", "own")
    record("./shell", "-c", "exec ./own -c 'exit 0'").must()
    assert [event["args"]["program"] for event in of_kind(events(), "exec")] == [f"{workdir}/shell"] * 2


def test_tree_is_what_strace_sees(workdir):
    script = "for i in 1 2 3; do /bin/true $i; done; (exit 5); kill -9 $$ & wait; /bin/echo end"
    result = record("sh", "-c", script)
    assert result.status == 128 + signal.SIGKILL and result.out == ""
    mine = events()
    run("strace", "-f", "-s", "4096", "-e", "trace=execve,exit_group", "-o", "strace.txt", "sh", "-c", script)
    theirs = (workdir / "strace.txt").read_text()
    execs = re.findall(r"execve\(\"[^\"]*\", \[(.*)\], .* = 0$", theirs, re.M)
    assert Counter(tuple(args_of(event)) for event in of_kind(mine, "exec")) == Counter(
        tuple(json.loads("[" + args + "]")) for args in execs)
    ends = Counter("signal" if "signal" in event["args"] else event["args"]["status"] for event in of_kind(mine, "exit"))
    assert ends == Counter(int(status) for status in re.findall(r"\+\+\+ exited with (\d+)", theirs)) + Counter(
        "signal" for _ in re.findall(r"\+\+\+ killed by", theirs))


def test_every_child_has_its_end(workdir):
    """A hundred processes at the same time: each is recorded once, with its end."""
    record("sh", "-c", "for i in $(seq 100); do /bin/true & done; wait").must()
    mine = events()
    children = [event["args"]["child"] for event in of_kind(mine, "fork")]
    assert len(children) == 101
    ends = Counter(event["tid"] for event in of_kind(mine, "exit"))
    execs = of_kind(mine, "exec")
    assert ends == Counter(children) + Counter([execs[0]["tid"]])
    assert sum(event["args"]["program"].endswith("/true") for event in execs) == 100
    seen = {execs[0]["tid"]}
    for event in mine:
        assert event["tid"] in seen, "it does something before it is there"
        if event["event"] == "proc:fork":
            seen.add(event["args"]["child"])


def test_a_thread_that_becomes_a_program_has_its_process_number(workdir):
    exe = compile_here(workdir, THREADS, "-pthread")
    assert record(exe).must().out == "from a thread\n"
    last = of_kind(events(), "exec")[-1]
    assert (last["tid"], last["args"]["program"]) == (last["pid"], os.path.realpath("/bin/echo"))
    assert last["args"]["thread"] not in (0, last["tid"])
    assert len(of_kind(events(), "exit")) == 1


def test_static_programs_need_no_probe(workdir):
    exe = compile_here(workdir, STATIC, "-static")
    assert record(exe).status == 4
    mine = events()
    assert [event["args"]["status"] for event in of_kind(mine, "exit")] == [3, 4]
    (child,) = of_kind(mine, "fork")
    assert "fork" in utrail("replay").must().out
    graph = utrail("graph", "--task").must().out
    assert graph.index(f"{child['tid']}]") < graph.index(f"{child['args']['child']}]")
    assert re.findall(r"\(.*\)$", graph, re.M) == ["(status 4)", "(status 3)"]


def test_the_tree_of_tasks_says_how_they_ended(workdir):
    record("sh", "-c", "true; (exit 5); sh -c 'kill -9 $$'; exit 0")
    ends = re.findall(r"[a-z]( \(.*\))?$", utrail("graph", "--task").must().out, re.M)
    assert Counter(filter(None, ends)) == {" (status 5)": 1, " (signal 9)": 1}
    # Without --proc the end of a process is not recorded.
    utrail("record", "-d", "plain", "--force", "sh", "-c", "exit 5")
    assert "(status" not in utrail("graph", "--task", "-d", "plain").out


def test_a_script_is_a_program_with_an_interpreter(workdir):
    script = workdir / "a script"
    script.write_bytes(b"#!/bin/sh\nexit 9\n")
    script.chmod(0o755)
    (workdir / "link").symlink_to(script.name)
    assert record("./link", "", "two words", "new\nline", b"\xff\xfe").status == 9
    (event,) = of_kind(events(), "exec")
    assert event["args"]["program"] == str(script) and event["args"]["cwd"] == str(workdir)
    assert event["args"]["interpreter"] == os.path.realpath("/bin/sh")
    assert args_of(event)[:5] == ["/bin/sh", "./link", "", "two words", "new\nline"]


def test_directory_is_the_users_own(workdir):
    record("true").must()
    assert (workdir / "uftrace.data").stat().st_mode & 0o777 == 0o700


def start(*command):
    """Start the recorder in a process group of its own. SIGTSTP does not stop orphaned groups. This
    group is not orphaned, since the recorder's parent is in another group of the session."""
    os.mkfifo("fifo")
    return subprocess.Popen([UTRAIL, "record", proc(), *command], stdout=subprocess.PIPE, text=True, env=environment(), process_group=0)


def test_stopped_and_continued_like_alone(workdir):
    recorder = start("sh", "-c", "echo $$; read line < fifo; exit 6")
    pid = int(recorder.stdout.readline())
    os.kill(pid, signal.SIGTSTP)
    wait_until(lambda: state_of(pid) in "tT")
    os.kill(pid, signal.SIGCONT)
    wait_until(lambda: state_of(pid) == "S")
    (workdir / "fifo").write_text("go\n")
    assert recorder.wait(LIMIT_S) == 6


def test_tree_goes_on_when_the_recorder_is_killed(workdir):
    recorder = start("--no-proc-files", "sh", "-c", "echo $$; read line < fifo; /bin/echo done > out; mv out result")
    recorder.stdout.readline()
    wait_until(lambda: (workdir / "uftrace.data" / "proc.dat").stat().st_size)
    recorder.kill()
    recorder.wait(LIMIT_S)
    (workdir / "fifo").write_text("go\n")
    wait_until(lambda: (workdir / "result").exists())
    assert (workdir / "result").read_text() == "done\n"
    assert len(of_kind(events(), "exec")) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="mounts are root's")
@pytest.mark.skipif(has_sanitizer(), reason="programs with AddressSanitizer load libgcc_s.so.1 at their start")
def test_the_compilers_library_is_not_needed(workdir):
    """The program has ended, and the recorder is interrupted while it waits for processes that the
    program left. The recorder ends its own threads without libgcc_s.so.1, which pthread_cancel(3)
    needs."""
    libraries = Path("/lib").glob("*-linux-gnu/libgcc_s.so.1")
    (workdir / "prog").write_text("#!/bin/sh\nsleep 1000 > /dev/null 2>&1 &\necho $$ $!\nexit 7\n")
    (workdir / "prog").chmod(0o755)
    hide = "".join(f"mount --bind /dev/null {library} && " for library in libraries)
    command = f"{hide} exec {UTRAIL} record {proc()} --force --no-libcall ./prog"
    recorder = subprocess.Popen(["unshare", "-m", "sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    program, left = map(int, recorder.stdout.readline().split())
    try:
        wait_until(lambda: state_of(program) in "ZX")
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=60)
        assert recorder.returncode == 7, err
    finally:
        if state_of(left) not in "ZX":
            os.kill(left, signal.SIGKILL)


@only_ptrace
def test_no_program_traces_its_own_children(workdir):
    """A tracer cannot trace children that are traced already: it gets the kernel's usual error, and
    the processes go on."""
    result = record("sh", "-c", "strace -o /dev/null true || echo $?")
    assert result.status == 0 and result.out == "1\n"


@only_bpf
def test_a_program_may_trace_its_own_children(workdir):
    """eBPF needs no tracer, so the program's own tracer works."""
    record("sh", "-c", "strace -f -o strace.txt sh -c 'true; exit 3' || echo $?").must()
    assert "+++ exited with 3 +++" in (workdir / "strace.txt").read_text()
    assert 3 in [event["args"].get("status") for event in of_kind(events(), "exit")]


@only_bpf
def test_nobody_is_killed_with_the_recorder(workdir):
    """With eBPF, processes have no filter of system calls, so they go on without the recorder."""
    recorder = start("sh", "-c", "echo $$; read line < fifo; /bin/echo done > out; mv out result")
    recorder.stdout.readline()
    recorder.kill()
    recorder.wait(LIMIT_S)
    (workdir / "fifo").write_text("go\n")
    wait_until(lambda: (workdir / "result").exists())


ORPHANS = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int ended = 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < 60; i++) {
		pid_t maker = fork();
		if (maker == 0)
			for (;;) {
				if (fork() == 0)
					_exit(0);
				waitpid(-1, NULL, WNOHANG);
			}
		usleep(500 + i * 37 % 1500);
		kill(maker, SIGKILL);
		while (wait(NULL) > 0)
			ended++;
	}
	return puts("all have ended") < 0;
}
"""


def test_a_child_whose_parent_is_killed_goes_on(workdir):
    """A parent that is killed while it makes a child never reports the child. The child then belongs
    to a process of the tree that adopts children, and ends as without a recorder."""
    (workdir / "orphans.c").write_text(ORPHANS)
    run("gcc", "-o", "orphans", "orphans.c").must()
    result = record("./orphans", limit=120)
    assert result.status == 0 and result.out == "all have ended\n"


LEADER_ENDS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *later(void *arg)
{
	usleep(50000);
	if (getenv("EXIT"))
		exit(4);
	syscall(60, 0);
	return arg;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, later, 0);
	syscall(60, 5);
}
"""


@pytest.mark.parametrize("variable", ["", "EXIT"])
def test_a_process_ends_with_its_last_thread(workdir, monkeypatch, variable):
    """The status of a process is that of its first thread, which ended earlier, or of its last one
    (since Linux 5.17), or the one that exit(3) gave to all."""
    exe = compile_here(workdir, LEADER_ENDS, "-pthread", "-static", "-w")
    if variable:
        monkeypatch.setenv(variable, "1")
    status = run(exe).status
    assert status in ((4,) if variable else (5, 0))
    assert record(exe).status == status
    ends = of_kind(events(), "exit")
    assert len(ends) == 2 and (ends[-1]["tid"], ends[-1]["args"]["status"]) == (ends[-1]["pid"], status)
    assert ends[-1]["ts"] - of_kind(events(), "fork")[0]["ts"] > 30e6


def test_long_arguments_are_whole(workdir):
    """Arguments of a megabyte, which is more than a record of a pipe or a ring holds; also empty
    ones and bytes that are no text."""
    words = [b"x" * 100000 + str(i).encode() for i in range(10)] + [b"", b"end\xff"]
    record("--no-proc-files", "true", *map(os.fsdecode, words)).must()
    data = (workdir / "uftrace.data" / "proc.dat").read_bytes()
    # The layout of doc/formats/events.md: a head, then the lengths of the texts, then the texts.
    kind, length = struct.unpack_from("=II", data, 16)
    if kind == 64:  # the CPU of the task comes first
        data = data[24 + (length + 7) // 8 * 8 :]
    kind, length, *lengths = struct.unpack_from("=II4x4I", data, 16)
    assert kind == 2
    assert data[44 + sum(lengths[:3]) :][: lengths[3]] == b"".join(word + b"\0" for word in [b"true", *words])


@only_bpf
def test_what_is_lost_is_told(workdir):
    """A ring of a page has no room for long arguments: such events are counted as lost. Other
    events are recorded, and so is the end."""
    script = "for i in $(seq 200); do /bin/true $(seq 2000); done"
    result = record("sh", "-c", script, env={"UTRAIL_PROC_RING": 4096}).must()
    assert re.search(r"[1-9]\d* events? of (a process was|processes were) lost", result.err)
    assert of_kind(events(), "exec")
    assert "lost" not in record("-d", "whole", "sh", "-c", script).must().err
    assert len(of_kind(events("whole"), "exit")) == 402


def test_the_way_is_chosen(workdir):
    """With -v, "auto" gives the reason when it cannot use eBPF. ptrace(2) needs a filter of system
    calls, which the program sees."""
    result = utrail("record", "--proc", "-v", "--no-libcall", "grep", "Seccomp:", "/proc/self/status").must()
    assert ("cannot follow processes by eBPF" in result.err) == (result.out.split()[1] == "2")


def test_a_compiler_is_traced_by_ptrace(workdir):
    """A compiler starts a handful of processes only, so ptrace(2) is cheaper than loading eBPF.
    --proc=bpf still uses eBPF."""
    shutil.copy(shutil.which("grep"), "gcc")
    command = ["--", "./gcc", "Seccomp:", "/proc/self/status"]
    result = utrail("build", "-v", "--as=deps", "-o", "deps", *command).must()
    assert result.out.split()[1] == "2" and "eBPF" not in result.err
    if not lacking("bpf"):
        assert utrail("build", "--proc=bpf", "--as=deps", "-o", "deps", *command).must().out.split()[1] != "2"


@pytest.mark.skipif(os.getuid() != 0, reason="nobody else can become somebody else")
def test_who_may_not_use_bpf_is_told(workdir):
    workdir.chmod(0o777)
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", UTRAIL, "record"]
    result = run(*nobody, "--proc=bpf", "true", env=environment())
    assert result.status and "--proc=ptrace" in result.err and result.err.count("\n") == 1
    assert run(*nobody, "--proc", "true", env=environment()).status == 0


def check_numbers(mine):
    children = [event["args"]["child"] for event in of_kind(mine, "fork")]
    assert Counter(event["tid"] for event in of_kind(mine, "exit")) == Counter([*children, of_kind(mine, "exec")[0]["tid"]])
    assert {event["pid"] for event in of_kind(mine, "exec")} <= {*children, of_kind(mine, "exec")[0]["tid"]}


def test_numbers_are_those_that_the_recorder_sees(workdir):
    """The tasks of a pid namespace have the numbers that the recorder sees. The recorder runs
    outside of the namespace at first, and then inside of it."""
    inside = ["unshare", "-pf", "--mount-proc"]
    if run(*inside, "true").status:
        pytest.skip("no pid namespaces here")
    script = "/bin/true; (exit 3); /bin/echo $$ | cat"
    assert record("unshare", "-pf", "sh", "-c", script).must().out == "1\n"
    mine = events()
    check_numbers(mine)
    # The shell is 1 in its namespace. Here 1 is another process, and any other number may be in use.
    assert len(of_kind(mine, "exit")) == 6 and min(event["tid"] for event in mine) > 1
    run(*inside, UTRAIL, "record", proc(), "--no-libcall", "-d", "inside", "sh", "-c", script, env=environment()).must()
    mine = events("inside")
    check_numbers(mine)
    assert max(event["tid"] for event in mine) < 100


@pytest.mark.parametrize("clock", ["mono", "realtime", "boot"])
def test_times_are_of_the_recordings_clock(workdir, clock):
    name = {"mono": time.CLOCK_MONOTONIC, "realtime": time.CLOCK_REALTIME, "boot": time.CLOCK_BOOTTIME}[clock]
    begin = time.clock_gettime_ns(name)
    record(f"--clock={clock}", "sh", "-c", "/bin/true; /bin/true").must()
    end = time.clock_gettime_ns(name)
    times = [event["ts"] for event in events()]
    assert begin < times[0] and times[-1] < end and times == sorted(set(times))


def test_where_they_ran(tmp_path):
    """The CPU of each exec is recorded, and so are the flags of clone(2)."""
    cpu = max(os.sched_getaffinity(0))
    utrail("record", proc(), "--no-libcall", "taskset", "-c", str(cpu), "sh", "-c", "(exec /bin/true); /bin/echo x; true").must()
    text = utrail("events", "export", "--as=etrace", "--bare").must().out.splitlines()[1:]
    begins = next(i for i, line in enumerate(text) if "!PP|" in line and not line.endswith("taskset"))
    assert {line.split(",")[1] for line in text[begins:]} == {str(cpu)}
    executions = json.loads(utrail("build", "--as=json", "-d", "uftrace.data").must().out)
    shells = [e for e in executions if e["x"] and os.path.basename(e["v"][0]) != "taskset"]
    assert len(shells) == 3
    for execution in shells:
        assert execution["u"] == [{"c": cpu, "t": execution["s"]}]
    assert [child["f"] & 0xff for e in executions for child in e["c"]] == [signal.SIGCHLD] * 2
