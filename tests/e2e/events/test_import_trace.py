"""utrail import makes a recording of trace-cmd's trace.dat, or adds it to one. Some files are made
by hand, in all forms; trace-cmd converts others."""

import os
import re
import shutil
import struct
from pathlib import Path

import kernel
import pytest
import tracedat
from test_kernel import ONE, STRANGER, TIME, TWO, good_pages, handmade, lines_by_task, needs_fields
from test_kernel_calls import CALLS, SYMBOLS, TREE, page
from tools import peer, run, utrail

IDS = kernel.event_ids()
FORMS = [(6, "none"), (7, "none"), (7, "zstd"), (7, "zlib")]
FEATURES = utrail("--version").out.split()
NAMES = f"{ONE} first\n{TWO} kworker/1:2\nno number\n{STRANGER} a b\n".encode()


def why_not(packing):
    if packing != "none" and packing not in FEATURES:
        return f"built without {packing}"
    if packing == "zstd" and not shutil.which("zstd"):
        return "there is no zstd command"
    return None


def need(packing):
    if why_not(packing):
        pytest.skip(why_not(packing))


def write(name, buffers, version=7, packing="none", **more):
    Path(name).write_bytes(tracedat.File(buffers, version, packing, **more).make())
    return name


def no_kernel(name="hand.data"):
    """Make a recording of two tasks without the kernel's part."""
    handmade({}, name=name)
    (Path(name) / "kernel_header").unlink()
    return name


def calls(cpu=0):
    return tracedat.Buffer({cpu: page(CALLS).pack()})


def tree(name, *args):
    text = utrail("replay", "-d", name, "--tid", str(ONE), *args).must().out
    return "\n".join(line.split("| ", 1)[1] for line in text.splitlines() if "| " in line)


# --- beside a recording -------------------------------------------------------------------------------------


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("version,packing", FORMS)
def test_into_a_recording(version, packing, big):
    """Calls of the kernel are shown inside those of their task, as with `record -k`."""
    need(packing)
    name = no_kernel()
    buffer = tracedat.Buffer({0: page(CALLS, big=big).pack()})
    write("trace.dat", [buffer], version, packing, kallsyms=SYMBOLS, big=big, header=kernel.header(big))
    result = utrail("import", "--into", name, "trace.dat").must()
    assert result.out == f"{len(CALLS)} records are in 'hand.data', 0 of other tasks were left out\n" and result.err == ""
    assert tree(name) == TREE
    assert not list(Path(name).glob(".*"))


@pytest.mark.parametrize("version,packing", FORMS)
def test_events_of_all_cpus(version, packing):
    """The events are those that the kernel's own files give; records of other tasks are left
    out."""
    need(packing)
    expected = lines_by_task(utrail("replay", "-d", handmade(good_pages(), name="direct")).must().out)
    name = no_kernel()
    write("trace.dat", [tracedat.Buffer(good_pages())], version, packing)
    result = utrail("import", "--into", name, "trace.dat").must()
    assert "1 of other tasks" in result.out
    assert lines_by_task(utrail("replay", "-d", name).must().out) == expected


@pytest.mark.parametrize("planted", ["kernel-cpu0.dat", ".kernel_header.tmp", "kallsyms", ".info.tmp"])
@pytest.mark.parametrize("thing", ["link", "second-name", "fifo"])
def test_import_into_a_strangers_recording(planted, thing):
    """Links, second names and pipes in the place of files that an import adds: no other file is
    written, and the import ends."""
    name = no_kernel()
    Path("private").write_text("private\n")
    if thing == "link":
        (Path(name) / planted).symlink_to("../private")
    elif thing == "second-name":
        os.link("private", Path(name) / planted)
    else:
        os.mkfifo(Path(name) / planted)
    write("trace.dat", [calls()], kallsyms=SYMBOLS)
    utrail("import", "--into", name, "trace.dat", limit=60)
    assert Path("private").read_text() == "private\n"


def test_import_into_twice():
    """A recording has one kernel's part at most. An import that cannot add it changes nothing."""
    name = no_kernel()
    write("trace.dat", [calls()], kallsyms=SYMBOLS)
    utrail("import", "--into", name, "trace.dat").must()
    before = {p.name: p.read_bytes() for p in Path(name).iterdir()}
    result = utrail("import", "--into", name, "trace.dat").must(1)
    assert "it has the kernel's part already (kernel_header)" in result.err
    assert {p.name: p.read_bytes() for p in Path(name).iterdir()} == before
    # All records belong to other tasks than the recording's.
    name = no_kernel("other.data")
    before = {p.name for p in Path(name).iterdir()}
    write("trace.dat", [tracedat.Buffer({0: page(CALLS, tid=STRANGER).pack()})])
    result = utrail("import", "--into", name, "trace.dat").must(1)
    assert "no record of 'trace.dat' is of a task of 'other.data'" in result.err
    assert {p.name for p in Path(name).iterdir()} == before


