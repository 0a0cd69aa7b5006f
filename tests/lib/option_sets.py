"""Sets of options of the reading commands: single ones, picked by hand, and combinations, generated
with a fixed seed.

Words in braces stand for values of each recording: {inner} for a function that calls others, {leaf}
for one that does not, {library} for one of a library, {some} for a pattern that matches several;
{short} and {long} for durations; {from} and {to} for timestamps, {after} and {before} for times
since the start; {tid} for a task, {tids} for two; {other} for another recording.
"""

import random

SINGLE = {
    "replay": """
-F {inner}
-F {leaf}
-F {some}
-F {inner} -F {leaf}
-F {inner} -N {leaf}
-F {inner}@depth=1
-F {library}
-N {leaf}
-N {inner}
-N {library}
-H {inner}
-H {leaf}
-C {leaf}
-C {library}
-D 1
-D 2
-D 3
-t {short}
-t {long}
-t 10s
-t {short} -f time,delta
-T {inner}@depth=1
-T {leaf}@backtrace
-T {inner}@color=red --color=yes
-T {leaf}@time={long}
-T {inner}@trace_off -T {leaf}@trace_on
-T {leaf}@trace_off -T {inner}@trace_on
-T {leaf}@hide
-r {from}~{to}
-r {from}~
-r ~{to}
-r {after}~{before}
-r {after}~
-r ~{before}
-r {from}~{to} -D 2
-r {from}~{to} -f elapsed
--tid {tid}
--tid {tids}
-f duration
-f tid,addr
-f time,delta,elapsed,duration
-f task,module
-f +elapsed
-f all
-f none
--flat
--flat -f time
--column-view
--column-view --column-offset 4
--no-merge
--no-merge --no-comment
--no-comment
--no-libcall
--no-libcall --no-merge
--no-event
--no-sched
--event-full
--no-args
--libname
--srcline
--task-newline
--task-newline --column-view
--disable
--disable -T {inner}@trace_on
-Z 20
-Z 60
-Z 20 -F {inner}
--match glob -F *{leaf}
--match glob -N *{leaf}
--match simple -F {inner}
--format html
--format html -f none
--demangle no
--demangle full
--color yes
--kernel-full
""",
    "report": """

-s self
-s call
-s func
-s total,func
-s call,func
-s size,func
-s total-avg
-s total-min,func
-s total-max,func
-s self-avg,func
-s self-min,func
-s self-max,func
-f total
-f self,call
-f call,size
-f total,total-avg,total-min,total-max
-f self-avg,self-min,self-max
-f +size
-f none
-f all
--avg-total
--avg-self
--avg-total -s func
--avg-self -s avg
--avg-total -s max
--avg-self -s min
--task
--task -s tid
--task -s func,tid
--diff {other}
--diff {other} --diff-policy full
--diff {other} --diff-policy percent
--diff {other} --diff-policy no-abs
--diff {other} --sort-column 0
--diff {other} --sort-column 1
--diff {other} --sort-column 0 -s call
--diff {other} -s self
--diff {other} -f call
--diff {other} -f total,self,call
--diff {other} --avg-total
-F {inner}
-N {leaf}
-H {leaf}
-C {leaf}
-D 2
-t {short}
-t {long}
-r {from}~{to}
-r {after}~{before}
--tid {tid}
-T {inner}@depth=1
--no-libcall
--no-event
--no-sched
-Z 20
--srcline
--demangle no
--demangle full
--color yes
--format html
--match glob -F *{leaf}
""",
    "graph": """

main
{inner}
{leaf}
{library}
-f self
-f total,self
-f total,self,addr
-f addr {inner}
-f none
-f all
-f +self
--task
--task -f self
--task -f none
--task -f tid,total
-D 1
-D 2
-D 2 {inner}
-t {short}
-t {long}
-F {inner}
-N {leaf}
-H {inner}
-H {leaf}
-C {leaf}
-T {inner}@depth=1
-r {from}~{to}
-r {after}~{before}
--tid {tid}
--no-libcall
--no-event
--no-sched
-Z 20
--srcline
--demangle no
--demangle full
--color yes
--format html
--match glob -F *{leaf}
""",
    "dump": """

-F {inner}
-N {leaf}
-C {leaf}
-H {leaf}
-D 2
-r {from}~{to}
--tid {tid}
--no-args
--no-libcall
--no-event
--demangle no
--demangle full
--chrome
--chrome -F {inner}
--chrome -N {leaf}
--chrome -D 2
--chrome -t {short}
--chrome --tid {tid}
--chrome -r {from}~{to}
--chrome --no-libcall
--chrome --no-args
--flame-graph
--flame-graph -F {inner}
--flame-graph -N {leaf}
--flame-graph -D 2
--flame-graph --no-libcall
--flame-graph --sample-time 1us
--flame-graph --sample-time {short}
--flame-graph --sample-time {short} -D 2
--flame-graph --tid {tid}
--graphviz
--graphviz -F {inner}
--graphviz -D 2
--graphviz -N {leaf}
--graphviz --tid {tid}
--mermaid
--mermaid -F {inner}
--mermaid -D 2
--mermaid -N {leaf}
""",
    "info": """

--task
--symbols
""",
}

