"""A recording in which every name is an attack goes through every view and every exporter:
terminals, browsers, spreadsheets and parsers take each name as a name."""

import csv
import fcntl
import html.parser
import io
import json
import os
import pty
import re
import select
import shutil
import sqlite3
import struct
import subprocess
import termios
import urllib.parse
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tools import TOP, UTRAIL, run, utrail

# The names that replace those of functions in the symbol file. A symbol file cannot hold a line
# break, arguments can.
NAMES = {
    "f0": "\x1b]0;owned\x07\x1b[5mosc",
    "f1": "\u009b5m\u0085 c1",
    "f2": "rtl\u202eevil\u2066\u200f\u2028end\u061c",
    "f3": "<script>alert('x')</script>",
    "f4": "quo\"te, comma 'single'",
    "f5": "=cmd|'/c calc'!A0",
    "f6": 'dot"]; evil -> b; ["',
    "f7": "</script><!--<script> ]]>",
    "f8": "%%{init: {}}%% #quot;] click `x`",
    "f9": "(7) fold;ed name 12",
    "f10": "naïve größe 漢字 \\x1b",
    "f11": "\r\x08over\x7f\ttab",
    "f12": "-1+2",
    "f13": "@SUM(1)",
    "f14": "&lt;i&gt;<img src=x onerror=alert(1)>",
    "f15": "bytes \udcff\udcfe\udc9b5m",
    "f16": "+1;2",
    "f17": "trailing\\",
}
EVIL = "\x1b]0;owned\x07<img src=x onerror=alert(1)>\u202e\u009b5m\",=cmd()\r"
PROGRAM_NAME = "p\x1b[5m<img src=x>\u202e\",;=1"
EVENT_ID = 1_000_000

SOURCE = r"""
#include <unistd.h>
enum Kolor { Red, Green };
struct Point { int x; enum Kolor hue; };
#define F(n) __attribute__((noipa)) void f##n(void) { __asm__ volatile(""); }
F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16) F(17)
__attribute__((noipa)) int hear(const char *text, char letter) { return text[0] + letter; }
__attribute__((noipa)) const char *say(const char *text) { return text; }
__attribute__((noipa)) int paint(enum Kolor hue, struct Point p) { return hue + p.x; }
static const char evil[] = "\x1b]0;owned\x07<img src=x>\xe2\x80\xae\xc2\x9b" "5m\n\t\xff";
int main(void)
{
	struct Point p = { 1, Green };
	f0(); f1(); f2(); f3(); f4(); f5(); f6(); f7(); f8(); f9(); f10(); f11(); f12(); f13(); f14(); f15(); f16(); f17();
	hear(evil, '\x1b');
	hear("plain \x1b", '\x9b');
	say(evil);
	paint(Green, p);
	_exit(0);
}
"""


def file_bytes(text):
    return text.encode(errors="surrogateescape")


def readable(name):
    """A name in formats that are UTF-8: other bytes are replaced."""
    return re.sub("[\udc80-\udcff]", "\ufffd", name)


def shown(name):
    """A name in texts for people: hidden characters are escaped."""
    hidden = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]"
    return re.sub(hidden, lambda c: "".join(f"\\x{b:02x}" for b in file_bytes(c[0])), name)


def rename(path, names):
    lines = [line.split(b" ", 2) for line in path.read_bytes().split(b"\n")]
    for words in lines:
        words[-1] = file_bytes(names.get(words[-1].decode(errors="surrogateescape"), "")) or words[-1]
    path.write_bytes(b"\n".join(b" ".join(words) for words in lines))


