"""Recordings that are impossible: record fails at once with one clear line and a status of its own,
and leaves no files."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest

from programs import SOURCES, Variant, build, program
from tools import BUILD, UTRAIL, environment, run, utrail

PG = Variant("gcc", "pg", "O2")


def plain():
    return build(program("plain"), PG)


def refused(*args, words=(), **kw):
    """Check that `utrail record ARGS` fails soon, with one line on stderr that has all of
    @words."""
    result = utrail("record", *args, limit=20, **kw)
    assert result.status not in (0, 128) and result.status < 128, result
    assert result.out == ""
    lines = result.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("utrail: cannot "), result.err
    for word in words:
        assert str(word) in lines[0]
    return result


def test_missing_program(workdir):
    refused("no-such-program", words=["no-such-program"])
    refused("./no-such-program", words=["./no-such-program", "No such file"])
    refused("/no/such/program", words=["/no/such/program", "No such file"])
    assert os.listdir() == []


def test_no_program(workdir):
    result = utrail("record")
    assert result.status != 0 and os.listdir() == []


def test_directory(workdir):
    refused("/tmp", words=["/tmp"])
    assert os.listdir() == []


def test_not_executable(workdir):
    (workdir / "file").write_bytes(plain().read_bytes())
    refused("./file", words=["./file"])


def test_script(workdir):
    (workdir / "script").write_text(f"#!/bin/sh\n{plain()}\nexit 3\n")
    (workdir / "script").chmod(0o755)
    refused("./script", words=["./script", "--force"])
    assert utrail("record", "--force", "./script").must(3).out == "done\n"


def test_text_file(workdir):
    (workdir / "text").write_text("no program at all\n")
    (workdir / "text").chmod(0o755)
    refused("./text", words=["./text"])
    refused("--force", "./text", words=["./text"])


def test_damaged_program(workdir):
    """Programs that are truncated, or that have random bytes after the magic number."""
    whole = plain().read_bytes()
    for size in (4, 16, 40, 63, 64, 200, 1000):
        (workdir / "cut").write_bytes(whole[:size])
        (workdir / "cut").chmod(0o755)
        refused("./cut", words=["./cut"])
    (workdir / "noise").write_bytes(whole[:16] + os.urandom(20000))
    (workdir / "noise").chmod(0o755)
    refused("./noise", words=["./noise"])


def test_static_program(workdir):
    command = ["gcc", "-pg", "-static", "-o", "static", SOURCES / "plain.c"]
    subprocess.run(command, check=True, capture_output=True)
    refused("./static", words=["./static", "static"])
    refused("--force", "./static", words=["./static", "static"])


def test_not_instrumented(workdir):
    subprocess.run(["gcc", "-o", "bare", SOURCES / "plain.c"], check=True)
    refused("./bare", words=["./bare", "-pg", "--force"])


def test_other_word_size(workdir):
    """A 32-bit program cannot be preloaded with a 64-bit probe."""
    header = bytearray(plain().read_bytes())
    header[4] = 1
    header[18:20] = (3).to_bytes(2, "little")
    (workdir / "i386").write_bytes(header)
    (workdir / "i386").chmod(0o755)
    refused("./i386", words=["./i386"])


@pytest.mark.parametrize("name, status, out", [("end_exit", 4, "going to end\n"), ("plain", 0, None)])
def test_setuid_program(workdir, name, status, out):
    """The loader ignores LD_PRELOAD for a setuid program: it runs untraced, with its own status,
    and a message says so. The recorder does not wait for a probe."""
    if os.getuid() != 0:
        pytest.skip("needs root to make a program of another user setuid")
    exe = workdir / "setuid"
    exe.write_bytes(build(program(name), PG).read_bytes())
    os.chown(exe, 65534, 65534)
    exe.chmod(0o4755)
    workdir.chmod(0o777)
    result = utrail("record", exe, preexec=lambda: os.seteuid(0) or None)
    # root runs the program with another effective user: secure-execution mode (ld.so(8)).
    assert result.status == status and out in (None, result.out)
    assert "untraced" in result.err and f"ended with status {status}" in result.err and len(result.err.splitlines()) == 1


def test_unwritable_directory():
    """The test runs as a user other than root, for whom the directory is read-only, and utrail is
    copied to a place that this user can read."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, 0o755)
        os.chdir(place)
        shutil.copy(UTRAIL, "utrail")
        shutil.copytree(BUILD / "libmcount", "libmcount", ignore=shutil.ignore_patterns("*.p"))
        shutil.copy(plain(), "plain")
        os.mkdir("locked", 0o555)

        def drop():
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        for directory, words in (("locked/data", "Permission denied"), ("missing/data", "No such file")):
            result = run("./utrail", "record", "-d", directory, "./plain", preexec=drop)
            assert result.status == 1 and result.out == ""
            assert re.fullmatch(f"utrail: cannot .*{directory}.*{words}.*\n", result.err)
        assert os.listdir("locked") == []
        os.chdir("/")


