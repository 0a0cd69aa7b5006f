/*
 * Appends records to <tid>.dat, and payloads to <tid>.evt. Counts the records that cannot be
 * written.
 */
#include "cmds/record/sources/datafile.h"

#include <stdio.h>

#include "utils/format/datadir.h"
#include "utils/format/record.h"

/*
 * Returns the stream of the task's file, or a negative errno. After the use of the stream, call
 * leave_file().
 */
static int enter_file(struct store *store, const struct ring_file *file, int32_t tid,
		      const char *suffix)
{
	char name[32];

	if (file->is_open)
		return file->stream;
	snprintf(name, sizeof(name), "%d%s", tid, suffix);
	return store_open(store, name);
}

/* Keeps @stream open for the next use, if enough descriptors are free (store_may_stay_open()). */
static void leave_file(struct store *store, struct ring_file *file, int stream)
{
	if (file->is_open || stream < 0)
		return;
	file->is_open = store_may_stay_open(store, stream);
	file->stream = stream;
	if (!file->is_open)
		store_close(store, stream);
}

static void close_file(struct store *store, const struct ring_file *file)
{
	if (file->is_open)
		store_close(store, file->stream);
}

/* True when a record may begin at @r. @after_ns: the earliest time that the record can have */
static bool is_record(const struct record *r, uint64_t after_ns)
{
	return record_magic_is_good(r->data) && r->time_ns >= after_ns &&
	       r->time_ns - after_ns < 1ULL << 42;
}

/*
 * The numbers of calls and of records in a buffer.
 *
 * @told: the sum of the numbers in the LOST records of the buffer
 */
struct tally {
	uint64_t calls;
	uint64_t records;
	uint64_t told;
};

/*
 * Counts the records in a buffer. The length of a payload is unknown. A payload ends where the next
 * record may begin (is_record()).
 */
static struct tally tally(const char *data, size_t len)
{
	struct tally sum = { 0 };

	for (size_t at = 0; at + sizeof(struct record) <= len;) {
		const struct record *r = (const struct record *)(data + at);
		enum record_type type = record_type(r->data);

		sum.calls += type == RECORD_ENTRY;
		if (type == RECORD_LOST)
			sum.told += record_addr(r->data);
		else
			sum.records++;
		at += sizeof(*r);
		if (!record_has_more(r->data))
			continue;
		while (at + sizeof(*r) <= len &&
		       !is_record((const struct record *)(data + at), r->time_ns))
			at += sizeof(uint64_t);
	}
	return sum;
}

/*
 * Appends @parts. If records directly before @parts were lost, first appends a LOST record with the
 * number of lost records.
 */
static int append_with_lost(struct store *store, int stream, struct ring_sink *sink,
			    const struct iovec *parts, int nr)
{
	struct record lost = { 0, record_data(RECORD_LOST, 0, sink->untold) };

	if (sink->untold) {
		int ret = store_append(store, stream, &lost, sizeof(lost));

		if (ret < 0)
			return ret;
		sink->untold = 0;
	}
	return store_append_parts(store, stream, parts, nr);
}

/*
 * Set sink->tid to the task whose records the ring holds. Returns false when the ring has no valid
 * task.
 */
static bool name_sink(struct writers *writers, struct process *proc, struct ring *r,
		      struct ring_sink *sink)
{
	if (sink->tid)
		return true;

	/* The program can change @r at any time, so each value is read only once. */
	int32_t tid = __atomic_load_n(&r->tid, __ATOMIC_RELAXED);
	bool is_child = __atomic_load_n(&r->is_child, __ATOMIC_RELAXED);

	sink->tid = is_child ? tasks_claim_child(writers->tasks, proc, tid)
			     : tasks_claim(writers->tasks, proc, tid);
	if (sink->tid && is_child)
		tasks_announce_child(writers->tasks, proc, sink->tid, r->start_ns);
	else if (sink->tid)
		tasks_announce(writers->tasks, proc, sink->tid, r->start_ns);
	return sink->tid != 0;
}

static struct tally tally_parts(const struct iovec *parts, int nr)
{
	struct tally sum = { 0 };

	for (int i = 0; i < nr; i++) {
		const struct tally part = tally(parts[i].iov_base, parts[i].iov_len);

		sum.calls += part.calls;
		sum.records += part.records;
		sum.told += part.told;
	}
	return sum;
}

