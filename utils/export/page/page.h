/* The parts of page.html. The recording's data goes between the last two. */
#ifndef UTRAIL_EXPORT_PAGE_H
#define UTRAIL_EXPORT_PAGE_H

#include <stddef.h>

/*
 * @page_head ends inside the Content-Security-Policy, so that permitted addresses can be appended
 *         to the policy.
 */
extern const char page_head[];
extern const size_t page_head_len;
extern const char page_data[];
extern const size_t page_data_len;
extern const char page_tail[];
extern const size_t page_tail_len;

#endif
