"""The etrace text both ways: a strict reader accepts the text of builds, and random valid texts
come back byte for byte."""

import json
import os
import re
from pathlib import Path

import pytest

import etrace
from tools import run, utrail

SEEDS = int(os.environ.get("UTRAIL_ETRACE_SEEDS", "60"))


def imported_and_exported(text, directory="data"):
    Path("text").write_bytes(text)
    said = utrail("events", "import", "-d", directory, "text")
    assert said.status == 0 and ", 0 lines were wrong" in said.out, said.out + said.err
    with open("again", "wb") as out:
        export(directory, out)
    return Path("again").read_bytes()


def export(directory, out, *options):
    """Export into a file, as bytes: names need not be valid UTF-8."""
    script = 'exec "$0" events export --as=etrace -d "$1" $3 > "$2"'
    run("sh", "-c", script, utrail("--version").args[0], directory, out.name, " ".join(options)).must()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_valid_texts_come_back(workdir, seed):
    text = etrace.Writer(seed).make(120)
    etrace.Reader(text)
    again = imported_and_exported(text)
    if again != text:
        here = [lines for lines in zip(text.split(b"\n"), again.split(b"\n")) if lines[0] != lines[1]]
        assert here[:3] == [], f"seed {seed}"
    assert again == text

    # --bare writes the form that etrace's description has. It differs from the form of etrace.
    with open("bare", "wb") as out:
        export("data", out, "--bare")
    bare = Path("bare").read_bytes()
    assert bare != text and not re.search(rb"^0: |!Env\[0\]..*\n(?!.*!(Cont|Env))", bare)
    assert imported_and_exported(bare, "other") == text


def test_the_reader_is_strict():
    """The strict reader complains of each line that does not follow the description, which is its
    purpose."""
    head = b"INITCWD=/\n0: 4194305,0,1,0!SchedFork|pid=8388610\n"
    good = head + b"0: 8388610,0,1,1!Comm|size=3\n0: 8388610,0,1,2!CN|a\n0: 8388610,0,1,3!Cont|b\n0: 8388610,0,1,4!Cont_end|\n0: 8388610,0,1,5!Exit|status=0\n"
    assert etrace.Reader(good).tasks[8388610].events[0][2] == {"CN": b"a\nb"}
    for old, new in ((b"0: 8", b"8"), (b"size=3", b"size=4"), (b"size=3", b"size=03"), (b"Cont_end|", b"Cont_end"), (b"1,2!", b"1,1!"), (b"CN|", b"CN[0]"),
                     (b"Comm|size", b"Comm|len"), (b"pid=8388610", b"pid=8388611"), (b"Exit|status=0\n", b"Exit|status=0"), (b"Exit", b"LinkTo"),
                     (b"Comm|size=3", b"RenameFrom|fnamesize=3"), (b"INITCWD", b"CWD"), (b"!Exit", b"!Exit|status=0\n0: 8388610,0,1,6!Exit")):
        assert old in good
        with pytest.raises(etrace.Wrong):
            etrace.Reader(good.replace(old, new, 1))


PROJECT = {
    "one.c": "#include <stdio.h>\n#include \"both.h\"\nint main(void) { return two() + puts(NAME) < 0; }\n",
    "two.c": "#include \"both.h\"\nint two(void) { return 2; }\n",
    "three.cc": "#include <string>\n#include <iostream>\nint main() { std::cout << std::string(\"x\"); }\n",
    "both.h": "int two(void);\n",
    "Makefile": "CFLAGS = -O1 -DNAME='\"a b\"'\nall: one lib.a\none: one.o two.o\n\t$(CC) -o $@ $^\nlib.a: two.o\n\tar rc $@.tmp $^\n\tranlib $@.tmp\n"
                "\tmv $@.tmp $@\nclean:\n\trm -f *.o one lib.a\nfails: one\n\tmv nothing one\n",
    "build.ninja": "rule cc\n  command = gcc -DNAME='\"n\"' -MMD -MF $out.d -c $in -o $out\n  depfile = $out.d\nbuild n1.o: cc one.c\nbuild n2.o: cc two.c\n",
    "threads.py": "import subprocess, threading\n"
                  "all = [threading.Thread(target=subprocess.run, args=(['gcc', '-c', 'two.c', '-o', f't{i}.o'],)) for i in range(4)]\n"
                  "[one.start() for one in all]; [one.join() for one in all]\n",
}
LONG = "p" * 200
BUILDS = {
    "make": "make -s -j2",
    "make that fails": "make -s fails; ln one one; ln -s one one; mv nothing/x y; true",
    "c++ by pipes": "g++ -pipe -O1 three.cc -o three && ./three | cat | tr x y > out",
    "temporary files": "gcc -save-temps -DNAME='\"s\"' one.c two.c -o saved && strip saved -o stripped && ln saved hard && ln -s saved soft && mv soft soft2",
    "clang": "clang -c two.c -o c.o && clang -DNAME='\"c\"' -c one.c -o c1.o && clang c.o c1.o -o c",
    "ninja": "ninja",
    "configure": "for f in stdio.h no.h math.h; do echo \"#include <$f>\" > conftest.c; gcc -c conftest.c -o conftest.o 2> /dev/null && echo $f >> have; done; "
                 "rm -f conftest.*; sort have > have.tmp; mv -f have.tmp config",
    "threads": "python3 threads.py",
    "odd names": f"mkdir -p {'/'.join([LONG] * 5)} && cd {'/'.join([LONG] * 5)} && printf 'int x;' > 'a\nb \xff.c' && gcc -c 'a\nb \xff.c' -o 'a\nb.o' && "
                 f": 'an\nargument' '' {'m' * 1801} '' && mv 'a\nb.o' {LONG} && env -i EMPTY= NL='a\nb' L={'v' * 950} true",
    "killed": "sh -c 'kill -9 $$'; (exit 7); sleep 0 & wait; mount -t none none nodir; umount nodir; true",
}


