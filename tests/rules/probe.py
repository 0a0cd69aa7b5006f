#!/usr/bin/env python3
"""The probe needs libc only, and exports exactly the names in its version script. Code that an
indirect branch can reach begins with a landing pad (IBT). The probe's own branches into the program
are exempt from that check (notrack).

The probe is also preloaded into programs with other C libraries, whose dynamic linkers end the
program when a name is missing. So EVERYWHERE lists the names that it may require; all others are
weak references.

usage: probe.py LIBMCOUNT VERSION_SCRIPT
"""
import re
import subprocess
import sys
from pathlib import Path


def run(*args):
    return subprocess.run(args, check=True, text=True, stdout=subprocess.PIPE).stdout


# Functions that are not exported, but that the program reaches by an indirect branch. For example,
# slots of the GOT lead to arch_libcall.
LANDING_PADS = {"arch_libcall", "arch_call_preserving_vectors", "arch_call_returning_through",
                "arch_point", "arch_point_args"}

# Names that are in musl's libc.so of 2011 and of today, and in glibc since 2.34.
EVERYWHERE = set("""
    __environ __errno_location clock_gettime dl_iterate_phdr dlsym environ fstat getauxval getenv geteuid getpid getppid
    getrlimit getsockopt getuid memcmp memcpy memmove memset mmap mprotect munmap pthread_key_create pthread_key_delete pthread_mutex_init pthread_mutex_lock
    pthread_mutex_trylock pthread_mutex_unlock pthread_self pthread_setspecific readlink realpath sched_yield setsockopt sigaddset sigdelset
    sigemptyset sigismember snprintf stpcpy strcmp strcpy strcspn strlen strncmp strnlen strrchr strstr sysconf
""".split())


def missing_elsewhere(library):
    """Names that are required when the probe is loaded, and that some C libraries lack."""
    lines = (line.split() for line in run("nm", "-D", "--undefined-only", library).splitlines())
    strong = {words[-1].split("@")[0] for words in lines if words[-2] == "U"}
    return sorted(strong - EVERYWHERE)


def unlisted(library, version_script):
    """Functions of libc that the probe calls, but that are missing in the recorder's list. The
    recorder would patch them, and the probe would call itself."""
    source = Path(version_script).resolve().parent.parent / "cmds/record/plan/unprepared.c"
    listed = set(re.findall(r'^\t"(\w+)",$', source.read_text(), re.M))
    found = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--undefined-only", library).splitlines()}
    # Sanitizers are initialised before there is a plan. valgrind's function is not called: the
    # probe only tests its address.
    return sorted(name for name in found - listed
                  if not name.startswith(("_ITM_", "__gmon_start__", "_vgnU_")) and not name.endswith(("environ", "san_init")))


def branch_problems(library, exported):
    """Problems in objdump's text: functions that begin without endbr64, and indirect jumps that
    need one at their target."""
    function, first, seen, problems = "", False, set(), []
    for line in run("objdump", "-d", "--no-show-raw-insn", "-j", ".text", library).splitlines():
        match = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if match:
            function, first = match[1], True
            continue
        match = re.match(r" *[0-9a-f]+:\t(.*)$", line)
        if not match:
            continue
        code = match[1]
        if first and function in exported | LANDING_PADS:
            seen.add(function)
            if not code.startswith("endbr64"):
                problems.append(f"{function}: begins with '{code}' and not with endbr64")
        first = False
        # Tail calls by compilers go to functions, which have landing pads. Jumps in the stubs go
        # anywhere.
        if function.startswith((".L", "arch_", "mcount", "__fentry__")) and re.match(r"jmp +\*", code):
            problems.append(f"{function}: '{code}' is not notrack")
    # Each pair names one function, and objdump shows one of its names.
    for aliases in {"mcount", "_mcount"}, {"vfork", "__vfork"}:
        if seen & aliases:
            seen |= aliases
    return problems + [f"{name}: not found in the code" for name in (exported | LANDING_PADS) - seen]


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
    for name in missing_elsewhere(sys.argv[1]):
        problems.append(f"{name}: a reference that is not weak, to what not every C library has")
    for name in sorted(exported ^ named):
        problems.append(f"{name}: exported or in the version script, not both")
    for name in unlisted(sys.argv[1], sys.argv[2]):
        problems.append(f"{name}: called by the probe, and not in the list of cmds/record/plan/unprepared.c")
    if "x86-64" in run("objdump", "-f", sys.argv[1]):
        problems += branch_problems(sys.argv[1], exported)
    print("\n".join(problems) or "good")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
