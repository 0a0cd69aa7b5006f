#!/usr/bin/env python3
"""Finds the options that take the next word, by asking the compilers that are installed.

Usage: misc/compiler_options.py [COMPILER...]

gcc, gfortran and clang get each of their options, followed by the name of a missing file. They
complain of the file unless it is the option's argument. For nvcc the help is read. The output is
rows of utils/builddb/compiler/compile_options.c; rows that are missing there are marked.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "utils/builddb/compiler/compile_options.c"
COMPILERS = ["gcc", "g++", "gfortran", "gdc", "clang", "clang++", "nvcc"]
# Options that answer and look at no file, or that change the meaning of all others.
ANSWERS = re.compile(r"--?(help|version|print|dump(full)?(version|machine|specs)|target-help|cc1|driver-mode|autocomplete|fsyntax-only)|-\?")
# Options for languages, libraries and outputs: the program handles them by itself, as it handles
# all -Xarch_ARCH.
OWN = {"-x", "-l", "-o", "--output", "--language", "--library", "--output-file", "--x"}
BATCH = 500


def output(*command):
    # Some options write files although no file is compiled.
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                                cwd=directory, env={"LC_ALL": "C", "PATH": "/usr/local/cuda/bin:/usr/bin:/bin"})
    return result.stdout + result.stderr


def listed(compiler):
    """All options that the compiler lists, with or without a word."""
    if "clang" in compiler:
        return [line.split()[0] for line in output(compiler, "--autocomplete=-").splitlines() if line.startswith("-")]
    text = "".join(output(compiler, f"--help={kind}") for kind in ("separate", "separate,undocumented", "common", "joined"))
    return re.findall(r"^\s+(-[^\s=<,\[]+)", text + output(compiler, "-v", "--help"), re.M)


def asked(compiler, options):
    """Those of @options that take the next word."""
    options = sorted({option for option in options if not option.endswith(("=", ",")) and not ANSWERS.match(option)})
    taken = []
    for start in range(0, len(options), BATCH):
        batch = options[start:start + BATCH]
        words = [word for i, option in enumerate(batch) for word in (option, f"none{i}.o")]
        left = {int(n) for n in re.findall(r"none(\d+)\.o'?:? *(?:No such|linker input)|directory: 'none(\d+)\.o'",
                                           output(compiler, "-###", "-c", *words)) for n in n if n}
        taken += [option for i, option in enumerate(batch) if i not in left]
    missing = re.compile(r"argument (to '[^']*' is )?missing|missing (argument|filename|path)")
    # An option may need its argument in the same word. Among several options, one wrong one keeps
    # gcc from reading files at all.
    return {option for option in taken if missing.search(output(compiler, "-###", "-c", option))
            and not re.search(missing.pattern + r"|none\.o'?:? *(No such|linker)|directory: 'none\.o",
                              output(compiler, "-###", "-c", option, "none.o"))}


def of_help(compiler):
    """Finds options in nvcc's help: a line has both names of an option, with <...> or {...} where
    it takes a word."""
    found = set()
    for line in output(compiler, "--help").splitlines():
        row = re.match(r"(--\S+) +(?:[<{[]\S.*|entry,\.\.\.) +\((-\S+)\)", line)
        found |= set(row.groups()) if row else set()
    return found


def options_of(compiler):
    """Names of all options of an installed compiler that take the next word."""
    found = of_help(compiler) if "nvcc" in compiler else asked(compiler, listed(compiler))
    return {option for option in found - OWN if not option.startswith("-Xarch_")}


def table(name):
    """The rows of an array of strings in the table."""
    text = TABLE.read_text(encoding="utf-8")
    return set(re.findall(r'"([^"]+)"', re.search(r"\*const " + name + r"\[\] = \{(.*?)\};", text, re.S)[1]))


def known(compiler):
    """The options that the program's own table has for the compiler."""
    own = table("nvcc_with_word") if "nvcc" in compiler else table("with_word")
    return own if "nvcc" in compiler else own | table("linker_with_word")


def find(compiler):
    """The path of the compiler, or None where it is not installed."""
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
