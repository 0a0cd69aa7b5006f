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
 * The recorder has one traced process, this one. Between pair_init() and pair_open() a test may
 * change @settings, and @into (by default the directory @store). Segments have the size of a page.
 * There are no writer threads: a test looks at the rings by pair_look().
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
/* Take the remaining records, as at the end of a recording. The files stay until pair_close(). */
void pair_stop(struct pair *pair);
void pair_close(struct pair *pair);

/* Look at all rings once, as a writer thread does. */
uint64_t pair_look(struct pair *pair, bool everything);

/* Returns a traced thread with a ring and a task id of its own; NULL when there is no free ring. */
struct thread *pair_thread(void);

/* Returns the index of a ring. */
uint32_t pair_ring_index(const struct pair *pair, const struct ring *r);

/*
 * Returns the content of a file, or of <tid>.dat; empty when there is no such file. The caller
 * frees it.
 */
struct strbuf pair_file(const struct pair *pair, const char *name);
struct strbuf pair_data(const struct pair *pair, int32_t tid);

/*
 * Look at all rings. Check that <tid>.dat has one record for each of the data words @expected, in
 * order, and that times never go back.
 */
void pair_check_data(struct pair *pair, int32_t tid, const struct strbuf *expected);

/*
 * From here on, @fn runs when this thread would sleep in a futex, and 10 ms pass on the probe's
 * clocks. With NULL the thread really sleeps again.
 */
void pair_when_waiting(void (*fn)(void *arg), void *arg);

/* Let @ns pass on this thread's clocks; choose more than the delays of a busy machine. */
void pair_pass(uint64_t ns);

/*
 * From here on, @fn is asked before each system call @number of this thread. If it returns 0 the
 * call is made; if it returns a negative errno the call fails with that. NULL: calls are made
 * without asking.
 */
void pair_before(long number, int (*fn)(void *arg), void *arg);

/* Returns how many times this thread has woken threads that sleep in a futex. */
unsigned pair_wakes(void);

/* Returns how many times this thread has called dlsym(3). */
unsigned pair_dlsyms(void);

#endif
