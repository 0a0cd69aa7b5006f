/* Fuzz target: task.txt. Each line that is read can be written and reads again as the same. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/task_txt.h"

static void check_round_trip(const struct task_line *line)
{
	struct strbuf first cleanup_strbuf = { 0 };
	struct strbuf second cleanup_strbuf = { 0 };
	struct task_line again;

	task_line_encode(line, &first);

	struct text in = text_of(first.data, first.len);

	FUZZ_CHECK(task_txt_next(&in, &again, NULL) == 1);
	FUZZ_CHECK(in.at == in.end);
	FUZZ_CHECK(again.type == line->type && again.time_ns == line->time_ns);
	task_line_encode(&again, &second);
	FUZZ_CHECK(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text in = text_of((const char *)data, size);
	struct task_line line;
	struct uft_err err = { 0 };
	int ret;

	while ((ret = task_txt_next(&in, &line, &err)) > 0)
		check_round_trip(&line);
	fuzz_check_error(ret < 0, &err);
	return 0;
}
