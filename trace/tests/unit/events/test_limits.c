/* The limits of a log's old files, and repairs. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>

#include "events/trace.h"
#include "tests/unit/lib/trace_place.h"

/* The time of all calls: the clock stands still. */
#define NOW 1800000000

static char prefix[128];
static struct fst_limits limits;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	*time = (struct timespec){ NOW, 123456000 };
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return ftw->level ? remove(path) : 0;
}

static int begin(void **state)
{
	nftw(trace_place_above, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	snprintf(prefix, sizeof(prefix), "%s/log", trace_place_above);
	atomic_store(&limits.files, -1);
	atomic_store(&limits.seconds, -1);
	atomic_store(&limits.bytes, -1);
	return 0;
}

static int begin_all(void **state)
{
	return trace_place_make(state) < 0 || chdir(trace_place_above) < 0 ? -1 : 0;
}

/* The name of a file that was made @seconds_ago, with @micros as the microseconds of its time. */
static const char *name_of(int64_t seconds_ago, unsigned micros)
{
	static char name[64];
	struct timespec time = { NOW - seconds_ago, micros * 1000L };
	struct fst_text text;

	fst_text_init(&text);
	fst_put_time(&text, &time, 'T');
	snprintf(name, sizeof(name), "log-%.*s.log", (int)text.len, text.base);
	fst_text_free(&text);
	return name;
}

static void make(const char *name, size_t bytes)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	close(fd);
}

static void make_old(int64_t seconds_ago, size_t bytes)
{
	make(name_of(seconds_ago, 123456), bytes);
}

static bool is_there(const char *name)
{
	return access(name, F_OK) == 0;
}

/* Check that exactly the first @nr of the files that are 1, 2, ... seconds old are left. */
static void check_left(int nr)
{
	int found = 0;
	struct dirent *entry;
	DIR *dir = opendir(".");

	for (int i = 1; i <= nr; i++)
		assert_true(is_there(name_of(i, 123456)));
	while ((entry = readdir(dir)))
		found += entry->d_name[0] != '.';
	closedir(dir);
	assert_int_equal(found, nr);
}

static void enforce(void)
{
	fst_limits_enforce(prefix, &limits);
}

static void make_five(void)
{
	make_old(3, 40);
	make_old(1, 40);
	make_old(5, 40);
	make_old(2, 40);
	make_old(4, 40);
}

TEST_WITH(without_limits_all_stay, begin, NULL)
{
	make_five();
	enforce();
	check_left(5);
}

TEST_WITH(so_many_files_stay_and_one_more, begin, NULL)
{
	static const int wanted[] = { 1, 2, 3, 4, 5, 5 };

	for (int files = 0; files <= 5; files++) {
		make_five();
		atomic_store(&limits.files, files);
		enforce();
		check_left(wanted[files]);
	}
}

TEST_WITH(so_many_bytes_stay_and_one_more, begin, NULL)
{
	static const struct {
		int64_t bytes;
		int left;
	} cases[] = { { 0, 1 },	  { 39, 1 },  { 40, 2 },  { 79, 2 },  { 80, 3 },
		      { 119, 3 }, { 120, 4 }, { 160, 5 }, { 1000, 5 } };

	for (unsigned nr = 0; nr < sizeof(cases) / sizeof(cases[0]); nr++) {
		make_five();
		atomic_store(&limits.bytes, cases[nr].bytes);
		enforce();
		check_left(cases[nr].left);
	}
}

TEST_WITH(what_is_so_old_stays_and_one_more, begin, NULL)
{
	static const int wanted[] = { 1, 2, 3, 4, 5, 5 };

	for (int seconds = 0; seconds <= 5; seconds++) {
		make_five();
		atomic_store(&limits.seconds, seconds);
		enforce();
		check_left(wanted[seconds]);
	}
	/* This limit is longer than the time since 1970. */
	make_five();
	atomic_store(&limits.seconds, (int64_t)NOW + 1000);
	enforce();
	check_left(5);
}

TEST_WITH(the_first_limit_counts, begin, NULL)
{
	atomic_store(&limits.files, 4);
	atomic_store(&limits.bytes, 40);
	atomic_store(&limits.seconds, 100);
	make_five();
	enforce();
	check_left(2);
	atomic_store(&limits.bytes, 1000);
	atomic_store(&limits.seconds, 2);
	make_five();
	enforce();
	check_left(3);
}

