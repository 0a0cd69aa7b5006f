/* Times and sizes as typed by users (doc/facts/language.md, "Times and sizes"). */
#ifndef UTRAIL_BASE_UNITS_H
#define UTRAIL_BASE_UNITS_H

#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC  1000000000ULL

/* Seconds with nine digits after the point: a format of printf(3), and the format's arguments. */
#define SECONDS_FORMAT "%llu.%09llu"
#define SECONDS_OF(ns)                                       \
	(unsigned long long)((uint64_t)(ns) / NSEC_PER_SEC), \
		(unsigned long long)((uint64_t)(ns) % NSEC_PER_SEC)

/*
 * Parse "1.5ms", "200", "2s", "1min" to nanoseconds. Returns 0, -EINVAL with a text that names the
 * accepted form, or -ERANGE for 2^63 ns or more.
 *
 * Units are ns(nsec) us(usec) ms(msec) s(sec) m(min), in uppercase or lowercase; ns by default.
 * Digits below one nanosecond are cut.
 */
int parse_time(const char *text, uint64_t *time_ns, struct uft_err *err);

/*
 * Write a time in the form of parse_time(): "1ms", "1.5us", "999ns". The unit is the largest of ns,
 * us, ms and s that is not longer than the time ("0ns" for 0). At most three digits follow the
 * point, because uftrace accepts at most three. Further digits are cut.
 */
void format_time(uint64_t time_ns, struct strbuf *out);

/*
 * Parse "128k", "4M", "1g", "4096" to bytes; units are powers of 1024, in uppercase or lowercase.
 * Errors are those of parse_time(), with -ERANGE for 2^63 bytes or more.
 */
int parse_size(const char *text, uint64_t *bytes, struct uft_err *err);

#endif
