"""graph and the views of report beyond the table, on real recordings."""

import collections
import csv
import io
import json
import math
import os
import pty
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from programs import Variant, build, program
from tools import TOP, UTRAIL, environment, has_sanitizer, peer, run, terminal_text, utrail

VARIANT = Variant("gcc", "pg", "O2")


def record(name, directory="data", *options):
    utrail("record", *options, "-d", directory, build(program(name), VARIANT))
    return directory


def report(directory, *options):
    text = utrail("report", "-d", directory, "--format=csv", *options).must().out
    return list(csv.reader(io.StringIO(text), quoting=csv.QUOTE_NONE))[1:]


class TestGraph:
    def test_calls_are_those_of_report(self):
        record("threads")
        counts = collections.Counter()
        for line in utrail("graph", "-f", "none", "-d", "data").must().out.splitlines():
            match = re.fullmatch(r"[ |+-]*\((\d+)\) (.*)", line)
            if match:
                counts[match[2]] += int(match[1])
        assert counts.pop("threads") == 1
        assert counts == {row[1]: int(row[0]) for row in report("data", "-f", "call")}

    def test_unknown_function(self):
        record("plain")
        result = utrail("graph", "-d", "data", "nobody").must(1)
        assert result.err == "utrail: cannot find graph for 'nobody': it was not called\n"

    def test_two_functions(self):
        assert utrail("graph", "a", "b").must(2).err == "utrail: graph shows one function, not also 'b'\n"

    def test_nothing_left(self):
        record("plain")
        result = utrail("graph", "-d", "data", "-t", "100s").must()
        assert "nothing is left to show: no call took 100s or longer (-t); the longest took " in result.err


class TestGraphOfForkedChildren:
    """The child returns from none of its inherited calls, so the records of the child do not tell the
    times of these calls. The parent has left the calls before the child begins."""

    CODE = """
        #include <pthread.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static int ends[2];
        /* Runs unseen in the child before fork() returns, and waits until the parent has ended. */
        __attribute__((no_instrument_function)) static void wait_for_end(void)
        {
            char c;
            long ret = SYS_close;
            __asm__ volatile("syscall" : "+a"(ret) : "D"((long)ends[1]) : "rcx", "r11", "memory");
            ret = SYS_read;
            __asm__ volatile("syscall" : "+a"(ret) : "D"((long)ends[0]), "S"(&c), "d"(1L) : "rcx", "r11", "memory");
        }
        /* Takes longer than a step of the CPU's counter: stacks without time are not folded. */
        __attribute__((noinline)) int leaf(int n) { for (volatile int i = 0; i < 100; i++) ; return n + 1; }
        int main(int argc, char *argv[])
        {
            if (pipe(ends) < 0 || pthread_atfork(NULL, NULL, wait_for_end) || fork())
                return 0;
            leaf(argc);
            execl("/bin/true", "true", (char *)NULL);
            return 1;
        }
    """

    @pytest.fixture(scope="class")
    def data(self, tmp_path_factory):
        top = tmp_path_factory.mktemp("forked")
        (top / "prog.c").write_text(self.CODE)
        run("gcc", "-O1", "-pg", "-o", top / "prog", top / "prog.c").must()
        utrail("record", "-d", top / "data", top / "prog").must()
        return top / "data"

    def test_graph(self, data):
        text = utrail("graph", "-d", data, "leaf").must().out
        assert re.search(r"backtrace #0: .*\n *\[0\] main .*\n *\[1\] leaf ", text) and "backtrace #1" not in text

    def test_folded(self, data):
        stacks = [line.rpartition(" ")[0] for line in utrail("dump", "--format=folded", "-d", data).must().out.splitlines()]
        assert "prog;main;leaf" in stacks and "prog;main;execl" in stacks
        assert not {"prog;leaf", "prog;execl"} & set(stacks)

    def test_callers(self, data):
        assert "not recorded" not in utrail("report", "--callers=leaf", "-d", data).must().out


