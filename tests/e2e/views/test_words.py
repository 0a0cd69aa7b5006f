"""Commands of newcomers and of uftrace's users, and their answers: a table of commands and
messages."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from programs import Variant, build, program
from tools import UTRAIL, environment, peer, terminal_text, utrail

PG = Variant("gcc", "pg", "O2")
BARE = Variant("gcc", "none", "O2")

# The command, the status, and the one line on stderr; "prog" is a traced program in the working
# directory.
REFUSED = [
    ("recv", 2, "utrail has no command 'recv' yet: .*copy the data directory.*"),
    ("script", 255, "script needs a script to run: .*"),
    ("record -S a.py prog", 1, "cannot open script 'a.py': No such file or directory"),
    ("live -S a.py prog", 1, "cannot open script 'a.py': No such file or directory"),
    ("script --record -S a.py prog", 1, "cannot open script 'a.py': No such file or directory"),
    ("script --record prog", 255, "script needs a script to run: .*"),
    ("record -K 51 prog", 2, "option '--kernel-depth': .*"),
    ("record -P a@ prog", 2, "option '--patch': 'a@': column 3: expected the name of a file"),
    ("record -P 'a;@b' prog", 2, "option '--patch': 'a;@b': column 3: expected the name of a function"),
    ("record -U 'a(' prog", 2, r"option '--patch': '!a\(': column 2: 'a\(' is not a regular expression: .*"),
    ("control nosuch off", 1, "cannot control 'nosuch': No such file or directory"),
    ("control folder off", 1, "cannot control 'folder': no utrail is recording into it"),
    ("control folder of", 2, "unknown word 'of'; the nearest: on, off"),
    (
        "events",
        2,
        "events needs to be told what to do: list, show, show LOG..., export, import FILE..., check FILE... or check-sources FILE...",
    ),
    ("events chekc x", 2, "events does not know 'chekc': it knows list, show, export, import, check and check-sources"),
    ("events check", 2, "events check needs the names of logs"),
    ("events check-sources", 2, "events check-sources needs the names of compile_commands.json files"),
    ("events check-sources --into y x", 2, "option '--into' means nothing for events check-sources"),
    ("events export --as=dot", 2, "events export needs a format: --as=fstrace, json, csv, posix or etrace"),
    ("build --as=csv", 2, "option '--as': build writes compdb, json, dot, deps or etrace; the others are for events export"),
    ("build --as=json --needs x", 2, "option '--needs' needs '--as=deps' or no '--as'"),
    ("build --declared=x", 2, "option '--declared' needs '--as=deps'"),
    ("build --needs x --used-by y", 2, "options '--needs' and '--used-by' exclude each other"),
    ("build --as=json --append", 2, "option '--append' is for compile_commands.json only"),
    ("build --as=json --assemblers", 2, "option '--assemblers' is for compile_commands.json only"),
    ("build -o ''", 2, "option '--output' needs the name of a file"),
    ("build -d nosuch", 255, "cannot open 'nosuch': No such file or directory"),
    ("build -o nosuch/x true", 1, "cannot write 'nosuch/x': No such file or directory"),
    ("build -o folder true", 1, "cannot write 'folder': Is a directory"),
    ("events list x", 2, "events list takes no more words: 'x'"),
    ("events export", 2, "events export needs a format: --as=fstrace, json, csv, posix or etrace"),
    ("events list --path", 2, "option '--path' means nothing for events list"),
    ("events check -F main x", 2, "option '--filter' means nothing for events check"),
    ("events show -d nosuch", 255, "cannot open 'nosuch': No such file or directory"),
    ("events check nosuch", 1, "cannot open 'nosuch': No such file or directory"),
    ("record --library-path=nosuch prog", 1, r"cannot find 'libmcount.so' in 'nosuch' \(--libmcount-path\)"),
    ("record --host=example.org prog", 2, "utrail has no option '--host' yet: .*-d"),
    ("-d x --run-cmd y recv", 2, "utrail has no option '--run-cmd' yet: .*"),
    ("record", 2, r"record needs a program to run: utrail record \[OPTION...\] PROGRAM \[ARGUMENT...\]"),
    ("live", 2, "live needs a program to run: .*"),
    ("-F main", 2, "utrail needs a program to run: .*"),
    ("record -F ./prog", 2, "record needs a program to run: './prog' was taken for the FUNC.* of option '--filter'"),
    ("-D 3 -t prog", 2, "option '--time-filter': .*"),
    ("record -N prog", 2, "record needs a program to run: 'prog' was taken for the FUNC of option '--notrace'"),
    ("record nosuch", 1, "cannot trace 'nosuch': there is no such program here or in .PATH"),
    ("nosuch-program", 1, "cannot trace 'nosuch-program': there is no such program here or in .PATH"),
    ("reply", 1, "cannot trace 'reply': there is no such program here or in .PATH; did you mean the command 'replay'\\?"),
    ("record plain-file", 1, "cannot trace 'plain-file': it is not executable: a source is to be compiled first, .*"),
    ("record folder", 1, "cannot trace 'folder': there is no such program here or in .PATH"),
    ("live ''", 1, "cannot trace '': there is no such program here or in .PATH"),
    ("replay", 255, "cannot open 'uftrace.data': No such file or directory; 'utrail record PROGRAM' makes a recording"),
    ("report -d nosuch", 255, "cannot open 'nosuch': No such file or directory"),
]


@pytest.mark.parametrize("words, status, message", REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(workdir, words, status, message):
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    (workdir / "plain-file").write_text("not a program\n")
    (workdir / "folder").mkdir()
    result = utrail(*[word.strip("'") for word in words.split(" ")]).must(status)
    assert result.out == ""
    assert re.fullmatch(f"utrail: {message}\n", result.err), result.err
    assert not (workdir / "uftrace.data").exists()


@pytest.mark.parametrize("words", (("record",), ("live",), ()), ids=("record", "live", "nothing"))
def test_program_in_the_working_directory(workdir, words):
    """`record abc` runs ./abc, even if $PATH has another one."""
    other = workdir / "bin"
    other.mkdir()
    (other / "abc").write_text("#!/bin/sh\nexit 9\n")
    (other / "abc").chmod(0o755)
    (workdir / "abc").symlink_to(build(program("plain"), PG))
    utrail(*words, "abc", env={"PATH": f"{other}:/usr/bin:/bin"}).must()


def test_program_in_path_when_the_file_here_is_none(workdir):
    """A folder or a text of that name does not hide a program in $PATH."""
    (workdir / "true").mkdir()
    utrail("record", "--force", "true").must()
    (workdir / "true").rmdir()
    (workdir / "true").write_text("a text\n")
    utrail("record", "--force", "true").must()


def test_questions(workdir):
    """The words help and version are commands."""
    for word, option in (("help", "--help"), ("version", "--version")):
        assert utrail(word).must().out == utrail(option).must().out
    assert utrail("help", "record").must().out == utrail("record", "--help").must().out
    # A program called "help" can still be recorded.
    (workdir / "help").symlink_to(build(program("plain"), PG))
    utrail("record", "help").must()
    utrail("--", "help").must()


def test_recordings_near_by(workdir):
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    for name in ("one.data", "two.data"):
        utrail("record", "-d", name, "prog").must()
    (workdir / "no-recording").mkdir()
    (workdir / "below").mkdir()
    message = utrail("replay").must(255).err
    assert re.search(r"; recordings near by \(see -d\): '(one|two).data', '(one|two).data'\n", message), message
    message = utrail("replay", cwd=workdir / "below").must(255).err
    assert re.search(r"near by \(see -d\): '../(one|two).data', '../(one|two).data'\n", message), message
    message = utrail("info", "-d", "../nosuch", cwd=workdir / "below").must(255).err
    assert "'../one.data'" in message and "'../two.data'" in message


# A value of each kind that uftrace's help names; "1" for kinds that are not listed here.
VALUES = {
    "FUNC": "main", "FUNC@arg": "main@arg1", "FUNC@retval": "main@retval", "FUNC@act": "main@depth=1", "SIG@act": "USR1@finish",
    "SET": "auto", "DOMAIN": "utrail", "TYPE": {"demangle": "full", "match": "glob"}, "POLICY": "abs", "EVENT": "linux:schedule",
    "FORMAT": "html", "FIELD": "none", "KEY": "total", "POINT": "cpu", "TIME~TIME": "1ms~", "TIME": "1ms", "CLOCK": "mono", "FILE": {"opt-file": "words", "logfile": "log"},
    "DATA": "nosuch", "DIR": "nosuch", "PATH": "nosuch", "PID": "4194305", "HOST": "example.org", "CMDLINE": "true", "SCRIPT": "a.py",
}


def peers_options():
    """Letter (or ""), name, and the name of the value (or ""), of each option that `uftrace --help`
    lists for any command."""
    rows = re.findall(r"^ +(?:-(\w),? +)?--([\w-]+)(?:=([\w@~]+))?", peer("record", "--help").must().out, re.M)
    assert len(rows) > 80
    return rows


def typed(letter, name, kind):
    kind = "CLOCK" if name == "clock" else kind  # uftrace's help does not say it
    value = VALUES.get(kind, "1")
    value = value[name] if isinstance(value, dict) else value
    yield [f"--{name}", *([value] if kind else [])]
    if letter:
        yield [f"-{letter}", *([value] if kind else [])]


@pytest.mark.needs_peer
@pytest.mark.parametrize("command", ["record", "replay", "report", "graph", "dump", "info", "live"])
def test_options_of_peer(workdir, command):
    """Each option of uftrace is accepted, or refused with a sentence about what to use instead;
    none is unknown."""
    assert peer(command, "--help").must().out == peer("record", "--help").must().out
    (workdir / "words").write_text("")
    # --chrome means --format=chrome, which only dump writes.
    instead = r"(utrail has no option '--{}' yet: .{{20,}}|option '--format': \w+ cannot show {}: expected one of .*)"
    lacking = set()
    for row in peers_options():
        for words in typed(*row):
            program = ["nosuch-program"] if command in ("record", "live") and row[1] != "pid" else []
            result = utrail(command, "-d", "nosuch", *words, *program)
            if result.status != 2:
                continue
            assert re.search(f"utrail: {instead.format(row[1], row[1])}\n", result.err), (words, result.err)
            if "yet" in result.err:
                lacking.add(row[1])
    # utrail has no run-cmd, since its scripts only read recordings that exist.
    assert lacking == {"host", "run-cmd"}


# Options that are known, but have no meaning for the command.
UNUSED = [("replay", "--sort=total"), ("report", "--symbols"), ("graph", "--avg-self"), ("info", "--flat"),
          ("dump", "--task"), ("snapshot", "--flat")]


@pytest.mark.parametrize("command, option", UNUSED, ids=[row[0] for row in UNUSED])
def test_unused_options(workdir, command, option):
    """These options are accepted, as in uftrace, with a warning that they have no effect. Those in
    an option file give no warning: the file serves all commands."""
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    utrail("record", "prog").must()
    name = option.split("=")[0]
    warning = f"WARN: option '{name}' means nothing for {command}: it is ignored\n"
    plain = utrail(command)
    result = utrail(command, option)
    assert (result.status, result.out) == (plain.status, plain.out)
    assert result.err == warning + plain.err
    (workdir / "words").write_text(option + "\n")
    assert utrail(command, "--opt-file=words").err == plain.err


def test_unused_options_warn_once(workdir):
    """The pattern of an ignored option is not checked, so there is one warning only."""
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    utrail("record", "--no-event", "prog").must()
    for option in ["--argument", "--retval"]:
        warning = f"WARN: option '{option}' means nothing for replay: it is ignored\n"
        assert utrail("replay", option, "nosuch" if option == "--retval" else "nosuch@arg1").must().err == warning


def test_unused_options_of_raw_dumps(workdir):
    """Raw dumps show the whole files, also short calls. The recording's own -t gives no warning."""
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    utrail("record", "-t", "1ns", "prog").must()
    plain = utrail("dump").must()
    assert plain.err == ""
    result = utrail("dump", "-t", "10s").must()
    assert result.out == plain.out
    assert result.err == "WARN: option '--time-filter' means nothing for dump without --format: all records are shown\n"


