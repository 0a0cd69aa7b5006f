/*
 * Changes of the program's text: the bytes, the number of pieces, and the protection of the pages
 * afterwards.
 */
#include "libmcount/patch/text.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define PAGE 4096

static uint8_t *text;

static unsigned nr_writes;

static int setup(void **state)
{
	text = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(text != MAP_FAILED);
	for (int i = 0; i < 2 * PAGE; i++)
		text[i] = i % 251;
	assert_int_equal(mprotect(text, 2 * PAGE, PROT_READ | PROT_EXEC), 0);
	nr_writes = 0;
	return 0;
}

static int teardown(void **state)
{
	munmap(text, 2 * PAGE);
	return 0;
}

static int count_write(void *arg)
{
	nr_writes++;
	return 0;
}

/* Returns the protection that both pages have. */
static const char *protection(void)
{
	static char found[8];
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	strcpy(found, "none");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long long start, end;
		char is[8];

		if (sscanf(line, "%llx-%llx %3s", &start, &end, is) == 3 &&
		    start <= (uint64_t)text && end >= (uint64_t)text + 2 * PAGE)
			strcpy(found, is);
	}
	if (maps)
		fclose(maps);
	return found;
}

static uint8_t before(uint64_t i)
{
	return i % 251;
}

/*
 * Check that @len bytes at @at have changed, and no others.
 */
static void check(uint64_t at, uint64_t len)
{
	for (uint64_t i = 0; i < 2 * PAGE; i++)
		assert_int_equal(text[i], i - at < len ? 0xc0 + (i - at) : before(i));
	assert_string_equal(protection(), "r-x");
}

static void put(int fd, uint64_t at, uint64_t len, bool is_good)
{
	uint8_t bytes[16];

	for (uint64_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0xc0 + i;
	assert_int_equal(text_write(fd, (uint64_t)text + at, bytes, len), is_good);
}

static void put_back(int fd, uint64_t at, uint64_t len)
{
	uint8_t bytes[16];

	for (uint64_t i = 0; i < len; i++)
		bytes[i] = before(at + i);
	assert_true(text_write(fd, (uint64_t)text + at, bytes, len));
}

/*
 * Bytes within a word are written in one piece, bytes across words in two. The first byte is
 * written last.
 */
TEST_WITH(in_pieces, setup, teardown)
{
	static const struct {
		uint64_t at;
		uint64_t len;
		unsigned pieces;
	} rows[] = {
		{ 16, 5, 1 }, { 16, 8, 1 }, { 19, 5, 1 }, { 20, 5, 2 },	   { 23, 2, 2 },
		{ 23, 1, 1 }, { 17, 8, 2 }, { 16, 9, 2 }, { 4090, 12, 2 }, { 4095, 5, 2 },
	};
	int fd = text_open();

	if (fd < 0)
		skip_because("/proc has no memory of this process to write to");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		nr_writes = 0;
		pair_before(SYS_pwrite64, count_write, NULL);
		put(fd, rows[i].at, rows[i].len, true);
		pair_before(SYS_pwrite64, NULL, NULL);
		assert_int_equal(nr_writes, rows[i].pieces);
		check(rows[i].at, rows[i].len);
		put_back(fd, rows[i].at, rows[i].len);
	}
	text_close(fd);
	assert_int_equal(syscall(SYS_fcntl, fd, 1 /* F_GETFD */), -1);
}

/* When a write by the descriptor fails, the pages are made writable instead. */
static int refuse_first(void *arg)
{
	return ++nr_writes == 1 ? -EPERM : 0;
}

TEST_WITH(not_by_the_descriptor, setup, teardown)
{
	int fd = text_open();

	if (fd < 0)
		skip_because("/proc has no memory of this process to write to");
	pair_before(SYS_pwrite64, refuse_first, NULL);
	put(fd, 20, 5, true);
	pair_before(SYS_pwrite64, NULL, NULL);
	check(20, 5);
	text_close(fd);
}

/*
 * Without the descriptor of text_open(), the pages become writable for a moment, and stay
 * executable.
 */
TEST_WITH(by_protection, setup, teardown)
{
	put(-1, 4092, 5, true);
	check(4092, 5);
	put_back(-1, 4092, 5);
	put(-1, 4096, 8, true);
	check(4096, 8);
	put_back(-1, 4096, 8);
	put(-1, 4088, 8, true);
	check(4088, 8);
	text_close(-1);
}

TEST_WITH(nothing_is_there, setup, teardown)
{
	assert_int_equal(munmap(text + PAGE, PAGE), 0);
	/* The second piece is written first, and fails. So the byte before it has not changed. */
	put(-1, 4095, 5, false);
	for (uint64_t i = 0; i < PAGE; i++)
		assert_int_equal(text[i], before(i));
}
