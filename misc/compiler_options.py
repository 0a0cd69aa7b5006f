#!/usr/bin/env python3
"""Finds the options whose argument is the next word, by running the installed compilers.

Usage: misc/compiler_options.py [COMPILER...]

The script runs each compiler with each of its options, followed by the name of a missing file. The
compiler complains of the file unless it is the option's argument. For nvcc the script only reads
the help. The output is rows of utils/builddb/compiler/compile_options.c. Rows that are missing in
that file are marked.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "utils/builddb/compiler/compile_options.c"
COMPILERS = ["gcc", "g++", "gfortran", "gdc", "clang", "clang++", "nvcc"]
# With these options a compiler prints something and reads no file, or treats all other options
# differently.
ANSWERS = re.compile(r"--?(help|version|print|dump(full)?(version|machine|specs)|target-help|cc1|driver-mode|autocomplete|fsyntax-only)|-\?")
# Options for languages, libraries and outputs. They are not in the table, since utrail handles them
# in its code, like all options -Xarch_ARCH.
OWN = {"-x", "-l", "-o", "--output", "--language", "--library", "--output-file", "--x"}
BATCH = 500


def output(*command):
    # Some options write files although no file is compiled.
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                                cwd=directory, env={"LC_ALL": "C", "PATH": "/usr/local/cuda/bin:/usr/bin:/bin"})
    return result.stdout + result.stderr


def listed(compiler):
    """Returns all options that the compiler lists, with or without an argument."""
    if "clang" in compiler:
        return [line.split()[0] for line in output(compiler, "--autocomplete=-").splitlines() if line.startswith("-")]
    text = "".join(output(compiler, f"--help={kind}") for kind in ("separate", "separate,undocumented", "common", "joined"))
    return re.findall(r"^\s+(-[^\s=<,\[]+)", text + output(compiler, "-v", "--help"), re.M)


def asked(compiler, options):
    """Returns those of @options that take the next word as their argument."""
    options = sorted({option for option in options if not option.endswith(("=", ",")) and not ANSWERS.match(option)})
    taken = []
    for start in range(0, len(options), BATCH):
        batch = options[start:start + BATCH]
        words = [word for i, option in enumerate(batch) for word in (option, f"none{i}.o")]
        left = {int(n) for n in re.findall(r"none(\d+)\.o'?:? *(?:No such|linker input)|directory: 'none(\d+)\.o'",
                                           output(compiler, "-###", "-c", *words)) for n in n if n}
        taken += [option for i, option in enumerate(batch) if i not in left]
    missing = re.compile(r"argument (to '[^']*' is )?missing|missing (argument|filename|path)")
    # Try each option alone: it may need its argument in the same word. In the runs above, one wrong
    # option may have kept gcc from reading any file.
    return {option for option in taken if missing.search(output(compiler, "-###", "-c", option))
            and not re.search(missing.pattern + r"|none\.o'?:? *(No such|linker)|directory: 'none\.o",
                              output(compiler, "-###", "-c", option, "none.o"))}


def of_help(compiler):
    """Finds options in nvcc's help. A line has both names of an option. If the option takes a word,
    <...> or {...} follows the first name."""
    found = set()
    for line in output(compiler, "--help").splitlines():
        row = re.match(r"(--\S+) +(?:[<{[]\S.*|entry,\.\.\.) +\((-\S+)\)", line)
        found |= set(row.groups()) if row else set()
    return found


def options_of(compiler):
    """Returns the names of all options of an installed compiler that take the next word."""
    found = of_help(compiler) if "nvcc" in compiler else asked(compiler, listed(compiler))
    return {option for option in found - OWN if not option.startswith("-Xarch_")}


def table(name):
    """Returns the strings of the array @name in utrail's table of options."""
    text = TABLE.read_text(encoding="utf-8")
    return set(re.findall(r'"([^"]+)"', re.search(r"\*const " + name + r"\[\] = \{(.*?)\};", text, re.S)[1]))


def known(compiler):
    """Returns the options that utrail's table has for the compiler."""
    own = table("nvcc_with_word") if "nvcc" in compiler else table("with_word")
    return own if "nvcc" in compiler else own | table("linker_with_word")


def find(compiler):
    """Returns the path of the compiler, or None if it is not installed."""
    return shutil.which(compiler, path="/usr/local/cuda/bin:/usr/bin:/bin")


def main():
    for compiler in sys.argv[1:] or COMPILERS:
        path = find(compiler)
        if not path:
            print(f"{compiler}: not installed")
            continue
        for option in sorted(options_of(path)):
            print(f'\t"{option}",{"" if option in known(compiler) else " /* missing */"}')


if __name__ == "__main__":
    main()