# Messages of each domain: command, domain, a line of its output. "prog" is a link to "plain", which
# has a function "b". "bare" is the same program, not compiled for tracing.
DEBUG = [
    ("record -F b prog", "utrail", r"utrail: the program is '.*/prog'"),
    ("record -F b prog", "utrail", r"utrail: the probe is '.*/libmcount.so'"),
    ("record -F b prog", "utrail", r"utrail: 'uftrace.data': tasks with records: 1; the program took .*s, and .* records .*s"),
    ("record --opt-file=words prog", "utrail", "utrail: options are also from 'words'"),
    ("record -F b prog", "symbol", r"symbol: '.*/plain': [1-9]\d* symbols from the file itself"),
    ("record --with-syms=saved prog", "symbol", r"symbol: '.*/plain': [1-9]\d* symbols from 'saved' \(--with-syms\)"),
    ("record -F b prog", "session", r"session: [0-9a-f]{16}: '.*' in process \d+: modules: [2-9]\d*"),
    ("record -F b -N ^nosuch$ prog", "filter", r"filter: functions that match --filter 'b': 1 \(plain 1\)"),
    ("record -F b -N ^nosuch$ prog", "filter", r"filter: functions that match --notrace '\^nosuch\$': 0 \(in no module\)"),
    ("record -F b prog", "filter:2", r"filter: --filter 'b' matches 'b' of 'plain'"),
    ("record --no-event prog", "event", "event: of each task: begin and end: no, names: no, switches: no"),
    ("record -F b prog", "event", "event: chosen events of the program: 0"),
    ("record -F b prog", "kernel", "kernel: tracepoints are recorded: no; .*"),
    ("record -F b prog", "mcount", r"mcount: process \d+ reported itself: a new program; modules: \d+, planned functions: 1, .*"),
    ("record -F b prog", "mcount:2", r"mcount: process \d+: rules: 1, .*; session [0-9a-f]{16}"),
    ("record -F b prog", "mcount", "mcount: processes: 1; records lost: 0, of them inside of the probe: 0; threads untraced: 0"),
    ("record -a prog", "dwarf", r"dwarf: '.*/plain': functions with types: [1-9]\d*"),
    ("record -P b bare", "dynamic", r"dynamic: '.*/plain': functions chosen: 1, patched: 1"),
    ("replay -d saved", "utrail", r"utrail: 'saved': tasks: 1, sessions: 1, modules: [2-9]\d*, bytes of records: [1-9]\d*"),
    ("replay -d saved", "utrail:3", r"utrail: task \d+ of process \d+: [1-9]\d* bytes of records"),
    ("report -d saved", "utrail", r"utrail: 'report' took .*s"),
    ("replay -d saved", "symbol", r"symbol: '.*/plain': [1-9]\d* symbols from 'saved/plain\.sym'"),
    ("graph -d saved", "symbol:3", r"symbol: 'b' was called"),
    ("info -d saved", "session", r"session: [0-9a-f]{16}: '.*' in process \d+: modules: [2-9]\d*, and loaded later: 0"),
    ("dump -d saved -F b", "filter", r"filter: functions that match --filter 'b': 1 \(plain 1\)"),
    ("replay -d saved -E linux:task-new", "event", r"event: events that the recording knows: [1-9]\d*; chosen by -E: 1"),
    ("replay -d saved", "kernel", "kernel: events of the kernel that the recording knows: 0"),
    ("replay -d saved -a", "dwarf:2", r"dwarf: '.*/plain': .*"),
    ("live prog", "utrail", r"utrail: 'live' took .*s"),
    ("snapshot", "utrail", r"utrail: 'snapshot' took .*s and failed"),
    ("replay -d saved", "dynamic,mcount,symbol,wrap",
     "WARN: option '--debug-domain': replay has no messages about 'mcount', 'dynamic', 'wrap'"),
    ("record prog", "plthook,script,demangle,fstack,dynamic,mcount",
     "WARN: option '--debug-domain': record has no messages about 'demangle', 'fstack', 'plthook', 'script'"),
]


