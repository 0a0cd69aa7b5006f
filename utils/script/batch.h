/* Calls that have ended, as columns of numbers, for scripts that take many calls at a time. */
#ifndef UTRAIL_SCRIPT_BATCH_H
#define UTRAIL_SCRIPT_BATCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * The maximum number of calls in a batch. The columns of a batch take 832 KiB. Many second-level
 * caches have room for the columns.
 */
#define SCRIPT_BATCH_MAX 32768

/*
 * Row i is the i-th call that ended. Times are in nanoseconds.
 *
 * @timestamp: when the call was entered
 * @function: the function's index in the table of names, from 0
 */
struct script_batch {
	size_t nr;
	uint64_t timestamp[SCRIPT_BATCH_MAX];
	uint64_t duration[SCRIPT_BATCH_MAX];
	uint32_t function[SCRIPT_BATCH_MAX];
	int32_t tid[SCRIPT_BATCH_MAX];
	uint16_t depth[SCRIPT_BATCH_MAX];
};

#endif
