/* The verdict of a filter of system calls on one of them, whatever its arguments are. */
#ifndef UTRAIL_LIBMCOUNT_SEAL_FILTER_H
#define UTRAIL_LIBMCOUNT_SEAL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * True when each way through @code ends in permission for call @number of this machine. False, too,
 * when there are too many ways.
 */
bool seal_filter_allows(const struct sock_filter *code, uint32_t len, uint32_t number);

#endif
