/* Links, files and memory of a task: of this process itself, and of one that is not there. */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmds/record/proc/paths.h"

/* No task has this number. */
#define NO_TASK INT_MAX
#define PAGE	4096

TEST(files_of_a_task)
{
	char text[64];
	char whole[64];
	ssize_t len = paths_read_of(getpid(), "comm", text, sizeof(text));
	int fd;

	assert_true(len > 1 && len < 17);
	assert_int_equal(strlen(text), len);
	assert_int_equal(text[len - 1], '\n');
	/* The text is cut, and ends with a NUL. */
	memset(whole, 'x', sizeof(whole));
	assert_int_equal(paths_read_of(getpid(), "comm", whole, 5), 4);
	assert_memory_equal(whole, text, 4);
	assert_int_equal(whole[4], '\0');
	assert_int_equal(whole[5], 'x');
	assert_true(paths_read_of(NO_TASK, "comm", whole, sizeof(whole)) < 0);
	assert_string_equal(whole, "");
	assert_true(paths_read_of(getpid(), "nothing", whole, sizeof(whole)) < 0);

	fd = paths_open_of(getpid(), "comm", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
	assert_int_equal(paths_open_of(NO_TASK, "comm", O_RDONLY), -1);
}

/* The target of a link replaces the earlier text. If there is no such link, the text is empty. */
TEST(links_of_a_task)
{
	struct strbuf out cleanup_strbuf = { 0 };
	char cwd[PATH_MAX];
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	strbuf_addstr(&out, "before");
	assert_true(paths_read_link("/proc/self/cwd", &out));
	assert_string_equal(strbuf_str(&out), cwd);
	assert_false(paths_read_link("/proc/self/nothing", &out));
	assert_string_equal(strbuf_str(&out), "");

	paths_link(getpid(), "cwd", &out);
	assert_string_equal(strbuf_str(&out), cwd);
	paths_link(NO_TASK, "cwd", &out);
	assert_string_equal(strbuf_str(&out), "");

	assert_true(paths_of_fd(getpid(), fd, &out));
	assert_string_equal(strbuf_str(&out), "/dev/null");
	assert_false(paths_of_fd(getpid(), -1, &out));
	assert_string_equal(strbuf_str(&out), "");
	assert_false(paths_of_fd(NO_TASK, fd, &out));

	paths_directory(getpid(), AT_FDCWD, &out);
	assert_string_equal(strbuf_str(&out), cwd);
	paths_directory(getpid(), fd, &out);
	assert_string_equal(strbuf_str(&out), "/dev/null");
	close(fd);
	paths_directory(getpid(), fd, &out);
	assert_string_equal(strbuf_str(&out), "");
}

/* Three pages, after which no memory is mapped. */
static char *make_pages(void)
{
	char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	memset(pages, 'a', 3 * PAGE);
	assert_int_equal(munmap(pages + 3 * PAGE, PAGE), 0);
	return pages;
}

TEST(memory_of_a_task)
{
	char *pages = make_pages();
	char there[16];
	uint64_t end = (uint64_t)pages + 3 * PAGE;

	memcpy(pages + 3 * PAGE - 16, "0123456789abcdef", 16);
	assert_true(paths_memory(getpid(), end - 16, there, 16));
	assert_memory_equal(there, "0123456789abcdef", 16);
	assert_false(paths_memory(getpid(), end - 15, there, 16));
	assert_false(paths_memory(getpid(), end, there, 1));
	assert_false(paths_memory(NO_TASK, end - 16, there, 16));
	munmap(pages, 3 * PAGE);
}

static void check_string(const char *at, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	strbuf_addstr(&out, "before");
	assert_int_equal(paths_string(getpid(), (uint64_t)at, &out), expected != NULL);
	if (expected)
		assert_string_equal(strbuf_str(&out), expected);
}

/* A string may end at the last byte of a page before unmapped memory, and lie in two pages. */
TEST(strings_of_a_task)
{
	char *pages = make_pages();
	char *end = pages + 3 * PAGE;
	char longest[PATH_MAX];

	check_string(end - 4, NULL);
	end[-1] = '\0';
	check_string(end - 4, "aaa");
	check_string(end - 1, "");
	check_string(end, NULL);
	pages[PAGE + 1] = '\0';
	check_string(pages + PAGE - 2, "aaa");
	pages[PAGE] = '\0';
	check_string(pages + PAGE - 2, "aa");
	pages[PAGE - 1] = '\0';
	check_string(pages + PAGE - 2, "a");

	/* The longest string has PATH_MAX bytes with its end. */
	memset(pages, 'a', 3 * PAGE);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (size_t at = 0; at < 3; at++) {
		pages[at + PATH_MAX - 1] = '\0';
		check_string(pages + at, longest);
		pages[at + PATH_MAX - 1] = 'a';
		pages[at + PATH_MAX] = '\0';
		check_string(pages + at, NULL);
		pages[at + PATH_MAX] = 'a';
	}
	munmap(pages, 3 * PAGE);
}
