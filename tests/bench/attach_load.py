#!/usr/bin/python3
"""Attaches to a memcached under load and leaves it, again and again: no request fails, and the
server is as it was. Prints how long the slowest requests took, during attaches and otherwise.

usage: attach_load.py [TIMES [PROGRAM [OPTION...]]]

TIMES: 200. PROGRAM: a memcached; without one, Debian's is fetched. OPTION: for `utrail record`; the
default is -P . This benchmark takes minutes, so it is run by hand only.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchlib import SKIP, UTRAIL, clean, scratch
from tools import environment

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "real"))

from memcached_load import Client  # noqa: E402  (the path is set above)

CLIENTS = 4
PAGE = 4096


def find_memcached():
    """The path of the installed memcached, or of that in Debian's package, which is unpacked
    here."""
    found = shutil.which("memcached")
    if found:
        return found
    fetched = subprocess.run(["apt-get", "download", "-q", "memcached"], capture_output=True)
    packages = list(Path().glob("memcached_*.deb"))
    if fetched.returncode or not packages:
        print("skipped: there is no memcached, and its package cannot be fetched")
        sys.exit(SKIP)
    subprocess.run(["dpkg", "-x", packages[0], "memcached"], check=True)
    return str(Path("memcached/usr/bin/memcached").resolve())


class Load(threading.Thread):
    """A client that checks each answer and notes when each request began and how long it took."""

    def __init__(self, path, number):
        super().__init__()
        self.client, self.number = Client(path), number
        self.times, self.wrong, self.is_over = [], 0, False

    def run(self):
        i = 0
        while not self.is_over:
            key, value = f"k{self.number}-{i % 100}", f"{self.number}.{i}".encode()
            begin = time.monotonic()
            good = self.client.ask(f"set {key} 0 0 {len(value)}", value) == "STORED" and self.client.get(key) == value
            self.times.append((begin, time.monotonic() - begin))
            self.wrong += not good
            i += 1


def look(pid):
    """The server's mapped files with their permissions, its code, its descriptors and its
    threads."""
    lines = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    files = [line for line in lines if len(line) > 5 and line[5].startswith("/")]
    code = {}
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for place, flags, *_, path in files:
            start, end = (int(at, 16) for at in place.split("-"))
            if "x" in flags:
                memory.seek(start)
                code[path, place] = memory.read(end - start)
    return {
        "files": files,
        "code": code,
        "descriptors": sorted(os.listdir(f"/proc/{pid}/fd"), key=int),
        "threads": sorted(os.listdir(f"/proc/{pid}/task"), key=int),
    }


def attach(pid, times, options):
    """Attach a recorder @times times. Returns the times when each began and had ended."""
    when = []
    for _ in range(times):
        begin = time.monotonic()
        command = [UTRAIL, "record", "-p", str(pid), *options, "--for=20ms", "--no-event", "-d", "data"]
        result = subprocess.run(command, capture_output=True, text=True, env=environment())
        when.append((begin, time.monotonic()))
        if result.returncode or result.stderr:
            sys.exit(f"utrail record: status {result.returncode}: {result.stderr}")
        clean("data")
        time.sleep(0.02)
    return when


def slowest(times, inside):
    values = sorted(took for begin, took in times if inside(begin, begin + took))
    if not values:
        return "no request"
    return f"{len(values):9} requests, median {values[len(values) // 2] * 1e3:7.3f} ms, slowest {values[-1] * 1e3:8.3f} ms"


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with scratch():
        program = sys.argv[2] if len(sys.argv) > 2 else find_memcached()
        options = sys.argv[3:] or ["-P", "."]
        path = tempfile.mktemp()
        server = subprocess.Popen([program, "-s", path, "-t", "4", "-m", "16"] + (["-u", "root"] if os.getuid() == 0 else []))
        while not os.path.exists(path):
            time.sleep(0.05)
        loads = [Load(path, n) for n in range(CLIENTS)]
        for load in loads:
            load.start()
        time.sleep(0.5)
        before = look(server.pid)
        when = attach(server.pid, times, options)
        after = look(server.pid)
        time.sleep(0.5)
        for load in loads:
            load.is_over = True
            load.join()
        server.terminate()
        status = server.wait(60)
        all_times = [one for load in loads for one in load.times]
        meets = lambda begin, end: any(begin < until and since < end for since, until in when)
        print(f"{times} attaches to {program} with {' '.join(options)}, {CLIENTS} clients")
        print(f"  while attached     {slowest(all_times, meets)}")
        print(f"  otherwise          {slowest(all_times, lambda begin, end: not meets(begin, end))}")
        print(f"  wrong answers      {sum(load.wrong for load in loads)}, exit status {status}")
        differs = [name for name in before if before[name] != after[name]]
        print(f"  as it was          {'all of it' if not differs else 'not: ' + ', '.join(differs)}")
        sys.exit(bool(differs or status or any(load.wrong for load in loads)))


if __name__ == "__main__":
    main()
