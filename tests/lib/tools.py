"""Finds the programs under test and runs them with a time limit; no process is left."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("UTRAIL_BUILD", TOP / "build")).resolve()
UTRAIL = BUILD / "utrail"
PEER = shutil.which("uftrace")

# The limit is generous: on a busy machine, and with sanitizers, everything takes longer.
LIMIT_S = int(os.environ.get("UTRAIL_TEST_LIMIT", "120"))


@dataclass
class Result:
    """The result of a command: @status is the shell's convention, 128 + N for signal N."""

    args: list
    status: int
    out: str
    err: str

    def must(self, status=0):
        assert self.status == status, (
            f"{' '.join(map(str, self.args))}: status {self.status}, expected {status}\n"
            f"--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-4000:]}"
        )
        return self


def has_sanitizer():
    """True when utrail (not the probe) is built with AddressSanitizer."""
    return b"__asan_init" in UTRAIL.read_bytes()


# The words before a command that is to run without root's permissions.
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def why_not_as_nobody():
    """The reason why utrail cannot be run as NOBODY; None when it can."""
    if os.geteuid() != 0:
        return "needs root to be somebody else"
    return None if run(*NOBODY, "test", "-x", UTRAIL).status == 0 else f"nobody cannot reach {UTRAIL}"


def environment(**extra):
    """The environment of tested programs: no colours, no pager, no variables from the caller's
    shell that change results."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("UTRAIL_", "LD_PRELOAD"))}
    env.update(LC_ALL="C", TERM="dumb", PAGER="cat")
    env.update({k: str(v) for k, v in extra.items()})
    return env


def run(*args, cwd=None, env=None, stdin=subprocess.DEVNULL, limit=None, preexec=None):
    """Run @args to their end. When the limit is passed, their whole process group is killed."""
    args = [str(a) for a in args]
    proc = subprocess.Popen(
        args,
        cwd=cwd,
        env=environment(**(env or {})),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=preexec,
    )
    try:
        out, err = proc.communicate(timeout=limit or LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(proc.pid, signal.SIGKILL)
        out, err = proc.communicate()
        raise AssertionError(
            f"{' '.join(args)}: not done after {limit or LIMIT_S} s\n"
            f"--- stdout\n{out.decode(errors='replace')[-2000:]}\n"
            f"--- stderr\n{err.decode(errors='replace')[-2000:]}"
        ) from None
    status = proc.returncode if proc.returncode >= 0 else 128 - proc.returncode
    return Result(args, status, out.decode(errors="replace"), err.decode(errors="replace"))


def leave_out_preemption(args):
    """Leave out the scheduler's pre-emption, which is random: only tests about it show it."""
    shows = args and args[0] in ("replay", "report", "graph", "script")
    return [args[0], "--no-sched-preempt", *args[1:]] if shows else args


EMPTY_CALL = re.compile(r"^( *)([^ \n].*) \{\n\1\}( = .*;)? /\* .* \*/$", re.M)


def fold_empty_calls(result):
    """Replay shows a call with a hidden event inside in two lines. Fold them into one line, so that
    calls have one form."""
    args = [str(arg) for arg in result.args]
    if "replay" in args and "-f" in args[:-1] and args[args.index("-f") + 1] == "none":
        result.out = EMPTY_CALL.sub(lambda m: f"{m[1]}{m[2]}{m[3] or ';'}", result.out)
    return result


def run_tool(tool, args, preempted, kw):
    return run(tool, *args, **kw) if preempted else fold_empty_calls(run(tool, *leave_out_preemption(args), **kw))


def utrail(*args, preempted=False, **kw):
    """Run utrail. @preempted: show pre-emption, and do not fold calls."""
    return run_tool(UTRAIL, args, preempted, kw)


def peer(*args, preempted=False, **kw):
    return run_tool(PEER, args, preempted, kw)


def state_of(pid):
    """The letter of a process' state, see proc_pid_stat(5). "X" also stands for a process that has
    gone: it may end at any time."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def is_alive(pid):
    return state_of(pid) not in "ZX"


def terminal_text(ours):
    """All bytes that are written to a terminal until no process has it open any more; each read may
    return only a part. Closes the terminal."""
    text = b""
    with contextlib.suppress(OSError):
        while part := os.read(ours, 65536):
            text += part
    os.close(ours)
    return text


def wait_until(condition):
    """Wait until the result of @condition is true, and return it."""
    end = time.monotonic() + LIMIT_S
    while not (result := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return result
