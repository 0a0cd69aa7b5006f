/* Logs of POSIX Trace on disk: libutrail-trace writes them, and others read them, too. */
#ifndef UTRAIL_POSIXTRACE_LOG_H
#define UTRAIL_POSIXTRACE_LOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "posixlog/event.h"

/*
 * A file has the header, in a page of its own; PT_NR_NAMED names by id, each with a zero byte
 * (without a name only that byte); and records, at PT_LOG_DATA. Numbers are in the byte order of
 * the machine that writes.
 *
 * @room: the bytes for records; in a log that loops, byte N of the records is at N modulo @room
 * @first, @last: the oldest record, and the end of the newest one, in bytes since the beginning
 * @is_closed: the owner has closed the log; 0: it was killed, or still runs
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

/* A record: this header, and the data of the event. @bytes: the size of both, a multiple of 8 */
struct pxt_log_record {
	uint32_t bytes;
	uint32_t zero;
	struct pxt_event event;
};

_Static_assert(sizeof(struct pxt_log_record) == PT_LOG_RECORD,
	       "the same in programs of 32 and 64 bits");
_Static_assert(sizeof(struct pxt_log_header) <= PT_LOG_NAMES, "names follow it");

/*
 * A log being read. The descriptor is the caller's.
 *
 * @bytes: the size of the file when it was opened
 * @at: the place of the next record, like header.first
 */
struct pxt_log {
	int fd;
	uint64_t bytes;
	struct pxt_log_header header;
	uint64_t at;
};

/* Returns 0 or a negative errno; -EINVAL: the file is no log, or a damaged one. */
int pxt_log_open(struct pxt_log *log, int fd);
/* Read the next event, and @room bytes of its data. Returns 1; 0: the end; or a negative errno. */
int pxt_log_next(struct pxt_log *log, struct pxt_event *event, void *data, size_t room);
void pxt_log_rewind(struct pxt_log *log);
/*
 * Read bytes of the records at @at, like header.first. In a log that loops, the beginning of the
 * room follows its end. Returns 0 or a negative errno.
 */
int pxt_log_read_room(const struct pxt_log *log, void *to, size_t len, uint64_t at);
/* Returns the bytes of the record, at most @left; 0: it is invalid. */
uint64_t pxt_log_check(const struct pxt_log_record *record, uint64_t left);
/* Returns the name of any event. NULL when the log has none. */
const char *pxt_log_name_of(const struct pxt_log *log, uint32_t id, char text[PT_NAME_MAX + 1]);

/* The policies of a full log: the numbers of POSIX_TRACE_LOOP and so on. */
enum pxt_log_policy {
	PT_LOG_LOOPS = 1,
	PT_LOG_UNTIL_FULL = 2,
	PT_LOG_APPENDS = 4,
};

#define PT_LOG_BUFFER 32768

/*
 * A log being written. Functions return 0 or a negative errno; then the log is unchanged.
 *
 * @header: the current values; each flush writes them
 * @in_file: the end of the records that are completely in the file
 * @adds, @adds_at: a record is being added, and its place
 * @nr_buffered: the bytes before header.last that are in @buffer and not in the file
 * @buffer: PT_LOG_BUFFER bytes of the caller
 * @drops: header.first has changed since it was written
 * @has_written: NULL, or called with @argument when all bytes of @buffer are in the file, before
 *               others replace them
 */
struct pxt_log_writer {
	int fd;
	uint32_t policy;
	bool drops;
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
/* Continue the log of another writer. -EINVAL when the file is no log. */
int pxt_log_writer_resume(struct pxt_log_writer *writer, int fd, unsigned char *buffer);
/*
 * After pxt_log_writer_resume(): saves the records that the other writer has appended since its
 * last pxt_log_sync(). The bytes are untrusted: the log ends before the first invalid record.
 *
 * @begin: records up to this place are in the file
 * @nr_pending: the bytes after @begin that are in writer->buffer
 */
int pxt_log_recover(struct pxt_log_writer *writer, uint64_t begin, size_t nr_pending);
/*
 * Append an event. -EXFULL: a log that must not lose records has no room for it. With @is_last,
 * room is used that is kept for a last STOP.
 */
int pxt_log_append(struct pxt_log_writer *writer, const struct pxt_event *event, const void *data,
		   bool is_last);
/* Remove the records from @last on, a former value of header.last. */
void pxt_log_take_back(struct pxt_log_writer *writer, uint64_t last);
int pxt_log_add_name(struct pxt_log_writer *writer, uint32_t id, const char *text);
/* Write all appended records to the file, so that readers find them. */
int pxt_log_sync(struct pxt_log_writer *writer);
/* Remove all records; names stay. */
int pxt_log_clear(struct pxt_log_writer *writer);

#endif
