"""Many writers, one log that is rotated often, and SIGKILL: no line is torn, merged, or lost once it
was logged."""

import os
import re
import subprocess

import pytest
from built import BUILD
from library import Log

LINE = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} STRESS WRITER=(\d+) NR=(\d+) LEN=(\d+) TEXT=(x*) END")
STRESS = BUILD / "tests/events/trace_stress"


def run(tmp_path, rotate, processes, threads, lines, kills, seed, size):
    done = subprocess.run(
        [STRESS, tmp_path / "log", *map(str, (rotate, processes, threads, lines, kills, seed, size))],
        check=True, stdout=subprocess.PIPE, text=True, timeout=120)
    return [int(word) for word in done.stdout.split()]


def read(tmp_path):
    """Returns the numbers of the lines of each writer, and the beginnings and ends of wrong lines."""
    found, wrong = {}, []
    for path in sorted(tmp_path.glob("log*.log")):
        for line in path.read_bytes().splitlines():
            match = LINE.fullmatch(line)
            if line.endswith(b" (torn)") or re.fullmatch(rb"[\d-]{,6}", line):
                continue  # its writer was killed while it wrote the line; events/repair.c marks no line of less than 8 bytes
            if not match or int(match[3]) != len(match[4]):
                wrong.append((path.name, line[:60], line[-60:]))
            else:
                found.setdefault(int(match[1]), []).append(int(match[2]))
    return found, wrong


@pytest.mark.parametrize("seed, size", [(1, 100), (2, 5000), (3, 65536)])
def test_killed_writers(tmp_path, seed, size):
    rotate = 200000
    written = run(tmp_path, rotate, 8, 4, 4000000 // (size + 2000), 5, seed, size)
    found, wrong = read(tmp_path)
    assert not wrong
    for writer, count in enumerate(written):
        numbers = found.get(writer, [])
        # One more may be there: it was written, and the writer was killed before it could say so.
        assert sorted(numbers) == list(range(len(numbers)))
        assert count <= len(numbers) <= count + 1
    files = list(tmp_path.glob("log*.log"))
    assert len(files) > 1 or sum(written) < 1000
    for path in files:
        assert path.stat().st_size <= rotate + 33 * (size + 100)
    assert os.path.exists(tmp_path / "log.log")


def test_a_torn_line_is_marked(tmp_path):
    """A killed writer may leave a part of a line, which ends where a page ends. The part is marked
    when the log is opened again."""
    time = b"2026-11-23 01:02:03.000004 "
    torn = (time + b"TORN " + b"x" * 5000)[:4096]
    whole = time + b"WHOLE y\n"
    filler = time + b"FILL " + b"z" * (4096 - 10 - 33) + b"\n"
    for old, repaired in (
        (torn + whole, torn[:-8] + b" (torn)\n" + whole),
        (torn, torn[:-8] + b" (torn)\n"),
        (filler + b"2026-11-23" + whole, filler + b"20 (torn)\n" + whole),
        (filler[:-1] + b"zzzzz\n2026-" + whole, filler[:-1] + b"zzzzz\n2026\n" + whole),
        (filler + b"0123456789" + b"no time\n", None),
    ):
        (tmp_path / "t.log").write_bytes(old)
        trace = Log(tmp_path / "t")
        assert trace.rotated()[-1].read_bytes() == (repaired or old)
        trace.close()


def test_a_writer_alone_keeps_the_size(tmp_path):
    written = run(tmp_path, 10000, 1, 1, 2000, 0, 1, 500)
    found, wrong = read(tmp_path)
    assert written == [2000] and not wrong and found == {0: list(range(2000))}
    for path in tmp_path.glob("log-*.log"):
        size = path.stat().st_size
        last = len(path.read_bytes().splitlines()[-1]) + 1
        assert size > 10000 >= size - last
