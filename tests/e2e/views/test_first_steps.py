"""A new user's first half hour, in order: commands and answers. Each answer was read and judged. A
failure names the fault, the place, the reason and the way out; a success shows what the command is
for, and nothing odd beside it."""

import re
import shlex
import shutil

from tools import TOP, run, utrail

CALLS = r"main\(\) \{\n.*total\(\) \{\n(.*price\(\);\n){3}.*\} /\* total \*/\n"

# The command (a command of utrail, except for gcc), the status, a part of the output, and all of
# stderr.
SESSION = [
    ("", 0, r"Usage: utrail \[COMMAND\](.*\n)*Commands:\n(  \w+ +.*\n)+", ""),
    ("--version", 0, r"utrail v[\d.]+ \( \w+ .*\)\n", ""),
    ("help record", 0, r"Usage: utrail record \[OPTION...\] PROGRAM \[ARGUMENT...\]\n", ""),
    # A source is given, as to an interpreter.
    ("shop.c", 1, "", "utrail: cannot trace 'shop.c': it is not executable: a source is to be compiled first, a program needs 'chmod \\+x'\n"),
    ("replay", 255, "", "utrail: cannot open 'uftrace.data': No such file or directory; 'utrail record PROGRAM' makes a recording\n"),
    # The program is compiled without -pg.
    ("gcc shop.c -o shop", 0, "", ""),
    ("record shop", 1, "", "utrail: cannot trace 'shop': it has no calls of 'mcount'; compile it with -pg, .*, or use --force .*\n"),
    ("record --force --no-event shop", 0, "12 to pay\n", ""),
    ("replay -f none", 0, r"printf\(\);\nusleep\(\);\n", ""),
    # The program is compiled with -pg, and the command is right.
    ("gcc -pg shop.c -o shop", 0, "", ""),
    ("shop", 0, rf"12 to pay\n# DURATION +TID +FUNCTION\n(.*\n)*.*{CALLS}", ""),
    ("record shop", 0, "12 to pay\n", ""),
    ("replay", 0, rf"# DURATION +TID +FUNCTION\n(.*\n)*.*{CALLS}", ""),
    ("report", 0, r"  Total time   Self time       Calls  Function\n(.*\n)*.* 3  price\n", ""),
    ("graph", 0, r"# Function Call Graph for 'shop' (.*\n)*.*\+-\(1\) total\n(.*\n)*.*\(3\) price\n", ""),
    ("graph total", 0, r"# Function Call Graph for 'total' (.*\n)*.*\[0\] main .*\n.*\[1\] total ", ""),
    ("info", 0, r"(.*\n)*# cmdline +: utrail record shop\n", ""),
    # Names are misspelt.
    ("graph totl", 1, "", "utrail: cannot find graph for 'totl': it was not called; the nearest: total\n"),
    ("recrod shop", 1, "", "utrail: cannot trace 'recrod': there is no such program here or in .PATH; did you mean the command 'record'\\?\n"),
    ("report -s totl", 2, "", "utrail: unknown sort key 'totl': expected some of total, total_avg, .*; the nearest: total\n"),
    ("replay -f durtion", 2, "", "utrail: unknown field 'durtion': expected some of duration, tid, .*; the nearest: duration\n"),
    ("dump --format=perfeto", 2, "", "utrail: option '--format': unknown word 'perfeto': expected one of .*, perfetto, .*; the nearest: perfetto\n"),
    ("record --max-stak 3 shop", 2, "", "utrail: unknown option '--max-stak'; the nearest: --max-stack\n"),
    ("record nosuch", 1, "", "utrail: cannot trace 'nosuch': there is no such program here or in .PATH\n"),
    ("record -F shop", 2, "", "utrail: record needs a program to run: 'shop' was taken for the FUNC.* of option '--filter'\n"),
    # Filters let nothing in.
    ("replay -F totl", 0, "", "WARN: option '--filter': no function matches 'totl', so that nothing is shown; the nearest: total\n"
                              "WARN: nothing is left to show: no call is let in by --filter=totl\n"),
    ("replay -t 10s", 0, "", r"WARN: nothing is left to show: no call took 10s or longer \(-t\); the longest took [\d.]+m?s\n"),
    ("replay --kernel-only --no-event", 0, "", r"WARN: option '--kernel-only': no call of the kernel was recorded, as record -k does\n"
                                               r"WARN: nothing is left to show: no call of the kernel is .*\n"),
    ("report --kernel-only --no-event", 0, r"((?!main|total).)*", r"WARN: option '--kernel-only': .*\nWARN: nothing is left to show: .*\n"),
    ("replay -F total", 0, r"(.*\n)*.*total\(\) \{\n", ""),
    # A script, another folder, and options that only uftrace has.
    ("record shop.sh", 1, "", "utrail: cannot trace 'shop.sh': it is a script; use --force to trace the programs that it starts\n"),
    ("record --force -F main shop.sh", 0, "12 to pay\n", ""),
    ("replay -f none --no-event", 0, rf"{CALLS}", ""),
    ("info -d nosuch", 255, "", r"utrail: cannot open 'nosuch': No such file or directory; recordings near by \(see -d\): 'uftrace.data'.*\n"),
    ("record -P . shop", 0, "12 to pay\n", ""),
    ("record -U totl shop", 0, "12 to pay\n", "WARN: option '--unpatch': no function of the program matches 'totl'; the nearest: total\n"),
]


def without_waits(text):
    """The text without the scheduler's events, which may be inside of any call on a busy machine. A
    call with such an event has two lines."""
    text = re.sub(r"^.*/\* linux:sched.* \*/\n", "", text, flags=re.M)
    return re.sub(r"(\w+\(\)) \{\n.*\} /\* \w+ \*/$", r"\1;", text, flags=re.M)


def test_first_half_hour(workdir):
    shutil.copy(TOP / "doc/samples/shop.c", workdir / "shop.c")
    (workdir / "shop.sh").write_text("#!/bin/sh\n./shop\n")
    (workdir / "shop.sh").chmod(0o755)
    for typed, status, out, err in SESSION:
        words = shlex.split(typed)
        result = run(*words) if words[:1] == ["gcc"] else utrail(*words)
        about = f"$ utrail {typed}\n{result.out}\n--- stderr\n{result.err}--- status {result.status}"
        assert result.status == status, about
        assert re.search(out, without_waits(result.out)) if out or not status else result.out == "", about
        assert re.fullmatch(err, result.err), about
