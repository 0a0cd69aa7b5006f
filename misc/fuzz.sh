#!/bin/bash
# Searches for inputs that crash a reader, with libFuzzer, ASan and UBSan
# (doc/internals/fuzzing.md).
#
#   misc/fuzz.sh                      names the targets
#   misc/fuzz.sh TARGET [SECONDS]     searches for SECONDS, by default 60
#
# The corpus grows in build-fuzz/corpus/TARGET. Inputs that crash the reader are saved as
# build-fuzz/findings/TARGET-*. After the code is mended, move them to tests/data/corpus/<target>.
set -eu
cd "$(dirname "$0")/.."
. misc/packages.sh

if [ $# = 0 ]; then
	ls tests/fuzz/fuzz_*.c | sed 's|.*/fuzz_\(.*\)\.c|\1|'
	exit 0
fi
target=$1
seconds=${2:-60}
if [ ! -f "tests/fuzz/fuzz_$target.c" ]; then
	echo "misc/fuzz.sh: no target '$target'; without a name it lists them" >&2
	exit 2
fi

# shellcheck disable=SC2086  # a list of words
install_packages $build_packages $fuzz_packages
if [ ! -f build-fuzz/build.ninja ]; then
	CC=clang meson setup build-fuzz -Dfuzzing=true -Db_sanitize=address,undefined -Db_lundef=false \
		> /dev/null
fi
ninja -C build-fuzz "tests/fuzz/fuzz_$target"

seeds=$PWD/tests/data/corpus/$target
corpus=$PWD/build-fuzz/corpus/$target
findings=$PWD/build-fuzz/findings
mkdir -p "$corpus" "$findings"
# Scratch directories are in memory, since some targets make thousands of files in a second.
TMPDIR=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)/fuzz-$target-XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
"build-fuzz/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
	-max_len=65536 -print_final_stats=1 -artifact_prefix="$findings/$target-" \
	"$corpus" "$seeds"
