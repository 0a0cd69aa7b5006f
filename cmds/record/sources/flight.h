/* The flight recorder: the newest records of each task, kept in its ring until somebody wants them saved. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_FLIGHT_H
#define UTRAIL_CMDS_RECORD_SOURCES_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

struct process;
struct recorder;

/* What --max-size is with --flight when nobody says: that many times the size for one task. */
#define FLIGHT_DEFAULT_TASKS 16

/* The least for --flight: a page for each segment of a ring (process.c). */
#define FLIGHT_BYTES_MIN (128ULL << 10)

/*
 * The files that were saved, oldest first: when they are more than --max-size in all, the oldest go. Under
 * recorder.flight_lock.
 *
 * @nr_gone: so many have gone since task.txt was last cleared of their tasks
 */
struct flight {
	struct flight_file {
		int32_t tid;
		uint64_t bytes;
	} * files;
	size_t nr;
	size_t cap;
	uint64_t bytes;
	size_t nr_gone;
};

/* What is kept of each CPU's events at most: some 50,000 context switches. */
#define FLIGHT_PERF_BYTES_MAX (2ULL << 20)

/* What is to be kept of each CPU's events in this recording. */
uint64_t flight_perf_bytes(const struct recorder *rec);

/* The same of tracepoints. */
uint64_t flight_kernel_bytes(const struct recorder *rec);

void flight_deinit(struct flight *flight);

/*
 * Put what ring @index of @proc holds into <tid>.dat, in place of what an earlier call has put there. The ring's thread may
 * go on meanwhile; but nobody may give the ring back. @nr_tasks are saved in a row and share --max-size. A file that
 * does not go back to the task's beginning begins with a LOST record, which says how many records came before.
 * A write that fails is noted as the store's error.
 */
void flight_save_ring(struct recorder *rec, struct process *proc, uint32_t index,
		      unsigned nr_tasks);

/* The same for all tasks that run: a snapshot. Returns how many there were. For the control thread. */
unsigned flight_save_all(struct recorder *rec);

#endif
