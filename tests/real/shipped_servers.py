#!/usr/bin/python3
"""Servers as Debian ships them, under load: recorded from their start with -P ., and attached to
twice while they run.

usage: shipped_servers.py [--long] SERVER...

Each is run untraced, recorded from its start, and attached to. The load checks each answer. The
load, the server's status and its last messages must be the same all three times. A server that is
not installed is skipped (status 77), with its package's name.
"""

import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from tools import BUILD, UTRAIL, environment, is_alive  # noqa: E402  (the path is set above)

SKIP = 77
LIMIT_S = 300
LONG_S = 10
NOBODY = 65534


def say(text):
    print(text, flush=True)


def skip(reason):
    say(f"skipped: {reason}")
    sys.exit(SKIP)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Server:
    """A server and its load.

    @tools: programs that must be installed, the server first
    @command(folder, port), @load(folder, port, requests): the commands to run
    @good: finds the number of right answers in the load's output. @requests: short and long
    @prepare(folder): runs before each start. @stop: the signal that ends the server
    @user: the user that it runs as
    """

    package: str
    tools: tuple
    command: Callable
    load: Callable
    good: str
    requests: tuple
    prepare: Callable = lambda folder, port: None
    stop: int = signal.SIGTERM
    user: int = 0
    options: tuple = ()


def find_tool(name):
    return shutil.which(name) or next(iter(sorted(glob.glob(name))), None)


def make_database(folder, port):
    bin_dir = Path(find_tool("/usr/lib/postgresql/*/bin/initdb")).parent
    shutil.chown(folder, NOBODY, NOBODY)
    as_nobody = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"] if os.geteuid() == 0 else []
    subprocess.run([*as_nobody, str(bin_dir / "initdb"), "-D", str(folder / "db"), "-U", "tester", "-A", "trust", "-N", "--locale=C"], check=True,
                   stdout=subprocess.DEVNULL, env=environment(), cwd=folder)


def make_site(folder, port):
    (folder / "site").mkdir()
    (folder / "site/page").write_text("x" * 5000)
    (folder / "logs").mkdir()
    (folder / "nginx.conf").write_text(f"""
daemon off; worker_processes 2; pid {folder}/pid; error_log {folder}/error.log;
{"user root;" if os.geteuid() == 0 else ""}
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
server {{ listen 127.0.0.1:{port}; root {folder}/site; gzip on; gzip_types *; }} }}
""")


def pgbench(folder, port, requests):
    common = ["-h", "127.0.0.1", "-p", str(port), "-U", "tester", "postgres"]
    return [["pgbench", "-i", "-q", *common], ["pgbench", "-c", "4", "-j", "2", "-t", str(requests), *common]]


