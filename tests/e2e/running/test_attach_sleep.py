"""record -p to a process that sleeps in a system call. The process is as before each time, also
when it was stopped and continued meanwhile."""
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from programs import SOURCES
from tools import LIMIT_S, UTRAIL, environment, utrail, wait_until

# UTRAIL_SLEEP_ROUNDS=100 makes the long test.
ROUNDS = int(os.environ.get("UTRAIL_SLEEP_ROUNDS", "2"))
SOURCE = SOURCES / "attach" / "sleepers.c"
CALLS = re.findall(r'strcmp\(w, "(\w+)"\)', SOURCE.read_text())


@pytest.fixture(scope="module")
def exe(tmp_path_factory):
    made = tmp_path_factory.mktemp("sleepers") / "sleepers"
    subprocess.run(["gcc", "-w", "-O1", "-o", made, SOURCE, "-lpthread"], check=True)
    return made


def state(pid, exe):
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    text = b""
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for line in lines:
            fields = line.split()
            if fields[-1] == str(exe) and "x" in fields[1]:
                start, end = (int(x, 16) for x in fields[0].split("-"))
                memory.seek(start)
                text += memory.read(end - start)
    return text, [line for line in lines if "libmcount" in line or "memfd" in line]


def is_in(pid, letter):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == letter


@pytest.mark.parametrize("call", CALLS)
def test_sleeper(workdir, exe, call):
    program = subprocess.Popen([exe, call], stdout=subprocess.PIPE)
    try:
        program.stdout.readline()
        wait_until(lambda: is_in(program.pid, "S"))
        before = state(program.pid, exe)
        for _ in range(ROUNDS):
            result = utrail("record", "--force", "-p", str(program.pid), "-P", ".", "--for", "0.1s")
            assert result.status == 0, result.err
            assert program.poll() is None and state(program.pid, exe) == before
            program.send_signal(signal.SIGSTOP)
            wait_until(lambda: is_in(program.pid, "T"))
            program.send_signal(signal.SIGCONT)
            wait_until(lambda: is_in(program.pid, "S"))
    finally:
        program.kill()
        program.wait()


def test_another_allocator(workdir, exe):
    """A wait for a futex without a time limit may be for the lock of an allocator other than the C
    library's: the recorder does nothing then."""
    (workdir / "malloc.c").write_text("void *__libc_malloc(unsigned long); void *malloc(unsigned long n) { return __libc_malloc(n); }")
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-o", "malloc.so", "malloc.c"], check=True, cwd=workdir)
    preload = {**os.environ, "LD_PRELOAD": str(workdir / "malloc.so")}
    program = subprocess.Popen([exe, "futex_without_end"], stdout=subprocess.PIPE, env=preload)
    try:
        program.stdout.readline()
        wait_until(lambda: is_in(program.pid, "S"))
        before = state(program.pid, exe)
        result = utrail("record", "-p", str(program.pid), "-P", ".", "--for", "0.1s")
        assert result.status == 1 and f"no thread of process {program.pid} was ever seen" in result.err
        assert program.poll() is None and state(program.pid, exe) == before
    finally:
        program.kill()
        program.wait()


def is_attached(pid):
    """True when the probe is in the process, and the recorder has let the process go on."""
    return "libmcount" in Path(f"/proc/{pid}/maps").read_text() and "TracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_text()


@pytest.mark.parametrize("signal_nr", [signal.SIGSEGV, signal.SIGKILL])
def test_it_dies(workdir, exe, signal_nr):
    """A message names the signal that killed an attached process. The recorder's status is that of
    the process."""
    program = subprocess.Popen([exe, "sleep"], stdout=subprocess.PIPE)
    program.stdout.readline()
    wait_until(lambda: is_in(program.pid, "S"))
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(program.pid), "-P", "."], stderr=subprocess.PIPE, text=True, env=environment())
    wait_until(lambda: is_attached(program.pid))
    program.send_signal(signal_nr)
    program.wait()
    err = recorder.communicate(timeout=LIMIT_S)[1]
    assert recorder.returncode == 128 + signal_nr, err
    assert f"process {program.pid} was ended by signal" in err
