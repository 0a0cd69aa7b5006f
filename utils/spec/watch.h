/* The --watch language: values whose changes are reported. */
#ifndef UTRAIL_SPEC_WATCH_H
#define UTRAIL_SPEC_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"

/*
 * @vars: names of variables, on the heap
 *
 * Starts as { 0 } and ends with watch_spec_deinit().
 */
struct watch_spec {
	bool cpu;
	char **vars;
	size_t nr_vars;
};

/*
 * Parse items "cpu" and "var:NAME", separated by ';'. Returns 0, -ENOMEM, or -ERR_USAGE with the
 * column and the error.
 */
int watch_spec_parse(const char *text, struct watch_spec *out, struct uft_err *err);
void watch_spec_deinit(struct watch_spec *spec);

#endif
