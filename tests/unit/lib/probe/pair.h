/* A recorder and a probe in one process: both sides of the rings, with the test between them. */
#ifndef UTRAIL_TESTS_PAIR_H
#define UTRAIL_TESTS_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "cmds/record/run/recorder.h"
#include "cmds/record/store/dir.h"
#include "libmcount/values/emit.h"
#include "libmcount/hot/probe.h"
#include "utils/base/containers/strbuf.h"

/*
 * The recorder has one traced process, this one. Between pair_init() and pair_open() a test may change @settings,
 * and @into, which is the directory @store else; segments of a page, no writer threads: the test looks at the rings when it likes (pair_look).
 */
struct pair {
	char dir[64];
	int dir_fd;
	struct store_dir store;
	struct store *into;
	struct filters filters;
	struct watch_spec watch;
	struct event_rules events;
	struct patch_rules patches;
	struct record_settings settings;
	struct recorder rec;
	struct process *proc;
};

void pair_init(struct pair *pair);
void pair_open(struct pair *pair);
/* Take what is left, as at the end of a recording; the files stay until pair_close(). */
void pair_stop(struct pair *pair);
void pair_close(struct pair *pair);

/* What a writer thread does: one look at all rings. */
uint64_t pair_look(struct pair *pair, bool everything);

/* A traced thread with a ring and a task id of its own; NULL when there is no free ring. */
struct thread *pair_thread(void);

/* Its ring, of which index. */
uint32_t pair_ring_index(const struct pair *pair, const struct ring *r);

/* What is in <tid>.dat; nothing when it is not there. The caller's to free. */
struct strbuf pair_file(const struct pair *pair, const char *name);
struct strbuf pair_data(const struct pair *pair, int32_t tid);

/*
 * From here on, when this thread would sleep in a futex, @fn runs instead, and 10 ms pass on the probe's clocks. NULL: it
 * sleeps again.
 */
void pair_when_waiting(void (*fn)(void *arg), void *arg);

/* So much time passes on this thread's clocks, which is more than a busy machine can make of itself. */
void pair_pass(uint64_t ns);

/*
 * From here on this thread's system calls of that @number first ask @fn: 0 and the call is made; a negative error and it fails with that.
 * NULL: they are made.
 */
void pair_before(long number, int (*fn)(void *arg), void *arg);

/* How often this thread has woken others that sleep in a futex. */
unsigned pair_wakes(void);

#endif
