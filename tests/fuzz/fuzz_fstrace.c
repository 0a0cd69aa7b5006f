/*
 * Fuzz target: formats of declared events, and lines of their logs. The input has a format, then
 * the lines.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "trace/seam/reader.h"
#include "utils/base/cleanup.h"
#include "utils/format/fstrace/line.h"

/* Check that the pieces follow each other without a gap and make up the whole format. */
static void check_format(const char *format)
{
	const char *at = format;
	struct fst_piece piece;
	int nr = 0;
	int ret;

	while ((ret = fst_next_piece(&at, &piece)) > 0) {
		nr++;
		FUZZ_CHECK(piece.len > 0 && piece.text + piece.len == at);
		FUZZ_CHECK(piece.kind == FST_LITERAL || *piece.text == '%');
	}
	FUZZ_CHECK(ret < 0 ? *at == '%' : !*at);
	FUZZ_CHECK(fst_count_pieces(format) == (ret < 0 ? -1 : nr));
}

/*
 * Check that a valid line can be made again of its parts, and that its time becomes the same text.
 */
static void check_line(const char *text, size_t len)
{
	struct fst_line line;
	size_t at = SIZE_MAX;
	const char *wrong = fst_line_parse(text, len, &line, &at);
	struct fst_text again;

	FUZZ_CHECK(at <= len);
	if (wrong)
		return;

	fst_text_init(&again);
	fst_put_time_us(&again, line.time_us, ' ');
	fst_put_char(&again, ' ');
	fst_put(&again, line.id, line.id_len);
	fst_put_char(&again, ' ');
	fst_put(&again, line.body, line.body_len);
	FUZZ_CHECK(again.len == len && memcmp(again.base, text, len) == 0);
	fst_text_free(&again);
}

/* Check that values of any bytes become printable text, and that each kind has its length. */
static void check_values(const uint8_t *data, size_t size)
{
	struct fst_text text;
	double number = 0;

	memcpy(&number, data, size < sizeof(number) ? size : sizeof(number));
	fst_text_init(&text);
	fst_put_octets(&text, data, size);
	FUZZ_CHECK(text.len == 2 * size);
	fst_put_encoded(&text, data, size);
	FUZZ_CHECK(text.len >= 3 * size && text.len <= 5 * size);
	fst_put_address(&text, data, size);
	fst_put_double(&text, number);
	for (size_t i = 0; i < text.len; i++)
		FUZZ_CHECK(text.base[i] > ' ' && text.base[i] <= '~');
	fst_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *format cleanup_free = strndup((const char *)data, size);

	FUZZ_CHECK(format);
	check_format(format);
	check_line((const char *)data, size);
	check_values(data, size);
	return 0;
}
