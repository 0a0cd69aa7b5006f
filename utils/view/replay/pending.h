/*
 * A table of beginnings that wait for their ends, for example of requests that wait for replies. A
 * beginning and its end have the same key, a string of any bytes. The table's memory has a limit.
 */
#ifndef UTRAIL_VIEW_PENDING_H
#define UTRAIL_VIEW_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * PENDING_MAX: the maximum number of entries. PENDING_BYTES_MAX: the maximum length of all keys
 * together, in bytes.
 */
#define PENDING_MAX	  (1U << 20)
#define PENDING_BYTES_MAX (128UL << 20)

struct pending_entry;

/* Starts as { 0 }, ends with pending_deinit(). */
struct pending {
	struct pending_entry **slots;
	size_t nr_slots; /* a power of two, or 0 */
	size_t nr;
	size_t bytes;
	uint64_t seed; /* set when the first slots are allocated */
};

void pending_deinit(struct pending *pending);

/*
 * Store @time_ns as the beginning of the entry of @key. Returns 0 for a new entry, or 1 when an
 * older entry of @key was replaced. On failure, returns -ENOSPC when too many entries wait, or
 * -ENOMEM.
 */
int pending_begin(struct pending *pending, const void *key, size_t len, uint64_t time_ns);

/*
 * Remove the entry of @key, and set *@time_ns to the time that pending_begin() has stored for @key.
 * Returns false if there is no entry.
 */
bool pending_end(struct pending *pending, const void *key, size_t len, uint64_t *time_ns);

#endif
