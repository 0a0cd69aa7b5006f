"""Completion in bash, zsh and fish: options, and words that come from the program or the
recording."""

import os
import shutil
from pathlib import Path

import pytest

from programs import Variant, build, program
from tools import BUILD, run, utrail

PG = Variant("gcc", "pg", "O2")
SCRIPTS = BUILD / "misc/completion"
PATH = {"PATH": f"{BUILD}:{os.environ['PATH']}"}

# zsh completes only in its line editor, so it runs in a pseudo-terminal. The matches go to a file.
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
say() { zpty -w shell "$1" }
say "PROMPT= RPROMPT=; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D"
say 'compadd() {
	local -a __found __options
	zparseopts -E -a __options O: A: D:
	if (( $#__options )); then builtin compadd "$@"; return; fi
	builtin compadd -A __found "$@"
	(( $#__found )) && print -rl -- $__found >> '${(q)3}'
}'
say 'show() { _main_complete; print "<done>" >> '${(q)3}' }; zle -C show complete-word show; bindkey "^T" show'
zpty -w -n shell "$2"$'\C-t'
for i in {1..3000}; do
	[[ -e $3 && "$(tail -1 $3)" == "<done>" ]]; is_done=$?
	while zpty -r -t shell line; do print -rn -- $line >> $3.said; done
	(( is_done )) || exit 0
	sleep 0.02
done
exit 1
"""


def bash(words):
    quoted = " ".join(f"'{word}'" for word in words)
    return run("bash", "-c", f"""compopt() {{ :; }}; source {SCRIPTS}/utrail; COMP_WORDS=({quoted})
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _utrail; printf '%s\n' "${{COMPREPLY[@]}}" """, env=PATH).must().out.split()


def fish(words):
    script = f"source {SCRIPTS}/utrail.fish; complete -C'{' '.join(words)}'"
    return [line.split("\t")[0] for line in run("fish", "-N", "-c", script, env=PATH).must().out.splitlines()]


def zsh(words):
    for name in ("zsh.txt", "zsh.txt.said"):
        Path(name).unlink(missing_ok=True)
    run("zsh", "-f", "-c", ZSH, "zsh", SCRIPTS, " ".join(words), Path("zsh.txt").resolve(), env=PATH).must()
    # Errors of the completion functions appear on the terminal, among the matches.
    said = Path("zsh.txt.said").read_text() if Path("zsh.txt.said").exists() else ""
    assert "bad option" not in said and "not found" not in said, said
    return Path("zsh.txt").read_text().split()[:-1]


SHELLS = {"bash": bash, "fish": fish, "zsh": zsh}


@pytest.fixture(params=SHELLS)
def offered(request):
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")

    def starts(*words):
        # The shell keeps the matches that begin with the last word.
        prefix = words[-1].rpartition(",")[2]
        found = SHELLS[request.param](words)
        return {word.rpartition(",")[2].rstrip("=") for word in found if word.rpartition(",")[2].startswith(prefix)}

    return starts


def test_options(offered, workdir):
    assert "--max-stack" in offered("utrail", "record", "--max-st")
    assert "--sort-column" in offered("utrail", "report", "--sort-")
    assert "--sort-column" not in offered("utrail", "record", "--sort-")


def test_words(offered, workdir):
    assert {"mono", "mono_raw"} <= offered("utrail", "record", "--clock", "mono")
    assert "replay" in offered("utrail", "rep")


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_words_that_are_no_options(workdir):
    """zsh completes a word of a command, and the name of a program."""
    Path("program").touch(mode=0o755)
    assert zsh(["utrail", "control", "sta"]) == ["status"]
    assert "program" in zsh(["utrail", "record", "./pro"])


def test_words_behind_an_equals_sign_only():
    assert bash(["utrail", "record", "--proc", "=", "a"]) == ["auto"]
    assert bash(["utrail", "record", "--proc", "="]) == ["auto", "ptrace", "bpf"]
    assert "ptrace" not in bash(["utrail", "record", "--proc", ""])


def test_a_letter_of_a_command(workdir):
    """build's -t takes no argument, and its -w takes one."""
    os.mkdir("folder")
    assert bash(["utrail", "build", "-t", "--work"]) == ["--work-dir="]
    assert bash(["utrail", "replay", "-t", "--work"]) == []
    assert bash(["utrail", "build", "-w", "fol"]) == ["folder"]


def test_of_a_recording(offered, workdir):
    exe = build(program("plain"), PG)
    utrail("record", "--no-event", "-d", "other.data", exe).must()
    assert "main" in offered("utrail", "replay", "-d", "other.data", "-F", "ma")
    assert "main" in offered("utrail", "graph", "-d", "other.data", "ma")
    assert "duration" in offered("utrail", "replay", "-f", "du")
    assert "elapsed" in offered("utrail", "replay", "-f", "duration,el")
    assert "p99" in offered("utrail", "report", "-s", "total,p9")
    tids = offered("utrail", "report", "-d", "other.data", "--tid", "")
    assert len(tids) == 1 and tids.pop().isdigit()


def test_of_a_program(offered, workdir):
    (workdir / "prog").symlink_to(build(program("plain"), PG))
    # Functions come from the last recording: the program mostly comes after its options.
    assert "main" not in offered("utrail", "record", "-F", "ma")
    utrail("record", "--no-event", "prog").must()
    assert "main" in offered("utrail", "record", "-F", "ma")


def test_complete_option(workdir):
    """The hidden option by which shells ask for words."""
    exe = build(program("plain"), PG)
    (workdir / "prog").symlink_to(exe)

    def words(*args):
        result = utrail(*args).must()
        assert result.err == ""
        return result.out.split("\n")[:-1]

    assert "main" in words("record", "--complete=functions", "./prog")
    assert words("record", "--complete=functions") == []
    assert words("record", "--complete=functions", "nosuch") == []
    assert words("report", "--complete=functions", "-d", "nosuch") == []
    assert words("info", "--complete=fields") == []
    utrail("record", "--no-event", "prog").must()
    assert "main" in words("report", "--complete=functions")
    assert words("report", "--complete=keys")[:3] == ["total", "total_avg", "total_min"]
    assert words("replay", "--complete=fields")[0] == "duration"
    assert words("graph", "--complete=fields")[0] == "total-time"
    assert all(word.isdigit() for word in words("dump", "--complete=tids"))
    assert len(words("dump", "--complete=tids")) == 1
    assert any("schedule" in word for word in words("replay", "--complete=events"))
