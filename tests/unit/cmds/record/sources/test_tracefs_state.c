/*
 * Files of tracefs are found where it is mounted, and get their former content back at the end.
 * Plain files play those of tracefs.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <mntent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/sources/tracefs.h"
#include "cmds/record/sources/tracefs_state.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"

struct place {
	char dir[64];
	int fd;
	struct tracefs_state state;
};

/* The path of the file that is read in place of /proc/self/mounts. */
static const char *mounts;

FILE *__wrap_setmntent(const char *path, const char *type);

FILE *__wrap_setmntent(const char *path, const char *type)
{
	assert_string_equal(path, "/proc/self/mounts");
	return fopen(mounts, type);
}

static void put(const struct place *p, const char *name, const char *text)
{
	int fd cleanup_fd = openat(p->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static void check(const struct place *p, const char *name, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };

	assert_int_equal(tracefs_read(p->fd, name, &text, NULL), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->fd >= 0);
	assert_int_equal(mkdirat(p->fd, "options", 0700), 0);
	p->state = (struct tracefs_state)TRACEFS_STATE_NONE;
	*state = p;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	struct place *p = *state;

	tracefs_state_restore(&p->state);
	close(p->fd);
	nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(p);
	return 0;
}

/*
 * @after: the content after tracefs_state_restore(). In this test the files are plain files, which
 * keep each line that is written to them.
 */
static const struct {
	const char *name;
	const char *before;
	const char *after;
} files[] = {
	{ "current_tracer", "nop\n", "nop\n" },
	{ "set_event", "", "" },
	{ "max_graph_depth", "3\n", "3\n" },
	{ "set_graph_function", "#### all functions enabled ####\n", "" },
	{ "set_graph_notrace", "first\nsecond\n", "first\nsecond\n" },
	{ "set_ftrace_notrace", "", "" },
	{ "set_ftrace_pid", "no pid\n", "" },
	{ "set_event_pid", "12\n345", "12\n345" },
	{ "options/function-fork", "0\n", "0\n" },
	{ "options/event-fork", "1\n", "1\n" },
	{ "trace_clock", "local [global] counter\n", "global" },
	{ "buffer_size_kb", "7 (expanded: 1408)\n", "7" },
	{ "trace", "# what was traced\n", "" },
	{ "tracing_on", "1\n", "1\n" },
};

static void put_all(const struct place *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put(p, files[i].name, files[i].before);
}

TEST_WITH(all_is_put_back, setup, teardown)
{
	struct place *p = *state;

	put_all(p);
	assert_int_equal(tracefs_state_keep(&p->state, p->fd, NULL), 0);
	assert_true(p->state.pipe >= 0 && p->state.done >= 0 && p->state.pipe != p->state.done);
	assert_true(fcntl(p->state.pipe, F_GETFD) & FD_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		bool is_list = strncmp(files[i].name, "set_", 4) == 0;

		check(p, files[i].name, files[i].before);
		/*
		 * Other programs have changed the files since. They have added a line to lists.
		 * Single values are empty, since a plain file would keep the end of a longer value.
		 */
		put(p, files[i].name, is_list ? "somebody_who_was_not_there\n" : "");
	}
	tracefs_state_restore(&p->state);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		check(p, files[i].name, files[i].after);
	assert_int_equal(p->state.pipe, -1);
	assert_int_equal(p->state.done, -1);
	/* The kernel has no such file. */
	assert_int_equal(faccessat(p->fd, "buffer_percent", F_OK, 0), -1);
	/* A second call restores nothing. */
	put(p, "max_graph_depth", "9");
	tracefs_state_restore(&p->state);
	check(p, "max_graph_depth", "9");
}

/*
 * When its pipe is closed, the process that keeps the former content restores the files. It has
 * none of the recorder's other descriptors.
 */
TEST_WITH(whoever_dies, setup, teardown)
{
	struct place *p = *state;
	int pipes[2];
	char byte;

	put_all(p);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(tracefs_state_keep(&p->state, p->fd, NULL), 0);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	close(pipes[0]);
	put(p, "set_event_pid", "77777777\n");
	close(p->state.pipe);
	assert_int_equal(read(p->state.done, &byte, 1), 0);
	close(p->state.done);
	p->state = (struct tracefs_state)TRACEFS_STATE_NONE;
	check(p, "set_event_pid", "12\n345");
}

/* Without the process that restores the files, nothing may be changed. */
TEST_WITH(a_keeper_that_cannot_work, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };
	struct rlimit before, few;
	int ret;

	put_all(p);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	/* The keeper's descriptors begin with 10. */
	few = (struct rlimit){ .rlim_cur = 10, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	ret = tracefs_state_keep(&p->state, p->fd, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(ret < 0);
	assert_true(err.text[0]);
	assert_int_equal(p->state.pipe, -1);
}

TEST_WITH(a_clock_that_is_the_last_word, setup, teardown)
{
	struct place *p = *state;

	put(p, "trace_clock", "local global [mono]");
	put(p, "buffer_size_kb", "1408");
	assert_int_equal(tracefs_state_keep(&p->state, p->fd, NULL), 0);
	put(p, "trace_clock", "");
	put(p, "buffer_size_kb", "");
	tracefs_state_restore(&p->state);
	check(p, "trace_clock", "mono");
	check(p, "buffer_size_kb", "1408");
}

TEST_WITH(somebody_else_is_at_work, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	put_all(p);
	put(p, "current_tracer", "function\n");
	assert_int_equal(tracefs_state_keep(&p->state, p->fd, &err), -EBUSY);
	assert_string_equal(
		err.text, "another program is tracing with 'function' (current_tracer in tracefs)");
	err = (struct uft_err){ 0 };
	put(p, "current_tracer", "nop\n");
	put(p, "set_event", "sched:sched_switch\n");
	assert_int_equal(tracefs_state_keep(&p->state, p->fd, &err), -EBUSY);
	assert_string_equal(err.text, "another program is recording events (set_event in tracefs)");
	assert_int_equal(p->state.pipe, -1);
	tracefs_state_restore(&p->state);
	check(p, "tracing_on", "1\n");
}

/* --- small files --- */

TEST_WITH(read_and_written, setup, teardown)
{
	struct place *p = *state;
	struct strbuf text cleanup_strbuf = { 0 };
	struct strbuf large cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	put(p, "a", "12345");
	assert_int_equal(tracefs_write(p->fd, "a", "ab", &err), 0);
	assert_int_equal(tracefs_read(p->fd, "a", &text, &err), 0);
	/* A second reading appends to the text. */
	assert_int_equal(tracefs_read(p->fd, "a", &text, &err), 0);
	assert_string_equal(strbuf_str(&text), "ab345ab345");
	assert_int_equal(err.code, 0);
	for (unsigned i = 0; i < 30000; i++)
		strbuf_addf(&large, "%06u\n", i);
	put(p, "large", strbuf_str(&large));
	strbuf_reset(&text);
	assert_int_equal(tracefs_read(p->fd, "large", &text, &err), 0);
	assert_int_equal(text.len, large.len);
	assert_memory_equal(text.data, large.data, large.len + 1);

	int fd = tracefs_open_empty(p->fd, "large");

	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	check(p, "large", "");
	assert_int_equal(tracefs_open_empty(p->fd, "missing"), -ENOENT);
	assert_int_equal(tracefs_open_empty(p->fd, "options"), -EISDIR);
	assert_int_equal(tracefs_write(p->fd, "missing", "1", &err), -ENOENT);
	assert_string_equal(err.text,
			    "cannot write to 'missing': No such file or directory; 'mount -t "
			    "tracefs nodev /sys/kernel/tracing' may help");
	err = (struct uft_err){ 0 };
	assert_int_equal(tracefs_read(p->fd, "missing", &text, &err), -ENOENT);
	assert_non_null(strstr(err.text, "cannot open 'missing': No such file"));
	err = (struct uft_err){ 0 };
	assert_int_equal(tracefs_read(p->fd, "options", &text, &err), -EISDIR);
	assert_string_equal(err.text, "cannot read 'options': Is a directory");
}

/* A recorder that was started without descriptor 0 may get this one for a file. */
TEST_WITH(the_first_descriptor_is_one, setup, teardown)
{
	struct place *p = *state;
	struct strbuf text cleanup_strbuf = { 0 };
	int before = fcntl(0, F_DUPFD_CLOEXEC, 10);
	int ret[3];

	put(p, "a", "12345");
	close(0);
	ret[0] = tracefs_read(p->fd, "a", &text, NULL);
	ret[1] = tracefs_write(p->fd, "a", "xyz", NULL);
	errno = ENOENT;
	ret[2] = tracefs_open_empty(p->fd, "a");
	if (before >= 0)
		dup2(before, 0);
	else
		close(0);
	close(before);
	assert_int_equal(ret[0], 0);
	assert_string_equal(strbuf_str(&text), "12345");
	assert_int_equal(ret[1], 0);
	assert_int_equal(ret[2], 0);
	check(p, "a", "");
}

/* The advice depends on the error. */
TEST_WITH(errors_have_advice, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	assert_int_equal(tracefs_write(p->fd, "missing", "1", &err), -ENOENT);
	assert_string_equal(err.text,
			    "cannot write to 'missing': No such file or directory; 'mount -t "
			    "tracefs nodev /sys/kernel/tracing' may help");
	err = (struct uft_err){ 0 };
	assert_int_equal(tracefs_write(p->fd, "options", "1", &err), -EISDIR);
	assert_string_equal(err.text, "cannot write to 'options': Is a directory");
	err = (struct uft_err){ 0 };
	/* A file that takes no byte. */
	assert_int_equal(symlinkat("/dev/full", p->fd, "full"), 0);
	assert_int_equal(tracefs_write(p->fd, "full", "1", &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write to 'full': No space left on device");
	/* An empty text is not written at all. */
	assert_int_equal(tracefs_write(p->fd, "full", "", &err), 0);
}

TEST_WITH(names_of_events, setup, teardown)
{
	static const char names[] = "sched:a\nno event\n\nirq:b\nsignal:c";
	struct text in = text_of(names, sizeof(names) - 1);
	struct text name;

	assert_true(tracefs_next_event(&in, &name));
	assert_memory_equal(name.at, "sched:a", text_left(&name));
	assert_int_equal(text_left(&name), 7);
	assert_true(tracefs_next_event(&in, &name));
	assert_memory_equal(name.at, "irq:b", text_left(&name));
	tracefs_next_event(&in, &name);
	assert_false(tracefs_next_event(&in, &name));
}

/* --- the place of tracefs --- */

static void mount_says(const struct place *p, const char *types[2])
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addstr(&text, "proc /proc proc rw 0 0\n");
	for (size_t i = 0; i < 2; i++) {
		if (types[i])
			strbuf_addf(&text, "none %s/%s%zu %s rw 0 0\n", p->dir, types[i], i,
				    types[i]);
	}
	put(p, "mounts", strbuf_str(&text));
}

TEST_WITH(where_it_is_mounted, setup, teardown)
{
	struct place *p = *state;
	struct strbuf list cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/mounts", p->dir);
	mounts = path;
	for (const char **name = (const char *[]){ "debugfs0", "debugfs0/tracing", "debugfs1",
						   "debugfs1/tracing", "tracefs1", NULL };
	     *name; name++)
		assert_int_equal(mkdirat(p->fd, *name, 0700), 0);
	put(p, "debugfs0/tracing/available_events", "debug:zero\n");
	put(p, "debugfs1/tracing/available_events", "debug:one\n");
	put(p, "tracefs1/available_events", "of:itself\n");

	mount_says(p, (const char *[]){ "debugfs", "tracefs" });
	assert_int_equal(tracefs_list_events(&list, &err), 0);
	assert_string_equal(strbuf_str(&list), "of:itself\n");
	/* If a file system is mounted twice, the first mount counts. */
	mount_says(p, (const char *[]){ "debugfs", "debugfs" });
	strbuf_reset(&list);
	assert_int_equal(tracefs_list_events(&list, &err), 0);
	assert_string_equal(strbuf_str(&list), "debug:zero\n");
	/* A tracefs is preferred to a debugfs that was mounted before it. */
	mount_says(p, (const char *[]){ "debugfs", "tracefs" });
	strbuf_reset(&list);
	assert_int_equal(tracefs_list_events(&list, &err), 0);
	assert_string_equal(strbuf_str(&list), "of:itself\n");
	/* The mount table has a tracefs, but its files are missing. */
	mount_says(p, (const char *[]){ "tracefs", NULL });
	assert_int_equal(tracefs_list_events(&list, &err), -ENOENT);
	assert_non_null(strstr(err.text, "tracefs0"));
	err = (struct uft_err){ 0 };
	mount_says(p, (const char *[]){ NULL, NULL });
	assert_int_equal(tracefs_list_events(&list, &err), -ENOENT);
	assert_non_null(strstr(err.text, "tracefs is not mounted"));
}
