"""The intended differences of doc/from-uftrace.md by their ids, each with a function that makes two
answers alike."""

import re
from dataclasses import dataclass

from tools import TOP

DOCUMENT = TOP / "doc/from-uftrace.md"
ID = re.compile(r"<!-- differs: ([a-z0-9-]+) -->")


def documented():
    """The ids in the document; each is at the end of the line that describes the difference."""
    return ID.findall(DOCUMENT.read_text())


@dataclass(frozen=True)
class Answer:
    status: int
    out: str


def lines_of(answer):
    return answer.out.splitlines()


def with_lines(answer, lines):
    return Answer(answer.status, "".join(line + "\n" for line in lines))


def edit(pattern, with_what):
    """A function that replaces a pattern in an answer."""
    compiled = re.compile(pattern, re.M)
    return lambda answer: Answer(answer.status, compiled.sub(with_what, answer.out))


def ours(editor):
    return lambda ours, theirs: (editor(ours), theirs)


def theirs(editor):
    return lambda ours, theirs: (ours, editor(theirs))


def both(editor):
    return lambda ours, theirs: (editor(ours), editor(theirs))


def status_only(ours, theirs):
    """Compare the status only: the printed texts differ throughout."""
    return Answer(ours.status, ""), Answer(theirs.status, "")


def shorter_tids(answer):
    """One column less for each tid: in its row, in the header, and in rows without numbers."""
    text = re.sub(r"\[ ([ \d]{6})\]", r"[\1]", answer.out)
    if "TID" in text:
        text = re.sub(r"^(#.*   TID  ) ", r"\1", text, flags=re.M)
        text = re.sub(r"^( +)  \| $", r"\1 | ", text, flags=re.M)
        text = re.sub(r"^(  .*) (  : .*[|] +)$", r"\1\2", text, flags=re.M)
    return Answer(answer.status, text)


def cut_columns(ours, theirs):
    """Remove the columns that only utrail has; they stand before the name, which is last."""
    title = re.compile(r"^(?:#|  ).*?(   ?)FUNCTION$", re.M | re.I)
    found, wanted = title.search(ours.out), title.search(theirs.out)
    if not found or not wanted:
        return ours, theirs
    end, start = found.start(1) - found.start(), wanted.start(1) - wanted.start()
    cut = [line[:start] + line[end:] if len(line) >= end and not line.startswith("#  [") else line for line in lines_of(ours)]
    return with_lines(ours, cut), theirs


def heading_only(text):
    """True for a text without rows: at most a heading."""
    return not text.strip() or re.fullmatch(r"#? +[#A-Z ]+\n", text) is not None


def nothing_shown(ours, theirs):
    is_empty = heading_only(ours.out) and heading_only(theirs.out)
    return (Answer(ours.status, ""), Answer(theirs.status, "")) if is_empty else (ours, theirs)


def without_function(ours, theirs):
    """Without calls for a graph, uftrace prints a message. For a function that was named, utrail's
    status is 1."""
    if theirs.out.startswith("uftrace: cannot find graph for ") and not ours.out:
        return Answer(0, ""), Answer(theirs.status, "")
    return ours, theirs


def threads_of_processes(answer):
    """utrail's events in Chrome's format, changed to those of uftrace 0.13: there `pid` is the tid,
    and processes have no names."""
    text = re.sub(r'"pid":\d+,"tid":(\d+)', r'"pid":\1', answer.out)
    return with_lines(answer, [line for line in text.splitlines() if '"process_name"' not in line])


def edges_of_graph(answer):
    """The arrows of a graph, without the numbers of its nodes."""
    edges = re.findall(r'^ *\d+_\d+\["(.*)"\] -->\|(\d+)\| \d+_\d+\["(.*)"\];', answer.out, re.M)
    return with_lines(answer, sorted(map(" ".join, edges)))


def sorted_lines(answer):
    return with_lines(answer, sorted(lines_of(answer)))


def without_event_size(answer):
    return Answer(answer.status, re.sub(r"[ \d]{10}  (linux:schedule.*)$", r"  \1", answer.out, flags=re.M))


def blank_event_cells(answer):
    """Blank the cells of address and module in the rows of events."""
    blank = lambda match: re.sub(r"\b30d4\d\b|\[event\]", lambda m: " " * len(m[0]), match[0])
    return Answer(answer.status, re.sub(r"^.*/\* \w+:.*$", blank, answer.out, flags=re.M))


