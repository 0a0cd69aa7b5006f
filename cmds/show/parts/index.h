/*
 * Keeps a recording's calls in stores, one for each task. A thread fills the stores. Meanwhile and
 * afterwards, other threads can read the stores.
 */
#ifndef UTRAIL_CMDS_SHOW_INDEX_H
#define UTRAIL_CMDS_SHOW_INDEX_H

#include <pthread.h>
#include <stdatomic.h>

#include "cmds/opts.h"
#include "cmds/show/parts/call_store.h"
#include "cmds/show/parts/contexts.h"
#include "cmds/show/parts/text_store.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/data.h"

/*
 * A task. The members describe the part of the recording that was read.
 *
 * @name, @pid, @tid: as the web page shows them
 * @start_ns, @end_ns: times relative to the beginning of the recording
 * @depth: the number of levels of calls
 * @points: the events
 * @has_texts: some calls have arguments or results
 */
struct indexed_task {
	char *name;
	int pid;
	int tid;
	uint64_t start_ns;
	uint64_t end_ns;
	size_t depth;
	struct call_store store;
	struct call_store points;
	struct contexts contexts;
	bool has_texts;
};

/*
 * Events get depths, like calls. The depth of an event is k + n * INDEX_KINDS_MAX:
 *
 * - k is the number of the event's kind, from 0 on. If there are more than INDEX_KINDS_MAX kinds,
 *   all further kinds have the number INDEX_KINDS_MAX - 1.
 * - n is the number of earlier events with the same kind, task and time. The maximum of n is
 *   INDEX_AT_ONCE - 1.
 */
#define INDEX_KINDS_MAX	    4096
#define INDEX_AT_ONCE	    16
/*
 * The maximum size of the JSON about executions, in bytes. Executions that do not fit are left out.
 */
#define INDEX_PROCESS_BYTES (64 << 20)

/*
 * The index. Starts with index_start() and ends with index_stop().
 *
 * @nr_waiting: the number of threads that wait for the lock; if there are any, the reading thread
 *         releases the lock
 * @lock: protects all members after it
 * @tasks: tasks with calls or events, in the order of reading
 * @names: @nr_names names of functions, in the order of the functions' numbers; a NUL ends each
 *         name
 * @calls: the number of calls for each function
 * @kinds: names of kinds of events, like @names
 * @per_kind: the number of events for each kind
 * @nr_lost: the number of lost records, for all tasks together
 * @processes: executions of programs in JSON (executions_put()), separated by commas
 * @nr_left_out: the number of executions that are not in @processes, for lack of space
 * @sources: JSON members (sources_put()); empty before everything is read
 * @base_ns: the time when the recording began
 * @zero_ns: the time of the first record, relative to @base_ns
 * @is_done: reading has ended; an error is in @failure
 * @ended_ns: the time when @is_done was set, by the monotonic clock
 */
struct index {
	const struct opts *opts;
	struct trace_data *data;
	pthread_t thread;
	atomic_bool is_stopped;
	atomic_uint nr_waiting;
	pthread_mutex_t lock;
	struct call_file file;
	struct indexed_task *tasks;
	size_t nr_tasks;
	struct strbuf names;
	size_t nr_names;
	uint64_t *calls;
	size_t nr_calls;
	struct text_store texts;
	struct strbuf kinds;
	size_t nr_kinds;
	uint64_t *per_kind;
	size_t nr_per_kind;
	uint64_t nr_lost;
	struct strbuf processes;
	size_t nr_left_out;
	struct strbuf sources;
	uint64_t base_ns;
	uint64_t zero_ns;
	bool is_done;
	uint64_t ended_ns;
	uint64_t read_bytes;
	uint64_t all_bytes;
	struct uft_err failure;
};

/*
 * Start a thread that reads @data. Until index_stop(), no other thread may read @data. Returns 0 or
 * a negative errno.
 */
int index_start(struct index *index, const struct opts *opts, struct trace_data *data);
void index_stop(struct index *index);

/*
 * Take and release the lock. The owner of the lock may read the index. Meanwhile the thread that
 * reads the recording waits.
 */
void index_lock(struct index *index);
void index_unlock(struct index *index);

#endif
