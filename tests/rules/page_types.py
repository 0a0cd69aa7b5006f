#!/usr/bin/env python3
"""The page's JavaScript has the types that its comments declare (tsc --checkJs), and its modules
can be joined to one file.

usage: page_types.py TOP
"""
import pathlib
import shutil
import subprocess
import sys

SKIP = 77


def main():
    room = pathlib.Path(sys.argv[1]) / "utils/export/page"
    long = [
        f"{path}:{number}: {len(line)} columns, 110 at most"
        for path in sorted(room.rglob("*.js"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > 110
    ]
    print("\n".join(long))
    if long:
        return 1
    tsc = shutil.which("tsc")
    if not tsc:
        print("skipped: there is no tsc (apt-get install node-typescript)")
        return SKIP
    done = subprocess.run([tsc, "-p", room / "jsconfig.json"], capture_output=True, text=True)
    print(done.stdout or "all types fit")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
