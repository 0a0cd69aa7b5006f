/* Functions left out of a recording from some time on, for their cost (record --overhead). */
#ifndef UTRAIL_PIPELINE_LEFT_FUNCS_H
#define UTRAIL_PIPELINE_LEFT_FUNCS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/format/left_out.h"
#include "utils/pipeline/recording/data.h"

/*
 * @kind: LEFT_OUT_CALLER: the function calls one that is left out, and is recorded itself
 * @since_ns: a time of the recording's clock
 * @until_ns: time from which it is recorded again; 0: never
 * @permille: its share of all calls just before @since_ns
 */
struct left_func {
	const struct func *func;
	enum left_out_kind kind;
	uint64_t since_ns;
	uint64_t until_ns;
	unsigned permille;
};

/* Entries sorted by time. Starts as { 0 }. */
struct left_funcs {
	struct left_func *all;
	size_t nr;
};

void left_funcs_deinit(struct left_funcs *left);
#define cleanup_left_funcs cleanup(left_funcs_deinit)

/*
 * Read the file of @data; there are no entries without it. Invalid lines, and those of unknown
 * functions, are skipped.
 */
int left_funcs_read(struct trace_data *data, struct left_funcs *left, struct uft_err *err);

/*
 * Find the entry for the function of that name; NULL: none. An entry that tells that the function
 * is left out takes precedence over one that tells that it calls such a function.
 */
const struct left_func *left_funcs_find(const struct left_funcs *left, const char *name);

#endif
