/* Fuzz target: payloads of declared events. The input is a format, a NUL and the payload. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "trace/seam/reader.h"
#include "utils/base/cleanup.h"

/*
 * Check that the texts of all pieces together are the text of the payload, and that no value
 * reaches beyond the end.
 */
static void check_values(const struct fst_format *format, struct fst_bytes from,
			 const struct fst_text *expected, bool is_whole)
{
	const unsigned char *end = from.end;
	struct fst_text text;
	size_t i = 0;

	fst_text_init(&text);
	for (; i < format->nr_pieces; i++) {
		const struct fst_piece *piece = &format->pieces[i];
		const unsigned char *before = from.at;
		struct fst_value value;

		if (piece->kind == FST_LITERAL) {
			fst_put(&text, piece->text, piece->len);
			continue;
		}
		if (!fst_take_value(&from, piece->kind, &value)) {
			FUZZ_CHECK(from.at == before);
			if (fst_take_cut_text(&from, piece->kind, &value)) {
				FUZZ_CHECK(value.len && value.bytes + value.len == end);
				fst_put_value(&text, &value);
			}
			break;
		}
		FUZZ_CHECK(from.at > before && from.at <= end);
		FUZZ_CHECK(!value.bytes ||
			   (value.bytes >= before && value.bytes + value.len <= end));
		fst_put_value(&text, &value);
	}
	FUZZ_CHECK(is_whole == (i == format->nr_pieces));
	FUZZ_CHECK(text.len == expected->len && memcmp(text.base, expected->base, text.len) == 0);
	fst_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text cleanup_free = strndup((const char *)data, size);

	FUZZ_CHECK(text);

	size_t at = strlen(text) < size ? strlen(text) + 1 : size;
	struct fst_format *format = fst_format_make(text);
	struct fst_bytes from = { data + at, data + size };
	struct fst_text line;

	if (!format)
		return 0;
	fst_text_init(&line);

	bool is_whole = fst_put_payload(&line, format, &from);

	FUZZ_CHECK(from.at <= from.end);
	check_values(format, (struct fst_bytes){ data + at, data + size }, &line, is_whole);
	fst_text_free(&line);
	fst_format_free(format);
	return 0;
}
