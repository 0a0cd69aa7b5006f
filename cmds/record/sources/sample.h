/* Counts calls of functions, from samples of the records that writers take (--overhead). */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_SAMPLE_H
#define UTRAIL_CMDS_RECORD_SOURCES_SAMPLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;

/*
 * Calls of a function by one of its callers.
 *
 * @proc: NULL when the slot is free
 * @caller: the caller's address; 0: unknown
 * @calls: the number of calls whose entry was seen
 * @ended: the number of these calls whose end was seen, too
 * @sum_ns: the time that the @ended calls took together
 */
struct sampled_call {
	const struct process *proc;
	uint64_t addr;
	uint64_t caller;
	uint64_t sum_ns;
	uint32_t calls;
	uint32_t ended;
};

#define SAMPLE_SLOTS  8192
#define SAMPLE_LEVELS 64

/*
 * The sample. Any thread may use it, under @lock. Everything but the lock starts as zeros.
 *
 * @bytes: bytes of all records
 * @looked_at: bytes of the records that were read
 * @entries: calls whose entry was seen, even without a slot in @calls
 */
struct sample {
	pthread_mutex_t lock;
	uint64_t bytes;
	uint64_t looked_at;
	uint64_t entries;
	size_t nr;
	struct sampled_call calls[SAMPLE_SLOTS];
};

/* Returns a new sample, or NULL without memory. */
struct sample *sample_new(void);
void sample_free(struct sample *sample);

/* Count calls in whole records of a thread of @proc. */
void sample_take(struct sample *sample, const struct process *proc, const void *data, size_t len);

/* Move the content to @out, which sample_new() has made; @sample becomes empty. */
void sample_move(struct sample *sample, struct sample *out);

#endif
