/* Logs of POSIX Trace on disk. libutrail-trace writes and reads them, and utrail reads them. */
#ifndef UTRAIL_POSIXTRACE_LOG_H
#define UTRAIL_POSIXTRACE_LOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "posixlog/event.h"

/*
 * A file has three parts. The header is in the first page. At PT_LOG_NAMES, there are PT_NR_NAMED
 * names, one for each id. At PT_LOG_DATA, the records begin. A name ends with a zero byte. If an id
 * has no name, its name in the file is empty. Numbers are in the byte order of the machine that
 * writes.
 *
 * The position of a byte in the records is the number of record bytes that were written before this
 * byte. The number includes the bytes of records that were dropped later. After pxt_log_clear(),
 * positions begin at 0 again.
 *
 * @room: the number of bytes for records. The byte at position N is in the file at offset
 *        PT_LOG_DATA + N modulo @room. In a log that loops, N may exceed @room
 * @first: the position of the oldest record
 * @last: the position at which the newest record ends
 * @is_closed: 1: the log is complete; 0: the log is incomplete, because the process that owns the
 *             log's stream still runs or was killed
 */
#define PT_LOG_MAGIC   "UTPOSIX\n"
#define PT_LOG_ORDER   0x01020304u
#define PT_LOG_VERSION 1
#define PT_LOG_NAMES   4096
#define PT_LOG_DATA    (PT_LOG_NAMES + PT_NR_NAMED * (PT_NAME_MAX + 1))
#define PT_LOG_RECORD  48

struct pxt_log_header {
	char magic[8];
	uint32_t order;
	uint32_t version;
	uint64_t room;
	uint64_t first;
	uint64_t last;
	uint32_t is_closed;
	uint32_t nr_names;
	struct pxt_attr attr;
	struct pxt_status status;
};

/*
 * The header of a record. The data of the event follow.
 *
 * @bytes: the size of the header and the data, a multiple of 8
 */
struct pxt_log_record {
	uint32_t bytes;
	uint32_t zero;
	struct pxt_event event;
};

_Static_assert(sizeof(struct pxt_log_record) == PT_LOG_RECORD,
	       "the same in programs of 32 and 64 bits");
_Static_assert(sizeof(struct pxt_log_header) <= PT_LOG_NAMES, "names follow it");

/*
 * A log being read. The descriptor belongs to the caller.
 *
 * @bytes: the size of the file when it was opened
 * @at: the position of the next record (see struct pxt_log_header)
 */
struct pxt_log {
	int fd;
	uint64_t bytes;
	struct pxt_log_header header;
	uint64_t at;
};

/* Returns 0, -EINVAL if the file is not a log or is damaged, or another negative errno. */
int pxt_log_open(struct pxt_log *log, int fd);
/*
 * Read the next event, and at most @room bytes of its data. Returns 1 on success, 0 at the end of
 * the log, or a negative errno.
 */
int pxt_log_next(struct pxt_log *log, struct pxt_event *event, void *data, size_t room);
void pxt_log_rewind(struct pxt_log *log);
/*
 * Read @len bytes of the records. @at is the position of the first byte to read (see struct
 * pxt_log_header). In a log that loops, the area for records is a ring: the first byte of the area
 * follows the last byte. Returns 0 or a negative errno.
 */
int pxt_log_read_room(const struct pxt_log *log, void *to, size_t len, uint64_t at);
/* Returns the size of the record in bytes, or 0 if the record is invalid or longer than @left. */
uint64_t pxt_log_check(const struct pxt_log_record *record, uint64_t left);
/*
 * Copy the name of event @id to @text. Returns @text. If the log has no name for @id, or if the log
 * cannot be read, returns NULL.
 */
const char *pxt_log_name_of(const struct pxt_log *log, uint32_t id, char text[PT_NAME_MAX + 1]);

/* The policies of a full log. The numbers equal POSIX_TRACE_LOOP and so on, in <trace.h>. */
enum pxt_log_policy {
	PT_LOG_LOOPS = 1,
	PT_LOG_UNTIL_FULL = 2,
	PT_LOG_APPENDS = 4,
};

#define PT_LOG_BUFFER 32768

/*
 * A log being written. The functions return 0, or a negative errno. If pxt_log_append() fails, the
 * log does not get the event, but a log that loops may have dropped its oldest events.
 *
 * @header: the current values; each flush writes them
 * @in_file: the end of the records that are completely in the file
 * @adds: a record is being added
 * @adds_at: the position of the record that is being added
 * @nr_buffered: the number of bytes before header.last that are in @buffer and not in the file
 * @buffer: PT_LOG_BUFFER bytes, which belong to the caller
 * @drops: header.first has changed since the header was written to the file
 * @has_lost: events were dropped to make room, or because the log is full. The caller clears
 *            @has_lost
 * @has_written: NULL, or a function that is called with @argument when all bytes of @buffer have
 *               been written to the file, and before new bytes replace them
 */
struct pxt_log_writer {
	int fd;
	uint32_t policy;
	bool drops;
	bool has_lost;
	struct pxt_log_header header;
	uint64_t in_file;
	uint64_t adds_at;
	bool adds;
	size_t nr_buffered;
	unsigned char *buffer;
	void (*has_written)(void *argument);
	void *argument;
};

/* Begin a new log in a file, whose old content is removed. */
int pxt_log_writer_begin(struct pxt_log_writer *writer, int fd, const struct pxt_attr *attr,
			 unsigned char *buffer);
/* Continue the log of another writer. Returns -EINVAL if the file is not a log. */
int pxt_log_writer_resume(struct pxt_log_writer *writer, int fd, unsigned char *buffer);
/*
 * Save the records that the former writer has appended since its last pxt_log_sync(). Called after
 * pxt_log_writer_resume(). The records of the former writer are untrusted, so the log ends before
 * the first invalid record.
 *
 * @begin: the former writer's bytes before this position are in the file
 * @nr_pending: the number of the bytes from @begin on, which are in writer->buffer
 */
int pxt_log_recover(struct pxt_log_writer *writer, uint64_t begin, size_t nr_pending);
/*
 * Append an event. Returns -EXFULL if the log must not lose records and has no room for the event.
 * A part of the room is reserved for a STOP event at the end. Only an event with @is_last uses that
 * part.
 */
int pxt_log_append(struct pxt_log_writer *writer, const struct pxt_event *event, const void *data,
		   bool is_last);
/* Remove the records at and after @last, which is a former value of header.last. */
void pxt_log_take_back(struct pxt_log_writer *writer, uint64_t last);
int pxt_log_add_name(struct pxt_log_writer *writer, uint32_t id, const char *text);
/* Write all appended records to the file, so that readers find them. */
int pxt_log_sync(struct pxt_log_writer *writer);
/* Remove all records. The names stay. */
int pxt_log_clear(struct pxt_log_writer *writer);

#endif
