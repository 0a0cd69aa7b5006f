#!/bin/bash
# Puts small faults into the code, one at a time, and measures how many of them the tests notice.
#
#   misc/mutate.sh [ROOM|FILE]... [-n COUNT] [-s SEED] [-j JOBS] [--list] [--only FILE:LINE] [--again LOG] [--no-e2e]
#
# ROOM is a directory: libmcount utils/format utils/pipeline cmds/record (by default all four).
# The script prints the faults that no test has noticed. See doc/internals/mutation.md.
set -eu
cd "$(dirname "$0")/.."
PATH=/usr/bin:/bin:$PATH

# A copy of the tree with its own build, so that the tree can be edited meanwhile.
copy=build-mutate/tree
mkdir -p $copy
exec 9> build-mutate/lock
flock -n 9 || {
	echo "misc/mutate.sh: another one is at work in build-mutate" >&2
	exit 1
}
git ls-files -z --cached --others --exclude-standard | python3 -c '
import filecmp, os, shutil, sys
names = [n for n in sys.stdin.read().split("\0") if n and os.path.isfile(n)]
for name in names:
    to = os.path.join(sys.argv[1], name)
    if not os.path.exists(to) or not filecmp.cmp(name, to, shallow=False):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(name, to)
        shutil.copymode(name, to)
# Files of the copy that the tree does not have are removed.
kept = set(names)
for place, dirs, files in os.walk(sys.argv[1]):
    dirs[:] = [d for d in dirs if os.path.join(place, d) != os.path.join(sys.argv[1], "build")]
    for name in files:
        path = os.path.join(place, name)
        if os.path.relpath(path, sys.argv[1]) not in kept:
            os.remove(path)
' $copy
[ -f $copy/build/build.ninja ] || meson setup $copy/build $copy -Dunit_tests=enabled > build-mutate/setup.log
ninja -C $copy/build > build-mutate/compile.log || {
	tail -20 build-mutate/compile.log
	exit 1
}
# Run with a lower priority than other processes, unless the caller has set a niceness.
[ "$(nice)" -gt 0 ] || renice -n 15 $$ > /dev/null
exec python3 misc/mutate.py $copy build-mutate "$@"
