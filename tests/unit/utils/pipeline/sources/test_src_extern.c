/* Lines that users have put into extern.dat. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/sources/src_extern.h"

struct scene {
	char dir[32];
	char path[64];
	struct trace_data data;
	struct source *src;
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	strcpy(s->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/extern.dat", s->dir);
	s->data.dir = s->dir;
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	if (s->src)
		source_close(s->src);
	unlink(s->path);
	rmdir(s->dir);
	free(s);
	return 0;
}

static void open_text(struct scene *s, const char *text, size_t len)
{
	FILE *file = fopen(s->path, "w");

	assert_int_equal(fwrite(text, 1, len, file), len);
	fclose(file);
	assert_int_equal(src_extern_open(&s->data, &s->src, NULL), 0);
	assert_non_null(s->src);
}

/* Check "TIME text|..." of all lines up to @until_ns. */
static void check(struct scene *s, uint64_t until_ns, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct event event;
	uint64_t next_ns;

	for (;;) {
		ssize_t nr;

		next_ns = source_next_ns(s->src);
		nr = source_read(s->src, &event, 5, until_ns, NULL);
		if (nr <= 0)
			break;
		assert_int_equal(nr, 1);
		assert_int_equal(event.time_ns, next_ns);
		assert_int_equal(event.type, EVENT_EXTERN);
		assert_int_equal(event.id, EVENT_ID_EXTERN_DATA);
		assert_int_equal(event.flags, 0);
		strbuf_addf(&out, "%llu %.*s|", (unsigned long long)event.time_ns, event.data_len,
			    (const char *)event.data);
	}
	assert_true(next_ns > until_ns || next_ns == UINT64_MAX || !next_ns);
	assert_string_equal(strbuf_str(&out), expected);
}

TEST_WITH(without_a_file_there_is_no_source, setup, teardown)
{
	struct scene *s = *state;

	s->src = (struct source *)s;
	assert_int_equal(src_extern_open(&s->data, &s->src, NULL), 0);
	assert_null(s->src);
}

TEST_WITH(something_else_is_told, setup, teardown)
{
	struct uft_err err = { 0 };
	struct scene *s = *state;

	assert_int_equal(mkdir(s->path, 0700), 0);
	assert_true(src_extern_open(&s->data, &s->src, &err) < 0);
	assert_null(s->src);
	assert_non_null(strstr(err.text, s->path));
	rmdir(s->path);
}

TEST_WITH(lines_have_a_time_and_a_message, setup, teardown)
{
	static const char text[] = "# a comment\n1.000000005 hello  world\n\n2.5 x\n3.000000000 \n"
				   "4.123456789 last";
	struct scene *s = *state;

	open_text(s, text, sizeof(text) - 1);
	check(s, 1000000004, "");
	check(s, 1000000005, "1000000005 hello  world|");
	check(s, UINT64_MAX, "2500000000 x|3000000000 |4123456789 last|");
	assert_int_equal(source_next_ns(s->src), UINT64_MAX);
}

/* Lines come in the order of time. Lines with the same time keep their order. */
TEST_WITH(lines_are_sorted, setup, teardown)
{
	static const char text[] = "0.000000030 a\n0.000000010 b\n0.000000020 c\n0.000000010 d\n"
				   "0.000000010 e\n0.000000040 f\n0.000000000 g\n0.000000020 h\n";
	struct scene *s = *state;

	open_text(s, text, sizeof(text) - 1);
	check(s, UINT64_MAX, "0 g|10 b|10 d|10 e|20 c|20 h|30 a|40 f|");
}

/*
 * A limited number of lines is held for sorting. A line that comes even later is out of order, but
 * is shown.
 */
TEST_WITH(as_many_are_sorted_as_are_held, setup, teardown)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct scene *s = *state;
	struct event event;
	unsigned seed = 1;
	uint64_t last_ns = 0;
	unsigned nr = 0;

	/* Each line is less than EXTERN_HELD_MAX / 2 lines away from its place. */
	for (unsigned i = 0; i < 5 * EXTERN_HELD_MAX; i++) {
		seed = seed * 1103515245 + 12345;
		strbuf_addf(&text, "0.%09u line %u\n",
			    i * 10 + 1 + (seed >> 16) % (EXTERN_HELD_MAX / 2 * 10), i);
	}
	open_text(s, text.data, text.len);
	while (source_read(s->src, &event, 1, UINT64_MAX, NULL) == 1) {
		assert_true(event.time_ns >= last_ns);
		last_ns = event.time_ns;
		nr++;
	}
	assert_int_equal(nr, 5 * EXTERN_HELD_MAX);
}

