/*
 * Builds pages of kernel-cpu<N>.dat. The caller has read the records from the pages of another
 * trace. Each record gets a new time and a new task id.
 */
#ifndef UTRAIL_FORMAT_KERNEL_PAGES_H
#define UTRAIL_FORMAT_KERNEL_PAGES_H

#include "utils/format/kernel/kernel_dat.h"

/*
 * Starts as { .layout = ..., .write = ..., .self = ... }, ends with kernel_pages_deinit().
 *
 * @write: is called with each finished page. Returns 0, or a negative errno to stop
 * @page: the page that is being built, on the heap. It is filled up to @used; if @used is 0, no
 *        page has begun
 * @last_ns: the time of the last record
 * @missed: the number of records that were lost before the page; UINT64_MAX: unknown
 */
struct kernel_pages {
	struct kernel_layout layout;
	int (*write)(void *self, const uint8_t *page, size_t len);
	void *self;
	uint8_t *page;
	size_t used;
	uint64_t last_ns;
	uint64_t missed;
};

/*
 * Append @rec to the pages, with the time @time_ns and the task id @pid.
 *
 * @time_ns: in nanoseconds; if @time_ns is earlier than pages->last_ns, @rec gets pages->last_ns
 * @missed: the number of records that were lost before @rec; UINT64_MAX: unknown
 *
 * Returns 0, -ENOMEM, or the error of pages->write. Returns -EMSGSIZE, and appends nothing, if @rec
 * is too short, or too large for a page.
 */
int kernel_pages_add(struct kernel_pages *pages, const struct kernel_record *rec, uint64_t time_ns,
		     int32_t pid, uint64_t missed);

/* Write the last page. */
int kernel_pages_finish(struct kernel_pages *pages);
void kernel_pages_deinit(struct kernel_pages *pages);

#endif
