/*
 * Writes logs of POSIX Trace. A log can be read up to the last flush, even if the process that
 * writes the log is killed.
 */
#include "posixlog/log.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define STOP_BYTES (PT_LOG_RECORD + 8)

static int write_all(int fd, const void *from, size_t len, uint64_t at)
{
	const unsigned char *place = from;

	while (len > 0) {
		ssize_t nr = pwrite(fd, place, len, (off_t)at);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return nr < 0 ? -errno : -ENOSPC;
		place += nr;
		len -= (size_t)nr;
		at += (uint64_t)nr;
	}
	return 0;
}

/*
 * Writes to the file. If the file would exceed the process' limit of file sizes, the function
 * fails, and SIGXFSZ does not end the program.
 */
static int write_at(int fd, const void *from, size_t len, uint64_t at)
{
	struct timespec now = { 0, 0 };
	sigset_t limit, before, waiting;
	int error;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	sigpending(&waiting);
	pthread_sigmask(SIG_BLOCK, &limit, &before);
	error = write_all(fd, from, len, at);
	if (error == -EFBIG && !sigismember(&waiting, SIGXFSZ))
		sigtimedwait(&limit, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/*
 * Writes a header that announces the records before @last. Only the last header of a log may say
 * that the log is complete: readers of such a header do not wait for more records.
 */
static int write_header(struct pxt_log_writer *writer, uint64_t last, bool is_closed)
{
	struct pxt_log_header header = writer->header;
	int error;

	header.last = last;
	header.is_closed = is_closed;
	error = write_at(writer->fd, &header, sizeof(header), 0);
	if (!error)
		writer->drops = false;
	return error;
}

int pxt_log_writer_begin(struct pxt_log_writer *writer, int fd, const struct pxt_attr *attr,
			 unsigned char *buffer)
{
	uint64_t least = 2 * (PT_LOG_RECORD + attr->max_data + 8) + PT_SYSTEM_DATA + STOP_BYTES;
	struct pxt_log_header *header = &writer->header;

	memset(writer, 0, sizeof(*writer));
	writer->fd = fd;
	writer->buffer = buffer;
	writer->policy = attr->log_policy;
	memcpy(header->magic, PT_LOG_MAGIC, sizeof(header->magic));
	header->order = PT_LOG_ORDER;
	header->version = PT_LOG_VERSION;
	header->attr = *attr;
	header->room = attr->log_size < least ? least : attr->log_size;
	header->room = (header->room + 7) / 8 * 8;
	if (writer->policy == PT_LOG_APPENDS)
		header->room = INT64_MAX / 2 - PT_LOG_DATA;
	if (ftruncate(fd, 0) < 0)
		return -errno;
	return write_header(writer, 0, false);
}

int pxt_log_writer_resume(struct pxt_log_writer *writer, int fd, unsigned char *buffer)
{
	struct pxt_log log;
	int error = pxt_log_open(&log, fd);

	if (error)
		return error;
	memset(writer, 0, sizeof(*writer));
	writer->fd = fd;
	writer->buffer = buffer;
	writer->policy = log.header.attr.log_policy;
	writer->header = log.header;
	writer->in_file = log.header.last;
	return 0;
}

static uint64_t begin_of_buffer(const struct pxt_log_writer *writer)
{
	return writer->header.last - writer->nr_buffered;
}

static int write_room(const struct pxt_log_writer *writer, const unsigned char *from, size_t len,
		      uint64_t at)
{
	uint64_t here = at % writer->header.room;
	uint64_t before_end = writer->header.room - here;
	int error;

	if (before_end > len)
		before_end = len;
	error = write_at(writer->fd, from, (size_t)before_end, PT_LOG_DATA + here);
	if (!error && before_end < len)
		error = write_at(writer->fd, from + before_end, len - (size_t)before_end,
				 PT_LOG_DATA);
	return error;
}

/*
 * The file must always contain the records that its header announces. If records were removed, the
 * function first writes a header that does not announce the removed records. Then new records may
 * overwrite the removed records.
 */
static int write_buffer(struct pxt_log_writer *writer)
{
	int error = 0;

	if (!writer->nr_buffered)
		return 0;
	if (writer->drops)
		error = write_header(writer, writer->in_file, false);
	if (!error)
		error = write_room(writer, writer->buffer, writer->nr_buffered,
				   begin_of_buffer(writer));
	if (error)
		return error;
	writer->nr_buffered = 0;
	writer->in_file = writer->adds ? writer->adds_at : writer->header.last;
	if (writer->has_written)
		writer->has_written(writer->argument);
	return 0;
}

static int drop_oldest(struct pxt_log_writer *writer)
{
	struct pxt_log log = {
		.fd = writer->fd,
		.bytes = UINT64_MAX, /* the file is still growing */
		.header = writer->header,
	};
	struct pxt_event event;
	int found;

	if (writer->header.first >= writer->in_file) {
		int error = write_buffer(writer);

		if (error)
			return error;
	}
	log.at = writer->header.first;
	found = pxt_log_next(&log, &event, NULL, 0);
	/* If the record cannot be read, another process has changed the file: drop all records. */
	writer->header.first = found == 1 ? log.at : writer->header.last;
	writer->drops = true;
	writer->has_lost = true;
	writer->header.status.is_log_overrun = 1;
	return 0;
}

static int make_room(struct pxt_log_writer *writer, uint64_t bytes, bool is_last)
{
	struct pxt_log_header *header = &writer->header;
	uint64_t room = header->room;

	if (writer->policy == PT_LOG_UNTIL_FULL && !is_last)
		room -= STOP_BYTES;
	while (header->last - header->first + bytes > room) {
		int error;

		header->status.is_log_full = 1;
		if (writer->policy != PT_LOG_LOOPS)
			return -EXFULL;
		error = drop_oldest(writer);
		if (error)
			return error;
	}
	return 0;
}

static int add_bytes(struct pxt_log_writer *writer, const void *from, size_t len)
{
	const unsigned char *place = from;

	while (len > 0) {
		size_t part = PT_LOG_BUFFER - writer->nr_buffered;

		if (part > len)
			part = len;
		memcpy(writer->buffer + writer->nr_buffered, place, part);
		writer->nr_buffered += part;
		writer->header.last += part;
		place += part;
		len -= part;
		if (writer->nr_buffered == PT_LOG_BUFFER) {
			int error = write_buffer(writer);

			if (error)
				return error;
		}
	}
	return 0;
}

void pxt_log_take_back(struct pxt_log_writer *writer, uint64_t last)
{
	uint64_t behind = writer->header.last - last;

	writer->nr_buffered -= behind < writer->nr_buffered ? (size_t)behind : writer->nr_buffered;
	writer->header.last = last;
	if (writer->in_file > last)
		writer->in_file = last;
}

int pxt_log_append(struct pxt_log_writer *writer, const struct pxt_event *event, const void *data,
		   bool is_last)
{
	static const unsigned char zeros[8];
	size_t padding = (8 - event->len % 8) % 8;
	struct pxt_log_record record = {
		.bytes = (uint32_t)(PT_LOG_RECORD + event->len + padding),
		.event = *event,
	};
	uint64_t last;
	int error = make_room(writer, record.bytes, is_last);

	if (error)
		return error;
	last = writer->header.last;
	/* The buffer contains either complete records or a part of one record. */
	if (writer->nr_buffered + record.bytes > PT_LOG_BUFFER)
		error = write_buffer(writer);
	writer->adds = true;
	writer->adds_at = last;
	if (!error)
		error = add_bytes(writer, &record, sizeof(record));
	if (!error)
		error = add_bytes(writer, data, event->len);
	if (!error)
		error = add_bytes(writer, zeros, padding);
	writer->adds = false;
	/* After an error, later records overwrite the part of this record that is in the file. */
	if (error)
		pxt_log_take_back(writer, last);
	return error;
}

int pxt_log_add_name(struct pxt_log_writer *writer, uint32_t id, const char *text)
{
	char name[PT_NAME_MAX + 1] = "";
	int error;

	memcpy(name, text, strnlen(text, PT_NAME_MAX));
	error = write_at(writer->fd, name, sizeof(name),
			 PT_LOG_NAMES + (uint64_t)(id - PT_FIRST_NAMED) * sizeof(name));
	if (!error && writer->header.nr_names < id - PT_FIRST_NAMED + 1)
		writer->header.nr_names = id - PT_FIRST_NAMED + 1;
	return error;
}

/*
 * If the log is complete, writes the header twice. The second write changes only is_closed. During
 * a write, a reader may get a mixture of old and new members. But if the reader gets 1 for
 * is_closed, the first write has already stored all other members.
 */
int pxt_log_sync(struct pxt_log_writer *writer)
{
	int error = write_buffer(writer);

	if (!error)
		error = write_header(writer, writer->header.last, false);
	if (!error && writer->header.is_closed)
		error = write_header(writer, writer->header.last, true);
	return error;
}

int pxt_log_clear(struct pxt_log_writer *writer)
{
	struct pxt_status *status = &writer->header.status;

	writer->nr_buffered = 0;
	writer->in_file = writer->header.first = writer->header.last = 0;
	status->is_log_full = status->is_log_overrun = 0;
	writer->has_lost = false;
	return write_header(writer, 0, false);
}

/*
 * Finds the end of the records that follow header.last. The file contains their bytes up to @begin.
 * The last of these records may continue in the buffer.
 */
static uint64_t walk_file(struct pxt_log_writer *writer, uint64_t begin, size_t nr_pending)
{
	struct pxt_log log = { .fd = writer->fd, .header = writer->header };
	uint64_t at = writer->header.last;
	uint64_t bytes = 1;

	while (at < begin && bytes) {
		struct pxt_log_record record;

		if (begin - at < sizeof(record) ||
		    pxt_log_read_room(&log, &record, sizeof(record), at) < 0)
			break;
		writer->in_file = at;
		bytes = pxt_log_check(&record, begin + nr_pending - at);
		at += bytes;
	}
	return at;
}

static size_t walk_buffer(const struct pxt_log_writer *writer, size_t at, size_t nr_pending)
{
	while (nr_pending - at >= sizeof(struct pxt_log_record)) {
		struct pxt_log_record record;
		uint64_t bytes;

		memcpy(&record, writer->buffer + at, sizeof(record));
		bytes = pxt_log_check(&record, nr_pending - at);
		if (!bytes)
			break;
		at += (size_t)bytes;
	}
	return at;
}

int pxt_log_recover(struct pxt_log_writer *writer, uint64_t begin, size_t nr_pending)
{
	struct pxt_log_header *header = &writer->header;
	uint64_t at;
	int error = 0;

	if (nr_pending > PT_LOG_BUFFER || nr_pending > header->room || begin < header->last ||
	    begin - header->last > header->room)
		return 0;
	at = walk_file(writer, begin, nr_pending);
	if (at <= begin)
		writer->in_file = at;
	header->last = at;
	if (at < begin)
		return 0;
	writer->nr_buffered = walk_buffer(writer, (size_t)(at - begin), nr_pending);
	header->last = begin + writer->nr_buffered;
	while (!error && header->last - header->first > header->room) {
		if (writer->policy != PT_LOG_LOOPS) {
			pxt_log_take_back(writer, writer->in_file);
			break;
		}
		error = drop_oldest(writer);
	}
	return error;
}
