/* The verdict of a system call filter on a call with any arguments. */
#ifndef UTRAIL_LIBMCOUNT_SEAL_FILTER_H
#define UTRAIL_LIBMCOUNT_SEAL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * True when each path allows system call @number. It is also false when there are too many paths or
 * steps.
 */
bool seal_filter_allows(const struct sock_filter *code, uint32_t len, uint32_t number);

#endif
