"""Measures a command, and checks the limit: 20 s of CPU time and 512 MB, or a refusal that names
the limit."""

import os
import resource
import subprocess
from pathlib import Path

from tools import UTRAIL, environment

MEMORY_MAX_KB = 512 << 10
CPU_MAX_S = 20


def measured(*args, out_goes=None):
    """Status, text on both outputs, peak memory in KB and CPU time in seconds. @out_goes: another
    place for standard output."""
    with open("out", "w+b") as out:
        proc = subprocess.Popen(
            [str(UTRAIL), *map(str, args)],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=out_goes or out,
            stderr=out,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (6 * CPU_MAX_S, 6 * CPU_MAX_S)),
        )
        _, status, usage = os.wait4(proc.pid, 0)
        proc.returncode = status
    return status, Path("out").read_text(errors="replace"), usage.ru_maxrss, usage.ru_utime + usage.ru_stime


def check(*args):
    """Check that the command ends within the limits. Returns its exit status and its messages."""
    status, text, memory_kb, cpu_s = measured(*args, out_goes=subprocess.DEVNULL)
    assert os.WIFEXITED(status), (args, status, text[-2000:])
    assert memory_kb < MEMORY_MAX_KB and cpu_s < CPU_MAX_S, (args, memory_kb, cpu_s, text[-2000:])
    return os.WEXITSTATUS(status), text
