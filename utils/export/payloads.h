/* Arguments of calls that are open, for formats that write a call when it ends. */
#ifndef UTRAIL_EXPORT_PAYLOADS_H
#define UTRAIL_EXPORT_PAYLOADS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"

/*
 * Arguments of the open calls of one task, the innermost last; few calls have any. Starts as zeros,
 * ends with payloads_deinit().
 */
struct payloads {
	struct payload {
		size_t depth;
		char *text;
	} * open;
	size_t nr;
	size_t cap;
};

void payloads_deinit(struct payloads *payloads);

/*
 * Copy the arguments of the call at @depth. Calls that were open there or deeper have ended.
 * Returns 0 or -ENOMEM.
 */
int payloads_put(struct payloads *payloads, size_t depth, const struct strbuf *text);

/*
 * End the call at @depth. Returns its arguments, which the caller frees, or NULL. Deeper calls have
 * ended, too.
 */
char *payloads_take(struct payloads *payloads, size_t depth);

#endif
