"""Each file of a recording, and each program, in ten or more kinds that are costly to read for
their few bytes (doc/internals/trust.md)."""

import os

import costly_compact
import costly_data
import costly_kernel
import costly_perf
import costly_programs
import costly_records
import pytest
from cost import check
from tools import has_sanitizer

pytestmark = pytest.mark.skipif(has_sanitizer(), reason="a sanitizer's memory and time are its own")

INPUT_MAX_BYTES = 16 << 20
GRAPH, FOLDED = ["graph"], ["dump", "--format=folded"]
TEXTS = [["replay"], ["dump", "--format=chrome"]]
PATHS = "the text would have more than 4 GB"
UNSEEN = "calls were entered unseen, before records that are lost; that is the limit"
DAMAGED = "the records of one block are lost"
# For each kind of recording: the commands that refuse such a recording, and words of their message.
REFUSED = {
    "losses_and_depths": ([GRAPH, FOLDED], UNSEEN),
    "losses": ([], ""),
    "jumping_depths": ([FOLDED], PATHS),
    "open_calls": ([FOLDED], PATHS),
    "deep_calls": ([FOLDED], PATHS),
    "lying_blocks": ([["report"], GRAPH], DAMAGED),
    "gaps": ([["report"], GRAPH], DAMAGED),
}
# Kinds that test_costly_readers.py leaves out, and the commands that read them.
NEW_KINDS = [
    (costly_kernel, TEXTS, costly_kernel.DIRECTORIES),
    (costly_perf, [["report"], ["replay"], ["dump"]], costly_perf.DIRECTORIES),
    (costly_records, [["report"], GRAPH, ["replay"], FOLDED], costly_records.RECORDS),
    (costly_records, [["report"], *TEXTS], costly_records.SYMBOLS),
    (costly_records, [["report"], ["info"], ["dump"]], costly_records.TEXTS),
    (costly_compact, [["report"], GRAPH], costly_compact.DIRECTORIES),
]
KINDS = [(write, commands) for module, commands, kinds in NEW_KINDS for write in kinds if write.__module__ == module.__name__]


@pytest.mark.parametrize(("write", "commands"), KINDS, ids=lambda v: getattr(v, "__name__", ""))
def test_file(write, commands, workdir):
    rec = costly_data.Recording("data")
    write(rec)
    rec.done()
    assert sum(entry.stat().st_size for entry in os.scandir("data")) < INPUT_MAX_BYTES
    refused_by, limit = REFUSED.get(write.__name__, ([], ""))
    for words in commands:
        status, text = check(*words, "-d", "data")
        assert status == int(words in refused_by) and (not status or limit in text), (words, text[-2000:])


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="symbols and debug information are put as gcc does it there")
@pytest.mark.parametrize("kind", costly_programs.PROGRAMS)
def test_program(kind, workdir):
    """A program's recorder reads its symbols and debug information."""
    costly_programs.PROGRAMS[kind]()
    status, text = check("record", "--no-event", "-a", "--srcline", "-d", "data", "./p")
    assert status == 0, text[-2000:]
    assert check("replay", "-d", "data")[0] == 0


def test_ten_kinds_each():
    kinds = [kinds for _, _, kinds in NEW_KINDS] + [costly_programs.PROGRAMS]
    assert all(len(list(each)) >= 10 for each in kinds), [len(list(each)) for each in kinds]
