/* A recording's calls in stores, one for each task, while a thread reads them and after that. */
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
 * A task as far as it was read.
 *
 * @name, @pid, @tid: as the page shows them
 * @start_ns, @end_ns: since the recording began
 * @depth: levels of calls
 * @points: events, which are no calls
 * @has_texts: some of its calls have arguments or results
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
 * More kinds of events are one, the last; a page with more of them is of no use. The depth of an
 * event is its kind plus so much for each one of its kind before it at the same time: of 16.
 */
#define INDEX_KINDS_MAX	    4096
#define INDEX_AT_ONCE	    16
/* So many bytes of JSON tell of processes; further ones are left out. */
#define INDEX_PROCESS_BYTES (64 << 20)

/*
 * Starts with index_start(), ends with index_stop().
 *
 * @lock: of all that follows it; @nr_waiting: who wants it, besides the thread, which lets them
 * @tasks: those with calls, in the order in which they were read
 * @names: of functions, by their number, each with its NUL; @nr_names; @calls: of each
 * @texts: of calls and events
 * @kinds: names of kinds of events, as @names; @per_kind: how many there are of each
 * @nr_lost: records, of all tasks
 * @processes: JSON of executions, between commas; @nr_left_out: how many are not in it
 * @sources: members of JSON (sources_put()), when all was read
 * @zero_ns: the first record, from where ranges count, since @base_ns, when the recording began
 * @is_done: all was read, or as much as could be (@failure)
 * @read_bytes, @all_bytes: of the files
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
	uint64_t read_bytes;
	uint64_t all_bytes;
	struct uft_err failure;
};

/*
 * Read @data, which no other thread may read meanwhile, by a thread of its own. 0 or a negative
 * errno.
 */
int index_start(struct index *index, const struct opts *opts, struct trace_data *data);
void index_stop(struct index *index);

/* For all that is to be read of it. The reading waits meanwhile. */
void index_lock(struct index *index);
void index_unlock(struct index *index);

#endif
