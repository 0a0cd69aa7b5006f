#!/usr/bin/env python3
"""The probe needs libc and nothing else, and exports what its version script names and no more.

usage: probe.py LIBMCOUNT VERSION_SCRIPT
"""
import re
import subprocess
import sys


def run(*args):
    return subprocess.run(args, check=True, text=True, stdout=subprocess.PIPE).stdout


def main():
    library, script = sys.argv[1:]
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library)))
    exported = {line.split()[-1].split("@")[0]
                for line in run("nm", "-D", "--defined-only", library).splitlines()}
    text = re.sub(r"/\*.*?\*/", "", open(script).read(), flags=re.S)
    text = re.search(r"global:(.*?)local:", text, re.S).group(1)
    named = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))
    problems = []

    # The loader's own library is part of libc.
    for library in needed:
        if not re.match(r"(libc\.so|ld-linux)", library):
            problems.append(f"needs {library}")
    for name in sorted(exported ^ named):
        problems.append(f"{name}: exported or in the version script, not both")
    print("\n".join(problems) or "good")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
