/*
 * Fuzz target: logs of declared events, and the format that each of their lines has. The input is a
 * common format, a newline and a log.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/cleanup.h"
#include "utils/format/fstrace/log.h"
#include "utils/format/fstrace/origin.h"

static void check_origin(const struct fst_format *common, const struct fst_line *line)
{
	struct fst_origin origin;
	size_t at = SIZE_MAX;

	fst_origin_find(line->body, line->body_len, &origin);
	FUZZ_CHECK(origin.pid >= 0 && origin.pid <= FST_PID_LIMIT);
	FUZZ_CHECK(origin.pid || !origin.has_thread);
	if (!common)
		return;
	fst_origin_by_format(common, line->body, line->body_len, &origin, &at);
	FUZZ_CHECK(at <= line->body_len);
	FUZZ_CHECK(origin.pid >= 0 && origin.pid <= FST_PID_LIMIT);
}

/*
 * Check that each line is told once and in order, and that a valid line stands in the log with the
 * same bytes.
 */
static void check_log(const struct fst_format *common, const char *text, size_t len)
{
	char path[PATH_MAX];
	char *paths[] = { path };
	struct fst_log log;
	struct fst_log_line line;
	struct uft_err err = { 0 };
	const char *at = text;
	const char *end = text + len;
	uint64_t nr = 0;
	int ret;

	snprintf(path, sizeof(path), "%s/x.log", fuzz_empty_dir());
	fuzz_write_file("x.log", text, len);
	fst_log_open(&log, paths, 1);
	while ((ret = fst_log_next(&log, &line, &err)) > 0) {
		const char *newline = memchr(at, '\n', end - at);

		FUZZ_CHECK(at < end);
		FUZZ_CHECK(line.number == ++nr);
		if (!line.wrong) {
			const struct fst_line *parts = &line.parts;

			FUZZ_CHECK(newline &&
				   parts->body + parts->body_len ==
					   parts->id - FST_TIME_LEN - 1 + (newline - at));
			FUZZ_CHECK(memcmp(parts->id, at + FST_TIME_LEN + 1, parts->id_len) == 0);
			check_origin(common, parts);
		}
		at = newline ? newline + 1 : end;
	}
	FUZZ_CHECK(ret == 0 && at == end);
	fst_log_close(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	char *format cleanup_free = newline ? strndup((const char *)data, newline - data) : NULL;
	struct fst_format *common = format ? fst_format_make(format) : NULL;

	if (common && !fst_format_is_bare(common)) {
		fst_format_free(common);
		common = NULL;
	}
	if (newline)
		check_log(common, (const char *)newline + 1, data + size - newline - 1);
	fst_format_free(common);
	return 0;
}