TEST_WITH(other_files_are_nobodys_business, begin, NULL)
{
	static const char *const others[] = {
		"log.log",
		"log-2026-11-23T01:02:03.123456",
		"log-2026-11-23T01:02:03.123456.logs",
		"log-2026-11-23T01:02:03.123456.lot",
		"log-2026-11-23T01:02:03.1234567.log",
		"log-2026-11-23T01:02:03.12345.log",
		"log_2026-11-23T01:02:03.123456.log",
		"lag-2026-11-23T01:02:03.123456.log",
		"log-2026-11-23 01:02:03.123456.log",
		"log-2026-11-23T01:02:03,123456.log",
		"log-202:-11-23T01:02:03.123456.log",
		"log-202x-11-23T01:02:03.123456.log",
		"log-2026-11-23T01:02:03.12345:.log",
		"log-2026+11-23T01:02:03.123456.log",
		"xlog-2026-11-23T01:02:03.123456.log",
	};
	const unsigned nr_others = sizeof(others) / sizeof(others[0]);

	for (unsigned nr = 0; nr < nr_others; nr++)
		make(others[nr], 1000);
	make("log-0000-00-00T00:00:00.000000.log", 1);
	make("log-9999-99-99T99:99:99.999999.log", 1);
	atomic_store(&limits.files, 0);
	enforce();
	for (unsigned nr = 0; nr < nr_others; nr++)
		assert_true(is_there(others[nr]));
	assert_true(is_there("log-9999-99-99T99:99:99.999999.log"));
	assert_false(is_there("log-0000-00-00T00:00:00.000000.log"));
}

TEST_WITH(many_files_are_sorted, begin, NULL)
{
	enum {
		NR = 331
	};

	for (int nr = 0; nr < NR; nr++)
		make_old(1 + nr * 100 % NR, 0);
	atomic_store(&limits.files, 6);
	enforce();
	check_left(7);
}

TEST_WITH(a_prefix_without_a_folder_is_of_this_one, begin, NULL)
{
	make_five();
	atomic_store(&limits.files, 1);
	fst_limits_enforce("log", &limits);
	check_left(2);
}

TEST_WITH(a_name_that_is_too_long_has_no_files, begin, NULL)
{
	char base[NAME_MAX + 1], old[NAME_MAX + 64], path[5000];

	atomic_store(&limits.files, 0);
	/* This is the longest possible name. */
	memset(base, 'x', sizeof(base));
	base[NAME_MAX - 31] = '\0';
	for (int nr = 0; nr < 3; nr++) {
		snprintf(old, sizeof(old), "%s%s", base, name_of(nr, 0) + 3);
		assert_int_equal(strlen(old), NAME_MAX);
		make(old, 1);
	}
	fst_limits_enforce(base, &limits);
	assert_false(is_there(old));
	base[NAME_MAX - 31] = 'x';
	base[NAME_MAX - 30] = '\0';
	fst_limits_enforce(base, &limits);
	memset(path, '/', sizeof(path));
	strcpy(path + 4096, "log");
	make_five();
	fst_limits_enforce(path, &limits);
	assert_true(is_there(name_of(5, 123456)));
}

TEST_WITH(nothing_stays_open, begin, NULL)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	make_five();
	atomic_store(&limits.files, 1);
	enforce();
	fst_limits_repair(prefix, 1);
	fst_limits_enforce("/none/log", &limits);
	fst_limits_repair("/none/log", 1);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

static void write_torn(int64_t seconds_ago)
{
	char text[4096];
	int fd = open(name_of(seconds_ago, 123456), O_WRONLY | O_CREAT, 0600);

	memset(text, 'x', sizeof(text));
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	close(fd);
}

static bool is_repaired(int64_t seconds_ago)
{
	char last = 0;
	int fd = open(name_of(seconds_ago, 123456), O_RDONLY);

	assert_int_equal(pread(fd, &last, 1, 4095), 1);
	close(fd);
	return last == '\n';
}

TEST_WITH(the_newest_files_are_repaired, begin, NULL)
{
	for (int nr = 1; nr <= 4; nr++)
		write_torn(nr);
	fst_limits_repair(prefix, 0);
	assert_false(is_repaired(1));
	fst_limits_repair(prefix, 2);
	assert_true(is_repaired(1));
	assert_true(is_repaired(2));
	assert_false(is_repaired(3));
	fst_limits_repair(prefix, 100);
	assert_true(is_repaired(4));
}

TEST_GROUP(begin_all, NULL)
