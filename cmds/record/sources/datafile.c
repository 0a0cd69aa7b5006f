/* The data files: appending to <tid>.dat, and counting what a full disk does not take. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/run/recorder.h"
#include "utils/base/fd.h"
#include "utils/format/record.h"

bool writer_may_write(struct recorder *rec, size_t len)
{
	uint64_t max = rec->settings->max_bytes;

	/* A flight recording forgets what is old instead (flight.c). */
	if (!max || rec->settings->flight_bytes)
		return true;
	if (atomic_fetch_add(&rec->bytes_written, len) + len <= max && !atomic_load(&rec->is_full))
		return true;
	atomic_store(&rec->is_full, true);
	notes_finish_all(rec);
	return false;
}

static int open_data_file(struct recorder *rec, int32_t tid)
{
	char name[32];

	snprintf(name, sizeof(name), "%d.dat", tid);
	return openat(rec->dir_fd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

/* All of it or nothing: what a full disk took of it is cut off again. 0 or a negative errno. */
static int append_whole(int fd, const void *data, size_t len)
{
	size_t done = 0;
	struct stat st;

	while (done < len) {
		ssize_t n = write(fd, (const char *)data + done, len - done);

		if (n > 0)
			done += n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	if (done == len)
		return 0;

	int code = errno ? -errno : -EIO;

	/* Should that fail, too, the file ends in a part of a record, which readers cut off. */
	if (done && fstat(fd, &st) == 0 && ftruncate(fd, st.st_size - (off_t)done) < 0)
		code = -errno;
	return code;
}

/* Whether a record may begin here, behind a payload whose length nobody says. */
static bool is_record(const struct record *r, uint64_t after_ns)
{
	return record_magic_is_good(r->data) && r->time_ns >= after_ns &&
	       r->time_ns - after_ns < 1ULL << 42;
}

/*
 * The records in a buffer that could not be written. What LOST records among them tell was counted before; it goes to
 * @told. Payloads are passed over by what they are not: records with a later time.
 */
static uint64_t count_records(const char *data, size_t len, uint64_t *told)
{
	uint64_t nr = 0;

	for (size_t at = 0; at + sizeof(struct record) <= len;) {
		const struct record *r = (const struct record *)(data + at);

		if (record_type(r->data) == RECORD_LOST)
			*told += record_addr(r->data);
		else
			nr++;
		at += sizeof(*r);
		if (!record_has_more(r->data))
			continue;
		while (at + sizeof(*r) <= len &&
		       !is_record((const struct record *)(data + at), r->time_ns))
			at += sizeof(uint64_t);
	}
	return nr;
}

/* What is missing in the file at this place is told first, so that readers know. */
static int append_with_lost(int fd, struct ring_sink *sink, const void *data, size_t len)
{
	struct record lost = { 0, record_data(RECORD_LOST, 0, sink->untold) };

	if (sink->untold) {
		int ret = append_whole(fd, &lost, sizeof(lost));

		if (ret < 0)
			return ret;
		sink->untold = 0;
	}
	return append_whole(fd, data, len);
}

/* Whose records the ring holds. False when it does not say. */
static bool name_sink(struct recorder *rec, struct process *proc, struct ring *r,
		      struct ring_sink *sink)
{
	if (sink->tid)
		return true;
	/* Read once: it is the program's memory. */
	sink->tid = tasks_claim(rec, proc, __atomic_load_n(&r->tid, __ATOMIC_RELAXED));
	if (!sink->tid)
		return false;
	tasks_announce(rec, proc, sink->tid, r->start_ns);
	return true;
}

static void drop(struct recorder *rec, struct ring_sink *sink, const void *data, size_t len)
{
	uint64_t told = 0;
	uint64_t nr = count_records(data, len, &told);

	atomic_fetch_add(&rec->records_lost, nr);
	sink->untold += nr + told;
}

void sink_append(struct recorder *rec, struct process *proc, struct ring *r, struct ring_sink *sink,
		 const void *data, size_t len)
{
	if (len == 0 || !writer_may_write(rec, len))
		return;
	if (!name_sink(rec, proc, r, sink)) {
		drop(rec, sink, data, len);
		return;
	}

	int fd = sink->is_open ? sink->data_fd : open_data_file(rec, sink->tid);
	int ret = fd < 0 ? -errno : append_with_lost(fd, sink, data, len);

	/* The program goes on: a full disk is no reason to stop it. */
	if (ret < 0) {
		recorder_note_write_error(rec, ret);
		drop(rec, sink, data, len);
	}
	/* Thousands of tasks may have more files than the process may hold open. */
	if (!sink->is_open && fd >= 0) {
		sink->is_open = fd < sysconf(_SC_OPEN_MAX) / 2;
		sink->data_fd = fd;
		if (!sink->is_open)
			close(fd);
	}
}

void sink_finish(struct recorder *rec, struct process *proc, struct ring *r, struct ring_sink *sink)
{
	uint64_t lost = atomic_load(&r->lost);
	uint64_t told = atomic_load(&r->lost_told);
	uint64_t inside = atomic_load(&r->lost_inside);

	/* What the producer could not tell any more. */
	atomic_fetch_add(&rec->records_lost, lost);
	atomic_fetch_add(&rec->records_lost_inside, MIN(inside, lost));
	sink->untold += lost > told ? lost - told : 0;
	if (sink->untold && name_sink(rec, proc, r, sink)) {
		struct record record = { 0, record_data(RECORD_LOST, 0, sink->untold) };

		sink->untold = 0;
		sink_append(rec, proc, r, sink, &record, sizeof(record));
	}
	if (sink->is_open)
		close(sink->data_fd);
	*sink = (struct ring_sink){ 0 };
}
