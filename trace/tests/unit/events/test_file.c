/*
 * The file of a log: its creation, an older file of the same name, rotation, and records of several
 * processes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "events/trace.h"
#include "tests/unit/lib/trace_place.h"

/* The clock begins at 2027-01-15T08:00:00. Each time that is read is a microsecond later. */
#define NOW 1800000000

static unsigned nr_looks;
static char prefix[128];
static fstrace_t *trace;

/*
 * The results of the next calls of write: a negative errno, or the most bytes; 0: the true result.
 */
static long writes[2];
static unsigned nr_writes;
static int rename_error;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	*time = (struct timespec){ NOW, 1000L * nr_looks++ };
	return 0;
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long what = number == SYS_write && nr_writes < 2 ? writes[nr_writes++] : 0;

	if (number == SYS_renameat2 && rename_error)
		what = -rename_error;
	if (what >= 0)
		return __real_syscall(number, a, b, what && what < c ? what : c, d, e, f);
	errno = (int)-what;
	return -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return ftw->level ? remove(path) : 0;
}

static int begin_all(void **state)
{
	char lock[128];

	if (trace_place_make(state) < 0 || chdir(trace_place_above) < 0)
		return -1;
	snprintf(lock, sizeof(lock), "%s.lock", trace_place_above);
	snprintf(prefix, sizeof(prefix), "%s/log", trace_place_above);
	fstrace_set_lock_path(lock);
	return fst_lock_open();
}

