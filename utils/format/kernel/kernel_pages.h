/*
 * Making pages of kernel-cpu<N>.dat, of records that are known one by one: those of other pages,
 * with times and places of their own.
 */
#ifndef UTRAIL_FORMAT_KERNEL_PAGES_H
#define UTRAIL_FORMAT_KERNEL_PAGES_H

#include "utils/format/kernel/kernel_dat.h"

/*
 * Starts as { .layout = ..., .write = ..., .self = ... }, ends with kernel_pages_deinit().
 *
 * @write: takes a page that is full, or the last one: 0, or negative to give up
 * @page: the one that is being filled, up to @used of it; 0: there is none
 * @last_ns: the time of the record before
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
 * Add @rec, of the task @pid at @time_ns, with @missed lost records before it (UINT64_MAX: nobody
 * knows how many). A record that is earlier than the one before gets the time of that one. 0;
 * -EMSGSIZE: no page has room for it, and it is left out; -ENOMEM, or the error of @write.
 */
int kernel_pages_add(struct kernel_pages *pages, const struct kernel_record *rec, uint64_t time_ns,
		     int32_t pid, uint64_t missed);

/* Write the last page. */
int kernel_pages_finish(struct kernel_pages *pages);
void kernel_pages_deinit(struct kernel_pages *pages);

#endif