def add_events(data):
    """Add three events of the program, two of them declared ones with values, a line of external
    data, and a task name from the kernel."""
    dat = next(p for p in data.glob("*.dat") if p.stem.isdigit())
    tid = int(dat.stem)
    task_txt = (data / "task.txt").read_bytes()
    first_ns = int(re.search(rb"TASK timestamp=(\d+)\.(\d+)", task_txt)[0].split(b"=")[1].replace(b".", b""))
    times = re.findall(r"^(\d+)\.(\d{9})  +\d+: ", run(UTRAIL, "dump", "-d", data).must().out, flags=re.M)
    last_ns = max(int("".join(time)) for time in times) + 1000
    with dat.open("ab") as out:
        out.write(struct.pack("<QQ", last_ns, 3 | 5 << 3 | EVENT_ID << 16))
        out.write(struct.pack("<QQ", last_ns + 1, 3 | 5 << 3 | EVENT_ID + 1 << 16))
        out.write(struct.pack("<QQ", last_ns + 2, 3 | 5 << 3 | EVENT_ID + 2 << 16))
    with (data / "events.txt").open("ab") as out:
        out.write(f"EVENT: {EVENT_ID} evil:{EVIL}\nEVENT: {EVENT_ID + 1} trace:{EVIL}\nEVENT: {EVENT_ID + 2} trace:{EVIL}\n".encode())
    text = file_bytes(EVIL)
    payload = struct.pack("<I", len(text)) + text
    entry = struct.pack("<QIHH", last_ns + 1, EVENT_ID + 1, 0, len(payload)) + payload + bytes(-len(payload) % 8)
    line = struct.pack("<q", 5) + b"KEY=" + text
    entry += struct.pack("<QIHH", last_ns + 2, EVENT_ID + 2, 0, len(line)) + line + bytes(-len(line) % 8)
    dat.with_suffix(".evt").write_bytes(entry)
    evil = urllib.parse.quote(EVIL, safe="")
    (data / "events.def").write_text(f"CLOCK: 5\nDECLARED: {EVENT_ID + 1} fstrace {evil} %00 {evil}%0A%25s\n"
                                     f"DECLARED: {EVENT_ID + 2} line {evil} KEY+{evil}\n")
    seconds = f"{first_ns // 10**9}.{first_ns % 10**9:09d}"
    (data / "extern.dat").write_bytes(f"{seconds} {EVIL}\n".encode())
    comm = "\x1b[5m<b>\u202e=".encode().ljust(16, b"\0")
    size = 8 + 8 + len(comm) + 16
    record = struct.pack("<IHH", 3, 0, size) + struct.pack("<II", tid, tid) + comm + struct.pack("<IIQ", tid, tid, first_ns)
    (data / "perf-cpu0.dat").write_bytes(record)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    top = tmp_path_factory.mktemp("hostile")
    (top / "p.c").write_text(SOURCE)
    run("gcc", "-pg", "-g", "-O1", "-o", top / PROGRAM_NAME, top / "p.c").must()
    data = top / "data"
    options = ["-a", "-A", "hear@arg1/s,arg2/c", "-R", "say@retval/s"]
    utrail("record", "--no-event", "-d", data, *options, top / PROGRAM_NAME, EVIL).must()
    symbols = [path for path in data.glob("p*.sym")]
    assert symbols
    for path in symbols:
        rename(path, NAMES)
    for path in data.glob("p*.dbg"):
        path.write_bytes(path.read_bytes().replace(b"p.c", file_bytes("p" + EVIL)).replace(b"Kolor", b"Ko\x1b[5m<b>lor"))
    (data / "note.txt").write_bytes(f"a note\n\x1b[5m{EVIL}\n".encode())
    add_events(data)
    info = bytearray((data / "info").read_bytes())
    # The flag says that the program has events.
    info[16] |= 1 << 7
    info = bytes(info)
    for key in (b"cpuinfo:desc=", b"osinfo:distro=", b"osinfo:hostname=", b"exename:"):
        info = info.replace(key, key + EVIL.replace("\r", "").encode(), 1)
    (data / "info").write_bytes(info)
    return data


def output(hostile, *words):
    """The output of a command. Names of functions come last in @words."""
    command = [UTRAIL, words[0], "-d", hostile, *words[1:]]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 0, result.stderr
    check_terminal(result.stderr)
    return result.stdout


# The only sequences that a terminal may get: utrail's own colours.
OUR_COLORS = re.compile("\x1b\\[(?:0|1|9[0145]|3[2356])m")
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")


def check_terminal(raw, has_color=False):
    text = raw.decode()
    # The raw dump has the bytes of structs on lines of their own.
    text = text.replace("\n\t", "\n")
    if has_color:
        text = OUR_COLORS.sub("", text)
    found = HIDDEN.search(text)
    assert not found, repr(text[max(0, found.start() - 40) : found.end() + 10])
    return text


