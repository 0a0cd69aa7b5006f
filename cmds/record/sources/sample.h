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
 * @proc: NULL: the place is free
 * @caller: its address; 0: not known
 * @calls: number of seen entries; @ended of these had their end seen, after @sum_ns in all
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
 * Any thread, under @lock. Everything but the lock starts as zeros.
 *
 * @bytes: of all records
 * @looked_at: bytes of these that were read
 * @entries: calls whose entry was seen, also those without a place in @calls
 */
struct sample {
	pthread_mutex_t lock;
	uint64_t bytes;
	uint64_t looked_at;
	uint64_t entries;
	size_t nr;
	struct sampled_call calls[SAMPLE_SLOTS];
};

/* NULL: out of memory. */
struct sample *sample_new(void);
void sample_free(struct sample *sample);

/* Whole records of a thread of @proc. */
void sample_take(struct sample *sample, const struct process *proc, const void *data, size_t len);

/* Move the content to @out (allocated by sample_new()); @sample becomes empty. */
void sample_move(struct sample *sample, struct sample *out);

#endif