@pytest.mark.parametrize("words, domain, line", DEBUG, ids=[f"{row[0]} {row[1]} {i}" for i, row in enumerate(DEBUG)])
def test_debug_domains(workdir, words, domain, line):
    """With --debug-domain, stderr has messages of the given domains, and none of others. Without
    the option it has no such messages."""
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    (workdir / "bare").symlink_to(build(program("plain"), BARE))
    (workdir / "words").write_text("--no-event\n")
    utrail("record", "-d", "saved", "--no-event", "prog").must()
    command = words.split()
    told = utrail(command[0], "--debug-domain", domain, *command[1:])
    lines = told.err.splitlines()
    assert any(re.fullmatch(line, told_line) for told_line in lines), told.err
    names = "|".join(word.split(":")[0] for word in domain.split(","))
    quiet = utrail(*command)
    assert quiet.status == told.status
    assert set(quiet.err.splitlines()) <= set(lines)
    assert all(re.match(f"({names}|WARN|utrail): ", other) for other in lines), told.err
    if domain == "utrail":
        # -v is level 1 of all domains.
        verbose = utrail(command[0], "-v", *command[1:]).err
        assert any(re.fullmatch(line, told_line) for told_line in verbose.splitlines()), verbose


# Options that leave no call to show, and replay's text about that.
EMPTY = [
    ("replay -t 10s", r"no call took 10s or longer \(-t\); the longest took [0-9.]+[mun]?s"),
    ("report -t 10s", r"no call took 10s or longer \(-t\); the longest took [0-9.]+[mun]?s"),
    ("graph -t 10s", r"no call took 10s or longer \(-t\); the longest took [0-9.]+[mun]?s"),
    ("dump --format=flame-graph -t 10s", r"no call took 10s or longer \(-t\); the longest took [0-9.]+[mun]?s"),
    ("replay -F main -N main", "no call is let in by --filter=main --notrace=main"),
    ("replay -N .", "no call is let in by --notrace=."),
    ("report -Z 1g", r"no function that was called has 1073741824 bytes or more \(-Z\)"),
    ("replay --tid 4194305", r"nothing is there of --tid=4194305; the tasks are \d+"),
    ("replay -r 1000s~", r"nothing happened in that time \(-r\); the recording begins at [0-9.]+ and lasts [0-9.]+[mun]?s"),
    ("replay --trace=off", r"nothing has switched it on \(--trace=off; see trace_on\)"),
    ("dump -r 1000s~", r"nothing happened in that time \(-r\); the recording begins at [0-9.]+ and lasts [0-9.]+[mun]?s"),
    ("dump -Z 1g", r"no function that was called has 1073741824 bytes or more \(-Z\)"),
    ("dump --tid 4194305 -t 10s", r"nothing is there of --tid=4194305; the tasks are \d+$"),
    ("dump --trace=off", r"nothing has switched it on \(--trace=off; see trace_on\)"),
    ("report --trace=off", r"nothing has switched it on \(--trace=off; see trace_on\)"),
    ("replay -F main -t 10s", r"no call took 10s or longer \(-t\); the longest took [0-9.]+[mun]?s"),
]