def test_clocks():
    """A file with the recording's clock, or with the time of day, is aligned. Any other is refused,
    with the option that helps."""
    name = no_kernel()
    write("trace.dat", [tracedat.Buffer({0: page(CALLS).pack()}, clock="local")], kallsyms=SYMBOLS)
    result = utrail("import", "--into", name, "trace.dat").must(1)
    assert ("times cannot be aligned: 'hand.data' was recorded with the clock 'mono', 'trace.dat' with 'local'; "
            "use trace-cmd record -C mono") in result.err
    # An offset applies to the file's own clock.
    back = tracedat.Buffer({0: kernel_page_at(-5000)})
    write("trace.dat", [back], 6, kallsyms=SYMBOLS, options=[(7, b"5000\0")])
    utrail("import", "--into", name, "trace.dat").must()
    assert tree(name) == TREE
    # Two buffers, one of which has a clock that can be aligned.
    name = no_kernel()
    write("trace.dat", [calls(), tracedat.Buffer({0: page(CALLS).pack()}, "two", "boot")], kallsyms=SYMBOLS)
    result = utrail("import", "--into", name, "trace.dat").must(1)
    assert "buffer 'two': times cannot be aligned" in result.err
    assert tree(name) == TREE


def kernel_page_at(shift_ns):
    made = kernel.Page(TIME + 1000 * CALLS[0][0] + shift_ns)
    for us, what, func, depth in CALLS:
        fields = kernel.graph_entry if what == "+" else kernel.graph_exit
        made.record(TIME + 1000 * us + shift_ns, IDS["ftrace:funcgraph_entry" if what == "+" else "ftrace:funcgraph_exit"], ONE, fields(func, depth))
    return made.pack()


def test_time_of_day():
    """A file of trace-cmd record --date with another clock is aligned by the time of day that the
    recording knows."""
    name = no_kernel()
    info = Path(name) / "info"
    head = bytearray(info.read_bytes())
    head[24:32] = struct.pack("<Q", 1 << 14)
    info.write_bytes(bytes(head) + b"utc_offset:1000\n")
    # The file's clock is 2 s ahead of the recording's.
    shifted = tracedat.Buffer({0: kernel_page_at(2 * 10**9)}, clock="boot")
    write("trace.dat", [shifted], kallsyms=SYMBOLS, options=[(1, b"0x%x\0" % (998 * 10**6))])
    result = utrail("import", "--into", name, "trace.dat").must()
    assert "knows the time of day to the second only" in result.err
    assert tree(name) == TREE


# --- alone --------------------------------------------------------------------------------------------------


@needs_fields
@pytest.mark.parametrize("version,packing", FORMS)
def test_alone(version, packing):
    """Each thread with a record is a task, with its saved name; each idle CPU is a task of its
    own."""
    need(packing)
    write("trace.dat", [tracedat.Buffer(good_pages()), tracedat.Buffer({1: page(CALLS).pack()}, "two")], version, packing,
          cmdlines=NAMES, kallsyms=SYMBOLS)
    result = utrail("import", "-d", "alone", "trace.dat").must()
    assert result.out == f"{len(CALLS) + 6} records of 4 tasks are in 'alone'\n" and result.err == ""
    tasks = lines_by_task(utrail("replay", "-d", "alone").must().out)
    assert set(tasks) == {ONE, TWO, STRANGER, 4194305}
    assert tasks[4194305] == ["sched:sched_switch"]
    assert tasks[ONE][0] == "syscalls:sys_enter_clock_nanosleep" and "x64_sys_call() {" in tasks[ONE]
    names = utrail("replay", "-d", "alone", "-f", "task").must().out
    assert re.search(r"^ *first \|", names, re.M) and re.search(r"^ *kworker-1:2 \|", names, re.M)
    assert re.search(r" 210\.000 us +20\.000 us +1 +x64_sys_call\n", utrail("report", "-d", "alone").must().out)
    assert "x64_sys_call" in utrail("graph", "-d", "alone").must().out
    assert '"handle_mm_fault"' in utrail("dump", "-d", "alone", "--format=chrome").must().out
    theirs = peer("replay", "-d", "alone", "--tid", str(ONE), "-f", "none").must().out
    assert theirs.count("{") == 2 and theirs.count("();") == 2


