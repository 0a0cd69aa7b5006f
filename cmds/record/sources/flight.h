/* The flight recorder. The newest records of each task stay in its ring until they are saved. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_FLIGHT_H
#define UTRAIL_CMDS_RECORD_SOURCES_FLIGHT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct writers;

/* With --flight, the default of --max-size is the argument of --flight times this number. */
#define FLIGHT_DEFAULT_TASKS 16

/* The minimum of --flight. It is one page for each segment of a ring (tasks/process.c). */
#define FLIGHT_BYTES_MIN (128ULL << 10)

/*
 * The saved files. The list starts with the oldest file. sources_left_bytes() returns the maximum
 * size of all saved files together. If the files need more bytes, the oldest files are removed.
 * Protected by @lock.
 *
 * @nr_gone: the number of removed files whose tasks are still in task.txt
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
 * Write the content of ring @index of @proc to <tid>.dat. An earlier snapshot in <tid>.dat is
 * replaced. The thread of the ring may run during the save. But the caller must make sure that no
 * other thread gets the ring during the save. If earlier records are missing, the file begins with
 * a LOST record, which contains the number of missing records. If a write fails, the error is
 * passed to store_note_error().
 *
 * @nr_tasks: the number of tasks that are saved together, and share --max-size
 */
void flight_save_ring(struct writers *writers, struct process *proc, uint32_t index,
		      unsigned nr_tasks);

/*
 * Control thread. Save a snapshot of the rings of all running tasks. Returns the number of tasks.
 */
unsigned flight_save_all(struct writers *writers);

#endif