@pytest.mark.parametrize("name", BUILDS)
def test_ten_builds_are_as_described(workdir, name):
    way = ("ptrace", "auto")[list(BUILDS).index(name) % 2]
    for file, text in PROJECT.items():
        Path(file).write_text(text)
    if name == "ninja" and run("which", "ninja").status or name == "clang" and run("which", "clang").status:
        pytest.skip(f"there is no {name}")
    proc = ["--proc"] if way == "auto" else ["--proc=ptrace"]
    utrail("build", *proc, "--as=etrace", "-t", "-m", "-e", "--", "sh", "-c", BUILDS[name])
    text = Path(".nfsdb").read_bytes()
    told = etrace.Reader(text)
    programs = [event[2]["PP"] for task in told.tasks.values() for event in task.events if event[0] == b"New_proc"]
    assert len(programs) > 1 and told.environment
    assert imported_and_exported(text) == text
    tags = {event[0] for task in told.tasks.values() for event in task.events}
    assert {b"SchedFork", b"New_proc", b"Open", b"Close", b"Exit"} <= tags
    if name == "make that fails":
        assert b"LinkFailed" in tags and b"RenameFailed" in tags
    if name == "killed":
        assert {b"MountFailed", b"UmountFailed"} & tags or os.getuid()


@pytest.mark.parametrize("name", BUILDS)
def test_json_has_what_its_text_says(workdir, name):
    """The keys of build --as=json agree with the values that the description takes from the text of
    the same recording."""
    for file, text in PROJECT.items():
        Path(file).write_text(text)
    if name == "ninja" and run("which", "ninja").status or name == "clang" and run("which", "clang").status:
        pytest.skip(f"there is no {name}")
    utrail("record", "--proc", "--no-libcall", "--no-event", "--force", "-d", "data", "sh", "-c", BUILDS[name])
    with open("text", "wb") as out:
        export("data", out)
    told = etrace.executions(etrace.Reader(Path("text").read_bytes()))
    entries = json.loads(utrail("build", "--as=json", "-d", "data").out)
    ours = {(entry["p"], entry["x"]): entry for entry in entries}
    assert len(ours) == len(entries) and set(told) - set(ours) == set()
    # An execution that the text lacks: a process without an event before its first exec.
    assert all(entry["x"] == 0 for at, entry in ours.items() if at not in told)

    shown = lambda name: name.decode("utf-8", "replace")  # noqa: E731
    for at, one in told.items():
        entry = ours[at]
        if one.index:
            assert (entry["b"], entry["w"]) == (shown(one.program), shown(one.cwd))
        assert entry["v"] == [shown(arg) for arg in one.args]
        assert entry["r"] == ({"p": one.parent.upid, "x": one.parent.index} if one.parent else {"p": -1, "x": -1})
        # A fork without a SysClone in the text has the flags of fork(2), or of vfork(2).
        children = {child["p"]: child["f"] for child in entry["c"]}
        assert children == {upid: flags or children.get(upid) for upid, flags in one.children}
        assert all(flags or children[upid] in (17, 0x4111) for upid, flags in one.children)
        if one.status is not None:
            assert entry["!"] == one.status
        paths = [file["p"] for file in entry["o"]]
        assert len(set(paths)) == len(paths)
        modes = {shown(path): 2 if reads and writes else int(writes) for path, (reads, writes) in one.files.items()}
        assert {file["p"]: file["m"] & 3 for file in entry["o"]} == modes
        assert all(entry["s"] <= file["b"] <= file["e"] <= entry["s"] + entry["e"] for file in entry["o"])
