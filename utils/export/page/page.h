/* The parts of page.html; the data goes between the last two. */
#ifndef UTRAIL_EXPORT_PAGE_H
#define UTRAIL_EXPORT_PAGE_H

#include <stddef.h>

/* The policy in @page_head ends before the page's permitted connections. There are none. */
extern const char page_head[];
extern const size_t page_head_len;
extern const char page_data[];
extern const size_t page_data_len;
extern const char page_tail[];
extern const size_t page_tail_len;

#endif
