#!/usr/bin/env python3
"""Each header compiles alone. Headers of eBPF programs are compiled for the kernel if there is a
clang. usage: headers.py TOP BUILD COMPILER..."""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys


def main():
    top, build, *compiler = sys.argv[1:]
    headers = [path for room in ("utils", "arch", "libmcount", "cmds", "trace")
               for path in sorted((pathlib.Path(top) / room).rglob("*.h"))
               if room != "trace" or path.relative_to(top).parts[1] != "tests"]

    def compile_alone(header):
        chosen = compiler
        if "preserve_access_index" in header.read_text():
            if not shutil.which("clang"):
                return ""
            chosen = ["clang", "-target", "bpf", "-ffreestanding"]
        # Including it twice checks the include guard.
        code = f'#include "{header.relative_to(top)}"\n' * 2
        return subprocess.run(
            [*chosen, "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Werror",
             "-I", top, "-I", f"{top}/trace", "-I", build, "-x", "c", "-"],
            input=code, text=True, stderr=subprocess.PIPE).stderr

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        complaints = [text for text in pool.map(compile_alone, headers) if text]
    print("\n".join(complaints) or f"{len(headers)} headers are good")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
