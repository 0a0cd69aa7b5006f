#!/bin/bash
# Checks the whole tree: builds with two compilers and with sanitizers, and all suites of tests.
#
#   misc/test.sh            all stages but steering, shipped and matrix, whose short forms are in the other stages
#   misc/test.sh STAGE...   only these stages, and gcc first: gcc unit fuzz rules e2e real clang cross sanitize kernel steering shipped matrix
#   misc/test.sh fast       the most effective tests of a few minutes: gcc, unit, fuzz, rules and a chosen part of e2e (misc/fast-e2e.txt)
#
# The stage steering changes a recording, and the code of the recorded program, 10,000 times. The
# stage e2e does that some hundred times. The last line of the output counts tests. A build without
# warnings counts as one test. Logs are in build-logs/. The file build-logs/passed has the commit
# that has passed all stages.
set -u
cd "$(dirname "$0")/.." || exit 1
. misc/packages.sh
# shellcheck disable=SC2086  # a list of words
install_packages $test_packages

# The system's python3 comes first, because another one in $PATH may lack pytest.
PATH=/usr/bin:/bin:$PATH
logs=$PWD/build-logs
# The cache of sample programs. All builds of utrail use the same sample programs.
export UTRAIL_TEST_CACHE=$PWD/build/e2e-programs
# With this variable ccache gets the list of headers from the compiler (-MD, which ninja needs
# anyway). Without it, ccache first preprocesses each new source, which takes a fifth of the time of
# a compilation.
export CCACHE_DEPEND=1
mkdir -p "$logs"

# count NAME PASSED FAILED SKIPPED: writes the counts to a file, since stages may run in parallel.
counts=$(mktemp)
scratch=
trap 'rm -rf "$counts" "$scratch"' EXIT
count() {
	echo "$@" >> "$counts"
}

# add_up: sets passed, failed and skipped to the sums of all counts, and failures to the names of
# suites with failures.
add_up() {
	passed=0
	failed=0
	skipped=0
	failures=
	while read -r what ok bad skip; do
		passed=$((passed + ok))
		failed=$((failed + bad))
		skipped=$((skipped + skip))
		[ "$bad" = 0 ] || failures="$failures $what"
	done < "$counts"
}

# single NAME COMMAND...: runs a command that counts as one test. If its status is 77, the test is
# skipped, and the last lines of the output, which are printed, have the reason.
single() {
	name=$1
	shift
	status=0
	echo "== $name: $*"
	"$@" > "$logs/$name.log" 2>&1 || status=$?
	case $status in
		0) count "$name" 1 0 0 ;;
		77)
			tail -8 "$logs/$name.log"
			count "$name" 0 0 1
			;;
		*)
			tail -60 "$logs/$name.log"
			count "$name" 0 1 0
			return 1
			;;
	esac
}

# sum FILE REGEX...: prints the sum of the numbers in the last match of each expression.
sum() {
	file=$1
	shift
	total=0
	for regex in "$@"; do
		n=$(grep -oE "$regex" "$file" | tail -1 | grep -oE '[0-9]+')
		total=$((total + ${n:-0}))
	done
	echo $total
}

