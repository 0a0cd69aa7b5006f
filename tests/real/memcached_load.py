#!/usr/bin/python3
"""Load for a memcached: eight clients at a time check each answer. Prints the results.

usage: memcached_load.py PROGRAM
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

CLIENTS = 8
ROUNDS = 1500
results = []


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, line, data=None):
        self.socket.sendall(line.encode() + b"\r\n" + (data + b"\r\n" if data is not None else b""))
        return self.file.readline().strip().decode()

    def get(self, key):
        words = self.ask(f"get {key}").split()
        if words[0] != "VALUE":
            return None
        data = self.file.read(int(words[3]) + 2)[:-2]
        self.file.readline()
        return data


def work(path, number):
    client = Client(path)
    good = 0
    for i in range(ROUNDS):
        key, value = f"k{number}-{i % 100}", (f"{number}.{i}." * (i % 50 + 1)).encode()
        good += client.ask(f"set {key} 0 0 {len(value)}", value) == "STORED"
        good += client.get(key) == value
        good += client.ask("incr shared 1").isdigit()
        if i % 10 == 0:
            good += client.ask(f"delete {key}") == "DELETED"
            good += client.get(key) is None
    results.append(good)


def first_client(path, server):
    """A client of a server that just starts: its socket has a name before it listens."""
    end = time.monotonic() + 120
    while server.poll() is None and time.monotonic() < end:
        try:
            return Client(path)
        except (FileNotFoundError, ConnectionRefusedError):
            time.sleep(0.05)
    sys.exit("memcached_load.py: the server does not listen")


def main():
    path = tempfile.mktemp()
    command = [sys.argv[1], "-s", path, "-t", "4", "-m", "16"] + (["-u", "root"] if os.getuid() == 0 else [])
    server = subprocess.Popen(command)
    client = first_client(path, server)
    client.ask("set shared 0 0 1", b"0")
    threads = [threading.Thread(target=work, args=(path, n)) for n in range(CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    shared = client.get("shared").decode()
    server.send_signal(signal.SIGTERM)
    print(f"RESULT load {sorted(results)} shared {shared} status {server.wait(120)}")
    if os.path.exists(path):
        os.unlink(path)


if __name__ == "__main__":
    main()
