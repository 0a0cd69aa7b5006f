/* The two halves of page.html; the data goes between them. */
#ifndef UTRAIL_EXPORT_PAGE_H
#define UTRAIL_EXPORT_PAGE_H

#include <stddef.h>

extern const char page_head[];
extern const size_t page_head_len;
extern const char page_tail[];
extern const size_t page_tail_len;

#endif
