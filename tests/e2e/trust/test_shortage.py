"""Shortage of disk, file size, descriptors, memory or CPUs: the program runs as untraced, and
losses are counted exactly."""

import os
import re
import resource
import shutil
import subprocess

import pytest

import trees
from data import ENTRY, EXIT, LOST, Recording
from programs import METHODS, SOURCES, Program, Variant, build, in_turn, program
from tools import BUILD, UTRAIL, has_sanitizer, run, utrail

VARIANTS = [Variant("gcc", method, "O2") for method in METHODS]
each_method = pytest.mark.parametrize("variant", VARIANTS, ids=str)


def calls_and_losses(result, directory="uftrace.data"):
    """The number of records of calls in the files, and of records that `record` reports as lost.
    LOST records must not tell of more lost records."""
    recording = Recording(directory)
    written = sum(r.kind in (ENTRY, EXIT) for t in recording.tasks.values() for r in t.records)
    told = sum(r.addr for t in recording.tasks.values() for r in t.records if r.kind == LOST)
    match = re.search(r"(\d+) records were lost", result.err)
    lost = int(match[1]) if match else 0
    assert told <= lost
    return written, lost


@pytest.fixture
def small_disk(workdir):
    """A file system of one megabyte."""
    place = workdir / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small disk: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@each_method
@pytest.mark.parametrize("options", [(), ("-b", "4k"), ("--num-thread", "4")], ids=" ".join)
def test_disk_full(small_disk, variant, options):
    exe = build(program("many_calls"), variant)
    directory = small_disk / "data"
    result = utrail("record", "--no-libcall", "--no-event", *options, "-d", directory, exe)
    assert (result.status, result.out) == (0, "done\n"), result.err
    assert "No space left on device" in result.err
    assert "larger buffer" not in result.err, "no buffer is large enough for a disk that is full"
    written, lost = calls_and_losses(result, directory)
    assert written > 10000 and lost > 10000
    assert written + lost == 2 * 100001
    for command in ("replay", "report", "dump"):
        utrail(command, "-d", directory).must()
    utrail("info", "-d", directory).must()


@each_method
def test_disk_full_and_free_again(small_disk, variant):
    """After a LOST record with the number of missing ones, records are written again as soon as
    there is room."""
    filler = small_disk / "filler"
    filler.write_bytes(bytes(300000))
    script = f"{build(program('many_calls'), variant)}; rm {filler}; {build(program('plain'), variant)}"
    directory = small_disk / "data"
    result = utrail("record", "--no-libcall", "--no-event", "--force", "-d", directory, "/bin/sh", "-c", script)
    assert (result.status, result.out) == (0, "done\ndone\n"), result.err
    written, lost = calls_and_losses(result, directory)
    assert lost > 0
    assert written + lost == 2 * (100001 + 7)
    replayed = utrail("replay", "-d", directory).must().out
    assert "LOST" in replayed


@each_method
def test_disk_full_from_the_start(small_disk, variant):
    """The disk is full: the recorder fails before it runs the program, or the program runs."""
    (small_disk / "filler").write_bytes(bytes((1 << 20) - 4096))
    exe = build(program("many_calls"), variant)
    result = utrail("record", "--no-libcall", "--no-event", "-d", small_disk / "data", exe)
    assert "No space left on device" in result.err
    assert (result.status, result.out) == (0, "done\n") or (result.status == 255 and result.out == "")


@each_method
@pytest.mark.parametrize("size", [0, 100000])
def test_file_size_limit(variant, size):
    """The limit of `ulimit -S -f` applies to the program, not to the recorder."""
    exe = build(program("many_calls"), variant)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    result = utrail("record", "--no-libcall", "--no-event", exe, preexec=limit)
    # The untraced program has other hooks: with -pg, gprof would write gmon.out there, and exceed
    # the limit.
    plain = run(build(program("many_calls"), Variant("gcc", "cyg", "O2")), preexec=limit)
    assert (result.status, result.out) == (plain.status, plain.out), result.err
    written, lost = calls_and_losses(result)
    assert (written, lost) == (2 * 100001, 0)