static int begin(void **state)
{
	nftw(trace_place_above, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	nr_looks = 0;
	rename_error = 0;
	nr_writes = 2;
	trace = NULL;
	return 0;
}

static int end(void **state)
{
	return trace ? fstrace_close(trace) : 0;
}

static void open_log(ssize_t rotate_size)
{
	trace = fstrace_open(prefix, rotate_size);
	assert_non_null(trace);
}

static void write_text(const char *text)
{
	fst_file_write(trace, text, strlen(text));
}

static void check(const char *name, const char *wanted)
{
	char text[8192] = "";
	int fd = open(name, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	assert_string_equal(text, wanted);
}

static void make(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/*
 * The name of a log file that was rotated. It has the time at which the clock was read for the
 * @nr'th time.
 */
static const char *old(unsigned nr)
{
	static char name[64];

	snprintf(name, sizeof(name), "log-2027-01-15T08:00:00.%06u.log", nr);
	return name;
}

static unsigned count_files(void)
{
	DIR *dir = opendir(".");
	unsigned nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr - 2;
}

static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

TEST_WITH(there_is_none_before_the_first_record, begin, end)
{
	int fd = next_fd();
	struct stat st;

	open_log(-1);
	assert_int_equal(count_files(), 0);
	write_text("one\n");
	write_text("two\n");
	check("log.log", "one\ntwo\n");
	assert_int_equal(stat("log.log", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_APPEND);
	assert_int_equal(next_fd(), fd + 1);
	fstrace_close(trace);
	trace = NULL;
	assert_int_equal(next_fd(), fd);
}

TEST_WITH(what_was_there_is_set_aside, begin, end)
{
	make("log.log", "before\n");
	open_log(-1);
	check(old(0), "before\n");
	write_text("one\n");
	check("log.log", "one\n");
	assert_int_equal(count_files(), 2);
}

TEST_WITH(what_was_set_aside_stays, begin, end)
{
	make("log.log", "before\n");
	make("log-2027-01-15T08:00:00.000000.log", "long before\n");
	open_log(-1);
	check(old(0), "long before\n");
	check(old(1), "before\n");
}

/* The file system cannot check and rename at once. */
TEST_WITH(the_same_in_two_steps, begin, end)
{
	static const int errors[] = { ENOSYS, EINVAL };

	for (int nr = 0; nr < 2; nr++) {
		begin(NULL);
		rename_error = errors[nr];
		what_was_set_aside_stays(NULL);
		end(NULL);
		begin(NULL);
		rename_error = errors[nr];
		what_was_there_is_set_aside(NULL);
		end(NULL);
	}
	trace = NULL;
}

TEST_WITH(what_cannot_be_set_aside_is_an_error, begin, end)
{
	int fd = next_fd();

	make("log.log", "before\n");
	rename_error = EPERM;
	errno = 0;
	assert_null(fstrace_open(prefix, -1));
	assert_int_equal(errno, EPERM);
	check("log.log", "before\n");
	assert_int_equal(next_fd(), fd);
	assert_null(fstrace_open("log.log/x", -1));
}

TEST_WITH(what_is_set_aside_is_repaired, begin, end)
{
	char torn[4097];
	char wanted[4097];

	memset(torn, 'x', 4096);
	torn[4096] = '\0';
	make("log.log", torn);
	open_log(-1);
	memcpy(wanted, torn, sizeof(torn));
	memcpy(wanted + 4088, " (torn)\n", 8);
	check(old(0), wanted);
}

TEST_WITH(one_that_is_full_is_turned, begin, end)
{
	open_log(10);
	write_text("12345");
	write_text("67890");
	/* The file has just its largest size, so it is not too large yet. */
	write_text("abc");
	assert_int_equal(count_files(), 1);
	write_text("def");
	assert_int_equal(count_files(), 2);
	check(old(1), "1234567890abc");
	check("log.log", "def");
	assert_int_equal(atomic_load(&trace->shared->place), (1ULL << 48) | 3);
	assert_int_equal(atomic_load(&trace->file), 1);
	write_text("12345678");
	write_text("ghi");
	assert_int_equal(count_files(), 3);
	check("log.log", "ghi");
	assert_int_equal(atomic_load(&trace->shared->place), (2ULL << 48) | 3);
}

TEST_WITH(its_descriptor_stays_the_same, begin, end)
{
	int fd = next_fd();

	open_log(0);
	for (int nr = 0; nr < 5; nr++) {
		write_text("x");
		assert_int_equal(atomic_load(&trace->fd), fd);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		assert_int_equal(next_fd(), fd + 1);
		assert_int_equal(count_files(), nr + 1);
	}
}

TEST_WITH(numbers_of_files_begin_again, begin, end)
{
	open_log(0);
	atomic_store(&trace->shared->place, 0xffffULL << 48);
	write_text("x");
	assert_int_equal(atomic_load(&trace->file), 0xffff);
	write_text("y");
	assert_int_equal(atomic_load(&trace->file), 0);
	assert_int_equal(atomic_load(&trace->shared->place), 1);
	check("log.log", "y");
}

TEST_WITH(old_files_go_when_it_is_turned, begin, end)
{
	open_log(0);
	fstrace_limit_rotation_file_count(trace, 1);
	for (int nr = 0; nr < 6; nr++)
		write_text("x");
	assert_int_equal(count_files(), 3);
}

TEST_WITH(one_without_a_byte_is_not_set_aside, begin, end)
{
	open_log(0);
	write_text("x");
	assert_int_equal(truncate("log.log", 0), 0);
	write_text("y");
	assert_int_equal(count_files(), 1);
	check("log.log", "y");
	assert_int_equal(atomic_load(&trace->file), 1);
}

TEST_WITH(what_cannot_be_turned_is_written_on, begin, end)
{
	open_log(4);
	write_text("12345");
	rename_error = EPERM;
	write_text("67890");
	check("log.log", "1234567890");
	assert_int_equal(count_files(), 1);
	/*
	 * After the failure the bytes are counted from 0. Rotation is tried again when they reach
	 * the limit.
	 */
	assert_int_equal(atomic_load(&trace->shared->place), 5);
	rename_error = 0;
	write_text("abc");
	check("log.log", "abc");
	assert_int_equal(count_files(), 2);
}

TEST_WITH(without_a_folder_nothing_is_written, begin, end)
{
	trace = fstrace_open("none/log", -1);
	assert_non_null(trace);
	write_text("x");
	assert_int_equal(atomic_load(&trace->fd), -1);
	assert_int_equal(mkdir("none", 0700), 0);
	write_text("y");
	check("none/log.log", "y");
}

static int turn_it(void *arg)
{
	write_text("a child's");
	CHILD_CHECK(atomic_load(&trace->file) == 1);
	_exit(0);
}

TEST_WITH(others_follow_who_has_turned_it, begin, end)
{
	open_log(3);
	write_text("1234");
	assert_int_equal(trace_place_in_child(turn_it, NULL), 0);
	assert_int_equal(atomic_load(&trace->file), 0);
	atomic_fetch_sub(&trace->shared->place, 8);
	write_text("parent's");
	assert_int_equal(atomic_load(&trace->file), 1);
	check("log.log", "a child'sparent's");
	assert_int_equal(count_files(), 2);
}

TEST_WITH(a_record_that_is_interrupted_is_tried_again, begin, end)
{
	open_log(-1);
	nr_writes = 0;
	writes[0] = writes[1] = -EINTR;
	write_text("one\n");
	check("log.log", "one\n");
	assert_int_equal(atomic_load(&trace->shared->nr_writing), 0);
}

TEST_WITH(what_is_there_of_a_record_is_a_line, begin, end)
{
	open_log(-1);
	nr_writes = 0;
	writes[0] = 5;
	writes[1] = 0;
	write_text("one two\n");
	check("log.log", "one t\n");
	nr_writes = 0;
	writes[0] = 4;
	write_text("two\nthree\n");
	check("log.log", "one t\ntwo\n");
	nr_writes = 0;
	writes[0] = -ENOSPC;
	write_text("four\n");
	check("log.log", "one t\ntwo\n");
	write_text("five");
	check("log.log", "one t\ntwo\nfive");
}

/* --- streams --- */

TEST_WITH(a_stream_has_what_the_program_wrote_first, begin, end)
{
	FILE *stream = fopen("text", "w");

	trace = fstrace_direct(stream);
	assert_non_null(trace);
	fputs("the program's\n", stream);
	write_text("a record\n");
	check("text", "the program's\na record\n");
	fst_file_repair(trace);
	fst_file_reopen(trace);
	fstrace_close(trace);
	trace = NULL;
	fclose(stream);
}

TEST_WITH(a_stream_without_a_file_has_all_of_it, begin, end)
{
	char text[64] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	trace = fstrace_direct(stream);
	fputs("one ", stream);
	write_text("two");
	assert_string_equal(text, "one two");
	fstrace_close(trace);
	trace = NULL;
	fclose(stream);
}

/* --- repairs --- */

static void tear(const char *name)
{
	char torn[4097];

	memset(torn, 'x', 4096);
	torn[4096] = '\0';
	make(name, torn);
}

static bool is_torn(const char *name)
{
	char last = 0;
	int fd = open(name, O_RDONLY);

	assert_int_equal(pread(fd, &last, 1, 4095), 1);
	close(fd);
	return last == 'x';
}

TEST_WITH(only_where_a_writer_was_killed_there_are_repairs, begin, end)
{
	open_log(-1);
	tear("log.log");
	tear(old(7));
	tear(old(8));
	fst_file_repair(trace);
	assert_true(is_torn("log.log"));
	atomic_store(&trace->shared->nr_writing, 1);
	fst_file_repair(trace);
	assert_false(is_torn("log.log"));
	/* The log is in its first file, so only the newest old file is repaired, too. */
	assert_false(is_torn(old(8)));
	assert_true(is_torn(old(7)));
	atomic_store(&trace->shared->place, 1ULL << 48);
	tear(old(8));
	fst_file_repair(trace);
	assert_false(is_torn(old(8)));
	assert_false(is_torn(old(7)));
	atomic_store(&trace->shared->nr_writing, 0);
}

TEST_WITH(a_turn_repairs_the_last_two, begin, end)
{
	open_log(0);
	write_text("x");
	tear("log-2000-01-01T00:00:00.000001.log");
	tear("log-2000-01-01T00:00:00.000002.log");
	write_text("y");
	assert_true(is_torn("log-2000-01-01T00:00:00.000002.log"));
	atomic_store(&trace->shared->nr_writing, 1);
	tear("log.log");
	write_text("z");
	/*
	 * The two files that were looked at are the one rotated now and the one before, which was
	 * complete.
	 */
	assert_true(is_torn("log-2000-01-01T00:00:00.000002.log"));
	atomic_store(&trace->shared->nr_writing, 0);
}

TEST_WITH(what_was_closed_is_opened_again, begin, end)
{
	int fd = next_fd();
	struct stat st;

	open_log(-1);
	fst_file_reopen(trace);
	assert_int_equal(count_files(), 0);
	write_text("one\n");
	/* Nothing changes while the descriptor is the log's. */
	fst_file_reopen(trace);
	assert_int_equal(atomic_load(&trace->fd), fd);
	assert_int_equal(next_fd(), fd + 1);
	close(fd);
	fst_file_reopen(trace);
	assert_int_equal(atomic_load(&trace->fd), fd);
	assert_int_equal(next_fd(), fd + 1);
	write_text("two\n");
	check("log.log", "one\ntwo\n");
	/* The descriptor's number now belongs to a file of the program. */
	close(fd);
	assert_int_equal(open("mine", O_CREAT | O_RDWR, 0600), fd);
	fst_file_reopen(trace);
	assert_int_equal(atomic_load(&trace->fd), fd + 1);
	write_text("three\n");
	check("log.log", "one\ntwo\nthree\n");
	assert_int_equal(stat("mine", &st), 0);
	assert_int_equal(st.st_size, 0);
	close(fd);
}

/* After a rename, the log goes on in a new file. The old file does not stay open. */
TEST_WITH(what_was_renamed_is_closed, begin, end)
{
	int fd = next_fd();

	open_log(-1);
	for (int i = 0; i < 3; i++) {
		write_text("one\n");
		assert_int_equal(rename("log.log", "renamed"), 0);
		atomic_store(&trace->shared->place, 5ULL << 48);
		fst_file_reopen(trace);
		assert_int_equal(atomic_load(&trace->fd), fd);
		assert_int_equal(atomic_load(&trace->file), 5);
		assert_int_equal(next_fd(), fd + 1);
		write_text("two\n");
		check("renamed", i ? "two\none\n" : "one\n");
		check("log.log", "two\n");
	}
}

TEST_GROUP(begin_all, NULL)