class TestGraphDiff:
    """Two programs, one of which has one more call."""

    CODE = """
        #include <unistd.h>
        __attribute__((noinline)) void leaf(void) { usleep(WAIT); }
        __attribute__((noinline)) void extra(void) { leaf(); }
        __attribute__((noinline)) void work(void) { leaf(); leaf(); MORE }
        int main(void) { work(); return 0; }
    """

    @pytest.fixture
    def two(self):
        Path("prog.c").write_text(self.CODE)
        for name, wait, more in (("one", 1000, ""), ("two", 5000, "extra();")):
            Path(name).mkdir()
            run("gcc", "-O1", "-pg", f"-DWAIT={wait}", f"-DMORE={more}", "-o", f"{name}/prog", "prog.c").must()
            utrail("record", "--no-libcall", "--no-event", "-d", f"{name}.data", f"{name}/prog").must()

    def test_text(self, two):
        out = utrail("graph", "-d", "one.data", "--diff", "two.data").must().out
        rows = [re.sub(r"[\d.]+ +(?:[um]?s|m)(?= )", "TIME", line) for line in out.splitlines()[4:]]
        assert [row.split(" : ")[1] for row in rows] == [
            "(1) main",
            "  (1) work",
            "    (0 -> 1) extra",
            "      (0 -> 1) leaf",
            "    (2) leaf",
        ]
        assert [row[0] for row in rows] == [" ", " ", "+", "+", " "]
        # The order of the other rows is uncertain: under load the shorter sleep may take longer.
        assert all("+TIME" in row for row in rows if row[0] == "+")

    def test_the_other_way_round(self, two):
        out = utrail("graph", "-d", "two.data", "--diff", "one.data").must().out
        assert re.search(r"^- .* -[\d.]+ +[um]?s : +\(1 -> 0\) extra$", out, flags=re.M)

    def test_one_function(self, two):
        out = utrail("graph", "-d", "one.data", "--diff", "two.data", "extra").must().out
        assert [line.split(" : ")[1] for line in out.splitlines()[4:]] == ["(0 -> 1) extra", "  (0 -> 1) leaf"]
        assert utrail("graph", "-d", "one.data", "--diff", "two.data", "nobody").status == 1

    def test_same(self, two):
        out = utrail("graph", "-d", "one.data", "--diff", "one.data").must().out
        assert not re.search(r"^[+-]|->", out, flags=re.M)

    def test_picture(self, two):
        out = utrail("graph", "-d", "one.data", "--diff", "two.data", "--format=svg").must().out
        titles = [t.text for t in ElementTree.fromstring(out.encode()).iter("{http://www.w3.org/2000/svg}title")]
        assert any(re.match(r"extra: 0 calls, 0 ns; then 1 call, .* \(\+", title) for title in titles)
        assert utrail("graph", "--format=svg").status == 2

    def test_wrong_words(self, two):
        assert utrail("graph", "--diff", "x", "--task").status == 2
        assert utrail("graph", "--diff", "x", "-f", "total").status == 2
        assert utrail("graph", "--diff", "x", "--diff", "y").status == 2
        assert utrail("graph", "-d", "one.data", "--diff", "nowhere").status == 255


class TestReportOfOneFunction:
    def test_callers_and_callees(self):
        record("threads", "data", "--no-event")
        tables = {}
        for option, function in (("--callers", "leaf"), ("--callees", "work")):
            lines = utrail("report", "-d", "data", option, function).must().out.splitlines()
            assert lines[0].endswith(f"of {function}")
            tables[option] = [line.split()[-2:] for line in lines[2:]]
        calls = {row[1]: row[0] for row in report("data", "-f", "call")}
        assert tables["--callers"] == [[calls["leaf"], "work"]]
        assert tables["--callees"] == [[calls["leaf"], "leaf"]]

    def test_slowest_can_be_replayed(self):
        record("threads", "data", "--no-event")
        line = utrail("report", "-d", "data", "--slowest", "work").must().out.splitlines()[2]
        took, command = re.match(r" *([\d.]+ +[a-z]+) .* utrail (replay .*)$", line).groups()
        replayed = utrail(*command.split()).must().out
        assert re.search(rf" {took} \[.*\}} /\* work \*/", replayed)

    def test_histogram(self):
        record("threads", "data", "--no-event")
        lines = utrail("report", "-d", "data", "--histogram", "leaf").must().out.splitlines()[2:]
        calls = {row[1]: int(row[0]) for row in report("data", "-f", "call")}
        assert sum(int(re.match(r".{24} +(\d+)", line)[1]) for line in lines) == calls["leaf"]

    @pytest.mark.parametrize("option", ["--callers", "--callees", "--histogram", "--slowest"])
    def test_not_called(self, option):
        record("plain")
        result = utrail("report", "-d", "data", option, "nobody").must(1)
        assert result.err == "utrail: cannot report on 'nobody': it was not called\n"

    def test_one_at_a_time(self):
        assert "exclude each other" in utrail("report", "--callers", "a", "--slowest", "b").must(2).err


