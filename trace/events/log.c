/*
 * Turns an event into a line, which file.c writes. While the line is made, a thread waits for other
 * threads only before calls of the program's functions (%I, %J). While file.c writes the line, the
 * thread may wait for other writers.
 */
#include "events/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void put_call(struct fst_text *text, struct fst_values *values)
{
	fst_text_function function = va_arg(values->list, fst_text_function);
	void *arg = va_arg(values->list, void *);

	fst_put_string(text, arg ? function(arg) : NULL);
}

static void put_call_list(struct fst_text *text, struct fst_values *values)
{
	fst_text_function function = va_arg(values->list, fst_text_function);
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

static void put_string_max(struct fst_text *text, struct fst_values *values)
{
	const char *string = va_arg(values->list, const char *);
	ssize_t limit = va_arg(values->list, ssize_t);

	if (!string)
		fst_put_string(text, NULL);
	else if (limit > 0)
		fst_put_encoded(text, string, strnlen(string, limit));
}

static void put_octets(struct fst_text *text, struct fst_values *values, bool is_hex)
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

static void put_address(struct fst_text *text, struct fst_values *values)
{
	const void *address = va_arg(values->list, const void *);

	fst_put_address(text, address, va_arg(values->list, unsigned));
}

static void put_integer(struct fst_text *text, enum fst_kind kind, struct fst_values *values)
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

static void put_piece(struct fst_text *text, const struct fst_piece *piece,
		      const struct fst_spot *spot, struct fst_values *values)
{
	switch (piece->kind) {
	case FST_LITERAL:
		return fst_put(text, piece->text, piece->len);
	case FST_DOUBLE:
		return fst_put_double(text, va_arg(values->list, double));
	case FST_BOOL:
		return fst_put_word(text, va_arg(values->list, int) ? "true" : "false");
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
		       const struct fst_spot *spot, struct fst_values *values)
{
	for (size_t i = 0; i < format->nr_pieces; i++)
		put_piece(text, &format->pieces[i], spot, values);
}

static void put_head(struct fst_text *text, const struct fstrace_event_impl *impl)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fst_put_time(text, &now, ' ');
	fst_put(text, impl->head, impl->head_len);
}

static void put_line(struct fst_text *text, const struct fstrace_event_impl *impl,
		     const struct fst_spot *spot, struct fst_values *values)
{
	const struct fst_format *common = atomic_load_explicit(&impl->trace->common,
							       memory_order_acquire);

	put_head(text, impl);
	if (common) {
		put_format(text, common, spot, values);
		fst_put_char(text, ' ');
	}
	put_format(text, impl->format, spot, values);
	fst_put_char(text, '\n');
}

/*
 * Writes a line from a payload. put_line() is not used, since put_line() would read all arguments a
 * second time. The arguments of %J can be read only once.
 */
static void put_line_of(struct fst_text *text, const struct fstrace_event_impl *impl,
			const struct fst_recorded *recorded, const struct fst_text *payload)
{
	struct fst_bytes from = { (const unsigned char *)payload->base,
				  (const unsigned char *)payload->base + payload->len };

	put_head(text, impl);
	if (recorded->common) {
		fst_put_payload(text, recorded->common, &from);
		fst_put_char(text, ' ');
	}
	fst_put_payload(text, impl->format, &from);
	fst_put_char(text, '\n');
	text->has_failed |= payload->has_failed;
}

static void write_line(const struct fstrace_event_impl *impl, const struct fst_text *line)
{
	if (!line->has_failed)
		fst_file_write(impl->trace, line->base, line->len);
}

static void log_as_text(const struct fstrace_event_impl *impl, const struct fst_spot *spot,
			struct fst_values *values)
{
	struct fst_text line;
	struct fst_held held;

	fst_text_init(&line);
	/*
	 * %I and %J call functions of the program. The lock makes these functions run one at a
	 * time, because the functions may use static buffers.
	 */
	if (impl->format->has_calls)
		fst_lock_threads(&held);
	put_line(&line, impl, spot, values);
	if (impl->format->has_calls)
		fst_unlock_threads(&held);
	write_line(impl, &line);
	fst_text_free(&line);
}

static void log_line_of(const struct fstrace_event_impl *impl, const struct fst_recorded *recorded,
			const struct fst_text *payload)
{
	struct fst_text line;

	fst_text_init(&line);
	put_line_of(&line, impl, recorded, payload);
	write_line(impl, &line);
	fst_text_free(&line);
}

/*
 * Makes the payload of an event, and sends a copy of the payload to the recorder. This function is
 * called in three cases:
 * - The event goes to the log and to the recorder.
 * - A format of the event is not plain (text/format.h).
 * - fst_recorded_write() could not write the payload directly into memory of the recorder.
 */
__attribute__((noinline)) static void emit_to_ring(const struct fstrace_event_impl *impl,
						   const struct fst_recorded *recorded,
						   const struct fst_spot *spot,
						   struct fst_values *values, bool wants_text)
{
	struct fst_text payload;
	struct fst_held held;

	fst_text_init(&payload);
	if (impl->format->has_calls)
		fst_lock_threads(&held);
	fst_add_values(&payload, recorded->common, impl->format, spot, values);
	if (impl->format->has_calls)
		fst_unlock_threads(&held);
	fst_recorded_emit(recorded, &payload);
	if (wants_text)
		log_line_of(impl, recorded, &payload);
	fst_text_free(&payload);
}

/* HOT (the speed matters) when only a recorder takes the event. */
static inline void log_event(fstrace_event_t *event, const struct fst_spot *spot,
			     struct fst_values *values)
{
	struct fstrace_event_impl *impl = event->impl;
	uint32_t consumers = atomic_load_explicit(&impl->event->consumers, memory_order_relaxed);
	const struct fst_recorded *recorded = atomic_load_explicit(&impl->recorded,
								   memory_order_acquire);

	if (consumers == FST_TO_RING && recorded && recorded->is_plain &&
	    fst_recorded_write(impl, recorded, spot, values))
		return;
	if ((consumers & FST_TO_RING) && recorded)
		emit_to_ring(impl, recorded, spot, values, consumers & FST_TO_TEXT);
	else if ((consumers & FST_TO_TEXT) || (!consumers && !recorded))
		log_as_text(impl, spot, values);
	/*
	 * If none of the conditions above is true, the event is not written. In this case, the
	 * event was switched on for a recorder that records another process, or for a recorder that
	 * detached after the program had checked the event's flag.
	 */

	errno = spot->error;
}

void fstrace_log_2(fstrace_event_t *event, const char *file, unsigned line, ...)
{
	struct fst_spot spot = { .file = file, .line = line, .error = errno };
	struct fst_values values;

	va_start(values.list, line);
	log_event(event, &spot, &values);
	va_end(values.list);
}

void fstrace_log(fstrace_event_t *event, ...)
{
	struct fst_spot spot = { .file = "unknown", .error = errno };
	struct fst_values values;

	va_start(values.list, event);
	log_event(event, &spot, &values);
	va_end(values.list);
}
