/* The flight recorder: the newest records of each task stay in its ring until they are saved. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_FLIGHT_H
#define UTRAIL_CMDS_RECORD_SOURCES_FLIGHT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct writers;

/* The default of --max-size with --flight, as a multiple of the size for a task. */
#define FLIGHT_DEFAULT_TASKS 16

/* The least value of --flight: a page for each segment of a ring (process.c). */
#define FLIGHT_BYTES_MIN (128ULL << 10)

/*
 * The saved files, the oldest first, which are removed when all exceed --max-size. Protected by
 * @lock.
 *
 * @nr_gone: files removed since task.txt was last cleared of their tasks
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
 * Write the content of ring @index of @proc to <tid>.dat, replacing an earlier snapshot. The ring's
 * thread may run meanwhile, but the ring must not be returned. If the beginning is missing, the
 * file begins with a LOST record that counts the earlier records. A failed write is the store's
 * error.
 *
 * @nr_tasks: the number of tasks that are saved in a row, and share --max-size
 */
void flight_save_ring(struct writers *writers, struct process *proc, uint32_t index,
		      unsigned nr_tasks);

/* Save the rings of all running tasks: a snapshot. Control thread. Returns their number. */
unsigned flight_save_all(struct writers *writers);

#endif
