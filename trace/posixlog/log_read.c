/* Reads logs of POSIX Trace. The files are untrusted. */
#include "posixlog/log.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Reads @len bytes. Returns -EINVAL if the file has fewer bytes, since a log must have all bytes
 * that the log's header states.
 */
static int read_at(int fd, void *to, size_t len, uint64_t at)
{
	unsigned char *place = to;

	if (at > (uint64_t)INT64_MAX - len)
		return -EINVAL;
	while (len > 0) {
		ssize_t nr = pread(fd, place, len, (off_t)at);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return nr < 0 ? -errno : -EINVAL;
		place += nr;
		len -= (size_t)nr;
		at += (uint64_t)nr;
	}
	return 0;
}

static bool is_good(const struct pxt_log_header *header)
{
	const struct pxt_attr *attr = &header->attr;

	return !memcmp(header->magic, PT_LOG_MAGIC, sizeof(header->magic)) &&
	       header->order == PT_LOG_ORDER && header->version == PT_LOG_VERSION &&
	       header->room >= PT_LOG_RECORD && header->room <= INT64_MAX / 2 &&
	       header->first <= header->last && header->last <= INT64_MAX / 2 &&
	       header->last - header->first <= header->room && header->nr_names <= PT_NR_NAMED &&
	       attr->magic == PT_ATTR_MAGIC && !attr->version[sizeof(attr->version) - 1] &&
	       !attr->name[sizeof(attr->name) - 2] && attr->max_data <= PT_DATA_MAX;
}

int pxt_log_open(struct pxt_log *log, int fd)
{
	struct stat st;
	int error;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	log->fd = fd;
	log->bytes = (uint64_t)st.st_size;
	error = read_at(fd, &log->header, sizeof(log->header), 0);
	if (error < 0)
		return error == -EBADF ? error : -EINVAL;
	if (!is_good(&log->header))
		return -EINVAL;
	pxt_log_rewind(log);
	return 0;
}

void pxt_log_rewind(struct pxt_log *log)
{
	log->at = log->header.first;
}

/* True when the file contains all @len bytes of the records at position @at. */
static bool is_there(const struct pxt_log *log, uint64_t len, uint64_t at)
{
	uint64_t here = at % log->header.room;
	uint64_t end = here + len < log->header.room ? here + len : log->header.room;

	return log->bytes >= PT_LOG_DATA && end <= log->bytes - PT_LOG_DATA;
}

int pxt_log_read_room(const struct pxt_log *log, void *to, size_t len, uint64_t at)
{
	uint64_t here = at % log->header.room;
	size_t before_end = log->header.room - here < len ? (size_t)(log->header.room - here) : len;
	int error = read_at(log->fd, to, before_end, PT_LOG_DATA + here);

	if (!error && before_end < len)
		error = read_at(log->fd, (char *)to + before_end, len - before_end, PT_LOG_DATA);
	return error;
}

uint64_t pxt_log_check(const struct pxt_log_record *record, uint64_t left)
{
	if (record->bytes < sizeof(*record) || record->bytes % 8 || record->bytes > left ||
	    record->event.len > record->bytes - sizeof(*record) || record->event.id >= PT_NR_IDS)
		return 0;
	return record->bytes;
}

int pxt_log_next(struct pxt_log *log, struct pxt_event *event, void *data, size_t room)
{
	struct pxt_log_record record;
	uint64_t left = log->header.last - log->at;
	int error;

	if (!left)
		return 0;
	if (left < sizeof(record))
		return -EINVAL;
	error = pxt_log_read_room(log, &record, sizeof(record), log->at);
	if (error < 0)
		return error;
	if (!pxt_log_check(&record, left) ||
	    /* The file must have all data of the event, even if the caller's room is smaller. */
	    !is_there(log, sizeof(record) + record.event.len, log->at))
		return -EINVAL;
	if (room > record.event.len)
		room = record.event.len;
	error = room ? pxt_log_read_room(log, data, room, log->at + sizeof(record)) : 0;
	if (error < 0)
		return error;
	*event = record.event;
	log->at += record.bytes;
	return 1;
}

const char *pxt_log_name_of(const struct pxt_log *log, uint32_t id, char text[PT_NAME_MAX + 1])
{
	const char *fixed = pxt_fixed_name(id);

	if (fixed)
		return strcpy(text, fixed);
	if (id < PT_FIRST_NAMED || id - PT_FIRST_NAMED >= log->header.nr_names ||
	    read_at(log->fd, text, PT_NAME_MAX + 1,
		    PT_LOG_NAMES + (uint64_t)(id - PT_FIRST_NAMED) * (PT_NAME_MAX + 1)) < 0)
		return NULL;
	text[PT_NAME_MAX] = '\0';
	return text;
}
