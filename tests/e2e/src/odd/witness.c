/*
 * Four threads that call for ever, and a process, the witness, that sees their records. It has
 * their arena mapped, too, copies each record when the ring's head has passed it, and notes the
 * time. Its notes survive when a test kills the program or the recorder.
 *
 * witness DIR: prints the pids of the witness and of the program. On SIGTERM the witness writes
 * into DIR, for each thread, TID.seen (the bytes) and TID.told: lines "at NS BYTES" (so many bytes
 * were committed at that time), "tail BYTES" (so many the recorder had taken at the end), and "done
 * CALLS" (so many calls of leaf() had returned).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "utils/format/probe/ring.h"

#define QUIET	__attribute__((noinline, no_instrument_function))
#define THREADS 4
#define BYTES	(64UL << 20)
#define LOOKS	(1UL << 16)
#define PADS	1024
#define RINGS	16

/* The program and the witness share these counts. */
struct counts {
	_Atomic int tids[THREADS];
	_Atomic unsigned long done[THREADS];
};

struct look {
	unsigned long time_ns;
	unsigned long bytes;
};

/*
 * State of one ring. @position: the ring is copied up to here. @bytes: the size of the copy in
 * @data. @pads: the numbers of bytes that were left free at the ends of segments. @pad_ends: the
 * positions of these ends
 */
struct seen {
	int tid;
	int is_over;
	unsigned long position;
	unsigned long bytes;
	char *data;
	struct look *looks;
	unsigned long nr_looks;
	unsigned long pad_ends[PADS], pads[PADS];
	unsigned nr_pads;
};

static struct counts *counts;
static struct seen all_seen[RINGS];
static volatile sig_atomic_t is_over;

__attribute__((noinline)) void leaf(void)
{
	__asm__ volatile("" ::: "memory");
}

QUIET static void *run(void *arg)
{
	unsigned long number = (unsigned long)arg;

	counts->tids[number] = syscall(SYS_gettid);
	for (;;) {
		for (int i = 0; i < 30; i++) {
			leaf();
			atomic_fetch_add(&counts->done[number], 1);
		}
		usleep(100 + 300 * number); /* segments fill at different times */
	}
	return NULL;
}

QUIET static unsigned long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

QUIET static struct arena *find_arena(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start = 0;
	char line[512];

	while (maps && !start && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "utrail-arena"))
			sscanf(line, "%lx-", &start);
	}
	if (maps)
		fclose(maps);
	if (!start)
		return NULL;

	/* The probe maps a ring when a thread takes it. The first rings must be mapped in a row. */
	struct arena *arena = (struct arena *)start;
	void *whole = mremap(arena, 0, arena_bytes(RINGS, arena->ring_stride), MREMAP_MAYMOVE);

	return whole == MAP_FAILED ? NULL : whole;
}

/* Copies committed bytes. The copy's end is invalid if the producer has wrapped round to it. */
QUIET static void look_at(struct arena *arena, struct ring *ring, struct seen *seen)
{
	unsigned long ring_bytes = (unsigned long)arena->nr_segments * arena->segment_bytes;
	unsigned long head = atomic_load(&ring->head);
	unsigned long position = seen->position, bytes = seen->bytes, time_ns = now_ns();
	unsigned nr_pads = seen->nr_pads;

	int tid = ring->tid;

	if (seen->is_over || !head || !tid)
		return;
	if (!seen->tid) {
		seen->tid = tid;
		seen->data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		seen->looks = calloc(LOOKS, sizeof(*seen->looks));
	}
	seen->is_over = head < position || tid != seen->tid;
	while (!seen->is_over && position < head) {
		unsigned long place = position % ring_bytes,
			      in_segment = place % arena->segment_bytes;
		unsigned long end = position - in_segment + arena->segment_bytes;
		unsigned long len = head - position;

		if (head >= end) {
			len = ring->segment_used[place / arena->segment_bytes] - in_segment;
			seen->pad_ends[nr_pads] = end;
			seen->pads[nr_pads++] = end - position - len;
		}
		if (bytes + len > BYTES || nr_pads == PADS || seen->nr_looks == LOOKS) {
			seen->is_over = 1;
			return;
		}
		memcpy(seen->data + bytes, ring_data(ring) + place, len);
		bytes += len;
		position = head >= end ? end : head;
	}
	if (seen->is_over || position == seen->position)
		return;
	if (atomic_load(&ring->head) - seen->position > ring_bytes - arena->segment_bytes ||
	    ring->tid != seen->tid) {
		/* By now the ring may be free, or may belong to another thread. */
		seen->is_over = 1;
		return;
	}
	seen->position = position;
	seen->bytes = bytes;
	seen->nr_pads = nr_pads;
	seen->looks[seen->nr_looks++] = (struct look){ time_ns, bytes };
}

QUIET static FILE *create(const char *dir, int tid, const char *what)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%d.%s", dir, tid, what);
	return fopen(path, "w");
}

QUIET static void tell(const char *dir, struct ring *ring, const struct seen *seen)
{
	FILE *data = create(dir, seen->tid, "seen");
	FILE *told = create(dir, seen->tid, "told");
	unsigned long taken = atomic_load(&ring->tail), padding = 0;

	fwrite(seen->data, 1, seen->bytes, data);
	for (unsigned long i = 0; i < seen->nr_looks; i++)
		fprintf(told, "at %lu %lu\n", seen->looks[i].time_ns, seen->looks[i].bytes);
	for (unsigned i = 0; i < seen->nr_pads && seen->pad_ends[i] <= taken; i++)
		padding += seen->pads[i];
	if (taken <= seen->position)
		fprintf(told, "tail %lu\n", taken - padding);
	for (int i = 0; i < THREADS; i++) {
		if (counts->tids[i] == seen->tid)
			fprintf(told, "done %lu\n", counts->done[i]);
	}
	fclose(data);
	fclose(told);
}

QUIET static void on_term(int sig)
{
	is_over = 1;
}

QUIET static void witness(struct arena *arena, const char *dir)
{
	signal(SIGTERM, on_term);
	while (!is_over) {
		unsigned high = arena->high_water < RINGS ? arena->high_water : RINGS;

		for (unsigned i = 0; i < high; i++)
			look_at(arena, arena_ring(arena, i), &all_seen[i]);
		usleep(100);
	}
	for (unsigned i = 0; i < RINGS; i++) {
		if (all_seen[i].bytes)
			tell(dir, arena_ring(arena, i), &all_seen[i]);
	}
	_exit(0);
}

/* A fork by libc or syscall(3) is reported to the recorder, which would wait for the child. */
QUIET QUIET static long fork_unseen(void)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_fork) : "rcx", "r11", "memory");
	return result;
}

int main(int argc, char **argv)
{
	struct arena *arena = find_arena();
	pthread_t thread;

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (!arena)
		return 1;

	/* The fork bypasses libc: otherwise the probe would record the child. */
	long pid = fork_unseen();

	if (pid == 0) {
		/* The child leaves the group, and closes outputs that others read to the end. */
		setsid();
		close(1);
		close(2);
		witness(arena, argv[1]);
	}
	printf("%ld %d\n", pid, getpid());
	fflush(stdout);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, run, (void *)i);
	for (;;)
		pause();
}