TEXT_COMMANDS = [
    "replay",
    "replay -f all",
    "replay -f none --no-merge",
    "replay --flat",
    "replay --srcline --inline --libname",
    "replay --column-view",
    "replay --event-full",
    "report",
    "report -f all --srcline",
    "report --task",
    "report --avg-total",
    "report --callees main",
    "report --callers f5",
    "report --histogram f4",
    "report --slowest f3",
    "graph",
    "graph -f all --srcline",
    "graph --task",
    "graph f2",
    "dump",
    "dump -v",
    "info",
    "info --task",
    "info --symbols",
    "events list",
    "events show --path",
]


def words_of(command):
    """The command's words, with the functions' new names."""
    return [file_bytes(NAMES[w]) if w in NAMES else w for w in command.split()]


def options_first(words, options):
    return [words[0], *options, *words[1:]]


@pytest.mark.parametrize("command", TEXT_COMMANDS)
def test_terminal(hostile, command):
    for options in ([], ["--color=yes"]):
        check_terminal(output(hostile, *options_first(words_of(command), options)), has_color=bool(options))


def test_events_alone(hostile):
    """`events` shows and exports a name, a format and a URL-encoded value."""
    text = check_terminal(output(hostile, "events", "show"))
    assert f"trace:{shown(EVIL)} {shown(EVIL)}\\x0a" in text
    check_terminal(output(hostile, "events", "export", "--as=fstrace"))
    rows = csv_rows(output(hostile, "events", "export", "--as=csv"))
    assert cell(f"evil:{EVIL}") in {row[3] for row in rows}
    events = json.loads(output(hostile, "events", "export", "--as=json"))
    assert readable(f"evil:{EVIL}") in {event["event"] for event in events}
    assert readable(EVIL) in {value for event in events for value in event["args"].values()}


@pytest.mark.parametrize("command", ["replay", "replay --flat", "report", "graph", "dump", "info --symbols"])
def test_all_names_are_shown(hostile, command):
    text = check_terminal(output(hostile, *command.split()))
    for name in NAMES.values():
        assert shown(name) in text


def test_what_else_is_shown(hostile):
    text = check_terminal(output(hostile, "replay", "-f", "+task,module", "--srcline"))
    assert "p\\x1b[5m<img sr" in text.replace("data/", "")
    assert r'hear("\x1b]0;owned\x07<img src=x>\xe2\x80\xae\xc2\x9b5m\n\x09\xff", ' in text
    assert r"""hear("plain \x1b", '\x9b')""" in text
    assert f"/* evil:{shown(EVIL)} */" in text
    assert f"/* external-data: {shown(EVIL)} */" in text
    assert f"p{shown(EVIL)}:" in text
    assert r"\x1b[5m<b>\xe2\x80\xae" in text
    text = check_terminal(output(hostile, "info"))
    assert text.count(r"\x1b]0;owned\x07<img") >= 5
    assert r"# task list           : " in text and r"(\x1b[5m<b>\xe2\x80\xae=)" in text


def test_comparisons(hostile):
    for words in ("report --diff", "graph --diff"):
        for options in ([], ["--color=yes"], ["--format=html"]):
            raw = output(hostile, *words.split(), hostile, *options).replace(b"\t(from ", b" (from ")
            if options == ["--format=html"]:
                check_page(raw)
            else:
                text = check_terminal(raw, has_color=bool(options))
                assert all(shown(name) in text for name in NAMES.values())
    rows = csv_rows(output(hostile, "report", "--diff", hostile, "--format=csv"))
    assert csv_names(rows) >= {cell(name) for name in NAMES.values()}
    rows = json.loads(output(hostile, "report", "--diff", hostile, "--format=json"))
    assert {row["name"] for row in rows} >= {readable(name) for name in NAMES.values()}
    check_picture(output(hostile, "graph", "--diff", hostile, "--format=svg"))


