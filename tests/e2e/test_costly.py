"""Files that cost as much as their few bytes can: what is read of them ends soon, in little memory, or is refused with the limit."""

import os
import resource
import shutil
import subprocess
from pathlib import Path

import costly
import pytest
from tools import UTRAIL, environment, has_sanitizer, utrail

MEMORY_MAX_KB = 512 << 10
CPU_MAX_S = 20

FEATURES = utrail("--version").out.split()

pytestmark = pytest.mark.skipif(has_sanitizer(), reason="a sanitizer's memory and time are its own")


def measured(*args):
    """Status, text on both outputs, peak memory in KB and CPU time in seconds."""
    with open("out", "w+b") as out:
        proc = subprocess.Popen(
            [str(UTRAIL), *map(str, args)],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (6 * CPU_MAX_S, 6 * CPU_MAX_S)),
        )
        _, status, usage = os.wait4(proc.pid, 0)
        proc.returncode = status
    return status, Path("out").read_text(errors="replace"), usage.ru_maxrss, usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("kind", costly.TRACE_DAT)
def test_trace_dat(kind, workdir):
    if "zstd" not in FEATURES or not shutil.which("zstd"):
        pytest.skip("built without zstd, or there is no zstd command")
    costly.write_trace_dat(kind, "trace.dat")
    assert Path("trace.dat").stat().st_size < 16 << 20
    status, text, memory_kb, cpu_s = measured("import", "trace.dat")
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, 1), text
    assert memory_kb < MEMORY_MAX_KB and cpu_s < CPU_MAX_S, (memory_kb, cpu_s, text[-2000:])
    if os.WEXITSTATUS(status):
        assert "--no-limit" in text or "belong to another part of the file" in text or "limit" in text, text[-2000:]
    print(kind, Path("trace.dat").stat().st_size, memory_kb, cpu_s, text[-300:])


def test_no_limit(workdir):
    """Whoever trusts the file has it read."""
    if "zstd" not in FEATURES or not shutil.which("zstd"):
        pytest.skip("built without zstd, or there is no zstd command")
    costly.write_trace_dat("many-kallsyms", "trace.dat")
    assert "which is the limit" in utrail("import", "trace.dat").must(1).err