def test_buffers_of_one_cpu_are_one_stream():
    """The buffers' records are merged in the order of time, and so are their losses."""
    first = kernel.Page(TIME).record(TIME, 60000, ONE, b"....").record(TIME + 5000, 60001, ONE, b"....")
    second = kernel.Page(TIME + 2000).record(TIME + 2000, 60002, ONE, b"....").record(TIME + 10**10, 60003, ONE, b"x" * 300)
    write("trace.dat", [tracedat.Buffer({0: first.pack()}), tracedat.Buffer({0: second.pack(missed=7)}, "two")], 6)
    utrail("import", "-d", "alone", "trace.dat").must()
    lines = lines_by_task(utrail("replay", "-d", "alone").must().out)
    assert [line for line in lines[ONE] if "event" in line] == [f"kernel_event:{n}" for n in (60000, 60002, 60001, 60003)]
    assert "/* LOST 7 records!! */" in utrail("replay", "-d", "alone").must().out


def test_clock_that_is_no_time():
    """A counter that is no time is converted to nanoseconds if the file has its factor; otherwise a
    warning is printed."""
    name = write("trace.dat", [tracedat.Buffer({0: page(CALLS).pack()}, clock="x86-tsc")], kallsyms=SYMBOLS)
    result = utrail("import", "-d", "alone", name).must()
    assert "the clock 'x86-tsc' does not count nanoseconds" in result.err
    # The file has the factor: a nanosecond is two counts.
    write("trace.dat", [tracedat.Buffer({0: page(CALLS).pack()}, clock="x86-tsc")], kallsyms=SYMBOLS,
          options=[(14, struct.pack("<IIQ", 1 << 9, 10, 0))])
    assert utrail("import", "-d", "alone", name).must().err == ""
    assert re.search(r" 105\.000 us +10\.000 us +1 +x64_sys_call\n", utrail("report", "-d", "alone").must().out)


def test_records_of_other_tracers():
    """Records of unknown types are counted."""
    header = kernel.header() + b"TRACEFS: events/ftrace/function/format: 21\nname: function\nID: 1\n"
    made = page(CALLS).record(TIME + 500000, 1, ONE, b"........")
    write("trace.dat", [tracedat.Buffer({0: made.pack()})], kallsyms=SYMBOLS, header=header)
    result = utrail("import", "-d", "alone", "trace.dat").must()
    assert "1 record of tracers other than function_graph was left out" in result.err
    assert b"events/ftrace/function/" not in Path("alone/kernel_header").read_bytes()


# --- damage -------------------------------------------------------------------------------------------------


def long_buffer():
    """A buffer of so many pages that a packed file has several chunks of them."""
    pages = b"".join(kernel.Page(TIME + i * 1000).record(TIME + i * 1000, 60000 + i, ONE, b"....").pack() for i in range(25))
    return tracedat.Buffer({0: pages})


@pytest.mark.parametrize("version,packing", FORMS)
def test_cut_off(version, packing):
    """A file that is cut off is read as far as it goes; the place of the end is reported."""
    need(packing)
    whole = tracedat.File([long_buffer()], version, packing).make()
    if version == 6:
        # The cut is in the last page but one.
        Path("trace.dat").write_bytes(whole[:-5000])
        result = utrail("import", "-d", "alone", "trace.dat").must(1)
        assert "CPU 0: of 102400 bytes of records at offset" in result.err and "the last page is cut off" in result.err
        assert result.out.startswith("24 records")
        return
    # The options are at the end of such a file. Without them the places of records are unknown.
    Path("trace.dat").write_bytes(whole[:-200])
    result = utrail("import", "-d", "alone", "trace.dat").must(1)
    assert "'trace.dat'" in result.err and not Path("alone/info").exists()


def test_damaged_chunk():
    """One chunk is damaged. The pages of the other chunks are read, and a loss replaces the pages
    of the damaged chunk."""
    need("zlib")
    whole = bytearray(tracedat.File([long_buffer()], 7, "zlib").make())
    at = [m.start() for m in re.finditer(rb"\x78\x9c", bytes(whole))]
    second = at[-2]
    # The packed parts are sections, then three chunks of pages, then the section of strings. The
    # bytes that are overwritten, shortly before the third chunk, are the end of the second one.
    whole[second - 40 : second - 36] = b"\xff\xff\xff\xff"
    Path("trace.dat").write_bytes(bytes(whole))
    result = utrail("import", "-d", "alone", "trace.dat").must(1)
    assert re.search(r"CPU 0: offset \d+, packed: it cannot be unpacked", result.err)
    assert "LOST" in utrail("replay", "-d", "alone").must().out


@pytest.mark.parametrize("way", ["alone", "into"])
def test_negative_task(way):
    """A record of a negative task is damage, not a record of another task."""
    made = page(CALLS).record(TIME + 500000, 60000, -5, b"....")
    write("trace.dat", [tracedat.Buffer({0: made.pack()})], kallsyms=SYMBOLS)
    where = ("--into", no_kernel()) if way == "into" else ("-d", "alone")
    result = utrail("import", *where, "trace.dat").must(1)
    assert "1 record was left out: too large, or with a negative task number" in result.err
    assert "limit" not in result.err and result.out.startswith(f"{len(CALLS)} records")