def test_live_and_messages(tmp_path):
    """The output of live, warnings and lists."""
    (tmp_path / "p.c").write_text(SOURCE)
    exe = tmp_path / PROGRAM_NAME
    run("gcc", "-pg", "-O1", "-o", exe, tmp_path / "p.c").must()
    def raw(*words):
        command = [UTRAIL, *words]
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        check_terminal(done.stdout)
        return done.stdout, check_terminal(done.stderr)

    out, _ = raw("live", "-A", "hear@arg1/s", exe)
    assert rb'hear("\x1b]0;owned\x07' in out
    assert shown(EVIL).replace(";", "") in raw("record", "-F", EVIL.replace(";", ""), exe)[1]
    assert shown(PROGRAM_NAME) in raw("record", tmp_path / (PROGRAM_NAME + "2"))[1]
    assert shown(EVIL) in raw("replay", "-d", EVIL)[1]
    assert shown(EVIL) in raw(EVIL)[1] + raw("replay", "--" + EVIL)[1]


class Page(html.parser.HTMLParser):
    """@tags: the tags with their attributes; @scripts: the text of each script; @text: all other
    text"""

    def __init__(self, raw):
        super().__init__()
        self.tags, self.scripts, self.text, self.others = [], [], "", []
        self.feed(raw.decode())
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data):
        if self.cdata_elem == "script":
            attrs, text = self.scripts.pop()
            self.scripts.append((attrs, text + data))
        elif self.cdata_elem is None:
            self.text += data

    def handle_comment(self, data):
        self.others.append(data)

    handle_pi = unknown_decl = handle_comment


def check_page(raw):
    """Check a view that is a page: lines in <pre>, words in colour."""
    page = Page(raw)
    check_terminal(raw)
    assert {tag for tag, _ in page.tags} <= {"html", "head", "body", "pre", "span"}, page.tags
    assert [tag for tag, _ in page.tags if tag != "span"] == ["html", "head", "body", "pre"]
    for tag, attrs in page.tags:
        assert set(attrs) <= {"style"}
        assert tag != "span" or re.fullmatch(r"(color|font-weight):\w+", attrs["style"])
    assert not page.others
    return page.text


@pytest.mark.parametrize("command", ["replay", "replay -f all --srcline", "report", "report --task", "report --srcline", "graph",
                                     "graph --task", "graph --srcline", "graph f3", "report --callees main", "report --slowest f3"])
def test_pages_of_views(hostile, command):
    text = check_page(output(hostile, *options_first(words_of(command), ["--format=html"])))
    if command in ("replay", "report", "graph"):
        assert all(shown(name) in text for name in NAMES.values())


def csv_rows(raw):
    rows = list(csv.reader(io.StringIO(check_terminal(raw), newline="")))
    assert len({len(row) for row in rows}) == 1, "every row has all columns"
    for row in rows[1:]:
        for text in row:
            assert not re.match(r"[=+@\t\r-]", text) or re.fullmatch(r"-?\d+(\.\d+)?", text), text
    return rows


def csv_names(rows):
    return {row[-1] for row in rows[1:]}


def cell(name):
    return "'" + shown(name) if name[0] in "=+-@" else shown(name)


def test_csv(hostile):
    for options in ("", "-f all"):
        rows = csv_rows(output(hostile, "report", "--format=csv", *options.split()))
        assert csv_names(rows) >= {cell(name) for name in NAMES.values()}
    csv_rows(output(hostile, "report", "--task", "--format=csv"))


def check_names(names):
    assert set(names) >= {readable(name) for name in NAMES.values()}


def test_report_json(hostile):
    check_names(row["name"] for row in json.loads(check_terminal(output(hostile, "report", "--format=json"))))
    tasks = json.loads(check_terminal(output(hostile, "report", "--task", "--format=json")))
    assert [row["task"] for row in tasks] == ["\x1b[5m<b>\u202e="]


def check_chrome(raw):
    page = json.loads(check_terminal(raw))
    check_names(event["name"] for event in page["traceEvents"])
    assert "<img src=x onerror=alert(1)>\u202e\u009b" in page["metadata"]["command_line"]


