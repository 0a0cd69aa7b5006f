/* The verdict of a system call filter on one call, for all its arguments. */
#ifndef UTRAIL_LIBMCOUNT_SEAL_FILTER_H
#define UTRAIL_LIBMCOUNT_SEAL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * True when each path through @code allows call @number of this machine. False also when there are
 * too many paths.
 */
bool seal_filter_allows(const struct sock_filter *code, uint32_t len, uint32_t number);

#endif
