/* left-out.txt: functions that the option --overhead of `record` has left out, with times. */
#ifndef UTRAIL_FORMAT_LEFT_OUT_H
#define UTRAIL_FORMAT_LEFT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"

#define LEFT_OUT_NAME "left-out.txt"

enum left_out_kind {
	LEFT_OUT_FUNCTION, /* the function is not recorded any more */
	LEFT_OUT_CALLER,   /* the function calls a function that is left out */
	LEFT_OUT_AGAIN,	   /* the function is recorded again, at the user's request */
};

/*
 * A line of left-out.txt: "KIND <seconds>.<nanoseconds> <permille> <address> <path>". KIND is the
 * word "function", "caller" or "again".
 *
 * @time_ns: a time of the recording's clock
 * @permille: LEFT_OUT_FUNCTION: the function's share of the calls that were recorded shortly before
 *            @time_ns; 0 for other kinds
 * @addr: the function's address, relative to the start of the function's module, as in symbol files
 * @path: the path of the module. left_out_decode() lets @path point into the decoded line
 */
struct left_out {
	enum left_out_kind kind;
	uint64_t time_ns;
	unsigned permille;
	uint64_t addr;
	const char *path;
};

void left_out_encode(const struct left_out *line, struct strbuf *out);

/* Parse @text, which ends in NUL. Returns false when @text is not a line of left-out.txt. */
bool left_out_decode(const char *text, struct left_out *line);

#endif
