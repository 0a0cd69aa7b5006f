/* Writers: the threads that take records from the probes' rings, and their counts. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_WRITER_H
#define UTRAIL_CMDS_RECORD_SOURCES_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmds/record/sources/flight.h"
#include "cmds/record/sources/sample.h"
#include "cmds/record/sources/sources.h"
#include "cmds/record/store/store.h"
#include "cmds/record/tasks/process.h"
#include "cmds/record/tasks/tasks.h"

/*
 * Members above the empty line are set before writers_start() and do not change.
 *
 * @control: shared with all probes
 * @sample: of all records taken; NULL: not wanted
 * @counts_calls: @calls is wanted
 * @is_followed: a reader follows the recording: flush more often
 * @flushed_ns: by writer: the files have all its records that were committed before this time
 * @calls: calls whose entries are in the files
 * @records_lost: records that could not be saved
 * @records_lost_inside: the part of @records_lost that ring.lost_inside describes
 */
struct writers {
	const struct record_settings *settings;
	struct store *store;
	struct tasks *tasks;
	struct processes *processes;
	const struct sources *sources;
	struct control_page *control;
	struct sample *sample;

	pthread_t *threads;
	unsigned nr;
	_Atomic bool stopping;
	_Atomic bool is_followed;
	_Atomic bool counts_calls;
	/* there are processes that may not wake the recorder: struct arena, @seals */
	_Atomic bool has_sealed;
	_Atomic uint64_t *flushed_ns;
	struct flight flight;
	_Atomic uint64_t calls;
	_Atomic uint64_t records_lost;
	_Atomic uint64_t records_lost_inside;
	_Atomic uint64_t threads_untraced;
};

int writers_start(struct writers *writers, struct uft_err *err);
void writers_stop(struct writers *writers);

/* Free the writers, which were stopped or never started. */
void writers_deinit(struct writers *writers);

/*
 * Look at all rings of writer @index once, and take whole segments; with @everything also the
 * current segments. Rings of ended threads become free. Returns the bytes taken.
 */
uint64_t writer_look(struct writers *writers, unsigned index, bool everything);

/* Returns the time of the recording's clock up to which all records are in the files. */
uint64_t writers_complete_ns(const struct writers *writers);

/*
 * Control thread. The progress, for display only: values that change meanwhile may be counted
 * twice.
 *
 * @calls: 0 unless writers.counts_calls was set from the beginning
 * @bytes: the sizes of the files
 * @lost: the losses so far, also of running tasks
 * @ring_bytes: the bytes in @nr_rings rings, one for each running task
 */
struct writers_sum {
	uint64_t calls;
	uint64_t bytes;
	uint64_t lost;
	uint64_t ring_bytes;
	unsigned nr_rings;
};

void writers_sum(const struct writers *writers, struct writers_sum *sum);

/* Take all committed records from the rings of @proc, which no writer reads any more. */
void writer_drain_all(struct writers *writers, struct process *proc);

/*
 * Control thread. Write the records of child @pid that are in its parent's memory to its file now:
 * the child has executed another program.
 */
void writer_drain_child(struct writers *writers, pid_t pid);

#endif
