/* Texts for views and exporters: function names, durations and base64. */
#ifndef UTRAIL_VIEW_TEXTS_H
#define UTRAIL_VIEW_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/recording/module.h"
#include "utils/base/sink.h"
#include "utils/view/values/number.h"

/*
 * Write the name of @func, escaped for the sink's medium. For terminals, func->call_text already
 * has the escaped name.
 */
static inline void sink_func(struct sink *sink, const struct func *func)
{
	if (sink->medium == MEDIUM_TERMINAL)
		sink_put_raw(sink, func->call_text, func->shown_len);
	else
		sink_text(sink, func->name, func->name_len);
}

/* Write a duration in TIME_WIDTH columns, with a coloured unit. Zero is blank. */
static inline void sink_time(struct sink *sink, uint64_t ns, enum color_mode color)
{
	sink_done(sink, put_time_color(sink_room(sink, TIME_MAX_BYTES), ns, color));
}

/* Write @data as base64, with padding and without line breaks. */
void text_put_base64(struct strbuf *out, const void *data, size_t len);

/*
 * Texts by function id. Starts as { .make = ... }, ends with func_texts_deinit(). When the text of
 * a function is used for the first time, @make makes the text. FUNC_TEXT_SLACK bytes after each
 * text are readable.
 */
struct func_texts {
	void (*make)(const struct func *func, struct strbuf *out);
	struct func_text {
		char *text;
		uint32_t len;
	} * texts;
	size_t nr;
};

void func_texts_deinit(struct func_texts *texts);

/* The slow path of func_texts_get(). */
const struct func_text *func_texts_make(struct func_texts *texts, const struct func *func);

/*
 * HOT: returns a text that is valid until this function is called again, or NULL when memory is
 * short.
 */
static inline const struct func_text *func_texts_get(struct func_texts *texts,
						     const struct func *func)
{
	if (likely(func->id < texts->nr && texts->texts[func->id].text))
		return &texts->texts[func->id];
	return func_texts_make(texts, func);
}

#endif