SERVERS = {
    "redis": Server(
        "redis-server redis-tools", ("redis-server", "redis-benchmark"),
        lambda folder, port: ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder), "--io-threads", "2"],
        lambda folder, port, n: [["redis-benchmark", "-p", str(port), "-n", str(n), "-c", "8", "--csv", "-t", "set,get,incr,lpush,lrange_100,hset,zadd"]],
        r'^"([A-Z]+[^"]*)","\d', (2000, 20000)),
    "memcached": Server(
        "memcached libmemcached-tools", ("memcached", "memccapable"),
        lambda folder, port: ["memcached", "-p", str(port), "-U", "0", "-l", "127.0.0.1", "-u", "nobody", "-t", "4"],
        lambda folder, port, n: [["memccapable", "-a", "-h", "127.0.0.1", "-p", str(port)]] * (n // 10), r"\[pass\]", (20, 300)),
    "nginx": Server(
        "nginx-light apache2-utils", ("/usr/sbin/nginx", "ab"),
        lambda folder, port: ["/usr/sbin/nginx", "-c", f"{folder}/nginx.conf", "-p", str(folder)],
        lambda folder, port, n: [["ab", "-q", "-n", str(n), "-c", "8", "-H", "Accept-Encoding: gzip", f"http://127.0.0.1:{port}/page"],
                                 ["ab", "-q", "-k", "-n", str(n), "-c", "8", f"http://127.0.0.1:{port}/page"]],
        r"(?:Complete|Failed) requests: +\d+", (2000, 40000), make_site, signal.SIGQUIT),
    "postgres": Server(
        "postgresql postgresql-contrib", ("/usr/lib/postgresql/*/bin/postgres", "pgbench"),
        lambda folder, port: ["/usr/lib/postgresql/*/bin/postgres", "-D", f"{folder}/db", "-p", str(port), "-k", str(folder), "-c", "jit=off"],
        pgbench, r"number of transactions actually processed: .*|number of failed transactions: \d+ ", (60, 1500), make_database, signal.SIGINT,
        NOBODY),
}


def has_ended(pid):
    """True when a process ends within a minute: a server's child may serve one connection only, and
    its parent may reap it later."""
    end = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_alive(pid)


class Trial:
    def __init__(self, name, requests, before=()):
        self.name, self.server, self.requests, self.before = name, SERVERS[name], requests, list(before)
        self.folder = Path(tempfile.mkdtemp(prefix=f"shipped-{name}-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.times = 0

    def become(self):
        if self.server.user and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(self.server.user)
            os.setuid(self.server.user)

    def start(self):
        self.server.prepare(self.folder, self.port)
        exe, *words = self.server.command(self.folder, self.port)
        self.log = open(self.folder / "server.log", "w+")
        self.proc = subprocess.Popen(
            [*map(str, self.before), find_tool(exe), *words], cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=self.become)
        end = time.monotonic() + LIMIT_S
        while not answers(self.port):
            if self.proc.poll() is not None or time.monotonic() > end:
                self.fail("it does not listen")
            time.sleep(0.05)

    def fail(self, what):
        self.log.seek(0)
        text = self.log.read()[-3000:]
        self.kill()
        sys.exit(f"{self.name}: {what}\n{text}")

    def kill(self):
        try:
            os.killpg(self.proc.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.proc.wait()

    def put_load(self, meanwhile=None):
        """Run the load. Returns the number of right answers."""
        text = ""
        for command in self.server.load(self.folder, self.port, self.requests):
            load = subprocess.Popen(command, cwd="/tmp", env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True)
            if meanwhile:
                meanwhile(load)
            try:
                text += load.communicate(timeout=LIMIT_S)[0]
            except subprocess.TimeoutExpired:
                load.kill()
                self.fail(f"the load is not done after {LIMIT_S} s")
            if load.returncode:
                self.fail(f"{command}: status {load.returncode}: {text[-2000:]}")
        return re.findall(self.server.good, text, re.M)

    def program(self):
        """The pid of the server, which is the recorder's child in a recording from the start."""
        if not self.before:
            return self.proc.pid
        children = Path(f"/proc/{self.proc.pid}/task/{self.proc.pid}/children").read_text().split()
        return int(children[0])

    def stop(self):
        os.kill(self.program(), self.server.stop)
        try:
            return self.proc.wait(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            self.fail(f"it does not end after signal {self.server.stop}")
            return None

    def attach(self, load):
        """Attach to the busiest process of the server, and detach, twice during the load."""
        while self.times < 2 and load.poll() is None:
            target = self.busiest()
            result = subprocess.run([str(UTRAIL), "record", "-P", ".", "--no-libcall", "-p", str(target), "--for", "0.3s", "-d",
                                     str(self.folder / "attached"), *self.server.options],
                                    cwd="/tmp", env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
            if result.returncode and not has_ended(target):
                self.fail(f"attaching to {target}: status {result.returncode}: {result.stderr}")
            self.times += result.returncode == 0

    def busiest(self):
        """The process with the most CPU time among the server and its children."""
        pids = [self.proc.pid, *map(int, Path(f"/proc/{self.proc.pid}/task/{self.proc.pid}/children").read_text().split())]

        def used(pid):
            try:
                words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                return int(words[11]) + int(words[12])
            except (FileNotFoundError, ProcessLookupError):
                return -1

        return max(pids, key=used)

    def run(self, is_attached=False):
        self.start()
        try:
            good = self.put_load(self.attach if is_attached else None)
            status = self.stop()
            return good, status
        finally:
            self.kill()
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)


def that_last(name):
    """The number of requests that this machine serves in LONG_S, untraced. (redis' threads spin,
    which takes long on a busy machine.)"""
    few, many = SERVERS[name].requests
    began = time.monotonic()
    Trial(name, few).run()
    return max(few, min(many, int(few * LONG_S / (time.monotonic() - began))))


def check(name, is_long):
    server = SERVERS[name]
    for tool in server.tools:
        if not find_tool(tool):
            skip(f"{tool} is not installed (apt-get install {server.package})")
    requests = that_last(name) if is_long else server.requests[False]
    bare = Trial(name, requests).run()
    recorded = Trial(name, requests, [UTRAIL, "record", "-P", ".", "--no-libcall", *server.options, "-d", "recorded", "--"]).run()
    trial = Trial(name, requests)
    attached = trial.run(is_attached=True)
    for what, result in (("recorded", recorded), ("attached to", attached)):
        if result != bare:
            sys.exit(f"{name}, {what}: {result}\nbare: {bare}")
    if not bare[0]:
        sys.exit(f"{name}: the load says nothing of what was right")
    say(f"{name}: {len(bare[0])} answers the same started and attached to ({trial.times} times), status {bare[1]}")


def main():
    words = [word for word in sys.argv[1:] if word != "--long"]
    if words == ["--list"]:
        print("\n".join(SERVERS))
        return
    for name in words or SERVERS:
        check(name, "--long" in sys.argv)


if __name__ == "__main__":
    main()
