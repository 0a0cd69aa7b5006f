/*
 * The flight recorder: the newest records of each task, kept in its ring until somebody wants them
 * saved.
 */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_FLIGHT_H
#define UTRAIL_CMDS_RECORD_SOURCES_FLIGHT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct writers;

/* The default of --max-size with --flight: this many times the size for one task. */
#define FLIGHT_DEFAULT_TASKS 16

/* The least for --flight: a page for each segment of a ring (process.c). */
#define FLIGHT_BYTES_MIN (128ULL << 10)

/*
 * The files that were saved, oldest first: when they are more than --max-size in all, the oldest
 * go. Under @lock.
 *
 * @nr_gone: so many have gone since task.txt was last cleared of their tasks
 */
struct flight {
	pthread_mutex_t lock;
	struct flight_file {
		int32_t tid;
		uint64_t bytes;
	} * files;
	size_t nr;
	size_t cap;
	uint64_t bytes;
	size_t nr_gone;
};

void flight_init(struct flight *flight);
void flight_deinit(struct flight *flight);

/*
 * Put what ring @index of @proc holds into <tid>.dat, in place of what an earlier call has put
 * there. The ring's thread may go on meanwhile; but nobody may give the ring back. @nr_tasks are
 * saved in a row and share --max-size. A file that does not go back to the task's beginning begins
 * with a LOST record, which says how many records came before. A write that fails is noted as the
 * store's error.
 */
void flight_save_ring(struct writers *writers, struct process *proc, uint32_t index,
		      unsigned nr_tasks);

/*
 * The same for all tasks that run: a snapshot. Returns how many there were. For the control thread.
 */
unsigned flight_save_all(struct writers *writers);

#endif
