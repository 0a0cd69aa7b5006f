/* Arguments of unfinished calls, for formats that write a call only when the call has ended. */
#ifndef UTRAIL_EXPORT_PAYLOADS_H
#define UTRAIL_EXPORT_PAYLOADS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"

/*
 * The arguments of a task's unfinished calls. The arguments of the innermost call come last. Calls
 * without arguments are left out. The struct starts as zeros. payloads_deinit() frees its memory.
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
 * Keep a copy of the arguments of the call at @depth. Older arguments at this depth or deeper are
 * dropped. Returns 0 or -ENOMEM.
 */
int payloads_put(struct payloads *payloads, size_t depth, const struct strbuf *text);

/*
 * Returns the arguments of the call that ends at @depth, or NULL. The caller frees the result.
 * The arguments of deeper calls are dropped.
 */
char *payloads_take(struct payloads *payloads, size_t depth);

#endif