@pytest.fixture(scope="module")
def many_calls(tmp_path_factory):
    """A recording that is read by several threads: four tasks, 400000 records."""
    top = tmp_path_factory.mktemp("many")
    source = TOP / "tests/bench/src/tree.c"
    run("gcc", "-O2", "-pg", "-pthread", "-o", top / "tree", source).must()
    utrail("record", "-d", top / "data", top / "tree", 4, 200000).must()
    return top / "data"


@pytest.mark.parametrize(
    "command",
    [
        "report",
        "report -f all",
        "report --task",
        "report --callers leaf",
        "graph",
        "graph -f all",
        "graph --task",
        "dump --format=callgrind",
        "dump --format=folded",
    ],
)
def test_same_numbers_for_one_thread_and_many(many_calls, command):
    name, *options = command.split()
    if "leaf" in options:
        options[-1] = report(many_calls, "-f", "call", "-s", "call")[0][-1]
    texts = [utrail(name, "-d", many_calls, "--num-thread", n, *options).must().out for n in (1, 2, 3, 4)]
    assert texts[0] and texts == [texts[0]] * 4


class TestOneLargeTask:
    """A large task is read in pieces by several threads, and the output is the same."""

    CODE = """
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) int depth(int n) { return n ? depth(n - 1) + 1 : atoi("0"); }
        __attribute__((noinline)) int odd(int n) { return n & 1 ? depth(3) : (int)strlen("even") + depth(n & 7); }
        __attribute__((noinline)) int work(int rounds)
        {
            int sum = 0;
            for (int i = 0; i < rounds; i++)
                sum += odd(i);
            return sum;
        }
        int main(int argc, char *argv[])
        {
            work(6000);
            if (argc > 1)
                return 0;
            usleep(1000);
            dlopen("libm.so.6", RTLD_NOW);
            work(6000);
            if (fork() == 0) {
                work(6000);
                _exit(0);
            }
            wait(NULL);
            execl(argv[0], argv[0], "again", NULL);
            return 1;
        }
    """
    COMMANDS = [
        "report",
        "report -f all",
        "report --task",
        "report -f call,p50,p99",
        "report --no-libcall -D 3",
        "report --event-full",
        "report -t 1us",
        "report -F odd",
        "report --callers depth",
        "graph",
        "graph -f all",
        "graph --no-libcall -D 3",
        "graph -t 1us",
        "graph -N odd",
        "graph work",
        "dump --format=folded",
    ]

    @pytest.fixture(scope="class")
    def top(self, tmp_path_factory):
        top = tmp_path_factory.mktemp("large")
        (top / "prog.c").write_text(self.CODE)
        run("gcc", "-O1", "-fno-optimize-sibling-calls", "-pg", "-o", top / "prog", top / "prog.c").must()
        utrail("record", "-d", top / "whole", top / "prog").must()
        shutil.copytree(top / "whole", top / "lost")
        for path in (top / "lost").glob("[0-9]*.dat"):
            self.lose(path)
        return top

    @staticmethod
    def lose(path):
        """Remove a tenth of the records, in the middle."""
        data = path.read_bytes()
        first = len(data) // 2 // 16 * 16
        last = first + len(data) // 10 // 16 * 16
        nr = (last - first) // 16
        path.write_bytes(data[:first] + struct.pack("<QQ", 0, 2 | 5 << 3 | nr << 16) + data[last:])

    @pytest.mark.parametrize("name", ["whole", "lost"])
    @pytest.mark.parametrize("command", COMMANDS)
    def test_same_numbers(self, top, name, command):
        word, *options = command.split()
        assert any(path.stat().st_size > 1 << 20 for path in (top / name).glob("[0-9]*.dat"))
        texts = [utrail(word, "-d", top / name, "--num-thread", n, *options).must().out for n in (1, 2, 3, 8)]
        assert texts[0] and texts == [texts[0]] * 4