# suite NAME COMMAND...: runs meson test or pytest, and adds up the numbers in its closing lines.
suite() {
	name=$1
	shift
	log=$logs/$name.log
	echo "== $name: $*"
	"$@" 2>&1 | tee "$log" | grep -vE '^ *[0-9]+/[0-9]+ .* OK |^ninja: |^$'
	status=${PIPESTATUS[0]}
	ok=$(sum "$log" '^Ok: +[0-9]+' '^Expected Fail: +[0-9]+' '[0-9]+ passed' '[0-9]+ xfailed')
	bad=$(sum "$log" '^Fail: +[0-9]+' '^Unexpected Pass: +[0-9]+' '^Timeout: +[0-9]+' \
		'[0-9]+ failed' '[0-9]+ errors?\b')
	skip=$(sum "$log" '^Skipped: +[0-9]+' '[0-9]+ skipped')
	# A runner that has crashed prints no closing line.
	[ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
	count "$name" "$ok" "$bad" "$skip"
}

# build DIR OPTION...: sets a build up and compiles it.
build() {
	dir=$1
	shift
	again=
	[ ! -f "$dir/build.ninja" ] || again=--reconfigure
	# shellcheck disable=SC2086  # one word or none
	single "$dir-setup" meson setup $again "$dir" -Dunit_tests=enabled "$@" || return 1
	single "$dir-compile" ninja -C "$dir"
}

# The directories of tests are in /dev/shm if there is enough memory and programs may be executed
# there. This saves a fifth of the time of end-to-end tests.
if [ -w /dev/shm ] && awk '$2 == "/dev/shm" { bad = $4 ~ /noexec|nosuid|nodev/ } END { exit bad }' /proc/mounts &&
	[ "$(df --output=avail -m /dev/shm 2> /dev/null | tail -1)" -ge 4096 ] &&
	[ "$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)" -ge 6144 ]; then
	scratch=$(mktemp -d /dev/shm/e2e-XXXXXX)
fi

# With pytest-xdist, three workers for each two CPUs run the tests. One worker for a CPU would leave
# the CPU idle while its test waits for programs.
pytest() {
	workers=
	[ -n "${one_worker:-}" ] || ! /usr/bin/python3 -c 'import xdist' 2> /dev/null ||
		workers="-n $((($(nproc) * 3 + 1) / 2))"
	# tests/kernel, which have one worker, need no directory there: their virtual machine has
	# disks of its own.
	place=
	[ -z "$scratch" ] || [ -n "${one_worker:-}" ] || place=--basetemp=$(mktemp -d "$scratch/XXXXXX")/e2e
	# shellcheck disable=SC2086  # words or none
	/usr/bin/python3 -m pytest -q -p no:cacheprovider -rsxfE $workers $place "$@"
}

# The time limit is for tests that hang. On a busy machine other tests must not reach the limit.
patience="--timeout-multiplier=4"

# The status of the gcc build. Stages that need this build make it, unless the run has made it.
gcc_status=
stage_gcc() {
	build build -Dwerror=true
	gcc_status=$?
	return $gcc_status
}

make_gcc() {
	[ -n "$gcc_status" ] || stage_gcc
	return "$gcc_status"
}

stage_unit() {
	make_gcc || return
	suite unit meson test -C build --no-rebuild --print-errorlogs "$patience" --suite unit
}

# Replays the corpora of the fuzz targets; misc/fuzz.sh makes new inputs.
stage_fuzz() {
	make_gcc || return
	suite fuzz meson test -C build --no-rebuild --print-errorlogs "$patience" --suite fuzz
}

stage_rules() {
	make_gcc || return
	suite rules meson test -C build --no-rebuild --print-errorlogs "$patience" --suite rules
}

stage_e2e() {
	make_gcc || return
	suite e2e pytest tests/e2e
}

# Runs the fast tests, whose strength misc/mutate.sh measures (doc/internals/mutation.md).
stage_fast() {
	make_gcc || return
	stage_unit
	stage_fuzz
	stage_rules
	while read -r line; do
		case $line in '#'* | '') continue ;; esac
		name=${line#tests/e2e/*/test_}
		# The words of the line; some of them are in quotes.
		eval "words=($line)"
		UTRAIL_TEST_MATRIX=small suite "fast-${name%%.py*}" pytest "${words[@]}" < /dev/null
	done < misc/fast-e2e.txt
}

stage_real() {
	make_gcc || return
	install_shipped
	suite real meson test -C build --no-rebuild --verbose --suite real --suite shipped
}

# Installs programs and servers as Debian ships them, for the tests. If a program cannot be
# installed, its test is skipped, and the test's output has the name of the missing package.
install_shipped() {
	# shellcheck disable=SC2086  # a list of words
	install_packages ${shipped_packages:-}
}

# Tests of shipped programs with at least ten seconds of work each, one after the other.
stage_shipped() {
	make_gcc || return
	install_shipped
	for script in shipped shipped_servers python; do
		for name in $(/usr/bin/python3 tests/real/$script.py --list); do
			UTRAIL_BUILD=$PWD/build single "$script-$name" /usr/bin/python3 tests/real/$script.py --long "$name"
		done
	done
}

# The build with clang checks clang's warnings, and the probe that clang compiles. Only the stage
# matrix runs unit tests that clang has compiled.
stage_clang() {
	units=disabled
	[ "${UTRAIL_TEST_MATRIX:-}" != full ] || units=enabled
	# Less optimization and no debug information save much time. clang's warnings do not depend
	# on these options, and the probe has options of its own.
	CC=clang build build-clang -Dwerror=true -Doptimization=1 -Ddebug=false -Dunit_tests=$units || return
	[ $units = disabled ] || suite unit-clang meson test -C build-clang --no-rebuild --print-errorlogs "$patience" --suite unit
	UTRAIL_BUILD=$PWD/build-clang UTRAIL_TEST_MATRIX=small suite e2e-clang pytest tests/e2e/{record/test_trees,trust/test_{hostile,death}}.py
}

# cross_machine NAME: builds the reader for a machine, and runs its tests. Unit tests run only for
# arm, which differs most from this machine (32 bits, unsigned char). The stage matrix runs them for
# all machines.
cross_machine() {
	units=disabled
	[ "$1" != arm ] && [ "${UTRAIL_TEST_MATRIX:-}" != full ] || units=enabled
	# Debian's ccache has links for cross compilers in /usr/lib/ccache. Less optimization and no
	# debug information save a third of the time of compiling.
	PATH=/usr/lib/ccache:$PATH build "build-cross/$1" -Dwerror=true -Doptimization=1 -Ddebug=false -Dunit_tests=$units \
		--cross-file "build-cross/sysroot/$1.ini" --cross-file "misc/cross/$1.ini" || return
	[ $units = disabled ] || suite "unit-$1" meson test -C "build-cross/$1" --no-rebuild --print-errorlogs \
		--timeout-multiplier 4 --suite unit --suite fuzz
}

# Builds the reader for machines without a probe (misc/cross), and runs its tests under qemu. For
# recordings of this machine, its output must be that of this machine's reader. The stage uses one
# machine with 64 bits and one with 32 bits, and the stage matrix uses all machines. Two machines
# are built at a time, so that one is compiled while the other one is linked or set up. The function
# is a subshell, so that `wait` waits only for its own jobs.
stage_cross() (
	# shellcheck disable=SC2086  # a list of words
	install_packages $cross_packages
	mkdir -p "$logs/build-cross"
	make_gcc || exit
	wanted="aarch64 arm"
	[ "${UTRAIL_TEST_MATRIX:-}" != full ] || wanted=$(basename -s .ini misc/cross/*.ini)
	for machine in $wanted; do
		[ -f "misc/cross/$machine.ini" ] || continue # as in the tree of tests/rules/passed.py
		single "cross-libraries-$machine" misc/cross/sysroot.sh "$machine" &
	done
	wait
	machines=
	for machine in $wanted; do
		[ -d "build-cross/sysroot/$machine" ] || continue
		# Not more than two jobs run at a time.
		while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
		{
			cross_machine "$machine" > "$logs/build-cross/$machine.out" 2>&1
			cat "$logs/build-cross/$machine.out"
		} &
		machines="$machines $machine"
	done
	wait
	UTRAIL_CROSS=$machines suite reading pytest tests/cross
)

# Records calls of the kernel, in a virtual machine with Debian's own kernel.
stage_kernel() {
	if [ -n "$kernel_job" ]; then
		wait "$kernel_job"
		cat "$logs/kernel.out"
		return
	fi
	# shellcheck disable=SC2086  # a list of words
	install_packages $kernel_packages
	make_gcc || return
	# All tests use one machine, so they have one worker.
	one_worker=yes suite kernel pytest tests/kernel
}

# begin_kernel: runs stage_kernel in the background, during e2e and the stages after it. The virtual
# machine needs one CPU for four minutes, and uses only the time that these stages leave (vm.py).
kernel_job=
begin_kernel() {
	# shellcheck disable=SC2086  # a list of words
	install_packages $kernel_packages
	stage_kernel > "$logs/kernel.out" 2>&1 &
	kernel_job=$!
}

# Runs in full the tests of which the other stages run only a part: sample programs in each form,
# with each compiler and option; real programs by each method; all builds; end-to-end tests under
# the sanitizers; unit tests compiled by clang; and all machines.
stage_matrix() {
	make_gcc || return
	export UTRAIL_TEST_MATRIX=full
	suite matrix pytest tests/e2e
	stage_real
	stage_clang
	stage_cross
	stage_sanitize
	unset UTRAIL_TEST_MATRIX
}

stage_steering() {
	make_gcc || return
	UTRAIL_TEST_CHANGES=10000 suite steering pytest tests/e2e/running/test_control_patch.py -k many_changes
}

# Runs each sample program once, and one in 24 of the other e2e tests, under the sanitizers. The
# probe itself is built without sanitizers (libmcount/meson.build). Warnings do not fail this build,
# because gcc warns of code that the sanitizers add.
stage_sanitize() {
	# Less optimization, and debug information that has only lines, halve the time of compiling,
	# which is half the time of this stage.
	build build-sanitize -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dc_args=-g1 || return
	# In a recorder that is itself recorded, the probe comes before the sanitizer's library.
	export ASAN_OPTIONS=detect_leaks=1:exitcode=86:verify_asan_link_order=0
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=86
	export LSAN_OPTIONS=suppressions=$PWD/misc/lsan.txt:print_suppressions=0
	# Tests take longer with sanitizers. A test that makes the pages of thousands of processes
	# takes ten times as long.
	suite unit-sanitize meson test -C build-sanitize --no-rebuild --print-errorlogs \
		--timeout-multiplier 10 --suite unit --suite fuzz
	part=24
	[ "${UTRAIL_TEST_MATRIX:-}" != full ] || part=1
	# test_trees.py runs each sample program once; more variants of a sample test the probe,
	# which has no sanitizers.
	UTRAIL_BUILD=$PWD/build-sanitize UTRAIL_TEST_MATRIX=once UTRAIL_TEST_PART=$part suite e2e-sanitize pytest tests/e2e \
		--ignore=tests/e2e/record/test_paths.py --ignore=tests/e2e/record/test_estimate.py
	unset ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS
}

# cpu_times: prints two numbers of jiffies of all CPUs since the machine was started: the busy ones,
# and all (proc_stat(5)).
cpu_times() {
	awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6, all }' /proc/stat
}

# clean_commit: prints the commit that the tree is equal to. It prints nothing if a file differs or
# is new, or if git fails.
clean_commit() {
	changes=$(git status --porcelain 2> /dev/null) && [ -z "$changes" ] && git rev-parse HEAD
}

# note_passed: writes build-logs/passed. The file names a commit only if one run has passed all
# stages, and the tree was equal to the commit at the beginning and at the end of that run.
note_passed() {
	add_up
	commit=$(clean_commit)
	if [ "$failed" != 0 ]; then
		[ "$(cat "$logs/passed" 2> /dev/null)" != "$commit_before" ] || rm -f "$logs/passed"
	elif [ "$stages" != "$all_stages" ]; then
		:
	elif [ -z "$commit" ] || [ "$commit" != "$commit_before" ]; then
		echo "build-logs/passed is as it was: the tree is not that of a commit, or changed meanwhile"
	else
		echo "$commit" > "$logs/passed"
	fi
}

# tell_failures: prints the names of the failed tests, and for five tests of each suite the end of
# their output. Meson prints the output of a test after its line of the results, and pytest prints
# it after a line with the test's name.
tell_failures() {
	for name in $failures; do
		echo "== failed: $name, build-logs/$name.log"
		awk -v lines=25 -v tests=5 '
			function finish() {
				if (is_test && nr++ < tests) {
					print title
					for (i = count > lines ? count - lines : 0; i < count; i++) print "    " line[i % lines]
				} else if (is_test) print title
				is_test = count = 0
			}
			function begin(what) { finish(); is_test = 1; title = "-- " substr(what, 1, 200) }
			/^ *[0-9]+\/[0-9]+ .*(FAIL|TIMEOUT|ERROR|UNEXPECTEDPASS) +[0-9.]+s/ && !is_told { begin($0); is_any = 1; next }
			/^ *[0-9]+\/[0-9]+ .* [0-9.]+s/ { finish(); next }
			/^Summary of Failures:/ { finish(); is_told = 1 }
			/^=+ (FAILURES|ERRORS) =+$/ { finish(); is_pytest = is_any = 1; next }
			is_pytest && /^=+ .* =+$/ { finish(); is_pytest = 0 }
			is_pytest && /^_+ [^ _].* _+$/ { begin($0); next }
			/^(FAILED|ERROR) tests\// { print substr($0, 1, 200) }
			/^\r?$/ { next }
			is_test || !is_any { line[count++ % lines] = substr($0, 1, 200) }
			END { if (!is_any) { is_test = 1; title = "-- its end" } finish() }
		' "$logs/$name.log"
	done
}

all_stages="gcc unit fuzz rules e2e real clang cross sanitize kernel"
stages=${*:-$all_stages}
commit_before=$(clean_commit)

for stage in $stages; do
	if ! declare -F "stage_$stage" > /dev/null; then
		echo "misc/test.sh: no stage '$stage'" >&2
		exit 2
	fi
	started=$SECONDS
	read -r busy all <<< "$(cpu_times)"
	[ "$stage" != e2e ] || [[ $stages != *e2e*kernel* ]] || begin_kernel
	"stage_$stage"
	read -r busy_now all_now <<< "$(cpu_times)"
	echo "-- $stage: $((SECONDS - started)) s, CPUs $((100 * (busy_now - busy) / (all_now - all + 1))) % busy"
done

note_passed
[ "$stages" != "$all_stages" ] || echo "not run: what is long: misc/test.sh steering, misc/test.sh shipped, misc/test.sh matrix"
[ "$skipped" = 0 ] || echo "$skipped skipped, the reasons are above"
tell_failures
[ -z "$failures" ] || echo "failed:$failures"
echo "utrail: $passed passed, $failed failed"
[ "$failed" = 0 ]