# By command: groups of options that exclude each other in a combination.
GROUPS = {
    "replay": [
        ["-F {inner}", "-F {leaf}", "-F {some}", "-N {leaf}", "-C {leaf}", "-H {inner}", "-H {leaf}"],
        ["-D 1", "-D 2", "-D 3", "-D 4"],
        ["-t {short}", "-t {long}"],
        ["-f none", "-f time", "-f duration,tid,addr", "-f +task", "-f +module", "-f elapsed"],
        ["--no-libcall", "--no-event", "--no-sched", "--no-args"],
        ["--no-merge", "--no-comment", "--libname", "--task-newline", "--column-view", "--color yes", "--format html"],
        ["--tid {tid}", "-r {from}~{to}", "-r {after}~{before}"],
    ],
    "report": [
        ["-F {inner}", "-F {some}", "-N {leaf}", "-C {leaf}", "-H {leaf}"],
        ["-D 2", "-D 3", "-t {short}"],
        ["-s self,func", "-s call,func", "-s func", "-s total,func"],
        ["-f self,call", "-f total,total-avg,total-max", "-f call,size", "--avg-total", "--avg-self"],
        ["--no-libcall", "--no-event", "--no-sched"],
        ["--tid {tid}", "-r {from}~{to}", "--color yes"],
    ],
    "graph": [
        ["-F {inner}", "-N {leaf}", "-C {leaf}", "-H {leaf}"],
        ["-D 2", "-D 3", "-t {short}"],
        ["-f self", "-f total,self", "-f none", "-f total,addr"],
        ["--no-libcall", "--no-event", "--no-sched"],
        ["--tid {tid}", "-r {from}~{to}", "--color yes"],
        ["main", "{inner}"],
    ],
    "dump": [
        ["--chrome", "--flame-graph", "--graphviz", "--mermaid"],
        ["-F {inner}", "-N {leaf}", "-C {leaf}", "-H {leaf}"],
        ["-D 2", "-D 3"],
        ["--no-libcall", "--no-event", "--no-args"],
        ["--tid {tid}", "-r {from}~{to}"],
    ],
}

COMBINED = {"replay": 35, "report": 15, "graph": 10, "dump": 10}


def combinations(command):
    """Combinations of two to four options, which are the same in each run."""
    dice = random.Random(command)
    found = set()
    while len(found) < COMBINED.get(command, 0):
        groups = sorted(dice.sample(range(len(GROUPS[command])), dice.randint(2, 4)))
        found.add(" ".join(dice.choice(GROUPS[command][group]) for group in groups))
    return sorted(found)


def option_sets(command):
    return SINGLE[command].split("\n")[1:-1] + combinations(command)


COMMANDS = list(SINGLE)
