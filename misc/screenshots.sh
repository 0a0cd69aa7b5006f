#!/bin/sh
# Makes pictures of the page of dump --format=html in FOLDER: misc/screenshots.sh FOLDER [BUILD]
# The script needs a build (build/), Chromium and its driver, and python3-selenium.
set -e
[ $# -ge 1 ] || {
	sed -n '2,3s/^# //p' "$0"
	exit 2
}
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
UTRAIL=${UTRAIL:-$top/${2:-build}/utrail}
export UTRAIL
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

gcc -O2 -pg -pthread -o tree "$top/tests/bench/src/tree.c"
"$UTRAIL" record --no-libcall -d tree.data ./tree 4 1000000
gcc -O0 -pg -pthread -o many -x c - <<'END'
#include <pthread.h>
#include <unistd.h>
void leaf(void) { __asm__ volatile(""); }
void *work(void *nr)
{
	for (long i = 0; i < (long)nr; i++)
		leaf();
	usleep(1000 * ((long)nr % 30));
	return NULL;
}
int main(void)
{
	pthread_t t[300];
	for (long i = 0; i < 300; i++)
		pthread_create(&t[i], NULL, work, (void *)(i * 7 % 100));
	for (int i = 0; i < 300; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
"$UTRAIL" record --no-libcall -d many.data ./many
for at in 1 2 3 4 5 6; do
	for i in $(seq $((at * 60))); do
		echo "int f${at}_$i(int n) { for (int i = 0; i < n; i++) n ^= n * $i + i; return n; }"
	done >part$at.c
done
echo 'int main(void) { return 0; }' >main.c
cat >Makefile <<'END'
program: main.o part1.o part2.o part3.o part4.o part5.o part6.o
	gcc -o $@ $^
%.o: %.c
	gcc -O2 -c -o $@ $<
END
"$UTRAIL" build -d build.data -- make -j2 >/dev/null
gcc -O1 -g -pg -o server "$top/misc/screenshots.c"
"$UTRAIL" record -d before.data ./server
"$UTRAIL" record --srcline -A 'spin@arg1/i32' -T 'answer@read=proc/statm;render@read=page-fault' -d source.data ./server
gcc -O1 -g -pg -DAFTER -o server "$top/misc/screenshots.c"
"$UTRAIL" record -d after.data ./server
"$UTRAIL" dump -d before.data --diff after.data --format=html >difference.html
for name in tree many build source; do
	"$UTRAIL" dump -d $name.data --format=html >$name.html
done
PATH=/usr/bin:$PATH python3 "$top/misc/screenshots.py" "$folder" ./*.html tree.data
