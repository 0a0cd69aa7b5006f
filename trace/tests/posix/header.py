#!/usr/bin/env python3
"""<trace.h> compiles without warnings in each C since C89 and in each C++ since C++98, before and
after other headers.

usage: header.py FOLDER COMPILER...
"""
import shutil
import subprocess
import sys

PROGRAM = """
#include <trace.h>
#include <unistd.h>
#include <limits.h>
#include <trace.h>
int use(struct posix_trace_event_info *info, struct posix_trace_status_info *status, trace_event_set_t *set);
int use(struct posix_trace_event_info *info, struct posix_trace_status_info *status, trace_event_set_t *set)
{
	trace_attr_t attr;
	trace_event_set_t copy;
	trace_id_t trid;

	copy = *set;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &copy, sizeof(copy));
	return posix_trace_attr_init(&attr) + posix_trace_create(0, &attr, &trid) + (int)info->posix_timestamp.tv_sec +
	       status->posix_stream_status;
}
#if !defined(_POSIX_TRACE) || _POSIX_TRACE != 200809L || _POSIX_TRACE_LOG != 200809L || TRACE_SYS_MAX < 8
#error "not what <trace.h> says"
#endif
"""
C = ["c89", "gnu89", "c99", "gnu99", "c11", "gnu11", "c17", "c2x", "gnu2x"]
CXX = ["c++98", "c++11", "c++17", "c++20", "gnu++20"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def check(compiler, language, standards, folder):
    wrong = []
    for standard in standards:
        for before in ("", "#include <unistd.h>\n", "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#include <sys/types.h>\n"):
            command = [*compiler, "-x", language, f"-std={standard}", *STRICT, f"-I{folder}", "-"]
            done = subprocess.run(command, input=before + PROGRAM, text=True, capture_output=True)
            if done.returncode:
                wrong.append(f"{' '.join(command)}\n{done.stderr}")
    return wrong


def main():
    folder, *compiler = sys.argv[1:]
    wrong = check(compiler, "c", C, folder)
    cxx = next((name for name in ("g++", "clang++") if shutil.which(name)), None)
    if cxx:
        wrong += check([cxx], "c++", CXX, folder)
    print("\n".join(wrong) or "all standards")
    sys.exit(bool(wrong))


main()
