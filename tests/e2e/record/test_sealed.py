"""Programs that forbid themselves system calls (seccomp) must not die of the probe's calls."""
import os
import random
import signal
import subprocess

import pytest

from programs import SOURCES
from tools import utrail

# UTRAIL_SEALED_SEEDS=1000 makes the long test.
SEEDS = range(int(os.environ.get("UTRAIL_SEALED_SEEDS", "12")))
BUILDS = {"pg": ["-pg"], "fentry": ["-pg", "-mfentry"], "cyg": ["-finstrument-functions"], "none": []}
OPTIONS = [[], ["-e"], ["--compact"], ["--flight=1m"], ["-a"], ["-t", "1us"], ["-b", "256k"], ["--no-libcall"],
           ["-F", "middle"], ["--compact", "-a"]]


def compiled(workdir, source, build, *more):
    exe = workdir / f"{build}-prog"
    subprocess.run(["gcc", "-O1", "-g", "-w", *BUILDS[build], "-o", exe, source, "-lpthread", *more], check=True)
    return exe


def status_of(*command):
    status = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=60).returncode
    return 128 - status if status < 0 else status


@pytest.fixture(scope="module")
def random_ones(tmp_path_factory):
    made = tmp_path_factory.mktemp("sealed")
    return {build: compiled(made, SOURCES / "sealed_random.c", build) for build in BUILDS}


def statuses(exes, seed, *more):
    """The status of the program without recording, and the result of a recording. The program that
    is not recorded is built without hooks, since -pg would write a file at exit."""
    rnd = random.Random(seed)
    build, options = rnd.choice(list(BUILDS)), rnd.choice(OPTIONS)
    result = utrail("record", "--force", *options, *(["-P", "."] if build == "none" else []), exes[build], str(seed), *more)
    return status_of(exes["none"], str(seed), *more), result


@pytest.mark.parametrize("seed", SEEDS)
def test_random_filter(workdir, random_ones, seed):
    """Random filters that end forbidden calls by kill, errno or trap: the status is as untraced."""
    expected, result = statuses(random_ones, seed)
    assert result.status == expected, result.err


FULL = r"""
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int sum;
__attribute__((noinline)) void leaf(int i) { sum += i; }
#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static struct sock_filter code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOWED
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

int main(int argc, char **argv)
{
	if (argc > 1 && argv[1][0] == 'x') {
		for (int i = 0; i < 1000; i++)
			leaf(i);
		_exit(4);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (SEAL)
		_exit(9);
	for (int i = 0; i < 2000000; i++)
		leaf(i);
	LAST;
	_exit(3);
}
"""
WAYS = {
    "prctl": "prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)",
    "seccomp": "syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter)",
    "prctl-by-number": "syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)",
}


PAST_LIBC = ('({ long r; __asm__ volatile("syscall" : "=a"(r) : "a"(SYS_seccomp), "D"(1L), "S"(0L), "d"(&filter)'
             ' : "rcx", "r11", "memory"); r; })')


def full(workdir, build, way, allowed="", last=""):
    (workdir / "full.c").write_text(FULL)
    return compiled(workdir, workdir / "full.c", build, f"-DSEAL={WAYS.get(way, PAST_LIBC)}", f"-DALLOWED={allowed}", f"-DLAST={last}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("build", BUILDS)
def test_full_ring(workdir, build, way):
    """A program makes two million calls after it has set the filter. A message reports the calls
    that did not fit; all others are recorded."""
    patch = ["-P", "."] if build == "none" else []
    result = utrail("record", "--force", *patch, full(workdir, build, way))
    assert result.status == 3, result.err
    shown = utrail("report").must().out
    calls = next(int(line.split()[-2]) for line in shown.splitlines() if line.split()[-1:] == ["leaf"])
    assert 1000 < calls <= 2000000
    assert calls == 2000000 or "has forbidden itself system calls (seccomp)" in result.err


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="an instruction of x86_64")
def test_past_libc(workdir):
    """A program sets a filter by a syscall instruction, which the probe does not see. If the filter
    ends the program, a message says that utrail has not seen the filter."""
    exe = full(workdir, "cyg", "past-libc")
    assert status_of(full(workdir, "none", "past-libc")) == 3
    result = utrail("record", exe)
    assert result.status in (3, 128 + signal.SIGSYS)
    assert (result.status != 3) == ("utrail has not seen it begin" in result.err), result.err


def test_executed_by_a_sealed_one(workdir):
    """A program with a filter executes another one. The probe has not read that filter, and leaves
    the new program alone."""
    loads = ["execve", "mmap", "mprotect", "munmap", "openat", "read", "close", "newfstatat", "fstat", "pread64", "brk", "access",
             "arch_prctl", "set_tid_address", "set_robust_list", "rseq", "prlimit64", "getrandom", "exit", "futex"]
    allowed = "".join(f"ALLOW(SYS_{name})," for name in loads)
    exe = full(workdir, "cyg", "prctl", allowed, 'char *a[] = { argv[0], "x", 0 }; execv(argv[0], a)')
    assert status_of(exe) == 4
    result = utrail("record", exe)
    assert result.status == 4, result.err


def test_permissive(workdir):
    """A filter that forbids no call of the probe costs nothing, also in a program that is executed
    later."""
    (workdir / "full.c").write_text(FULL.replace("ALLOWED", "").replace("SECCOMP_RET_KILL_PROCESS", "SECCOMP_RET_ALLOW"))
    exe = compiled(workdir, workdir / "full.c", "pg", f"-DSEAL={WAYS['prctl']}",
                   '-DLAST=char *a[] = { argv[0], "x", 0 }; execv(argv[0], a)')
    result = utrail("record", exe)
    assert (result.status, result.err) == (4, "")
    assert " 2001000 " in utrail("report").must().out
