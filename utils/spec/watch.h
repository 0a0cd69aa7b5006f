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
 * Parse the items of @text, separated by ';'. A valid item is "cpu" or "var:NAME". Returns 0, or a
 * negative error with @err. If an item is invalid, returns -ERR_USAGE, and the text in @err names
 * the item's column. If memory is short, returns -ENOMEM. After an error, @out is unchanged.
 */
int watch_spec_parse(const char *text, struct watch_spec *out, struct uft_err *err);
void watch_spec_deinit(struct watch_spec *spec);

#endif