def check_jsonl(raw):
    lines = [json.loads(line) for line in check_terminal(raw).splitlines()]
    check_names(line["name"] for line in lines if "name" in line)
    assert "evil:" + EVIL in {line.get("event") for line in lines}


def check_speedscope(raw):
    check_names(frame["name"] for frame in json.loads(check_terminal(raw))["shared"]["frames"])


def check_firefox(raw):
    check_names(json.loads(check_terminal(raw))["shared"]["stringArray"])


def check_graphviz(raw):
    text = check_terminal(raw)
    quoted = r'"((?:[^"\\]|\\.)*)"'
    edges = re.findall(rf"^    {quoted} -> {quoted} \[xlabel = \"\d+\"\]$", text, flags=re.M)
    names = {re.sub(r"\\(.)", r"\1", name) for edge in edges for name in edge}
    assert names >= {shown(name) for name in NAMES.values()}
    lines = text.splitlines()
    assert len(edges) == len([line for line in lines if line.startswith("    ")]) == len(lines) - 5
    if shutil.which("dot"):
        result = subprocess.run(["dot", "-Tdot_json"], input=raw, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert result.returncode == 0, result.stderr
        graph = json.loads(result.stdout)
        assert len(graph["objects"]) == len(names) and len(graph["edges"]) == len(edges)


def check_mermaid(raw):
    page = Page(raw)
    check_terminal(raw.replace(b"\t", b""))
    assert [tag for tag, _ in page.tags] == ["html", "head", "meta", "title", "body", "h2", "div", "script", "script"]
    assert not page.others
    chart = page.text[page.text.index("flowchart TB\n") :].splitlines()[1:]
    node = r'\d+_\d+\["([^"]*)"\]'
    names = set()
    for line in filter(None, map(str.strip, chart)):
        names.update(re.fullmatch(rf"{node} -->\|\d+\| {node};", line).groups())
    numbers = {"quot": '"', "35": "#", "37": "%", "96": "`"}
    names = {re.sub(r"#(\w+);", lambda m: numbers[m[1]], name) for name in names}
    assert names >= {shown(name) for name in NAMES.values()}


def check_html(raw):
    page = Page(raw)
    template = Page((TOP / "utils/export/page/page.html").read_bytes())
    own = [tag for tag, _ in template.tags if tag != "script"]
    assert [tag for tag, _ in page.tags if tag != "script"] == own
    assert not [attrs for _, attrs in page.tags if "onerror" in attrs]
    for attrs, text in page.scripts:
        if attrs.get("type") and attrs.get("id") != "worker":
            assert "<" not in text
    meta = json.loads(next(text for attrs, text in page.scripts if attrs.get("id") == "meta"))
    assert set(meta["functions"]) >= {shown(name) for name in NAMES.values()}
    assert not HIDDEN.search(json.dumps(meta, ensure_ascii=False))
    assert any(text.startswith('("\\x1b]0;owned') for text in meta["texts"])


def check_folded(raw):
    lines = check_terminal(raw).splitlines()
    assert all(re.fullmatch(r"[^;]+(;[^;]+)* [1-9]\d*", line) for line in lines)
    return {name for line in lines for name in line.rsplit(" ", 1)[0].split(";")}


def folded_name(name):
    return re.sub(r" (\d+)$", r"_\1", shown(name).replace(";", ":"))


def check_exact_folded(raw):
    known = {folded_name(name) for name in NAMES.values()}
    own = {"main", "hear", "say", "paint", "_exit", "__monstartup", "__cxa_atexit", "mcount"}
    names = check_folded(raw)
    # Functions whose times are below the clock's resolution may be missing.
    assert names & known
    assert names <= known | own | {folded_name(PROGRAM_NAME)}


def check_callgrind(raw):
    text = check_terminal(raw)
    names = set(re.findall(r"^c?fn=(.*)$", text, flags=re.M))
    assert names >= {re.sub(r"^\((?=\d)", r"\\x28", shown(name)) for name in NAMES.values()}
    known = r"(?:#.*|version|creator|cmd|positions|event|events|summary|totals)[:# ].*|c?(?:ob|fi|fl|fn)=.*|calls=\d+ 0|0 \d+|# callgrind.*|"
    assert all(re.fullmatch(known, line) for line in text.splitlines())


def check_picture(raw):
    check_terminal(raw)
    tree = ElementTree.fromstring(raw)
    tags = {element.tag.split("}")[1] for element in tree.iter()}
    assert tags == {"svg", "style", "rect", "text", "g", "title", "script"}
    (script,) = tree.iter("{http://www.w3.org/2000/svg}script")
    own = (TOP / "utils/view/picture/picture.js").read_text()
    assert script.text.strip() in "\n".join(line.strip() for line in own.splitlines())
    titles = {title.text for title in tree.iter("{http://www.w3.org/2000/svg}title")}
    # Calls that are too narrow to be visible are left out.
    assert any(title.startswith(shown(name) + ": ") for name in NAMES.values() for title in titles)


def check_protobuf(raw):
    for name in NAMES.values():
        text = readable(name).encode()
        assert bytes([len(text)]) + text in raw


def check_sqlite(raw):
    path = Path("out.sqlite")
    path.write_bytes(raw)
    with sqlite3.connect(path) as db:
        check_names(name for (name,) in db.execute("SELECT name FROM function"))
        assert [name for (name,) in db.execute("SELECT name FROM thread")] == ["\x1b[5m<b>\u202e="]
        assert ("evil:" + EVIL,) in db.execute("SELECT name FROM event").fetchall()


EXPORTERS = {
    "chrome": check_chrome,
    "flame-graph": check_folded,
    "graphviz": check_graphviz,
    "mermaid": check_mermaid,
    "folded": check_exact_folded,
    "perfetto": check_protobuf,
    "speedscope": check_speedscope,
    "callgrind": check_callgrind,
    "pprof": check_protobuf,
    "jsonl": check_jsonl,
    "firefox": check_firefox,
    "sqlite": check_sqlite,
    "svg": check_picture,
    "html": check_html,
}


@pytest.mark.parametrize("name", EXPORTERS)
def test_exporters(hostile, name):
    if name == "sqlite" and "sqlite" not in utrail("--version").out.split():
        pytest.skip("this utrail was built without libsqlite3")
    EXPORTERS[name](output(hostile, "dump", f"--format={name}"))


def bytes_of_screen(data, keys):
    """The bytes that utrail tui writes to a terminal of 200 columns while @keys are pressed, one
    after the other."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(UTRAIL, [str(UTRAIL), "tui", "-d", str(data)], {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    written = b""

    def read_until_quiet(seconds):
        nonlocal written
        while select.select([terminal], [], [], seconds)[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the program has closed its end of the terminal
                return
            if not part:
                return
            written += part

    while not written:
        read_until_quiet(1)
    for key in keys:
        os.write(terminal, key.encode())
        read_until_quiet(0.5)
    os.write(terminal, b"q")
    read_until_quiet(5)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    return written


def test_the_screen_shows_names(hostile):
    """The bytes that ncurses writes set no title, make nothing blink, and have no C1 controls and
    no reversed text."""
    written = bytes_of_screen(hostile, "GRTIS/owned\x1bGg")
    assert b"owned" in written
    for attack in (b"\x1b]", b"\x07", b"\x1b[5m", b"\xc2\x9b", b"\x9b5m", "\u202e".encode(), "\u2066".encode(), b"\x7f"):
        assert attack not in written, attack


def test_nothing_is_missing():
    """Each exporter and each command is in these tables."""
    source = (TOP / "utils/export/export.h").read_text()
    assert set(re.findall(r'\brow\(\w+, "([\w-]+)"\)', source)) == set(EXPORTERS)
    commands = set(re.findall(r'\.name = "(\w+)"', "".join(path.read_text() for path in (TOP / "cmds/commands").glob("*.c"))))
    tested = {command.split()[0] for command in TEXT_COMMANDS}
    elsewhere = {
        "build": "test_build.py", "control": "test_control.py", "convert": "says nothing", "import": "test_import_trace.py",
        "live": "as replay", "record": "as replay", "script": "test_script.py", "show": "test_show.py", "snapshot": "says a number and the user's own words",
        "tui": "test_the_screen_shows_names",
    }
    assert commands == tested | set(elsewhere)