TEST_WITH(the_first_of_those_that_are_held, setup, teardown)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct scene *s = *state;
	struct event event;

	for (unsigned i = 0; i < EXTERN_HELD_MAX; i++)
		strbuf_addf(&text, "0.%09u x\n", 1000 + i);
	strbuf_addstr(&text, "0.000000001 late\n");
	open_text(s, text.data, text.len);
	assert_int_equal(source_next_ns(s->src), 1000);
	assert_int_equal(source_read(s->src, &event, 1, UINT64_MAX, NULL), 1);
	assert_int_equal(source_next_ns(s->src), 1);
}

/* Long lines are cut. The lines after them are read. */
TEST_WITH(long_lines, setup, teardown)
{
	static const size_t lens[] = { 1022,	   1023,  1024,	     65536 - 13,
				       65536 - 12, 65536, 65536 * 2, 65536 * 3 + 7 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct scene *s = *state;
	struct event event;

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		strbuf_addf(&text, "%zu.000000000 ", i + 1);
		strbuf_addchars(&text, 'a' + i, lens[i]);
		strbuf_addch(&text, '\n');
	}
	strbuf_addstr(&text, "100.0 end");
	open_text(s, text.data, text.len);
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		assert_int_equal(source_read(s->src, &event, 1, UINT64_MAX, NULL), 1);
		assert_int_equal(event.time_ns, (i + 1) * UINT64_C(1000000000));
		assert_int_equal(event.data_len, lens[i] < 1023 ? lens[i] : 1023);
		for (size_t k = 0; k < event.data_len; k++)
			assert_int_equal(event.data[k], 'a' + i);
	}
	assert_int_equal(source_read(s->src, &event, 1, UINT64_MAX, NULL), 1);
	assert_int_equal(event.data_len, 3);
	assert_int_equal(source_read(s->src, &event, 1, UINT64_MAX, NULL), 0);
}

/* Lines before the damage are shown first. */
TEST_WITH(a_line_that_cannot_be_read, setup, teardown)
{
	static const char *const wrong[] = {
		"x", "1", "1.2", "1.2x", "1.2\tx", "-1.2 x", " 1.2 x"
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct strbuf text cleanup_strbuf = { 0 };
		struct uft_err err = { 0 };
		struct event event;
		char expected[200];
		FILE *file;

		/* Damage at the beginning is reported at once. */
		file = fopen(s->path, "w");
		fprintf(file, "#\n1.0 a\n%s\n", wrong[i]);
		fclose(file);
		assert_int_equal(src_extern_open(&s->data, &s->src, &err), -EINVAL);
		assert_null(s->src);
		snprintf(expected, sizeof(expected),
			 "cannot read '%s': line 3: expected '<s>.<ns> <message>'", s->path);
		assert_string_equal(err.text, expected);
		/* Damage far later is reported when all lines before it were shown. */
		for (unsigned k = 0; k < EXTERN_HELD_MAX; k++)
			strbuf_addf(&text, "0.%09u x\n", 1000 + k);
		strbuf_addf(&text, "%s\n0.5 y\n", wrong[i]);
		open_text(s, text.data, text.len);
		for (unsigned k = 0; k < EXTERN_HELD_MAX; k++)
			assert_int_equal(source_read(s->src, &event, 1, UINT64_MAX, NULL), 1);
		assert_int_equal(source_next_ns(s->src), 0);
		memset(&err, 0, sizeof(err));
		assert_int_equal(source_read(s->src, &event, 1, UINT64_MAX, &err), -EINVAL);
		snprintf(expected, sizeof(expected),
			 "cannot read '%s': line %u: expected '<s>.<ns> <message>'", s->path,
			 EXTERN_HELD_MAX + 1);
		assert_string_equal(err.text, expected);
		source_close(s->src);
		s->src = NULL;
	}
}

TEST_WITH(the_last_time_stands_for_none, setup, teardown)
{
	static const char text[] = "18446744073.709551615 x\n18446744073.709551614 y\n";
	struct scene *s = *state;

	open_text(s, text, sizeof(text) - 1);
	assert_int_equal(source_next_ns(s->src), UINT64_MAX - 1);
	check(s, UINT64_MAX, "18446744073709551614 x|18446744073709551614 y|");
}
