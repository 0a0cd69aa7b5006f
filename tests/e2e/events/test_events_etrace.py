"""events export --as=etrace and its import: the text comes back unchanged, and so do the events."""

import json
import re

from tools import utrail

BUILD = """
gcc -c 'a b.c' -o a.o && echo 'x
y' '' z '' | cat > list
ln -s a.o link; mv a.o moved.o; ln moved.o hard.o
(exit 7)
""" + ": " + "n" * 900 + " " + "m" * 1801 + "; true"

NOT_IN_TEXT = {"proc:inherit", "proc:unlink"}
WRAPPER_TID = (1 << 22) - 1


def export(directory, *options):
    return utrail("events", "export", "--as=etrace", "-d", directory, *options).must().out


def events(directory):
    all_events = json.loads(utrail("events", "export", "--as=json", "-d", directory).must().out)
    return [event for event in all_events if event["event"] not in NOT_IN_TEXT]


def what(directory):
    """The events as the text can express them: fork(2) stands for vfork(2), and an environment is a
    set."""
    found = []
    for event in events(directory):
        args = dict(event["args"])
        args.pop("by", None)
        if "environment" in args:
            args["environment"] = sorted(args["environment"].split("\0"))
        found.append((event["tid"], event["event"], args))
    return found


def test_build_round_trip(tmp_path):
    (tmp_path / "a b.c").write_text("int main(void) { return 0; }")
    utrail("record", "--proc", "--proc-env", "--no-libcall", "-d", "first", "sh", "-c", BUILD, env={"EMPTY": ""}).must()
    text = export("first")
    lines = text.splitlines()
    assert lines[0] == f"INITCWD={tmp_path}"
    assert all(line.startswith("0: ") for line in lines[1:])
    # Only the text of etrace has a parent of the first program; the recording has none.
    wrapper, program = re.fullmatch(r"0: (\d+),0,\d+,\d+!SchedFork\|pid=(\d+)", lines[1]).groups()
    assert int(wrapper) >> 22 == 1 and int(program) >> 22 == 2 and lines[2].startswith(f"0: {program},")
    assert any(line.endswith("!Env[0]EMPTY=") for line in lines) and not any("!Env|" in line for line in lines)
    assert export("first", "--bare").splitlines()[1:] == [line[3:].replace("!Env[0]", "!Env|") for line in lines[1:]]
    for tag in "New_proc", "SchedFork", "Exit", "Open", "Close", "Pipe", "RenameTo", "LinkTo", "Symlink", "Cont":
        assert any(f"!{tag}|" in line for line in lines), tag

    (tmp_path / "text").write_text(text)
    said = utrail("events", "import", "-d", "second", "text").must()
    assert said.out.endswith("are in 'second', 0 lines were wrong\n")
    assert export("second") == text
    assert what("second")[0] == (WRAPPER_TID, "proc:fork", {"child": what("first")[0][0], "process": what("first")[0][0]})
    assert what("second")[1:] == what("first")

    (tmp_path / "bare").write_text(export("first", "--bare"))
    utrail("events", "import", "-d", "third", "bare").must()
    assert export("third") == text


def test_wrong_lines(tmp_path):
    (tmp_path / "text").write_text("INITCWD=/\n0: 5,0,1,0!Close|fd=x\n0: 5,0,1,1!Exit|status=3\n")
    said = utrail("events", "import", "-d", "data", "text")
    assert said.status == 1
    assert "text:2:21: there should be '=' and a number" in said.err
    assert "1 events of 1 tasks are in 'data', 1 lines were wrong" in said.out
    assert events("data")[0]["args"] == {"status": 3}

    (tmp_path / "empty").write_text("INITCWD=/\n")
    said = utrail("events", "import", "-d", "data", "empty")
    assert said.status == 1 and "there is no event in 'empty'" in said.err
    assert utrail("events", "import", "--into", "data", "text").status == 2
    assert utrail("events", "import", "text", "empty").status == 2


def test_options(tmp_path):
    utrail("build", "-o", "-", "--", "true")
    assert utrail("events", "export", "--as=etrace", "-r", "1~2").status == 2
    assert utrail("events", "export", "--as=json", "--bare").status == 2
    assert "!Exit|status=0" in export("uftrace.data")
