/* Formats, parsed into pieces (see format.h). */
#include "text/format.h"

#include <stdlib.h>
#include <string.h>

struct fst_format *fst_format_make(const char *text)
{
	int nr = fst_count_pieces(text);
	struct fst_format *format;

	if (nr < 0)
		return NULL;
	/* One allocation holds the struct with its pieces, and then the array @values. */
	format = calloc(1, sizeof(*format) + nr * (sizeof(format->pieces[0]) + 1) + 1);
	if (!format)
		return NULL;
	format->text = strdup(text);
	if (!format->text) {
		free(format);
		return NULL;
	}

	const char *at = format->text;

	unsigned char *value = (unsigned char *)&format->pieces[nr];

	format->values = value;
	format->is_plain = true;
	while (fst_next_piece(&at, &format->pieces[format->nr_pieces]) > 0) {
		enum fst_kind kind = format->pieces[format->nr_pieces++].kind;

		if (kind != FST_LITERAL)
			*value++ = kind;
		if (kind == FST_CALL || kind == FST_CALL_LIST)
			format->has_calls = true;
		if (format->has_calls || kind == FST_PID || kind == FST_THREAD)
			format->is_plain = false;
		if ((int)format->nr_pieces == nr)
			break;
	}
	return format;
}

void fst_format_free(struct fst_format *format)
{
	if (!format)
		return;
	free(format->text);
	free(format);
}

bool fst_format_is_bare(const struct fst_format *format)
{
	for (size_t i = 0; i < format->nr_pieces; i++) {
		if (!fst_kind_is_bare(format->pieces[i].kind))
			return false;
	}
	return true;
}
