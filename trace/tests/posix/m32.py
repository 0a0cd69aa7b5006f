"""Runs a program of 32 bits. Exit status 77, which is a skip, where the kernel does not run any."""

import errno
import os
import sys

try:
    os.execv(sys.argv[1], sys.argv[1:])
except OSError as why:
    if why.errno != errno.ENOEXEC:
        raise
    print("skipped: this kernel runs no programs of 32 bits")
    sys.exit(77)
