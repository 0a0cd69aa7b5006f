#!/bin/sh
# Builds utrail, records a small program, and shows its replay and report. This takes a minute.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
. misc/packages.sh
# shellcheck disable=SC2086  # a list of words
install_packages $build_packages

show() {
	echo
	echo "\$ $*"
	"$@"
}

# Debian's meson needs the system's python3, and another python3 may come first in $PATH.
PATH=/usr/bin:/bin:$PATH
[ -f build/build.ninja ] || show meson setup build
show ninja -C build

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > abc.c <<'PROGRAM'
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) void rest(void)
{
	usleep(2000);
}

__attribute__((noinline)) int work(void)
{
	rest();
	return fib(5);
}

int main(void)
{
	printf("work gives %d\n", work());
	return 0;
}
PROGRAM
PATH=$top/build:$PATH

echo
echo "A small program, abc.c:"
sed 's/^/    /' abc.c
show gcc -pg -O1 -o abc abc.c
show utrail record ./abc
show utrail replay
show utrail report
show utrail info
