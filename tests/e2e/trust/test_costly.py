"""Small files that are costly to read. Reading ends soon and takes little memory, or a message
refuses the file and names the limit."""

import os
import shutil
import subprocess
from pathlib import Path

import costly
import pytest
from cost import CPU_MAX_S, MEMORY_MAX_KB, measured
from tools import has_sanitizer, utrail

FEATURES = utrail("--version").out.split()

pytestmark = pytest.mark.skipif(has_sanitizer(), reason="a sanitizer's memory and time are its own")


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
    if kind == "many-tasks":
        assert os.WEXITSTATUS(status) == 1 and "tasks, which is the limit for a file of this size (--no-limit)" in text, text[-2000:]


@pytest.mark.parametrize("words", [["dump", "--flame-graph"], ["dump", "--format=folded"], ["report"], ["graph"], ["dump", "--chrome"],
                                   ["dump", "--format=html"], ["info"], ["dump", "--graphviz"]], ids=lambda w: "-".join(w).strip("-"))
def test_deep_calls(words, workdir):
    """Lines with all callers grow with the square of the depth: 2 MB of records would make 23 GB of
    text."""
    Path("p.c").write_text("int f(int n) { return n + 1; } int main(void) { return f(0) - 1; }")
    subprocess.run(["gcc", "-pg", "p.c", "-o", "p"], check=True)
    utrail("record", "--no-event", "-d", "data", "./p").must()
    costly.nest_calls("data", 60000)
    status, text, memory_kb, cpu_s = measured(*words, "-d", "data", out_goes=subprocess.DEVNULL)
    assert memory_kb < MEMORY_MAX_KB and cpu_s < CPU_MAX_S, (memory_kb, cpu_s, text)
    if words[-1] in ("--flame-graph", "--format=folded"):
        assert os.WEXITSTATUS(status) == 1 and "the text would have more than 4 GB" in text and "use -D" in text, text
    else:
        assert status == 0, text


def test_no_limit(workdir):
    """--no-limit reads the file for a user who trusts it."""
    if "zstd" not in FEATURES or not shutil.which("zstd"):
        pytest.skip("built without zstd, or there is no zstd command")
    costly.write_trace_dat("many-kallsyms", "trace.dat")
    assert "which is the limit" in utrail("import", "trace.dat").must(1).err
