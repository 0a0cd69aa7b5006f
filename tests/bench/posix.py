#!/usr/bin/env python3
"""POSIX Trace (libutrail-trace): an event without a stream is compared with an empty call. An event
with 16 bytes into a running stream, alone and with a second writer, is compared with reading the
clock, and with LTTng-UST (Debian: liblttng-ust-dev lttng-tools). All run in turns."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from benchlib import SOURCES, compile, environment, scratch

TOP = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("UTRAIL_BUILD", TOP / "build")) / "trace/library/libutrail-trace.a"
SESSION = f"utrail-bench-{os.getpid()}"  # a name of its own: a killed process leaves its files
ROUNDS = 3


def measure(best, exe, env, *words):
    """Run @exe and return its output. @best keeps for each name the least number so far."""
    out = subprocess.run([exe, *words], check=True, text=True, env=env, stdout=subprocess.PIPE).stdout
    for line in out.splitlines():
        name, value = line.split()
        best[name] = min(float(value), best.get(name, 1e9))


def has_lttng():
    if not shutil.which("lttng") or not shutil.which("lttng-sessiond"):
        return False
    done = subprocess.run(["gcc", "-E", "-x", "c", "-"], input="#include <lttng/tracepoint.h>", text=True, capture_output=True)
    return done.returncode == 0


@contextmanager
def lttng_session(env):
    """A session whose buffers go round, as a looping stream does: nothing reads them."""
    for words in (["create", SESSION, "--snapshot", f"--output={os.getcwd()}/snapshot"],
                  ["enable-channel", "-u", "ring", "--overwrite", "--subbuf-size=64k", "--num-subbuf=4"],
                  ["enable-event", "-u", "bench:event", "-c", "ring"], ["start"]):
        subprocess.run(["lttng", *words], check=True, env=env, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        subprocess.run(["lttng", "destroy", SESSION], env=env, stdout=subprocess.DEVNULL)


@contextmanager
def lttng_daemon(env):
    """A daemon for this run. Where one runs already, that one is used, and the new one ends by
    itself."""
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--quiet"], env=env)
    try:
        for _ in range(100):
            if subprocess.run(["lttng", "list"], env=env, capture_output=True).returncode == 0:
                break
        yield
    finally:
        daemon.terminate()
        daemon.wait()


def measure_lttng(best, exe, env):
    with lttng_daemon(env):
        with lttng_session(env):
            measure(best, exe, env)
        measure(best, exe, env, "none")


def main():
    with scratch():
        exe = compile("posix.c", "posix", [f"-I{TOP / 'trace/include/utrail-posix'}"], [LIBRARY])
        env = {**environment(), "UTRAIL_TRACE_DIR": os.getcwd(), "LTTNG_HOME": os.getcwd(), "HOME": os.getcwd(),
               "LTTNG_UST_REGISTER_TIMEOUT": "5000"}
        peer_exe = compile("lttng.c", "lttng", [f"-I{SOURCES}"], ["-llttng-ust", "-ldl"]) if has_lttng() else None
        ns, peer = {}, {}
        for _ in range(ROUNDS if peer_exe else 1):
            measure(ns, exe, env)
            if peer_exe:
                measure_lttng(peer, peer_exe, env)
        print(f"{'no stream':32} {ns['none']:9.2f} ns   empty call      {ns['empty']:9.2f} ns   more  {ns['none'] - ns['empty']:6.2f} ns   target <= 1.5")
        print(f"{'stream that is suspended':32} {ns['suspended']:9.2f} ns")
        print(f"{'16 bytes, there is room':32} {ns['room']:9.2f} ns   the clock alone {ns['clock']:9.2f} ns   target <= 60")
        print(f"{'16 bytes, over the oldest event':32} {ns['running']:9.2f} ns   the clock alone {ns['clock']:9.2f} ns   target <= 60")
        print(f"{'16 bytes, two writers':32} {ns['two']:9.2f} ns   one writer      {ns['running']:9.2f} ns   ratio {ns['two'] / ns['running']:6.2f}   target <= 3")
        if not peer_exe:
            print("skipped: LTTng-UST is not installed (apt-get install liblttng-ust-dev lttng-tools)")
            return
        for what, name in (("no stream", "none"), ("16 bytes, over the oldest event", "running"), ("16 bytes, two writers", "two")):
            print(f"{what:32} {ns[name]:9.2f} ns   LTTng-UST       {peer[name]:9.2f} ns   ratio {ns[name] / peer[name]:6.2f}")


if __name__ == "__main__":
    main()
