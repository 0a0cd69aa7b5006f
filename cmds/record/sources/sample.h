/* Counts calls of functions, by sampling the records that writers take (--overhead). */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_SAMPLE_H
#define UTRAIL_CMDS_RECORD_SOURCES_SAMPLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;

/*
 * The calls of a function by one of its callers.
 *
 * @proc: NULL when the slot is free
 * @caller: the address of the caller; 0: unknown
 * @calls: the number of calls whose entry was seen
 * @ended: the number of calls whose entry and end were seen
 * @sum_ns: the sum of the durations of the @ended calls
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
 * The sample. Any thread that holds @lock may use the sample. All members but the lock start as
 * zeros.
 *
 * @bytes: the size of all records that sample_take() was given
 * @looked_at: the size of the records that sample_take() has read
 * @entries: the number of calls whose entry was seen, with or without a slot in @calls
 */
struct sample {
	pthread_mutex_t lock;
	uint64_t bytes;
	uint64_t looked_at;
	uint64_t entries;
	size_t nr;
	struct sampled_call calls[SAMPLE_SLOTS];
};

/* Returns a new sample, or NULL when memory is short. */
struct sample *sample_new(void);
void sample_free(struct sample *sample);

/* Count the calls in records of a thread of @proc. @data: whole records */
void sample_take(struct sample *sample, const struct process *proc, const void *data, size_t len);

/* Move the content of @sample to @out, and empty @sample. @out must come from sample_new(). */
void sample_move(struct sample *sample, struct sample *out);

#endif