def test_percentiles():
    """The percentiles are compared with exact ones, from the durations of all calls."""
    record("threads", "data", "--no-event")
    times = collections.defaultdict(list)
    for line in utrail("dump", "--format=jsonl", "-d", "data").must().out.splitlines():
        call = json.loads(line)
        if "name" in call:
            times[call["name"]].append(call["dur"])
    rows = report("data", "-f", "p50,p90,p99,p99.9", "-s", "p99.9")
    assert {row[-1] for row in rows} == set(times)
    assert [int(row[3]) for row in rows] == sorted((int(row[3]) for row in rows), reverse=True)
    for *cells, name in rows:
        exact = sorted(times[name])
        for cell, permille in zip(cells, (500, 900, 990, 999)):
            right = exact[math.ceil(len(exact) * permille / 1000) - 1]
            assert abs(int(cell) - right) <= right / 100


class TestPercentilesOfTenMillionCalls:
    """The test writes the recording itself: it knows the durations, so it need not sort them."""

    PERMILLES = (500, 900, 990, 999)

    @pytest.fixture(scope="class")
    def top(self, tmp_path_factory):
        top = tmp_path_factory.mktemp("durations")
        (top / "prog.c").write_text(
            "__attribute__((noinline)) void f(void) { __asm__(\"\"); }\nint main(void) { f(); return 0; }\n"
        )
        run("gcc", "-O1", "-pg", "-o", top / "prog", top / "prog.c").must()
        run("gcc", "-O2", "-o", top / "durations", TOP / "tests/lib/durations.c").must()
        utrail("record", "--no-libcall", "--no-event", "-d", top / "data", top / "prog").must()
        yield top
        shutil.rmtree(top)

    @staticmethod
    def measure(directory, *options):
        """The rows of the report, and its peak of memory in KiB."""
        args = [UTRAIL, "report", "-d", directory, "--format=csv", "-f", "call,p50,p90,p99,p99.9", *options]
        proc = subprocess.Popen(args, stdout=subprocess.PIPE, env=environment(), text=True)
        rows = list(csv.reader(proc.stdout))[1:]
        _, status, usage = os.wait4(proc.pid, 0)
        proc.returncode = status
        proc.stdout.close()
        assert status == 0
        return {row[-1]: [int(cell) for cell in row[:-1]] for row in rows}, usage.ru_maxrss

    def test_exact_within_a_percent_and_no_more_memory(self, top):
        path = next((top / "data").glob("[0-9]*.dat"))
        first, second = struct.iter_unpack("<QQ", path.read_bytes()[:32])
        memory = {}
        for nr in (1_000_000, 10_000_000):
            with path.open("wb") as out:
                words = [top / "durations", nr, first[1] >> 16, second[1] >> 16, first[0]]
                subprocess.run([str(word) for word in words], stdout=out, check=True)
            for threads in (1, 2):
                rows, memory[nr, threads] = self.measure(top / "data", "--num-thread", str(threads))
                calls, *percentiles = rows["f"]
                assert calls == nr
                for got, permille in zip(percentiles, self.PERMILLES):
                    i = -(-nr * permille // 1000) - 1
                    exact = 10 + (i * i >> 20)
                    assert abs(got - exact) < exact / 100, permille
        if b"__asan_init" not in UTRAIL.read_bytes():  # AddressSanitizer keeps freed memory
            for threads in (1, 2):
                assert memory[10_000_000, threads] < memory[1_000_000, threads] + 1024


class TestJson:
    def test_same_as_csv(self):
        record("plain")
        rows = json.loads(utrail("report", "-d", "data", "--format=json", "-f", "all").must().out)
        by_name = {row["name"]: row for row in rows}
        for total, call, name in report("data", "-f", "total,call"):
            assert (by_name[name]["total"], by_name[name]["call"]) == (int(total), int(call))

    def test_tasks(self):
        record("threads")
        rows = json.loads(utrail("report", "-d", "data", "--format=json", "--task").must().out)
        assert {str(row["tid"]) for row in rows} == {row[2].strip() for row in report("data", "--task")}

    def test_not_for_replay(self):
        assert utrail("replay", "--format=json").must(2).err.startswith("utrail: option '--format'")


POLICIES = [
    "",
    "--diff-policy full",
    "--diff-policy percent",
    "--diff-policy full,percent",
    "--diff-policy no-abs",
    "--sort-column 0",
    "--sort-column 0 -s self",  # uftrace treats column 1 as 0
    "-s call -f call,total",
    "-s func",
    "-f size,call",
    "-f total-avg,total-max,self-min",
]


class TestDiff:
    @pytest.fixture
    def two(self):
        return record("threads", "one", "--no-event"), record("threads", "two", "--no-event")

    @pytest.mark.needs_peer
    @pytest.mark.parametrize("policy", POLICIES)
    def test_same_text(self, two, policy):
        """The text is the same except for the line that explains signs, and the order of equal
        changes."""
        ours = utrail("report", "-d", "one", "--diff", "two", *policy.split()).must().out
        theirs = peer("report", "-d", "one", "--diff", "two", *policy.split()).must().out
        says = "time: + is longer in " + ("diff, - is longer in base" if "percent" in policy else "base, - is longer in diff")
        ours, nr = re.subn(f"^#  {re.escape(says)}\n", "", ours, flags=re.M)
        assert nr == 1 and sorted(ours.splitlines()) == sorted(theirs.splitlines())

    def test_sort_column(self):
        """By base, by pair, by difference: three orders of the same three functions."""
        counts = {"base": (90, 1, 50), "pair": (1, 80, 60)}
        for name, (f, g, h) in counts.items():
            Path("prog.c").write_text(
                "".join(f'__attribute__((noinline)) void {n}(void) {{ __asm__(""); }}\n' for n in "fgh")
                + f"int main(void) {{ for (int i = 0; i < {f}; i++) f(); for (int i = 0; i < {g}; i++) g();"
                + f" for (int i = 0; i < {h}; i++) h(); return 0; }}\n"
            )
            run("gcc", "-O1", "-pg", "-o", "prog", "prog.c").must()
            utrail("record", "--no-libcall", "--no-event", "-d", name, "./prog").must()
        words = ["report", "-d", "base", "--diff", "pair", "-f", "call", "-s", "call"]
        for options, order in (("0", "fhg"), ("1", "ghf"), ("2", "fgh"), (None, "fgh")):
            column = ["--sort-column", options] if options else []
            lines = utrail(*words, *column).must().out.splitlines()
            assert [line[-1] for line in lines if re.search(r"   [fgh]$", line)] == list(order), options
            rows = json.loads(utrail(*words, *column, "--format=json").must().out)
            assert [row["name"] for row in rows if row["name"] in "fgh"] == list(order), options

    def test_signs(self, two):
        data = json.loads(utrail("report", "-d", "one", "--diff", "two", "--format=json").must().out)
        plain = utrail("report", "-d", "one", "--diff", "two").must().out
        coloured = utrail("report", "-d", "one", "--diff", "two", "--color=yes").must().out
        coloured = re.sub(r"\x1b\[\d*m", "", coloured)
        assert "time: + is longer in base" in plain and "time: + is longer in diff" in coloured
        for row in data:
            change = row["total"]["diff"]
            assert change == row["total"]["pair"] - row["total"]["base"]
            for text, longer, shorter in ((plain, "-", "+"), (coloured, "+", "-")):
                line = next(l for l in text.splitlines() if l.endswith(f"   {row['name']}"))
                assert line.split()[0].startswith(shorter if change < 0 else longer if change > 0 else "0")

    def test_several_runs_count_as_their_average(self, two):
        record("threads", "three", "--no-event")
        options = ["--diff", "two", "--diff", "three", "--format=json"]
        rows = json.loads(utrail("report", "-d", "one", *options).must().out)
        means = {row["name"]: row["total"]["pair"] for row in rows}
        totals = [{row[1]: int(row[0]) for row in report(d, "-f", "total")} for d in ("two", "three")]
        for name, mean in means.items():
            assert abs(mean - sum(t[name] for t in totals) / 2) <= 1

    def test_same_recording(self, two):
        lines = utrail("report", "-d", "one", "--diff", "one").must().out.splitlines()[8:]
        assert lines and all(re.match(r" {10}0 us {10}0 us {12}\+0 ", line) for line in lines)

    def test_wrong_words(self):
        assert "'bogus'" in utrail("report", "--diff", "x", "--diff-policy", "abs,bogus").must(2).err
        assert "'bogus'" in utrail("report", "--diff", "x", "-s", "bogus").must(2).err
        assert utrail("report", "--diff", "x", "--sort-column", "3").status == 2

    def test_missing_recording(self, two):
        assert "nowhere" in utrail("report", "-d", "one", "--diff", "nowhere").must(255).err


@pytest.fixture(scope="module")
def long_work(tmp_path_factory):
    """A recording that takes some seconds to export to a database."""
    top = tmp_path_factory.mktemp("long")
    run("gcc", "-O2", "-pg", "-pthread", "-o", top / "tree", TOP / "tests/bench/src/tree.c").must()
    # Sanitizers take four times as long.
    calls = 500000 if has_sanitizer() else 2000000
    utrail("record", "--no-libcall", "--no-event", "-d", top / "data", top / "tree", 1, calls).must()
    return top / "data"


class TestLongWork:
    def start(self, data, **kw):
        if "sqlite" not in utrail("--version").out.split():
            pytest.skip("this utrail was built without libsqlite3")
        out = open("out.db", "wb")
        command = [UTRAIL, "dump", "--format=sqlite", "-d", data]
        return subprocess.Popen(command, stdout=out, env=environment(), **kw)

    def bytes_read(self, proc):
        return int(re.search(r"rchar: (\d+)", Path(f"/proc/{proc.pid}/io").read_text())[1])

    def test_ctrl_c_stops_with_what_there_is(self, long_work):
        # If this test has no CPU for some seconds, the command may end before the signal.
        for _ in range(20):
            proc = self.start(long_work, stderr=subprocess.PIPE)
            while proc.poll() is None and self.bytes_read(proc) < 8 << 20:  # of 64 MB, or of 16 with sanitizers
                time.sleep(0.01)
            proc.send_signal(signal.SIGINT)
            err = proc.communicate(timeout=240)[1].decode()
            if proc.returncode:
                break
        assert proc.returncode == 130
        assert err == "WARN: interrupted: this is what was read so far\n"
        rows = sqlite3.connect("out.db").execute("select count(*) from call").fetchone()[0]
        assert 0 < rows < 2000000

    def test_progress(self, long_work):
        ours, theirs = pty.openpty()
        proc = self.start(long_work, stderr=theirs)
        os.close(theirs)
        text = terminal_text(ours)
        assert proc.wait(timeout=240) == 0
        parts = [int(p) for p in re.findall(rb"\r *(\d+) % of \d+ MB read", text)]
        assert len(parts) > 1 and parts == sorted(parts) and parts[-1] <= 100
        # All records may have been read before the first line; the progress is that of indices
        # then.
        assert parts[0] == 100 or re.search(rb"\d+ % of \d+ MB read, about \d+ (s|min|h) left\x1b\[K", text)
        assert text.endswith(b"\r\x1b[K")

    def test_no_progress_where_nobody_looks(self, long_work):
        proc = self.start(long_work, stderr=subprocess.PIPE)
        assert proc.communicate(timeout=240)[1] == b""
