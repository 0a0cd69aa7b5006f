/*
 * Fuzz target: words that users type. Each line of the input is read as a word of the command line,
 * a time, a size, a range, and fields.
 */
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/opts.h"
#include "tests/fuzz/fuzz.h"
#include "utils/base/units.h"
#include "utils/spec/args/range.h"

#define WORDS_MAX 64

static void parse_word(const char *word)
{
	uint64_t value = 0;
	uint64_t again = 0;
	struct time_range range;
	struct uft_err err = { 0 };
	bool flag;

	int ret = parse_time(word, &value, &err);

	fuzz_check_error(ret < 0, &err);
	if (ret == 0) {
		struct strbuf text cleanup_strbuf = { 0 };

		format_time(value, &text);
		FUZZ_CHECK(parse_time(strbuf_str(&text), &again, NULL) == 0);
		FUZZ_CHECK(again <= value);
	}
	err_clear(&err);
	fuzz_check_error(parse_size(word, &value, &err) < 0, &err);
	err_clear(&err);
	fuzz_check_error(time_range_parse(word, &range, &err) < 0, &err);
	parse_bool(word, &flag);
}

static void parse_line(int argc, char **argv)
{
	struct opts opts cleanup_opts;
	struct uft_err err = { 0 };

	opts_init(&opts);
	opts.msg.file = fopen("/dev/null", "w");

	int ret = opts_parse(&opts, argc, argv, &err);

	fuzz_check_error(ret < 0, &err);
	if (ret == 0 && opts.cmd && opts.cmd->check) {
		ret = opts.cmd->check(&opts, &err);
		fuzz_check_error(ret < 0, &err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text cleanup_free = strndup((const char *)data, size);
	char *argv[WORDS_MAX + 2] = { "utrail" };
	int argc = 1;

	FUZZ_CHECK(text);
	for (char *at = text; at && argc <= WORDS_MAX;) {
		argv[argc++] = strsep(&at, "\n");
		parse_word(argv[argc - 1]);
	}
	parse_line(argc, argv);
	return 0;
}
