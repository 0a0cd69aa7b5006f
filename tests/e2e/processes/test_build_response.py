"""Response files (@FILE) that are gone when the build ends: ninja removes one when its command
succeeds."""

import json
import os
import shutil
import tempfile

import pytest

import proc_ways
from proc_ways import way  # noqa: F401
from tools import utrail

pytestmark = pytest.mark.usefixtures("way")


@pytest.fixture
def tree(workdir):
    (workdir / "a.c").write_text("int a;\n")
    return workdir


def build(*command):
    return utrail("build", proc_ways.proc(), "--", *command)


def until_it_is_read(name):
    """A shell's command that waits until the recording has a response file. With eBPF the recorder
    reads the file while the compiler runs, and on a busy machine perhaps later."""
    pattern = name.replace(".", "\\.")
    return f"until grep -aq '[^@]{pattern}' uftrace.data/proc.dat; do sleep 0.01; done"


def arguments():
    with open("compile_commands.json") as file:
        return [entry["arguments"] for entry in json.load(file)]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_quotes_and_files_within_files(tree, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    (tree / "run.sh").write_text(f"""
mkdir -p sub
printf '%s\\n' '-c "-DA=b c"' "'-DB=\\"q\\"'" '-DC=x\\ y' '@n.rsp' > sub/x.rsp
printf '%s' '-o a.o ../a.c' > sub/n.rsp
(cd sub && {compiler} -DQ @x.rsp)
{until_it_is_read("n.rsp")}
rm -r sub/*.rsp
""")
    result = build("sh", "run.sh").must()
    assert arguments() == [[compiler, "-DQ", "-c", "-DA=b c", '-DB="q"', "-DC=x y", "-o", "a.o", "../a.c"]]
    assert result.err == ""
    # The recording has the response files, so it can make the database again. `build --as=json`
    # shows the compiler's arguments unchanged.
    os.unlink("compile_commands.json")
    assert "@x.rsp" in utrail("build", "--as=json").must().out
    utrail("build").must()
    assert len(arguments()) == 1


def test_ninja(tree):
    if not shutil.which("ninja"):
        pytest.skip("ninja is not installed")
    (tree / "build.ninja").write_text(f"""
rule cc
  command = gcc @$out.rsp && {until_it_is_read("a.o.rsp")}
  rspfile = $out.rsp
  rspfile_content = -c $in -o $out
build a.o: cc a.c
""")
    result = build("ninja").must()
    assert not (tree / "a.o.rsp").exists()
    assert arguments() == [["gcc", "-c", "a.c", "-o", "a.o"]]
    assert "response files" not in result.err


def test_what_cannot_be_read_is_said_once(tree):
    (tree / "run.sh").write_text("mkfifo f; for i in 1 2 3; do gcc -c @none @f; done 2> /dev/null; true")
    # A compiler that ignores its arguments, so it does not wait for a writer of the FIFO.
    (tree / "gcc").write_text("#!/bin/sh\nexit 0\n")
    (tree / "gcc").chmod(0o755)
    result = build("env", f"PATH={tree}:{os.environ['PATH']}", "sh", "run.sh")
    said = [line for line in result.err.splitlines() if "response files" in line]
    assert len(said) == 1 and "6 response files (@FILE) of compilers could not be read, the first: 'none' (" in said[0]


def test_rights_of_the_process(workdir, monkeypatch):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can have the rights of others, and setpriv(1) is needed")
    # The directory is in /tmp: other users cannot enter the directories of the tests.
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        monkeypatch.chdir(place)
        os.chmod(".", 0o755)
        with open("secret.rsp", "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write("-c a.c -Dsecret")
        with open("gcc", "w", opener=lambda name, flags: os.open(name, flags, 0o755)) as file:
            file.write("#!/bin/sh\nuntil [ -e read ]; do sleep 0.01; done\n")
        script = f"setpriv --reuid=65534 --clear-groups ./gcc @secret.rsp & {until_it_is_read('secret.rsp')}; touch read; wait"
        result = build("sh", "-c", script)
        assert "'secret.rsp' (Permission denied)" in result.err
        assert b"-Dsecret" not in open("uftrace.data/proc.dat", "rb").read()
        assert "-Dsecret" not in open("compile_commands.json").read()
        monkeypatch.chdir(workdir)
