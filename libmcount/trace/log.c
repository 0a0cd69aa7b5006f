/* One event becomes one line. Nothing here waits, but for functions of the program (%I, %J), which run one at a time. */
#include "libmcount/trace/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What a line needs to know of the place that it comes from. */
struct spot {
	const char *file;
	unsigned line;
	int error; /* errno, before anything was done */
};

/* va_list as an argument: on some machines it is an array. */
struct values {
	va_list list;
};

typedef const char *(*text_function)(void *);

static void put_call(struct fst_text *text, struct values *values)
{
	text_function function = va_arg(values->list, text_function);
	void *arg = va_arg(values->list, void *);

	fst_put_string(text, arg ? function(arg) : NULL);
}

static void put_call_list(struct fst_text *text, struct values *values)
{
	text_function function = va_arg(values->list, text_function);
	void *arg = va_arg(values->list, void *);
	const char *item;

	fst_put_char(text, '[');
	for (int nr = 0; !text->has_failed && (item = function(arg)); nr++) {
		if (nr)
			fst_put_char(text, ',');
		fst_put_string(text, item);
	}
	fst_put_char(text, ']');
}

static void put_string_max(struct fst_text *text, struct values *values)
{
	const char *string = va_arg(values->list, const char *);
	ssize_t limit = va_arg(values->list, ssize_t);

	if (!string)
		fst_put_string(text, NULL);
	else if (limit > 0)
		fst_put_encoded(text, string, strnlen(string, limit));
}

static void put_octets(struct fst_text *text, struct values *values, bool is_hex)
{
	const void *octets = va_arg(values->list, const void *);
	ssize_t len = va_arg(values->list, ssize_t);

	if (!octets || len <= 0)
		return;
	if (is_hex)
		fst_put_octets(text, octets, len);
	else
		fst_put_encoded(text, octets, len);
}

static void put_address(struct fst_text *text, struct values *values)
{
	const void *address = va_arg(values->list, const void *);

	fst_put_address(text, address, va_arg(values->list, unsigned));
}

static void put_integer(struct fst_text *text, enum fst_kind kind, struct values *values)
{
	switch (kind) {
	case FST_INT:
		return fst_put_signed(text, va_arg(values->list, int));
	case FST_UNSIGNED:
		return fst_put_unsigned(text, va_arg(values->list, unsigned));
	case FST_HEX:
		return fst_put_hex(text, va_arg(values->list, unsigned));
	case FST_INT64:
		return fst_put_signed(text, va_arg(values->list, int64_t));
	case FST_UNSIGNED64:
		return fst_put_unsigned(text, va_arg(values->list, uint64_t));
	case FST_HEX64:
		return fst_put_hex(text, va_arg(values->list, uint64_t));
	case FST_LLONG:
		return fst_put_signed(text, va_arg(values->list, long long));
	case FST_ULLONG:
		return fst_put_unsigned(text, va_arg(values->list, unsigned long long));
	case FST_HEX_LLONG:
		return fst_put_hex(text, va_arg(values->list, unsigned long long));
	default:
		return fst_put_signed(text, va_arg(values->list, ssize_t));
	}
}

static void put_bool(struct fst_text *text, bool is_true)
{
	fst_put(text, is_true ? "true" : "false", is_true ? 4 : 5);
}

static void put_piece(struct fst_text *text, const struct fst_piece *piece, const struct spot *spot,
		      struct values *values)
{
	switch (piece->kind) {
	case FST_LITERAL:
		return fst_put(text, piece->text, piece->len);
	case FST_DOUBLE:
		return fst_put_double(text, va_arg(values->list, double));
	case FST_BOOL:
		return put_bool(text, va_arg(values->list, int));
	case FST_STRING:
		return fst_put_string(text, va_arg(values->list, const char *));
	case FST_STRING_MAX:
		return put_string_max(text, values);
	case FST_CALL:
		return put_call(text, values);
	case FST_CALL_LIST:
		return put_call_list(text, values);
	case FST_OCTETS:
		return put_octets(text, values, false);
	case FST_HEX_OCTETS:
		return put_octets(text, values, true);
	case FST_PID:
		return fst_put_signed(text, getpid());
	case FST_THREAD:
		return fst_put_unsigned(text, (unsigned long)pthread_self());
	case FST_FILE:
		return fst_put_string(text, spot->file);
	case FST_LINE:
		return fst_put_unsigned(text, spot->line);
	case FST_ERRNO:
		return fst_put_errno(text, spot->error);
	case FST_ERRNO_ARG:
		return fst_put_errno(text, va_arg(values->list, int));
	case FST_POINTER:
		return fst_put_hex(text, (uintptr_t)va_arg(values->list, const void *));
	case FST_ADDRESS:
		return put_address(text, values);
	default:
		return put_integer(text, piece->kind, values);
	}
}

static void put_format(struct fst_text *text, const struct fst_format *format,
		       const struct spot *spot, struct values *values)
{
	for (size_t i = 0; i < format->nr_pieces; i++)
		put_piece(text, &format->pieces[i], spot, values);
}

static void put_line(struct fst_text *text, const struct fstrace_event_impl *impl,
		     const struct spot *spot, struct values *values)
{
	const struct fst_format *common = atomic_load_explicit(&impl->trace->common,
							       memory_order_acquire);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fst_put_time(text, &now, ' ');
	fst_put(text, impl->head, impl->head_len);
	if (common) {
		put_format(text, common, spot, values);
		fst_put_char(text, ' ');
	}
	put_format(text, impl->format, spot, values);
	fst_put_char(text, '\n');
}

static void log_event(fstrace_event_t *event, const struct spot *spot, struct values *values)
{
	struct fstrace_event_impl *impl = event->impl;
	struct fst_text text;
	struct fst_held held;

	fst_text_init(&text);
	/* Functions of the program may use static buffers. */
	if (impl->format->has_calls)
		fst_lock_threads(&held);
	put_line(&text, impl, spot, values);
	if (impl->format->has_calls)
		fst_unlock_threads(&held);
	if (!text.has_failed)
		fst_file_write(impl->trace, text.base, text.len);
	fst_text_free(&text);
	errno = spot->error;
}

void fstrace_log_2(fstrace_event_t *event, const char *file, unsigned line, ...)
{
	struct spot spot = { .file = file, .line = line, .error = errno };
	struct values values;

	va_start(values.list, line);
	log_event(event, &spot, &values);
	va_end(values.list);
}

void fstrace_log(fstrace_event_t *event, ...)
{
	struct spot spot = { .file = "unknown", .error = errno };
	struct values values;

	va_start(values.list, event);
	log_event(event, &spot, &values);
	va_end(values.list);
}