static void drop_records(struct writers *writers, struct ring_sink *sink, const struct iovec *parts,
			 int nr)
{
	const struct tally lost = tally_parts(parts, nr);

	/*
	 * @lost.told is not added to records_lost here, because sink_finish() adds all losses of
	 * the producer, which include @lost.told.
	 */
	atomic_fetch_add(&writers->records_lost, lost.records);
	sink->untold += lost.records + lost.told;
}

static void count_calls(struct writers *writers, const struct iovec *parts, int nr)
{
	if (!atomic_load_explicit(&writers->counts_calls, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&writers->calls, tally_parts(parts, nr).calls,
				  memory_order_relaxed);
}

/*
 * Appends @nr parts to @stream. Fails if the parts cannot be written, or if @stream is a negative
 * errno. After a failure with @is_last, drops the parts and returns 0. After a failure without
 * @is_last, returns a negative errno, and the caller must try again with fewer parts.
 */
static int append_or_drop(struct writers *writers, int stream, struct ring_sink *sink,
			  const struct iovec *parts, int nr, bool is_last)
{
	int ret = stream < 0 ? stream : append_with_lost(writers->store, stream, sink, parts, nr);

	if (ret < 0 && !is_last)
		return ret;
	if (ret < 0) {
		store_note_error(writers->store, ret);
		drop_records(writers, sink, parts, nr);
	} else {
		count_calls(writers, parts, nr);
	}
	return 0;
}

void sink_append(struct writers *writers, struct process *proc, struct ring *r,
		 struct ring_sink *sink, const struct iovec *parts, int nr)
{
	size_t len = iovec_bytes(parts, nr);

	if (len == 0 || !store_may_take(writers->store, len))
		return;
	if (!name_sink(writers, proc, r, sink)) {
		drop_records(writers, sink, parts, nr);
		return;
	}
	for (int i = 0; writers->sample && i < nr; i++)
		sample_take(writers->sample, proc, parts[i].iov_base, parts[i].iov_len);

	int stream = enter_file(writers->store, &sink->records, sink->tid, ".dat");

	/* A disk without room for all parts may have room for some of them. */
	if (append_or_drop(writers, stream, sink, parts, nr, nr == 1) < 0) {
		for (int i = 0; i < nr; i++)
			append_or_drop(writers, stream, sink, &parts[i], 1, true);
	}
	leave_file(writers->store, &sink->records, stream);
}

void sink_append_payloads(struct writers *writers, struct process *proc, struct ring *r,
			  struct ring_sink *sink, const struct iovec *parts, int nr)
{
	size_t len = iovec_bytes(parts, nr);

	if (len == 0 || !store_may_take(writers->store, len) || !name_sink(writers, proc, r, sink))
		return;

	struct store *store = writers->store;
	int stream = enter_file(store, &sink->payloads, sink->tid, DATADIR_EVENT_DATA_SUFFIX);

	int ret = stream < 0 ? stream : store_append_parts(store, stream, parts, nr);

	store_note_error(store, ret);
	for (int i = 0; ret < 0 && stream >= 0 && nr > 1 && i < nr; i++)
		store_append_parts(store, stream, &parts[i], 1);
	leave_file(store, &sink->payloads, stream);
}

void sink_finish(struct writers *writers, struct process *proc, struct ring *r,
		 struct ring_sink *sink)
{
	uint64_t lost = atomic_load(&r->lost);
	uint64_t told = atomic_load(&r->lost_told);
	uint64_t inside = atomic_load(&r->lost_inside);
	uint64_t too_deep = atomic_load(&r->too_deep);

	atomic_fetch_add(&writers->records_lost, lost);
	atomic_fetch_add(&writers->records_lost_inside, MIN(inside, lost));
	/*
	 * If the ring had no room for the producer's last LOST record, the LOST record is written
	 * here.
	 */
	sink->untold += lost > told ? lost - told : 0;
	if (sink->untold && name_sink(writers, proc, r, sink)) {
		struct record record = { 0, record_data(RECORD_LOST, 0, sink->untold) };
		const struct iovec part = { &record, sizeof(record) };

		sink->untold = 0;
		sink_append(writers, proc, r, sink, &part, 1);
	}
	if (too_deep && name_sink(writers, proc, r, sink))
		tasks_note_too_deep(writers->tasks, sink->tid, too_deep);
	close_file(writers->store, &sink->records);
	close_file(writers->store, &sink->payloads);
	tasks_release(writers->tasks, sink->tid);
	*sink = (struct ring_sink){ 0 };
}
