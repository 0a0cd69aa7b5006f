/* Files by CPU: the names that count, and the order of the files. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "utils/pipeline/recording/cpu_files.h"

static int note(void *self, const char *name, uint32_t cpu)
{
	uint64_t *seen = self;
	char expected[32];

	snprintf(expected, sizeof(expected), "perf-cpu%u.dat", cpu);
	assert_string_equal(name, expected);
	*seen |= 1ULL << cpu;
	return cpu == 7 ? -EIO : 0;
}

TEST(names)
{
	static const char *const files[] = { "perf-cpu0.dat",	       "perf-cpu12.dat",
					     "perf-cpu3.dat.old",      "perf-cpu.dat",
					     "perf-cpux.dat",	       "perf-cpu4",
					     "kernel-cpu9.dat",	       "xperf-cpu5.dat",
					     "perf-cpu99999999999.dat" };
	char dir[] = "/tmp/utrail-cpus.XXXXXX";
	struct uft_err err = { 0 };
	uint64_t seen = 0;
	int dir_fd;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(cpu_files_count(dir, "perf-cpu"), 0);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		close(openat(dir_fd, files[i], O_CREAT | O_WRONLY, 0600));
	assert_int_equal(cpu_files_each(dir, "perf-cpu", note, &seen, &err), 0);
	assert_int_equal(seen, 1 | 1 << 12);
	assert_int_equal(cpu_files_count(dir, "perf-cpu"), 13);
	assert_int_equal(cpu_files_count(dir, "kernel-cpu"), 10);
	assert_int_equal(cpu_files_count(dir, "other"), 0);

	/* The first failure ends the search. */
	close(openat(dir_fd, "perf-cpu7.dat", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(cpu_files_each(dir, "perf-cpu", note, &seen, &err), -EIO);
	unlinkat(dir_fd, "perf-cpu7.dat", 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlinkat(dir_fd, files[i], 0);
	close(dir_fd);
	rmdir(dir);
	assert_int_equal(cpu_files_each(dir, "perf-cpu", note, &seen, &err), -ENOENT);
	assert_non_null(strstr(err.text, dir));
}

static int add_name(void *self, const char *name, uint32_t cpu)
{
	strcat(strcat(self, name + strlen("perf-cpu")), " ");
	return 0;
}

/*
 * Files come in the order of their numbers, whatever the order in the directory. Two files with the
 * same number have a fixed order, too.
 */
TEST(in_order)
{
	static const char *const files[] = { "perf-cpu10.dat", "perf-cpu3.dat",	 "perf-cpu9.dat",
					     "perf-cpu03.dat", "perf-cpu11.dat", "perf-cpu0.dat" };
	char dir[] = "/tmp/utrail-cpus.XXXXXX";
	char found[128] = "";
	int dir_fd;

	assert_non_null(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		close(openat(dir_fd, files[i], O_CREAT | O_WRONLY, 0600));
	assert_int_equal(cpu_files_each(dir, "perf-cpu", add_name, found, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlinkat(dir_fd, files[i], 0);
	close(dir_fd);
	rmdir(dir);
	assert_string_equal(found, "0.dat 03.dat 3.dat 9.dat 10.dat 11.dat ");
}

/* The largest number of a CPU, and the next one. */
TEST(numbers_at_their_border)
{
	static const struct {
		const char *name;
		uint32_t count;
	} rows[] = {
		{ "perf-cpu65535.dat", 65536 }, { "perf-cpu65536.dat", 0 }, { "perf-cpu-1.dat", 0 },
		{ "perf-cpu0.dat", 1 },		{ "perf-cpu00.dat", 1 },    { "perf-cpu0.dat.", 0 },
		{ "perf-cpu0.da", 0 },		{ "perf-cpu 0.dat", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char dir[] = "/tmp/utrail-cpus.XXXXXX";
		int dir_fd;

		assert_non_null(mkdtemp(dir));
		dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
		close(openat(dir_fd, rows[i].name, O_CREAT | O_WRONLY, 0600));
		assert_int_equal(cpu_files_count(dir, "perf-cpu"), rows[i].count);
		unlinkat(dir_fd, rows[i].name, 0);
		close(dir_fd);
		rmdir(dir);
	}
	assert_int_equal(cpu_files_count("/nonexistent", "perf-cpu"), 0);
}