def without_newer_info(answer):
    """Remove the offset to wall time, and two settings of the kernel."""
    text = answer.out.replace(" | UTC_OFFSET | SYSCTL)", ")")
    return Answer(answer.status, re.sub(r"^# (?:perf_event_paranoid|kptr_restrict) *: .*\n", "", text, flags=re.M))


def tool_in_footer(answer):
    return Answer(answer.status, answer.out.replace("\nuftrace stopped", "\nutrail stopped"))


FOLDED = re.compile(r"^(#?)([^|\n]*)\|( *)(\S.*) \{\n([^|\n]*)\|\3\}( = .*;)?(?: /\* .* \*/)?$", re.M)


TID = re.compile(r"\[ *\d+\]")


def fold_empty_calls(answer):
    """Fold the two lines of a call without shown inner calls into one line. If there is a column of
    durations, the one line has the duration of the second."""

    def folded(match):
        first, last = match[2], match[5]
        if TID.findall(first) != TID.findall(last):
            return match[0]  # this is the end of another thread's call
        row = "".join(a if a != " " else b for a, b in zip(first, last)) if len(first) == len(last) else last
        return f"{row}|{match[3]}{match[4]}{match[6] or ';'}"

    return Answer(answer.status, FOLDED.sub(folded, answer.out))


def without_indentation(answer):
    return Answer(answer.status, re.sub(r"\| +", "| ", answer.out))


def escaped_lines(answer):
    """Escape ends of lines in strings. 0.13 writes them unchanged in strings with letters beyond
    ASCII, and always in dump."""
    text = re.sub(r'((?:"|&quot;)[^"\n]*[^\x00-\x7f][^"\n]*)\n', r"\1\\n", answer.out)
    return Answer(answer.status, re.sub(r"(str: .*)\n(?=[^ \d])", r"\1\\x0a", text))


def fewer_task_columns(answer):
    """Tids in six columns, not seven, in report --task."""
    heading, *rows = lines_of(answer) or [""]
    return with_lines(answer, [heading.replace("  TID     Num", "   TID   Num"), *(row[:26] + row[27:] for row in rows)])


def decoded_letters(answer):
    """Decode letters in strings, for which 0.13 writes a number for each byte; and write a 0 as in
    other texts."""
    text = answer.out.replace("'\\\\x00'", "'\\\\0'")

    def letters(match):
        return bytes.fromhex(match[0].replace("\\\\x", "")).decode(errors="replace")

    return Answer(answer.status, re.sub(r"(?:\\\\x[89a-f][0-9a-f])+", letters, text))


def without_tasks(answer):
    return with_lines(answer, [line for line in lines_of(answer) if '"ph":"M"' not in line])


@dataclass(frozen=True)
class Difference:
    """
    id:      the id in the document
    where:   a pattern for "recording command options", as in option_sets.py
    alike:   a function that makes both answers alike
    example: a case, "recording command options", in which the answers differ without @alike
    is_sure: false when the answers of the example differ in most recordings, but not in each
    """

    id: str
    where: str
    alike: object
    example: str
    is_sure: bool = True


ASKED_DATA = r"^.*\[data \].*\n  (read|diff):.*\n"
RANGE_EDGE = r"(replay|dump) .*-[FNCHD] .*-r |-r .* -D|events replay .*-r ({from}|{after})|replay .*-f \+module .*-r "