@pytest.mark.parametrize("words, why", EMPTY, ids=[row[0] for row in EMPTY])
def test_nothing_left_to_show(workdir, words, why):
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    utrail("record", "--no-event", "prog").must()
    result = utrail(*words.split())
    assert result.must().err.splitlines()[-1].startswith("WARN: nothing is left to show: ")
    assert re.search(why, result.err), result.err


@pytest.mark.parametrize("words, passed", [("-t 5m", "-t 300s"), ("-N .", "--notrace=."), ("--trace=off", "--trace=off"),
                                           ("-Z 1g", "-Z 1073741824")])
def test_nothing_recorded(workdir, words, passed):
    """An empty recording is reported by record, and by readers, with the options that made it."""
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    result = utrail("record", "--no-event", *words.split(), "prog").must()
    assert result.err == f"WARN: nothing was recorded: no call passed {passed}\n"
    result = utrail("replay").must(255)
    assert result.err.startswith("utrail: cannot show 'uftrace.data': it has no records of any task; it was made by: ")
    assert words in result.err
    result = utrail("live", "--no-event", *words.split(), "prog").must()
    assert result.err == f"WARN: nothing was recorded: no call passed {passed}\n"


def on_terminal(*args, columns=80, **variables):
    """The text that `utrail ARGS` shows on a terminal of @columns columns, and the text on
    stderr."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen([UTRAIL, *args], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
                          env=environment(TERM="xterm", **variables)) as process:
        os.close(theirs)
        shown = terminal_text(ours)
        return shown.decode().replace("\r\n", "\n"), process.stderr.read().decode()


def test_pager_that_is_not_there(workdir):
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    utrail("record", "prog").must()
    (workdir / "nosuch").write_text("#!/bin/sh\nexit 0\n")
    (workdir / "nosuch").chmod(0o755)
    for pager in ("nosuch", "nosuch -x", "./no/such"):
        out, err = on_terminal("report", PAGER=pager)
        assert "main" in out
        assert err == f"WARN: cannot run the pager '{pager}' ($PAGER): the output is shown as it is\n"
    out, err = on_terminal("report", PAGER="cat | sed s/main/MAIN/")
    assert "MAIN" in out and err == ""


@pytest.mark.parametrize("variables, terminal, has_color", [
    ({}, True, True), ({}, False, False),
    ({"NO_COLOR": "1"}, True, False), ({"NO_COLOR": ""}, True, True),
    ({"CLICOLOR_FORCE": "1"}, False, True), ({"CLICOLOR_FORCE": "0"}, False, False),
    ({"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False, False),
])
def test_color_variables(workdir, variables, terminal, has_color):
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    utrail("record", "prog").must()

    def is_colored(*options):
        if terminal:
            return "\33[" in on_terminal("replay", *options, **variables)[0]
        return "\33[" in utrail("replay", *options, env=variables).must().out

    assert is_colored() == has_color
    assert is_colored("--color=on") and not is_colored("--color=off"), "what is typed counts most"


def test_help_is_as_wide_as_the_terminal():
    for columns, limit in ((40, 40), (59, 59), (60, 60), (80, 80), (100, 100), (500, 120), (20, 30)):
        text, _ = on_terminal("record", "--help=all", columns=columns)
        indent = " " * (30 if limit >= 60 else 8)
        options = [line for line in text.splitlines() if line.startswith(indent)]
        assert options and max(map(len, options)) <= limit
        assert max(map(len, options)) > min(limit, 100) - 20, "the room is used"
    assert max(len(line) for line in utrail("record", "--help=all").must().out.splitlines()) <= 80


COMMANDS = [None, "record", "live", "replay", "report", "graph", "info", "dump", "snapshot", "control", "convert", "events", "import", "build"]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_help_fits_a_narrow_terminal(command):
    """The whole page fits, except examples, which are to be copied."""
    text, _ = on_terminal(*([command] if command else []), "--help", columns=40)
    lines = [line for line in text.splitlines() if not line.startswith("  utrail ")]
    assert lines[0].startswith("Usage: utrail") and max(map(len, lines)) <= 40


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_help_begins_with_what_people_use(command):
    words = [command] if command else []
    common = utrail(*words, "--help").must().out
    everything = utrail(*words, "--help=all").must().out
    assert common.count("\n") <= 50 and re.search(r"^Examples:\n  utrail \w+", common, re.M)
    assert f"All options: utrail {command + ' ' if command else ''}--help=all." in common
    name = r"^ +(?:-\w, )?--([\w-]+)"
    often = re.findall(name, common.partition("Often used:")[2], re.M)
    assert set(often) <= set(re.findall(name, everything, re.M)) and len(often) <= 10 and bool(often) == bool(command)
    # Each example is a command of utrail with options of that command.
    for example in re.findall(r"^  utrail (.*?)(?:  +.*)?$", common.partition("Examples:")[2].partition("\n\n")[0], re.M):
        assert not command or example.split()[0] == command
        options = re.findall(r"(?<= )--([\w-]+)", example)
        assert set(options) <= set(re.findall(name, everything, re.M) if command else options), example
    if command == "dump":
        assert "perfetto, speedscope" in " ".join(common.split())
    refused = utrail(*words, "--help=most")
    assert refused.status == 2 and "unknown word 'most': expected one of all" in refused.err


def test_version_claims_what_is_there():
    """Words of uftrace's --version have the same meaning in utrail's."""
    words = re.fullmatch(r"utrail v[0-9.]+ \( (.*) \)\n", utrail("--version").must().out).group(1).split()
    assert {"perf", "sched"} <= set(words)
    claims = {"python3": ("script", "-S", "x.py"), "luajit": ("script", "-S", "x.lua"), "dynamic": ("record", "--patch", "x"),
              "kernel": ("record", "--kernel", "x"), "tui": ("tui",)}
    for word, command in claims.items():
        has_it = not re.search("utrail has no|built without", utrail(*command).err)
        assert (word in words) == bool(has_it), word


@pytest.mark.parametrize("command", ["report", "replay", "graph", "dump"])
def test_place_of_the_library_is_no_warning(command):
    """Aliases for all commands often contain the option for the library's place: commands that do
    not use it give no warning."""
    utrail("record", build(program("plain"), PG)).must()
    for option in ("--libmcount-path=/nowhere", "--library-path=/nowhere"):
        assert utrail(command, option).must().err == ""
