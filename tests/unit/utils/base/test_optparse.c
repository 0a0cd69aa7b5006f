/* The table-driven option parser: forms, kinds, prefixes, the end of options, and errors. */
#include "tests/unit/lib/unit.h"

#include "utils/base/optparse.h"

struct target {
	bool flag;
	bool on;
	int mode;
	int count;
	const char *text;
	char *list;
	unsigned number;
	uint64_t time_ns;
	uint64_t bytes;
	int word;
	bool yes;
	char custom[16];
};

static int set_custom(const struct opt_row *row, const char *text, void *target,
		      struct uft_err *err)
{
	struct target *t = target;

	snprintf(t->custom, sizeof(t->custom), "%s", text);
	return 0;
}

static const struct opt_word words[] = {
	{ "red", 1 }, { "blue", 2 }, { "azure", 2, true }, { NULL }
};

#define AT(name) .offset = offsetof(struct target, name)

/* clang-format off */
static const struct opt_row rows[] = {
	{ "flag", 'f', NULL, "", 0, 1, OPT_TRUE, AT(flag) },
	{ "no-on", 0, NULL, "", 0, 1, OPT_FALSE, AT(on) },
	{ "mode", 'm', NULL, "", 0, 1, OPT_CONST, AT(mode), .value = 5 },
	{ "verbose", 'v', NULL, "", 0, 1, OPT_COUNT, AT(count) },
	{ "text", 't', "TEXT", "", 0, 1, OPT_STRING, AT(text) },
	{ "list", 'l', "LIST", "", 0, 1, OPT_LIST, AT(list), .separator = ';' },
	{ "number", 'n', "N", "", 0, 1, OPT_UINT, AT(number), .min = 2, .max = 9,
	  .is_recorded = true },
	{ "time", 0, "TIME", "", 0, 1, OPT_TIME, AT(time_ns) },
	{ "size", 0, "SIZE", "", 0, 1, OPT_SIZE, AT(bytes), .min = 1, .max = 4096 },
	{ "word", 0, "WORD", "", 0, 1, OPT_WORD, AT(word), .words = words },
	{ "yes", 0, "on|off", "", 0, 1, OPT_BOOL, AT(yes) },
	{ "custom", 0, "X", "", 0, 1, OPT_SET, .set = set_custom },
	{ "text-more", 0, NULL, "", 0, 1, OPT_TRUE, AT(flag) },
};
/* clang-format on */

/*
 * Parses @line, split at blanks. Returns the index of the first word that is no option, or the
 * error.
 */
static int parse(const char *line, struct target *t, char *error)
{
	static char copy[512];
	static char *argv[64];
	struct uft_err err = { 0 };
	int argc = 0;

	argv[argc++] = "prog";
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;

	struct optparse p = { rows, ARRAY_SIZE(rows), argv, argc, .next = 1 };
	int rc = optparse_run(&p, t, &err);

	if (error)
		strcpy(error, err.text);
	return rc < 0 ? rc : p.next;
}

TEST(all_kinds)
{
	struct target t = { .on = true };

	assert_int_equal(parse("-f --no-on -vv --verbose -m -t abc --list=a -l b --number 7 "
			       "--time=2us --size 4k --word=BLUE --yes=off --custom=hey",
			       &t, NULL),
			 19);
	assert_true(t.flag);
	assert_false(t.on);
	assert_int_equal(t.count, 3);
	assert_int_equal(t.mode, 5);
	assert_string_equal(t.text, "abc");
	assert_string_equal(t.list, "a;b");
	assert_int_equal(t.number, 7);
	assert_int_equal(t.time_ns, 2000);
	assert_int_equal(t.bytes, 4096);
	assert_int_equal(t.word, 2);
	assert_false(t.yes);
	assert_string_equal(t.custom, "hey");
	optparse_free(rows, ARRAY_SIZE(rows), &t);
	assert_null(t.list);
}

TEST(letters)
{
	struct target t = { 0 };

	assert_int_equal(parse("-vfn3 -tx=y", &t, NULL), 3);
	assert_int_equal(t.count, 1);
	assert_true(t.flag);
	assert_int_equal(t.number, 3);
	assert_string_equal(t.text, "x=y");
}

TEST(stops_at_the_first_other_word)
{
	struct target t = { 0 };

	assert_int_equal(parse("-v prog -v", &t, NULL), 2);
	assert_int_equal(t.count, 1);
	assert_int_equal(parse("-v - -v", &t, NULL), 2);
	assert_int_equal(parse("-v -- -v", &t, NULL), 3);
	assert_int_equal(t.count, 3);
	assert_int_equal(parse("", &t, NULL), 1);
}