# The differences, in the order in which they are evened out.
DIFFERENCES = [
    Difference("warnings", "", theirs(edit(r"^Usage: .*\n", "")), "peers-plain replay -t {short} -r {after}~{before}"),
    Difference("no-calls", " graph ", without_function, "peers-plain graph {library}"),
    Difference("nothing-to-show", "", nothing_shown, "ours-cplusplus replay -F {some} -t {short} -f +module --tid {tid}", is_sure=False),
    Difference("own-name", " replay ", theirs(tool_in_footer), "peers-plain replay -r {from}~{to}"),
    Difference("own-name", " dump .*--(chrome|graphviz)", both(edit(r"^.*version\":.*\n", "")), "peers-plain dump --graphviz"),
    Difference("tid-columns", " (replay|graph|info) ", ours(shorter_tids), "ours-threads replay -D 1"),
    Difference("tid-columns", " report .*--task", ours(fewer_task_columns), "ours-threads report --task"),
    Difference("tid-columns", " dump ", both(edit(r"^(\d+\.\d{9} ) +(\d+: )", r"\1 \2")), "ours-threads dump -D 2"),
    Difference("structs", "cplusplus (replay|dump) ", ours(edit(r"\{\w+=[^{}]*\}", "{...}")), "ours-cplusplus replay -D 3"),
    Difference("more-lines", "cplusplus .*--srcline", both(edit(r" /\* \S+:\d+ \*/$| \[\S+:\d+\]$", "")), "ours-cplusplus report --srcline"),
    Difference("one-name", "cplusplus graph {leaf}", status_only, "ours-cplusplus graph {leaf}"),
    Difference("more-columns", "(report|graph) .*(--avg|-f all)", cut_columns, "ours-threads report --avg-total"),
    Difference("program-address", "graph .*-f .*(addr|all)", both(edit(r"  [ \da-f]{12}( : \(1\) )", r"\1")), "ours-threads graph -f total,self,addr"),
    Difference("event-cells", " report .*(size|-f all)", both(without_event_size), "peers-events report -f call,size"),
    Difference("event-cells", " report .*-s size", both(sorted_lines), "peers-events report -s size,func"),
    Difference("event-cells", " replay .*-f .*(module|all|addr)", both(blank_event_cells), "peers-events replay -f task,module"),
    Difference("event-cells", "events replay .*color=red", status_only, "peers-events replay -T {inner}@color=red --color=yes"),
    Difference("asked-events", "events dump .*--no-(event|args)", ours(edit(ASKED_DATA, "")), "peers-events dump --no-args"),
    Difference("asked-events", "events dump .*--no-event", ours(edit(r"^.*\[event\] (read|diff):.*\n", "")), "peers-events dump --no-event"),
    Difference("asked-events", "events replay .*--no-event", ours(edit(r"^.*/\* (read|diff):.*\n", "")), "peers-events replay --no-event"),
    Difference("diff-heading", "--diff", ours(edit(r"^#  time: .*\n", "")), "peers-plain report --diff {other}"),
    Difference("diff-order", "--diff", both(sorted_lines), "peers-plain report --diff {other} --sort-column 1"),
    Difference("chrome-tid", "--chrome", both(threads_of_processes), "ours-threads dump --chrome"),
    Difference("chrome-tid", "--chrome.*--tid", both(without_tasks), "ours-threads dump --chrome --tid {tid}"),
    Difference("chrome-letters", "values dump .*--chrome", theirs(decoded_letters), "peers-values dump --chrome"),
    Difference("recorded-time", "--chrome", both(edit(r"^.*recorded_time.*\n", "")), "peers-plain dump --chrome"),
    Difference("chrome-events", "events dump .*--chrome", ours(edit(r'^.*"ph":"i".*\n', "")), "peers-events dump --chrome"),
    Difference("chrome-edges", "dump .*--chrome .*-r ", status_only, "peers-plain dump --chrome -r {from}~{to}"),
    Difference("flame-times", "--flame-graph", status_only, "ours-threads dump --flame-graph"),
    Difference("mermaid-page", "--mermaid", both(edges_of_graph), "ours-threads dump --mermaid"),
    Difference("two-programs", "spawn dump .*--(graphviz|mermaid)", status_only, "ours-spawn dump --graphviz"),
    Difference("two-programs", "spawn graph .*--task", status_only, "ours-spawn graph --task"),
    Difference("hidden-waiting", "events report .*-C ", status_only, "peers-events report -C {leaf}"),
    Difference("empty-call", "events replay .*-t {long} .*-f elapsed .*--no-sched", status_only, "peers-events replay -D 1 -t {long} -f elapsed --no-sched", is_sure=False),
    Difference("symbols", "info --symbols", status_only, "peers-plain info --symbols"),
    Difference("newer-info", " (dump|info) ", ours(without_newer_info), "ours-threads info "),
    Difference("escaped", "(values|cplusplus) (replay|dump) ", theirs(escaped_lines), "peers-values replay -D 2"),
    Difference("range-sums", "(report|graph) .*-r ", status_only, "peers-plain report -r {from}~{to}"),
    Difference("range-until", "events .* -r ~{before}", status_only, "peers-events replay -r ~{before}"),
    Difference("range-edge", RANGE_EDGE, status_only, "peers-plain dump -H {leaf} -D 2 --no-event -r {from}~{to}"),
    Difference("switched-off", " replay .*@trace_off", both(without_indentation), "ours-spawn replay -T {inner}@trace_off -T child@trace_on"),
    Difference("empty-call", " replay ", both(fold_empty_calls), "peers-events replay -D 1"),
]


def alike(case, ours, theirs, without=None):
    """Both answers to @case. All documented differences are taken out of them, except @without."""
    for difference in DIFFERENCES:
        if difference is not without and re.search(difference.where, case):
            ours, theirs = difference.alike(ours, theirs)
    return ours, theirs
