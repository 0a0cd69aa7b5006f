/* Lines that a killed writer has left incomplete get an end and a mark. */
#include <fcntl.h>

#include "events/trace.h"
#include "tests/unit/lib/trace_place.h"

#define PAGE 4096
#define TIME "2026-11-23 01:02:03.123456 "

static int dir_fd;

static int begin_all(void **state)
{
	if (trace_place_make(state) < 0)
		return -1;
	dir_fd = open(trace_place_above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir_fd < 0;
}

static int begin(void **state)
{
	unlinkat(dir_fd, "log", 0);
	return 0;
}

static void put(const char *text, off_t at, size_t len)
{
	int fd = openat(dir_fd, "log", O_WRONLY | O_CREAT, 0600);

	assert_int_equal(pwrite(fd, text, len, at), len);
	close(fd);
}

/* Make a file of @len letters. */
static void make(size_t len)
{
	char *text = malloc(len);

	memset(text, 'x', len);
	put(text, 0, len);
	free(text);
}

static char *get(off_t at, size_t len)
{
	static char text[64];
	int fd = openat(dir_fd, "log", O_RDONLY);

	assert_int_equal(pread(fd, text, len, at), len);
	text[len] = '\0';
	close(fd);
	return text;
}

static off_t size(void)
{
	struct stat st;

	assert_int_equal(fstatat(dir_fd, "log", &st, 0), 0);
	return st.st_size;
}

/* Check the bytes before the page; nothing else may change. */
static void check(off_t page, const char *wanted)
{
	off_t before = size();

	fst_repair_file(dir_fd, "log");
	assert_string_equal(get(page - 10, 10), wanted);
	assert_int_equal(size(), before);
}

#define TORN  "xx (torn)\n"
#define WHOLE "xxxxxxxxxx"

TEST_WITH(a_line_in_front_of_another_gets_a_mark, begin, NULL)
{
	make(PAGE + 100);
	put(TIME, PAGE, strlen(TIME));
	check(PAGE, TORN);
	assert_string_equal(get(PAGE, strlen(TIME)), TIME);
	/* A second repair changes nothing. */
	check(PAGE, TORN);
}

TEST_WITH(each_page_is_looked_at, begin, NULL)
{
	make(4 * PAGE);
	put(TIME, 2 * PAGE, strlen(TIME));
	put(TIME, 3 * PAGE, strlen(TIME));
	put("\n", 4 * PAGE - 1, 1);
	check(PAGE, WHOLE);
	check(2 * PAGE, TORN);
	check(3 * PAGE, TORN);
}

TEST_WITH(a_line_that_ends_there_is_whole, begin, NULL)
{
	make(PAGE + 100);
	put(TIME, PAGE, strlen(TIME));
	put("\n", PAGE - 1, 1);
	check(PAGE, "xxxxxxxxx\n");
}

TEST_WITH(a_fragment_that_is_too_short_gets_its_end_only, begin, NULL)
{
	make(PAGE + 100);
	put(TIME, PAGE, strlen(TIME));
	put("\n", PAGE - 8, 1);
	check(PAGE, "xx\nxxxxxx\n");
	make(PAGE + 100);
	put(TIME, PAGE, strlen(TIME));
	put("\n", PAGE - 9, 1);
	check(PAGE, "x\n (torn)\n");
}

TEST_WITH(a_line_that_goes_on_is_none, begin, NULL)
{
	make(PAGE + 100);
	check(PAGE, WHOLE);
	for (size_t at = 0; at < strlen(TIME); at++) {
		make(PAGE + 100);
		put(TIME, PAGE, strlen(TIME));
		put(TIME[at] >= '0' && TIME[at] <= '9' ? "/" : "0", PAGE + at, 1);
		check(PAGE, WHOLE);
		make(PAGE + 100);
		put(TIME, PAGE, strlen(TIME));
		put(":", PAGE + at, 1);
		check(PAGE, TIME[at] == ':' ? TORN : WHOLE);
	}
	make(PAGE + 100);
	put("0000-00-00 99:99:99.000999 ", PAGE, strlen(TIME));
	check(PAGE, TORN);
}

TEST_WITH(a_time_must_be_there_as_a_whole, begin, NULL)
{
	make(PAGE);
	put(TIME, PAGE, strlen(TIME) - 1);
	check(PAGE, WHOLE);
	make(PAGE);
	put(TIME, PAGE, strlen(TIME));
	check(PAGE, TORN);
}

TEST_WITH(the_end_of_the_file_is_torn_at_a_page_only, begin, NULL)
{
	make(PAGE);
	check(PAGE, TORN);
	unlinkat(dir_fd, "log", 0);
	make(PAGE);
	put("\n", PAGE - 1, 1);
	check(PAGE, "xxxxxxxxx\n");
	unlinkat(dir_fd, "log", 0);
	make(PAGE - 1);
	check(PAGE - 1, WHOLE);
	make(PAGE + 1);
	check(PAGE, WHOLE);
	assert_string_equal(get(PAGE - 9, 10), WHOLE);
}

TEST_WITH(of_large_files_the_end_is_looked_at, begin, NULL)
{
	const off_t most = (off_t)64 << 20;

	put(TIME, 2 * PAGE, strlen(TIME));
	put(TIME, 3 * PAGE, strlen(TIME));
	put(WHOLE, 2 * PAGE - 10, 10);
	put(WHOLE, 3 * PAGE - 10, 10);
	put("\n", most + 3 * PAGE - 2, 1);
	check(2 * PAGE, WHOLE);
	check(3 * PAGE, TORN);
	unlinkat(dir_fd, "log", 0);
	put(TIME, PAGE, strlen(TIME));
	put(WHOLE, PAGE - 10, 10);
	put("\n", most - 1, 1);
	check(PAGE, TORN);
}

TEST_WITH(what_is_no_file_stays, begin, NULL)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	fst_repair_file(dir_fd, "none");
	assert_int_equal(mkfifoat(dir_fd, "fifo", 0600), 0);
	fst_repair_file(dir_fd, "fifo");
	assert_int_equal(mkdirat(dir_fd, "dir", 0700), 0);
	fst_repair_file(dir_fd, "dir");
	make(PAGE);
	assert_int_equal(symlinkat("log", dir_fd, "link"), 0);
	fst_repair_file(dir_fd, "link");
	assert_string_equal(get(PAGE - 10, 10), WHOLE);
	fst_repair_file(dir_fd, "log");
	assert_string_equal(get(PAGE - 10, 10), TORN);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

TEST_GROUP(begin_all, NULL)
