#!/usr/bin/env python3
"""The help text, the man pages and the completion have every option of each command.

usage: options.py UTRAIL MAN_DIR COMPLETION [COMMAND...]
"""
import re
import subprocess
import sys


def fail(what, left, right):
    print(f"{what}: only in one of them: {sorted(left ^ right)}")
    return 1


def help_options(utrail, *args):
    text = subprocess.run([utrail, *args, "--help=all"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return set(re.findall(r"^ +(?:-\w, )? *(--[A-Za-z-]+)", text, re.M))


def man_options(path):
    text = open(path).read()
    lines = [line for line in text.splitlines() if line.startswith(r"\fB\-")]
    return {name.replace("\\", "")
            for line in lines for name in re.findall(r"\\fB(\\-\\-[^=]*?)\\fR", line)}


def completion_options(path, command):
    text = open(path).read()
    words = re.search(r"^\t\[%s\]='(.*)'$" % command, text, re.M).group(1).split()
    return {word.rstrip("=") for word in words}


def complete(script, line):
    """The words that bash offers for the last word of @line."""
    words = " ".join(f"'{word}'" for word in line.split(" "))
    code = f"""compopt() {{ :; }}
        source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _utrail; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return subprocess.run(["bash", "-c", code], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()


def main():
    utrail, man_dir, script, *commands = sys.argv[1:]
    failures = 0
    everything = help_options(utrail)
    listed = set(re.findall(r"^  ([a-z]+)  +", subprocess.run(
        [utrail, "--usage"], check=True, text=True, stdout=subprocess.PIPE).stdout, re.M))

    if listed != set(commands):
        failures += fail("commands that are built and commands in the list", listed, set(commands))
    if man_options(f"{man_dir}/utrail.1") != everything:
        failures += fail("utrail --help and utrail(1)", everything,
                         man_options(f"{man_dir}/utrail.1"))
    for command in commands:
        shown = help_options(utrail, command)
        page = man_options(f"{man_dir}/utrail-{command}.1")
        offered = completion_options(script, command)

        if not shown or shown != page:
            failures += fail(f"{command}: --help and man page", shown, page)
        if shown != offered:
            failures += fail(f"{command}: --help and completion", shown, offered)

    for line, expected in (("utrail record --max-st", "--max-stack="),
                           ("utrail record --clock = mono_", "mono_raw"),
                           ("utrail -d x record --no-rand", "--no-randomize-addr"),
                           ("utrail reco", "record")):
        if expected not in complete(script, line):
            print(f"completion of '{line}': no {expected}")
            failures += 1
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