TEST(prefixes)
{
	struct target t = { 0 };

	assert_int_equal(parse("--verb --num=4", &t, NULL), 3);
	assert_int_equal(t.count, 1);
	assert_int_equal(t.number, 4);
	/* A full name wins, even if another name begins with it. */
	assert_int_equal(parse("--text=x", &t, NULL), 2);
	assert_string_equal(t.text, "x");
}

TEST(refuses)
{
	static const char *const cases[][2] = {
		{ "--bogus", "unknown option '--bogus'; --help lists them" },
		{ "--verbos3", "unknown option '--verbos3'; the nearest: --verbose" },
		{ "-q", "unknown option '-q'" },
		{ "-vq", "unknown option '-q'" },
		{ "--te=3", "option '--te' is ambiguous: --text, --text-more" },
		{ "--flag=1", "option '--flag' takes no argument" },
		{ "--text", "option '--text' needs an argument: TEXT" },
		{ "-t", "option '--text' needs an argument: TEXT" },
		{ "-n1", "option '--number': invalid number '1': expected 2 to 9" },
		{ "-n10", "option '--number': invalid number '10'" },
		{ "-nx", "option '--number': invalid number 'x'" },
		{ "-n3x", "option '--number': invalid number '3x'" },
		{ "-n-3", "option '--number': invalid number '-3'" },
		{ "-n99999999999999999999", "option '--number': invalid number" },
		{ "--time=3parsec", "option '--time': invalid time '3parsec': expected" },
		{ "--size=0", "option '--size': invalid size '0': expected 1 to 4096 bytes" },
		{ "--size=5k", "option '--size': invalid size '5k'" },
		{ "--size=x", "option '--size': invalid size 'x': expected" },
		{ "--word=green",
		  "option '--word': unknown word 'green': expected one of red, blue" },
		{ "--yes=maybe", "option '--yes': unknown word 'maybe': expected on or off" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct target t = { .number = 5 };
		char error[ERR_TEXT_MAX];

		assert_int_equal(parse(cases[i][0], &t, error), -ERR_USAGE);
		assert_memory_equal(error, cases[i][1], strlen(cases[i][1]));
		assert_int_equal(t.number, 5);
		optparse_free(rows, ARRAY_SIZE(rows), &t);
	}
}

/* Returns the words of @line that are ignored when options come from a file of another user. */
static const char *parse_recorded(const char *line, struct target *t, struct strbuf *ignored)
{
	static char copy[512];
	static char *argv[64];
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;

	struct optparse p = { rows, ARRAY_SIZE(rows), argv, argc };

	*t = (struct target){ 0 };
	strbuf_reset(ignored);
	assert_int_equal(optparse_run_recorded(&p, t, ignored, NULL), 0);
	assert_null(t->text);
	assert_null(t->list);
	assert_false(t->flag);
	return strbuf_str(ignored);
}

/* -m has its own meaning in the command that defines it. */
TEST(letters_of_a_command)
{
	static const struct opt_row two[] = {
		{ "mode", 'm', NULL, "", 0, 1, OPT_CONST, AT(mode), .value = 5 },
		{ "mounts", 'm', NULL, "", 0, 2, OPT_TRUE, AT(flag) },
	};
	static const struct {
		unsigned cmds;
		int mode;
	} cases[] = { { 0, 5 }, { 1, 5 }, { 2, 0 }, { 4, 5 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *argv[] = { "-m" };
		struct optparse p = { two, ARRAY_SIZE(two), argv, 1, .cmds = cases[i].cmds };
		struct target t = { 0 };

		assert_int_equal(optparse_run(&p, &t, NULL), 0);
		assert_int_equal(t.mode, cases[i].mode);
		assert_int_equal(t.flag, !cases[i].mode);
	}
}

TEST(words_of_a_stranger)
{
	static const struct {
		const char *line;
		unsigned number;
		const char *ignored;
	} cases[] = {
		{ "", 0, "" },
		{ "-n 3", 3, "" },
		{ "-n3 --number=4", 4, "" },
		{ "--number 5 -t -n", 5, "--text" },
		{ "--number 5 -n 77", 5, "--number with a wrong argument" },
		{ "-n", 0, "--number with a wrong argument" },
		{ "--num=5", 0, "words that are no options" },
		{ "-fn 3", 0, "--flag, words that are no options" },
		{ "--text-more --text=a -lb -n 2 --list -n", 2, "--text-more, --text, --list" },
		{ "x - -- -? --=3 -n 2", 2, "words that are no options" },
	};
	struct strbuf ignored = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct target t;

		assert_string_equal(parse_recorded(cases[i].line, &t, &ignored), cases[i].ignored);
		assert_int_equal(t.number, cases[i].number);
	}
	strbuf_deinit(&ignored);
}
