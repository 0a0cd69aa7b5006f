/* Finds system calls that a seccomp filter allows with any arguments. */
#ifndef UTRAIL_LIBMCOUNT_SEAL_FILTER_H
#define UTRAIL_LIBMCOUNT_SEAL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * True when each path through the filter allows system call @number. If there are too many paths or
 * steps to follow, the result is false.
 */
bool seal_filter_allows(const struct sock_filter *code, uint32_t len, uint32_t number);

#endif
