/* Payloads of events of one task, from the task's file <tid>.evt (see event_data.h). */
#include "utils/pipeline/kinds/event_data.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/format/datadir.h"
#include "utils/format/event_data.h"

struct lent_buffer {
	struct lent_buffer *next;
	uint8_t *buf;
};

static void drop_lent(struct event_data_source *src)
{
	while (src->lent) {
		struct lent_buffer *next = src->lent->next;

		free(src->lent->buf);
		free(src->lent);
		src->lent = next;
	}
	src->lent_bytes = 0;
}

void event_data_return(struct event_data_source *src)
{
	drop_lent(src);
	src->is_lent = false;
}

void event_data_release(struct event_data_source *src)
{
	drop_lent(src);
	/* The next read from the file begins with the unread bytes of this buffer. */
	src->next_offset -= src->len - src->at;
	free(src->buf);
	src->buf = NULL;
	src->at = src->len = 0;
	src->is_lent = false;
}

/* Replace the buffer by @buf. If events point into the old buffer, the old buffer is kept. */
static bool replace_buffer(struct event_data_source *src, uint8_t *buf, size_t len)
{
	if (src->is_lent) {
		struct lent_buffer *lent = malloc(sizeof(*lent));

		if (!lent) {
			free(buf);
			return false;
		}
		*lent = (struct lent_buffer){ src->lent, src->buf };
		src->lent = lent;
		src->lent_bytes += src->len;
	} else {
		free(src->buf);
	}
	src->buf = buf;
	src->at = 0;
	src->len = len;
	src->is_lent = false;
	return true;
}

/*
 * Read until the buffer has at least @least unread bytes. Returns false if the file ends too early
 * or cannot be read, or if memory is short.
 */
static bool read_more(struct event_data_source *src, int fd, size_t least)
{
	size_t left = src->len - src->at;
	struct stat st;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < src->next_offset ||
	    st.st_size - src->next_offset + left < least)
		return false;

	size_t bytes = MIN((uint64_t)MAX(src->buffer_bytes, least),
			   st.st_size - src->next_offset + left);
	uint8_t *buf = malloc(bytes);
	ssize_t n;

	if (!buf)
		return false;
	if (left)
		memcpy(buf, src->buf + src->at, left);
	n = fd_pread_full(fd, buf + left, bytes - left, src->next_offset);
	if (n < 0 || left + n < least) {
		free(buf);
		return false;
	}
	if (!replace_buffer(src, buf, left + n))
		return false;
	src->next_offset += n;
	return true;
}

static bool have(struct event_data_source *src, size_t least)
{
	char path[PATH_MAX];
	bool is_there;
	int fd;

	if (src->len - src->at >= least)
		return true;
	snprintf(path, sizeof(path), "%s/%d" DATADIR_EVENT_DATA_SUFFIX, src->dir, src->tid);
	fd = file_open_regular(path, NULL);
	is_there = fd >= 0 && read_more(src, fd, least);
	if (fd >= 0)
		close(fd);
	return is_there;
}

static struct event_data load_entry(const struct event_data_source *src, size_t at)
{
	struct event_data entry;

	memcpy(&entry, src->buf + at, sizeof(entry));
	if (src->is_swapped) {
		entry.time_ns = __builtin_bswap64(entry.time_ns);
		entry.id = __builtin_bswap32(entry.id);
		entry.len = __builtin_bswap16(entry.len);
	}
	return entry;
}

static size_t bytes_of(const struct event_data *entry)
{
	return sizeof(*entry) + ALIGN_UP((size_t)entry->len, (size_t)8);
}

/* Find the next entry, and buffer it completely. */
static bool peek_entry(struct event_data_source *src, struct event_data *entry)
{
	if (!have(src, sizeof(*entry)))
		return false;
	*entry = load_entry(src, src->at);
	return have(src, bytes_of(entry));
}

/*
 * The maximum number of entries with the same time that are searched for the entry of one event.
 * The first entries may belong to other events, whose records are missing.
 */
#define SAME_TIME_MAX 16

/*
 * Find the entry of @id among the next entries that have the time @time_ns. Buffer the entry
 * completely.
 */
static bool find_beside(struct event_data_source *src, uint64_t time_ns, uint64_t id,
			struct event_data *entry)
{
	size_t ahead = 0;

	for (unsigned i = 0; i < SAME_TIME_MAX; i++) {
		if (!have(src, ahead + sizeof(*entry)))
			return false;
		*entry = load_entry(src, src->at + ahead);
		if (entry->time_ns != time_ns || !have(src, ahead + bytes_of(entry)))
			return false;
		if (entry->id == id) {
			src->at += ahead;
			return true;
		}
		ahead += bytes_of(entry);
	}
	return false;
}

bool event_data_find(struct event_data_source *src, uint64_t time_ns, uint64_t id,
		     const uint8_t **data, uint16_t *len)
{
	struct event_data entry;

	if (!src->may_be)
		return false;
	for (;;) {
		if (!peek_entry(src, &entry)) {
			src->may_be = src->grows;
			return false;
		}
		if (entry.time_ns > time_ns)
			return false;
		if (entry.time_ns == time_ns)
			break;
		src->at += bytes_of(&entry);
	}
	if (!find_beside(src, time_ns, id, &entry))
		return false;
	*data = src->buf + src->at + sizeof(entry);
	*len = entry.len;
	src->at += bytes_of(&entry);
	src->is_lent = true;
	return true;
}