def test_damaged_section():
    """Events whose names cannot be read are shown by their numbers."""
    made = tracedat.File([tracedat.Buffer(good_pages())], 7)
    whole = made.make().replace(b"sched\0", b"sc/ed\0", 1)
    Path("trace.dat").write_bytes(whole)
    result = utrail("import", "-d", "alone", "trace.dat").must(1)
    assert re.search(r"'trace.dat': offset \d+: expected the name of a system of events", result.err)
    assert f"kernel_event:{IDS['sched:sched_switch']}" in utrail("replay", "-d", "alone").must().out


def test_names_are_escaped():
    """Texts of the file may have any bytes: names of tasks are escaped, as other names are."""
    name = no_kernel()
    evil = tracedat.Buffer({0: page(CALLS).pack()}, "\x1b[31mtwo", "\x1b[5mclock\n")
    write("trace.dat", [evil], cmdlines=f"{ONE} \x1b[2Jx\n".encode())
    said = utrail("import", "--into", name, "trace.dat").must(1).err
    assert "\x1b" not in said and said.count("\n") == 2
    utrail("import", "-d", "alone", "trace.dat").must()
    shown = utrail("replay", "-d", "alone", "-f", "task").must().out
    assert "\x1b" not in shown and "\\x1b[2Jx" in shown


@pytest.mark.parametrize("content,said", [
    (b"", "it is not a file of trace-cmd"),
    (b"\x17\x08\x44tracing5\0\0\x08", "it is of version '5'"),
    (b"\x17\x08\x44tracing7\0\0\x08\0\x10\0\0lzo\0\0", "it is compressed with 'lzo'; zstd and zlib can be read"),
    (b"\x17\x08\x44tracing6\0\0\x08\0\x10\0\0header_page\0" + b"\xff" * 8, "offset 38: 18446744073709551615 bytes are to follow, there are 0"),
    (b"\x17\x08\x44tracing7\0\0\x08\0\x10\0\0none\0\0" + b"\xff" * 8, "offset 32: it ends there"),
])
def test_no_trace(content, said):
    Path("trace.dat").write_bytes(content)
    result = utrail("import", "-d", "none.data", "trace.dat").must(1)
    assert f"cannot read 'trace.dat': {said}" in result.err
    assert not Path("none.data").exists()


def test_options_in_a_circle():
    """Each section of options has the place of the next section. In this file the last section has
    the place of the first one."""
    made = bytearray(tracedat.File([calls()], 7).make())
    (first,) = struct.unpack_from("<Q", made, 24)
    last = made.rindex(struct.pack("<HIQ", 0, 8, 0))
    made[last + 6 : last + 14] = struct.pack("<Q", first)
    Path("trace.dat").write_bytes(bytes(made))
    assert "too many" in utrail("import", "-d", "alone", "trace.dat").err


@pytest.mark.parametrize("words,said", [
    ([], "import needs the name of a trace.dat"),
    (["a", "b"], "import takes one trace.dat, not also 'b'"),
    (["--into", "x", "-d", "y", "a"], "--into and --data exclude each other"),
])
def test_words(words, said):
    assert said in utrail("import", *words).must(2).err


# --- trace-cmd itself ---------------------------------------------------------------------------------------

needs_trace_cmd = pytest.mark.skipif(not shutil.which("trace-cmd"), reason="there is no trace-cmd")


@needs_trace_cmd
def test_trace_cmd_reads_what_we_make():
    """trace-cmd reads the files that these tests make, which shows that they are right. Files that
    it converts from them have the same records."""
    write("6.dat", [tracedat.Buffer(good_pages()), tracedat.Buffer({1: page(CALLS).pack()}, "two")], 6, cmdlines=NAMES, kallsyms=SYMBOLS,
          options=[(4, b"local [mono] boot\n\0")])
    theirs = run("trace-cmd", "report", "-i", "6.dat").must().out
    # An empty call is one line instead of two; there are two such calls. The line of an unknown
    # event has no CPU.
    assert len(re.findall(r"\[00\d\]", theirs)) == len(CALLS) - 2 + 5 and "sched_switch:" in theirs
    utrail("import", "-d", "6.data", "6.dat").must()
    expected = utrail("replay", "-d", "6.data").must().out
    for packing in ("none", "zstd"):
        if why_not(packing):
            continue
        run("trace-cmd", "convert", "-i", "6.dat", "--file-version", "7", "--compression", packing, "-o", "7.dat").must()
        assert Path("7.dat").read_bytes()[10:11] == b"7"
        assert utrail("import", "-d", "7.data", "7.dat").must().err == ""
        assert utrail("replay", "-d", "7.data").must().out == expected
