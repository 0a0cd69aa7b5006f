"""A threaded web server without a framework. Prints its port, and ends at SIGTERM. Then it prints
the number of its answers, and the growth of its memory since the 500th.

usage: python_server.py
"""

import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.Lock()
nr_answers = 0
kb_before = 0


def kb_used():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def body_of(path):
    return "".join(sorted(path, key=lambda c: (c.lower(), c))).encode() * 10


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        global nr_answers, kb_before
        body = body_of(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        with lock:
            nr_answers += 1
            if nr_answers == 500:
                kb_before = kb_used()

    def log_message(self, *args):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(server.server_address[1], flush=True)
    server.serve_forever()
    server.server_close()
    print(nr_answers, kb_used() - kb_before if kb_before else 0, flush=True)


if __name__ == "__main__":
    sys.exit(main())
