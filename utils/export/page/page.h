/* The parts of page.html. The recording's data goes between the last two. */
#ifndef UTRAIL_EXPORT_PAGE_H
#define UTRAIL_EXPORT_PAGE_H

#include <stddef.h>

/*
 * @page_head ends inside the page's Content-Security-Policy. Between @page_head and @page_data, the
 * exporter can write a directive of the policy that permits more addresses.
 */
extern const char page_head[];
extern const size_t page_head_len;
extern const char page_data[];
extern const size_t page_data_len;
extern const char page_tail[];
extern const size_t page_tail_len;

#endif
