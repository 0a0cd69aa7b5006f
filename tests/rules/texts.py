#!/usr/bin/env python3
"""Text from outside is escaped by utils/base/escape.h: views and exporters write it with sink_str()
and sink_text() only. The other places are listed here, with the reason why they are allowed.

usage: texts.py TOP
"""
import pathlib
import re
import sys

# Places that write bytes unchanged. Each needs a reason why no text from outside gets out
# unescaped.
RAW = {
    "cmds/events/events_etrace.c": "lines for a file, whose names are any bytes; a terminal gets them escaped",
    "cmds/tui/graph_view.c": "branches, made of characters of ours",
    "cmds/tui/replay/replay_view.c": "lines that replay has made",
    "cmds/tui/list_view.c": "lines that info_show() or escape_addstr() has escaped",
    "utils/base/sink.h": "defines them",
    "utils/base/sink.c": "defines them",
    "utils/builddb/compdb.c": "entries, whose words escape_quoted() has escaped",
    "utils/builddb/deps.c": "words of make, which escape.h has made harmless",
    "utils/view/texts.h": "sink_func(): func->call_text is escaped for terminals where it is made",
    "utils/view/dump.c": "argtext has escaped what it made",
    "utils/view/picture/svg.c": "the script of pictures, which is ours",
    "utils/view/graph/graph.c": "indentation, and times",
    "utils/view/graph/graph_columns.c": "times and addresses",
    "utils/view/graph/graph_diff.c": "indentation, and times",
    "utils/view/graph/graph_tasks.c": "indentation",
    "utils/view/replay/replay_columns.c": "cells: numbers, and put_text(), which escapes",
    "utils/view/replay/replay_lines.c": "func->call_text, and what argtext has escaped",
    "utils/view/report/report_columns.c": "numbers",
    "utils/view/report/report_diff_text.c": "times",
    "utils/view/report/report_events.c": "numbers and times",
    "utils/view/report/report_func.c": "times",
    "utils/export/export.c": "the bytes of a database, or of a log of POSIX Trace",
    "utils/export/exp_chrome.c": "names that func_texts keep escaped; numbers",
    "utils/export/exp_events.c": "times, and JSON of export_point_json(), which escapes",
    "utils/export/exp_firefox.c": "columns of numbers, and add_member(), which escapes",
    "utils/export/exp_flame.c": "paths of names that put_name() has escaped",
    "utils/export/exp_html.c": "the page, base64, and JSON of page_put_string(), which escapes",
    "utils/export/page/blocks.c": "base64",
    "utils/export/exp_jsonl.c": "names that func_texts keep escaped; numbers",
    "utils/export/exp_perfetto.c": "protobuf",
    "utils/export/exp_pprof.c": "protobuf",
    "utils/export/exp_speedscope.c": "numbers",
}

# Places that write without a sink.
STDIO = {
    "cmds/terminal/msg.c": "escapes what it prints",
    "cmds/main.c": "help, which is ours",
    "cmds/help/optdoc.c": "help, which is ours",
    "cmds/commands/cmd_live.c": "titles, which are ours",
    "cmds/commands/cmd_record.c": "times",
}

RAW_CALL = re.compile(r"\b(?:sink_put_raw|sink_put_made|sink_room|sink_done)\(")
STDIO_CALL = re.compile(r"\b(?:v?f?printf|f?puts|f?putc|putchar|fwrite|v?dprintf|perror|psignal)(?:_unlocked)?\(")
FORMAT = re.compile(r"\bsink_(?:putf|format)\(")
CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?:hh|h|ll|l|z|j|t|L)?([a-zA-Z]))")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def call_text(text, start):
    """The text inside the parentheses that are open at @start."""
    depth = 1
    at = start
    while depth:
        literal = LITERAL.match(text, at)
        if literal:
            at = literal.end()
            continue
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
    return text[start : at - 1]


def check(name, text, used):
    problems = []

    def number(match):
        return text.count("\n", 0, match.start()) + 1

    for calls, allowed, what in ((RAW_CALL, RAW, "raw bytes into a sink"), (STDIO_CALL, STDIO, "text beside the sinks")):
        for match in calls.finditer(text):
            used.add((what, name))
            if name not in allowed:
                problems.append(f"{name}:{number(match)}: {what}: use sink_lit(), sink_str(), sink_putf() or msg_list()")
    if name not in ("utils/base/sink.h", "utils/base/sink.c"):
        for match in FORMAT.finditer(text):
            formats = "".join(LITERAL.findall(call_text(text, match.end())))
            for letter in CONVERSION.findall(formats):
                if letter in ("s", "c", "S", "C", "m"):
                    problems.append(f"{name}:{number(match)}: %{letter} in sink_putf(): texts go by sink_str()")
    for match in re.finditer(r"const struct exporter (exp_\w+) = \{(.*?)\n\};", text, flags=re.S):
        if ".medium = MEDIUM_" not in match[2]:
            problems.append(f"{name}:{number(match)}: {match[1]} does not say what its texts are for: set .medium")
    return problems


def main():
    top = pathlib.Path(sys.argv[1])
    problems = []
    used = set()
    nr = 0
    for room in ("utils/base", "utils/view", "utils/builddb", "utils/export", "cmds"):
        for path in sorted((top / room).rglob("*.[ch]")):
            nr += 1
            problems += check(str(path.relative_to(top)), without_comments(path.read_text()), used)
    for allowed, what in ((RAW, "raw bytes into a sink"), (STDIO, "text beside the sinks")):
        problems += [f"{name}: is allowed {what}, and does not need to be" for name in allowed if (what, name) not in used]
    print("\n".join(problems) or f"{nr} files are good")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
