/* Builds pages of kernel-cpu<N>.dat (see kernel_pages.h). */
#include "utils/format/kernel/kernel_pages.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/compiler.h"
#include "utils/format/kernel/kernel_ring.h"

#define DELTA_MAX ((1U << KERNEL_RECORD_DELTA_BITS) - 1)

static void put_long(const struct kernel_pages *pages, uint8_t *at, uint64_t value)
{
	if (pages->layout.long_size == 8)
		put_u64(at, value, pages->layout.is_big_endian);
	else
		put_u32(at, MIN(value, (uint64_t)UINT32_MAX), pages->layout.is_big_endian);
}

/* Write the first word of a record: @kind in five bits, the time @delta in 27 bits. */
static void put_head(struct kernel_pages *pages, uint32_t kind, uint32_t delta)
{
	bool big = pages->layout.is_big_endian;
	uint32_t word = big ? kind << KERNEL_RECORD_DELTA_BITS | delta : delta << 5 | kind;

	put_u32(pages->page + pages->used, word, big);
	pages->used += WORD;
}

static void put_word(struct kernel_pages *pages, uint32_t word)
{
	put_u32(pages->page + pages->used, word, pages->layout.is_big_endian);
	pages->used += WORD;
}

int kernel_pages_finish(struct kernel_pages *pages)
{
	size_t head = kernel_page_head_bytes(&pages->layout);
	uint64_t commit = pages->used - head;

	if (!pages->used)
		return 0;
	if (pages->missed)
		commit |= COMMIT_MISSED;
	if (pages->missed && pages->missed != UINT64_MAX &&
	    pages->used + pages->layout.long_size <= pages->layout.page_bytes) {
		commit |= COMMIT_MISSED_STORED;
		put_long(pages, pages->page + pages->used, pages->missed);
	}
	put_long(pages, pages->page + 8, commit);
	pages->used = 0;
	pages->missed = 0;
	return pages->write(pages->self, pages->page, pages->layout.page_bytes);
}

static int begin_page(struct kernel_pages *pages, uint64_t time_ns, uint64_t missed)
{
	if (!pages->page)
		pages->page = malloc(pages->layout.page_bytes);
	if (!pages->page)
		return -ENOMEM;
	memset(pages->page, 0, pages->layout.page_bytes);
	put_u64(pages->page, time_ns, pages->layout.is_big_endian);
	pages->used = kernel_page_head_bytes(&pages->layout);
	pages->last_ns = time_ns;
	pages->missed = missed;
	return 0;
}

/*
 * Returns the size of a record with @len bytes of data. @delta: the time from the previous record
 * to this record
 */
static size_t room_for(uint64_t delta, size_t len)
{
	size_t head = len > KERNEL_RECORD_WORDS_MAX * WORD || len % WORD ? 2 * WORD : WORD;

	return (delta > DELTA_MAX ? 2 * WORD : 0) + head + ALIGN_UP(len, (size_t)WORD);
}

static void put_record(struct kernel_pages *pages, const struct kernel_record *rec, uint64_t delta,
		       int32_t pid)
{
	uint32_t len = rec->len;
	uint8_t *data;

	if (delta > DELTA_MAX) {
		put_head(pages, KIND_TIME_EXTEND, delta & DELTA_MAX);
		put_word(pages, delta >> KERNEL_RECORD_DELTA_BITS);
		delta = 0;
	}
	if (room_for(0, len) == WORD + len) {
		put_head(pages, len / WORD, delta);
	} else {
		put_head(pages, KIND_LONG, delta);
		put_word(pages, len + WORD);
	}
	data = pages->page + pages->used;
	memcpy(data, rec->data, len);
	put_u32(data + WORD, pid, pages->layout.is_big_endian);
	pages->used += ALIGN_UP((size_t)len, (size_t)WORD);
}

int kernel_pages_add(struct kernel_pages *pages, const struct kernel_record *rec, uint64_t time_ns,
		     int32_t pid, uint64_t missed)
{
	size_t room = pages->layout.page_bytes - kernel_page_head_bytes(&pages->layout);
	uint64_t time = MAX(time_ns, pages->last_ns);
	uint64_t delta = time - pages->last_ns;
	int ret = 0;

	if (rec->len < KERNEL_RECORD_HEAD_BYTES || rec->len > room || room_for(0, rec->len) > room)
		return -EMSGSIZE;
	/*
	 * After lost records, begin a new page, since each page tells the number of records that
	 * were lost before the page.
	 */
	if (pages->used && (missed || delta >> 59 ||
			    pages->used + room_for(delta, rec->len) + pages->layout.long_size >
				    pages->layout.page_bytes))
		ret = kernel_pages_finish(pages);
	if (ret == 0 && !pages->used) {
		ret = begin_page(pages, time, missed);
		delta = 0;
	}
	if (ret < 0)
		return ret;
	put_record(pages, rec, delta, pid);
	pages->last_ns = time;
	return 0;
}

void kernel_pages_deinit(struct kernel_pages *pages)
{
	free(pages->page);
	pages->page = NULL;
}
