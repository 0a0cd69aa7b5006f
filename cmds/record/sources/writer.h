/*
 * Writers are the threads that take records from the probes' rings. The writers count calls
 * and lost records.
 */
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
 * The members above the empty line are set before writers_start(), and do not change.
 *
 * @control: the page that is shared with all probes
 * @sample: the sample of records in which calls are counted (sample.h); NULL: no calls are counted
 * @counts_calls: @calls is wanted
 * @is_followed: a reader follows the recording, so the rings are flushed more often
 * @flushed_ns: a time for each writer. All records of the writer's rings that were committed before
 *         this time are in the files
 * @calls: the number of calls whose entries are in the files
 * @records_lost: the number of records that could not be saved
 * @records_lost_inside: the part of @records_lost that ring.lost_inside counts
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
	/* some processes may be unable to wake the recorder (see @seals of struct arena) */
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

/* Free the writers. If the writers were started, call writers_stop() first. */
void writers_deinit(struct writers *writers);

/*
 * Look once at all rings of writer @index, and take whole segments. With @everything, also take the
 * current segments. The rings of ended threads become free. Returns the number of bytes taken.
 */
uint64_t writer_look(struct writers *writers, unsigned index, bool everything);

/* Returns the time, on the recording's clock, up to which all records are in the files. */
uint64_t writers_complete_ns(const struct writers *writers);

/*
 * The progress, for display only. The control thread computes the sums. If a writer closes a ring
 * during the computation, @lost may count the lost records of the ring twice, or not at all.
 *
 * @calls: 0 unless writers.counts_calls was set from the beginning
 * @bytes: the store's count of bytes (@taken of struct store)
 * @lost: the number of lost records of all tasks, both ended and running
 * @ring_bytes: the size of the records that are in the memory of the rings
 * @nr_rings: the number of these rings, one for each running task
 */
struct writers_sum {
	uint64_t calls;
	uint64_t bytes;
	uint64_t lost;
	uint64_t ring_bytes;
	unsigned nr_rings;
};

void writers_sum(const struct writers *writers, struct writers_sum *sum);

/*
 * Take all committed records from the rings of @proc. Before the call, the caller must ensure that
 * no writer reads these rings any longer.
 */
void writer_drain_all(struct writers *writers, struct process *proc);

/*
 * Called by the control thread when process @pid has executed another program. If vfork(2) made the
 * process, its records from before the exec are in rings of its parent. Writes these records to the
 * file of process @pid. Does nothing in a flight recording.
 */
void writer_drain_child(struct writers *writers, pid_t pid);

#endif