@pytest.mark.parametrize("size", [0, 100000, 1 << 30])
def test_hard_file_size_limit(size):
    """Shared memory counts as a file: the recorder fails before it runs the program."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    result = utrail("record", build(program("many_calls"), VARIANTS[0]), preexec=limit)
    assert result.status not in (0, 153) and result.out == ""
    assert result.err.count("\n") == 1
    assert "ulimit -f" in result.err or "File too large" in result.err


@pytest.mark.parametrize("options, variant", in_turn([(), ("-b", "4k"), ("-b", "1M")], VARIANTS), ids=str)
def test_four_thousand_threads(variant, options):
    exe = build(program("threads_4096"), variant)
    plain = run(exe)
    if plain.status == 9:
        pytest.skip("this machine does not run that many threads")
    result = utrail("record", "--no-libcall", "--no-event", *options, exe)
    assert (result.status, result.out) == (0, plain.out), result.err
    written, lost = calls_and_losses(result)
    assert written + lost == 2 * int(plain.out.split()[0])
    assert "not traced" not in result.err
    assert len(Recording("uftrace.data").tasks) == 4097 or lost


@pytest.mark.parametrize("number, variant", in_turn([64], VARIANTS), ids=str)
def test_few_descriptors(number, variant):
    """The recorder may have fewer descriptors than there are threads. It opens the file of a thread
    again for each piece of data."""
    exe = build(program("threads_4096"), variant)
    if run(exe).status == 9:
        pytest.skip("this machine does not run that many threads")

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))

    result = utrail("record", "--no-libcall", "--no-event", exe, preexec=limit).must()
    written, lost = calls_and_losses(result)
    assert written + lost == 2 * int(result.out.split()[0])


def test_data_directory_vanishes(workdir):
    """Another process removes the directory while the program runs. The program must not be
    affected."""
    exe = build(program("sleeps"), VARIANTS[0])
    script = f"rm -r gone; {exe}; {exe}; exit 5"
    result = utrail("record", "--force", "-d", "gone", "/bin/sh", "-c", script)
    assert result.status == 5, result.err
    assert "Traceback" not in result.err
    shutil.rmtree("gone", ignore_errors=True)


def test_unreadable_module(workdir):
    """A program that may be executed but not read (root may read it), and one that is removed while
    it runs."""
    exe = build(program("plain"), VARIANTS[0])
    shutil.copy(exe, "prog")
    os.chmod("prog", 0o111)
    result = utrail("record", "--force", "./prog")
    assert result.out == run("./prog").must().out or os.getuid() != 0
    os.chmod("prog", 0o755)
    result = utrail("record", "--force", "/bin/sh", "-c", "./prog; rm prog; exit 3")
    assert result.status == 3, result.err


@each_method
@pytest.mark.parametrize("who", ["both", "program"])
def test_no_proc(workdir, variant, who):
    """/proc is not mounted for the recorder and the program, or for the program only. The program's
    file is then known by the path that was given to execve(2)."""
    exe = build(program("plain"), variant)
    unmount = ["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"]
    record = [UTRAIL, "record", "--libmcount-path", BUILD / "libmcount", "-d", "data"]
    probe = run(*unmount, "true")
    if probe.status != 0:
        pytest.skip(f"cannot unmount /proc: {probe.err.strip()}")
    if who == "both" and has_sanitizer():
        pytest.skip("LeakSanitizer, which is in this recorder, needs /proc")
    result = run(*unmount, *record, exe) if who == "both" else run(*record, "--force", *unmount, exe)
    assert (result.status, result.out, result.err) == (0, run(exe).out, "")
    shown = [trees.of_records(t) for t in Recording("data").tasks.values()]
    if who == "program":
        shown = [tree for tree in shown if tree]  # umount(8), run by the shell, has none
    assert shown == ["main{a{b{c{}}}b{c{}}c{}}"]


@pytest.mark.parametrize("variant", VARIANTS[:1], ids=str)
def test_slow_disk_under_a_storm_of_signals(workdir, variant):
    """The limit for a thread that waits for the writer is a time, not the number of sleeps that
    signals interrupt."""
    exe = build(Program.read(SOURCES / "hostile" / "storm_shared.c"), variant)
    slow = workdir / "slow_disk.so"
    compile_ = ["gcc", "-shared", "-fPIC", "-O1", SOURCES / "hostile" / "slow_disk.c", "-o", slow]
    subprocess.run(compile_, check=True)
    counter = workdir / "handled"
    result = run(
        *(UTRAIL, "record", "--no-libcall", "--no-event", "-b", "16k", exe, counter),
        env={"LD_PRELOAD": slow, "HANDLED": counter},
    ).must()
    written, lost = calls_and_losses(result)
    handled = int(result.out)
    assert (written, lost) == (2 * (1 + 100000 + handled), 0)


def limited(kind, amount):
    return lambda: resource.setrlimit(kind, (amount, amount))


@pytest.mark.parametrize("kilobytes", [64, 128, 1024])
@pytest.mark.parametrize("options", [(), ("-a",)], ids=" ".join)
def test_small_stack(kilobytes, options):
    """A small limit of the stack applies to the program only: the recorder makes itself a larger
    one, for the recursion in reading debug information."""
    exe = build(program("arguments") if (SOURCES / "arguments.c").exists() else program("plain"), Variant("gcc", "pg", "O2"))
    plain = run(exe)
    result = utrail("record", *options, exe, preexec=limited(resource.RLIMIT_STACK, kilobytes << 10))
    assert (result.status, result.out) == (plain.status, plain.out), result.err
    assert "main" in utrail("report", preexec=limited(resource.RLIMIT_STACK, kilobytes << 10)).must().out


@pytest.mark.parametrize("files", [*range(10, 32, 2), 17, 21])
def test_hardly_any_descriptors(files):
    """With few descriptors, the program is recorded, or a message names the limit; a program that
    was started runs as untraced."""
    exe = build(program("plain"), Variant("gcc", "pg", "O2"))
    result = utrail("record", exe, preexec=limited(resource.RLIMIT_NOFILE, files))
    assert (result.status, result.out) in ((0, "done\n"), (1, "")), result.err
    if "main" not in utrail("report").out:
        assert f"ulimit -n is {files}" in result.err
        assert "setuid" not in result.err and "made no call" not in result.err


@pytest.mark.skipif(has_sanitizer(), reason="AddressSanitizer reserves more than any of these limits")
@pytest.mark.parametrize("megabytes", [60, 100, 200, 400, 2000])
def test_little_address_space(megabytes):
    exe = build(program("plain"), Variant("gcc", "pg", "O2"))
    result = utrail("record", exe, preexec=limited(resource.RLIMIT_AS, megabytes << 20))
    assert (result.status, result.out) == (0, "done\n"), result.err
    if "main" not in utrail("report").out:
        assert "ulimit -v" in result.err and "setuid" not in result.err
    else:
        assert result.err == ""
    assert megabytes < 400 or result.err == ""
