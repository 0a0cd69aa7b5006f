/* Functions that `record --overhead` has left out of a recording, each from a certain time on. */
#ifndef UTRAIL_PIPELINE_LEFT_FUNCS_H
#define UTRAIL_PIPELINE_LEFT_FUNCS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/format/left_out.h"
#include "utils/pipeline/recording/data.h"

/*
 * Times are of the recording's clock.
 *
 * @kind: LEFT_OUT_CALLER: the function itself is recorded, but it calls a function that is left out
 * @since_ns: LEFT_OUT_FUNCTION: the time from which the function is left out. LEFT_OUT_CALLER: the
 *            time from which the called function is left out
 * @until_ns: LEFT_OUT_FUNCTION: the time from which the function is recorded again; 0: it is left
 *            out up to the end. LEFT_OUT_CALLER: 0
 * @permille: LEFT_OUT_FUNCTION: the function's share of all calls shortly before @since_ns.
 *            LEFT_OUT_CALLER: 0
 */
struct left_func {
	const struct func *func;
	enum left_out_kind kind;
	uint64_t since_ns;
	uint64_t until_ns;
	unsigned permille;
};

/* Entries in the order of the file. Starts as { 0 }. */
struct left_funcs {
	struct left_func *all;
	size_t nr;
};

void left_funcs_deinit(struct left_funcs *left);
#define cleanup_left_funcs cleanup(left_funcs_deinit)

/* Read the list in @data, if there is one. Invalid lines and unknown functions are skipped. */
int left_funcs_read(struct trace_data *data, struct left_funcs *left, struct uft_err *err);

/*
 * Find an entry for the function @name. If the function has several entries, an entry of kind
 * LEFT_OUT_FUNCTION is preferred. Returns NULL if the function has no entry.
 */
const struct left_func *left_funcs_find(const struct left_funcs *left, const char *name);

#endif
