"""record and live --keep-pid: the process that starts them becomes the program itself."""

import os
import re
import signal
import subprocess
from collections import Counter

import pytest
from data import ENTRY, Recording
from programs import Variant, build, program
from tools import LIMIT_S, UTRAIL, environment, run, utrail, wait_until

PG = Variant("gcc", "pg", "O2")


def start(*args, command="record", env={}, **kw):
    return subprocess.Popen(
        [UTRAIL, command, "--keep-pid", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**env),
        text=True,
        **kw,
    )


def test_pid_is_the_one_that_was_started():
    proc = start("--force", "sh", "-c", "echo $$")
    out, err = proc.communicate(timeout=LIMIT_S)
    assert (int(out), err, proc.returncode) == (proc.pid, "", 0)


def test_recording_is_complete_when_the_program_has_ended():
    """The recording is complete when the program ends, so a shell can read it at once."""
    exe = build(program("many_calls"), PG)
    for _ in range(5):
        proc = start("--no-libcall", exe)
        out, err = proc.communicate(timeout=LIMIT_S)
        assert (out, err, proc.returncode) == (run(exe).out, "", 0)
        report = utrail("report", "-f", "call").must().out
        assert "100000" in report and "main" in report
    info = utrail("info").must().out
    assert "exit status         : unknown exit status: -1" in info and "elapsed time" in info


def test_status_is_the_programs():
    assert start("--force", "sh", "-c", "exit 7").wait(LIMIT_S) == 7
    assert start("--force", "sh", "-c", "kill -9 $$").wait(LIMIT_S) == -signal.SIGKILL


def test_program_has_no_child_it_does_not_know():
    """The recorder is no child of the program: a wait for any child would wait for the recorder,
    which waits for the program."""
    script = "import os\ntry:\n    os.wait()\nexcept ChildProcessError:\n    print('none')\n"
    proc = start("--force", "/usr/bin/python3", "-c", script)
    assert proc.communicate(timeout=LIMIT_S)[0] == "none\n"


def test_errors_come_from_where_they_are():
    result = utrail("record", "--keep-pid", "-d", "/nowhere/data", build(program("plain"), PG))
    assert result.status == 1 and result.out == ""
    assert result.err == "utrail: cannot create directory '/nowhere/data': No such file or directory\n"
    missing = utrail("record", "--keep-pid", "./missing")
    assert missing.status == 1 and "cannot trace './missing'" in missing.err


def test_fork_in_a_kept_pid():
    exe = build(program("fork"), PG)
    bare = run(exe)
    kept = utrail("record", "--keep-pid", exe)
    assert (kept.out, kept.status) == (bare.out, bare.status)
    utrail("record", "-d", "plain.data", exe)
    calls = [
        Counter(r.name for t in Recording(d).tasks.values() for r in t.records if r.kind == ENTRY)
        for d in ("uftrace.data", "plain.data")
    ]
    assert calls[0] == calls[1] and calls[0]["main"] == 1


@pytest.fixture
def temp(tmp_path):
    """An empty directory, in which live makes its data directory."""
    (tmp_path / "temp").mkdir()
    return tmp_path / "temp"


def calls_of(text):
    """The calls by name, without their ends: an end has a line of its own only when events of
    another task come between."""
    return re.findall(r"(?m)\| +(\w+\(.*?\))", text)


@pytest.mark.parametrize("options", [[], ["--no-follow"], ["--report"], ["--flight=1m"]], ids=" ".join)
def test_live(temp, options):
    """The process that was started becomes the program. All its calls are shown, and no directory
    stays."""
    exe = build(program("fork"), PG)
    bare = run(exe)
    proc = start("--no-libcall", "--no-event", *options, exe, command="live", env={"TMPDIR": temp}, stdin=subprocess.DEVNULL)
    out, err = proc.communicate(timeout=LIMIT_S)  # waits for the viewer, which has both outputs
    assert (proc.returncode, err) == (bare.status, "")
    utrail("record", "--no-libcall", "--no-event", exe)
    for call in set(calls_of(utrail("replay", "--no-event").must().out)):
        assert call in out
    wait_until(lambda: not os.listdir(temp))


def test_live_has_the_pid_and_the_status(temp):
    proc = start("--force", "sh", "-c", "echo $$ > pid; exit 7", command="live", env={"TMPDIR": temp})
    proc.communicate(timeout=LIMIT_S)
    assert proc.returncode == 7 and int(open("pid").read()) == proc.pid
    proc = start("--force", "sh", "-c", "kill -9 $$", command="live", env={"TMPDIR": temp})
    proc.communicate(timeout=LIMIT_S)
    assert proc.returncode == -signal.SIGKILL
    wait_until(lambda: not os.listdir(temp))


def test_live_program_has_no_child_it_does_not_know(temp):
    script = "import os\ntry:\n    os.wait()\nexcept ChildProcessError:\n    open('children', 'w').write('none')\n"
    proc = start("--force", "/usr/bin/python3", "-c", script, command="live", env={"TMPDIR": temp})
    proc.communicate(timeout=LIMIT_S)
    assert proc.returncode == 0 and open("children").read() == "none"


def test_live_keeps_what_it_is_told_to():
    exe = build(program("many_calls"), PG)
    proc = start("--record", "--no-libcall", "--no-event", exe, command="live")
    out, err = proc.communicate(timeout=LIMIT_S)
    assert (proc.returncode, err) == (0, "")
    assert out.endswith(utrail("replay", "--no-event").must().out[-200:])


def test_live_errors_are_told_once(temp):
    for args in (["./missing"], ["/bin/true"]):
        result = utrail("live", "--keep-pid", *args, env={"TMPDIR": temp}).must(1)
        assert result.out == "" and result.err.count("utrail: ") == 1
        assert not os.listdir(temp)
