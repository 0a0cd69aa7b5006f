/* Turns an event into a payload (text/payload.h). log.c turns an event into a line of text. */
#include "events/trace.h"

#include <string.h>
#include <unistd.h>

static void add_string(struct fst_text *payload, const char *string)
{
	fst_add_string(payload, string, SIZE_MAX);
}

static void add_call(struct fst_text *payload, struct fst_values *values)
{
	fst_text_function function = va_arg(values->list, fst_text_function);
	void *arg = va_arg(values->list, void *);

	add_string(payload, arg ? function(arg) : NULL);
}

/*
 * Adds the strings that a function of the program returns. The function returns one string at each
 * call, and NULL after the last string.
 *
 * The payload has the number of strings before the strings, but the number is unknown until the
 * last string was added. So a 0 is stored at the place of the number, and replaced at the end.
 */
static void add_call_list(struct fst_text *payload, struct fst_values *values)
{
	fst_text_function function = va_arg(values->list, fst_text_function);
	void *arg = va_arg(values->list, void *);
	size_t at = payload->len;
	uint32_t nr = 0;
	const char *item;

	fst_add_u32(payload, 0);
	while (!payload->has_failed && (item = function(arg))) {
		add_string(payload, item);
		nr++;
	}
	nr = htole32(nr);
	if (!payload->has_failed)
		memcpy(payload->base + at, &nr, sizeof(nr));
}

static void add_string_max(struct fst_text *payload, struct fst_values *values)
{
	const char *string = va_arg(values->list, const char *);
	ssize_t limit = va_arg(values->list, ssize_t);

	fst_add_string(payload, string, limit > 0 ? limit : 0);
}

static void add_octets(struct fst_text *payload, struct fst_values *values)
{
	const void *octets = va_arg(values->list, const void *);
	ssize_t len = va_arg(values->list, ssize_t);

	/* NULL becomes an empty text. In a line of the log (log.c), NULL is empty as well. */
	fst_add_bytes(payload, octets ? octets : "", octets && len > 0 ? len : 0);
}

static void add_address(struct fst_text *payload, struct fst_values *values)
{
	const void *address = va_arg(values->list, const void *);

	fst_add_bytes(payload, address, va_arg(values->list, unsigned));
}

static inline void add_value(struct fst_text *payload, enum fst_kind kind,
			     const struct fst_spot *spot, struct fst_values *values)
{
	switch (kind) {
	case FST_LITERAL:
		return;
	case FST_INT:
	case FST_UNSIGNED:
	case FST_HEX:
	case FST_BOOL:
	case FST_ERRNO_ARG:
		return fst_add_u32(payload, va_arg(values->list, unsigned));
	case FST_INT64:
	case FST_UNSIGNED64:
	case FST_HEX64:
		return fst_add_u64(payload, va_arg(values->list, uint64_t));
	case FST_LLONG:
	case FST_ULLONG:
	case FST_HEX_LLONG:
		return fst_add_u64(payload, va_arg(values->list, unsigned long long));
	case FST_SIZE:
		return fst_add_u64(payload, (int64_t)va_arg(values->list, ssize_t));
	case FST_DOUBLE:
		return fst_add_double(payload, va_arg(values->list, double));
	case FST_STRING:
		return add_string(payload, va_arg(values->list, const char *));
	case FST_STRING_MAX:
		return add_string_max(payload, values);
	case FST_CALL:
		return add_call(payload, values);
	case FST_CALL_LIST:
		return add_call_list(payload, values);
	case FST_OCTETS:
	case FST_HEX_OCTETS:
		return add_octets(payload, values);
	case FST_PID:
		return fst_add_u32(payload, getpid());
	case FST_THREAD:
		return fst_add_u64(payload, (unsigned long)pthread_self());
	case FST_FILE:
		return add_string(payload, spot->file);
	case FST_LINE:
		return fst_add_u32(payload, spot->line);
	case FST_ERRNO:
		return fst_add_u32(payload, spot->error);
	case FST_POINTER:
		return fst_add_u64(payload, (uintptr_t)va_arg(values->list, const void *));
	case FST_ADDRESS:
		return add_address(payload, values);
	}
}

static inline void add_format(struct fst_text *payload, const struct fst_format *format,
			      const struct fst_spot *spot, struct fst_values *values)
{
	for (const unsigned char *kind = format->values; *kind; kind++)
		add_value(payload, *kind, spot, values);
}

void fst_add_values(struct fst_text *payload, const struct fst_format *common,
		    const struct fst_format *format, const struct fst_spot *spot,
		    struct fst_values *values)
{
	if (common)
		add_format(payload, common, spot, values);
	add_format(payload, format, spot, values);
}
