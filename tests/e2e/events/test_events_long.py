"""Declared events with more text than a record holds, and events without a name: each loss is
reported."""

import json
from pathlib import Path

from tools import BUILD, TOP, run, utrail

PROGRAM = r"""
#include <fstrace.h>
#include <string.h>

int main(void)
{
	fstrace_t *trace = fstrace_open("log", -1);
	fstrace_event_t *one = fstrace_declare(trace, "ONE", "N=%d TEXT=%s LAST=%d");
	fstrace_event_t *two = fstrace_declare(trace, "TWO", "TEXT=%s BYTES=%B");
	fstrace_event_t *nameless = fstrace_declare(trace, "", "N=%d");
	char *text = (char *)malloc(70001);

	memset(text, 'x', 70000);
	text[70000] = 0;
	fstrace_select_regex(trace, "", NULL);
	FSTRACE(one, 1, "short", 2);
	FSTRACE(one, 1, text, 2);
	FSTRACE(two, text + 30000, text, (ssize_t)40000);
	FSTRACE(nameless, 7);
	fstrace_close(trace);
	return 0;
}
"""
SAYS = "2 events say more than was recorded of them"


def bodies(text):
    return [line.split(" ", 2)[2] for line in text.splitlines()]


def test_what_is_cut_is_marked_counted_and_said(workdir):
    Path("long.c").write_text(PROGRAM)
    library = BUILD / "trace/library"
    run("gcc", "-pg", f"-I{TOP / 'trace/include'}", "long.c", "-o", "long", library / "libutrail-trace.so.1", f"-Wl,-rpath,{library}").must()
    said = utrail("record", "--no-event", "./long").must().err
    assert "WARN: 1 event that the program declares is not recorded: it has no name" in said
    assert "WARN: 2 events of the program say more than a record takes (65528 bytes" in said

    # The log has their whole texts, with a recorder and without.
    whole = [f"ONE N=1 TEXT={'x' * 70000} LAST=2", f"TWO TEXT={'x' * 40000} BYTES={'78' * 40000}"]
    assert bodies(Path("log.log").read_text()) == ["ONE N=1 TEXT=short LAST=2", *whole, " N=7"]

    export = utrail("events", "export", "--as=fstrace").must()
    short, one, two = bodies(export.out)
    assert short == "ONE N=1 TEXT=short LAST=2"
    for cut, entire in zip((one, two), whole):
        assert cut.endswith("...") and entire.startswith(cut.removesuffix("...")) and len(cut) > 65500
    assert f"'uftrace.data' is incomplete: {SAYS}" in export.err
    replay = utrail("replay").must()
    assert f"trace:{one.replace(' ', ' (', 1)}) */" in replay.out and SAYS in replay.err
    assert f"incomplete: {SAYS}" in utrail("info").must().out

    args = [event["args"] for event in json.loads(utrail("events", "export", "--as=json").must().out) if event["event"] == "trace:ONE"]
    assert args[0] == {"N": 1, "TEXT": "short", "LAST": 2}
    assert args[1] == {"N": 1, "TEXT": one.removeprefix("ONE N=1 TEXT=")}