def test_other_directory_is_left_alone(workdir):
    """A directory that is no recording is not renamed, whatever its name."""
    os.mkdir("uftrace.data")
    (workdir / "uftrace.data/precious").write_text("mine")
    refused(plain(), words=["uftrace.data"])
    assert (workdir / "uftrace.data/precious").read_text() == "mine"
    assert os.listdir() == ["uftrace.data"]
    (workdir / "file").write_text("mine")
    refused("-d", "file", plain(), words=["file"])
    assert (workdir / "file").read_text() == "mine"


def test_old_directory_that_is_not_ours(workdir):
    """Something else has the name to which the previous recording would be renamed."""
    utrail("record", plain()).must()
    os.mkdir("uftrace.data.old")
    (workdir / "uftrace.data.old/precious").write_text("mine")
    refused(plain(), words=["uftrace.data"])
    assert (workdir / "uftrace.data.old/precious").read_text() == "mine"


def test_empty_directory_is_used(workdir):
    os.mkdir("uftrace.data")
    utrail("record", plain()).must()
    assert (workdir / "uftrace.data/info").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--no-such-option"],
        ["-D", "0"],
        ["-D", "65535"],
        ["-D", "many"],
        ["-t", "5parsecs"],
        ["-b", "12x"],
        ["--clock", "sundial"],
        ["--max-stack", "0"],
        ["--max-stack", "65536"],
        ["--num-thread", "0"],
        ["--trace", "maybe"],
        ["-Z", "-1"],
        ["--rt-prio", "100"],
    ],
    ids=" ".join,
)
def test_bad_option(workdir, options):
    """One line names the option; the status is 2, and nothing was run."""
    result = utrail("record", *options, plain())
    assert result.status == 2 and result.out == ""
    assert len(result.err.splitlines()) == 1 and options[-1].strip("-") in result.err
    assert os.listdir() == []


def test_nearest_word_is_offered(workdir):
    assert "--depth" in utrail("record", "--deptj", "3", plain()).must(2).err
    assert "record" in utrail("recrod", plain()).err


def test_full_disk(workdir):
    """The recording breaks off with a message, the program goes on, and the saved part is
    readable."""
    if os.getuid() != 0:
        pytest.skip("needs root to mount a file system that is small")
    os.mkdir("small")
    mounted = run("mount", "-t", "tmpfs", "-o", "size=256k", "none", "small")
    if mounted.status != 0:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.err.strip()}")
    try:
        exe = build(program("many_calls"), PG)
        result = utrail("record", "-d", "small/data", exe)
        assert result.out == "done\n"
        assert "No space left" in result.err
        assert utrail("report", "-d", "small/data").must().out.count("\n") > 2
    finally:
        run("umount", "small").must()


def test_program_that_vanishes_while_loading(workdir):
    """A library that the program needs is missing: the loader's message and status are passed on,
    without waiting."""
    exe = build(program("shared"), PG)
    (workdir / "alone").write_bytes(exe.read_bytes())
    (workdir / "alone").chmod(0o755)
    result = utrail("record", "./alone", limit=20)
    assert result.status == 127
    assert "libshared_lib.so" in result.err


def test_closed_standard_streams(workdir):
    """`utrail record prog <&- >&- 2>&-` must not take its own files for the closed streams."""
    command = f"{UTRAIL} record {build(program('end_exit'), PG)} <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], env=environment()).returncode == 4
    assert utrail("replay", "-f", "none").must().out.count("before();") == 1
