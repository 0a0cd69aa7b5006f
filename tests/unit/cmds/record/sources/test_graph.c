/* Settings of the kernel's tracer, in files that stand for those of tracefs. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/sources/graph.h"
#include "utils/base/fd.h"

struct place {
	char dir[64];
	struct filters filters;
	struct record_settings settings;
	struct kernel kernel;
};

static void put(struct place *p, const char *name, const char *text)
{
	int fd = openat(p->kernel.tracefs_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void check(struct place *p, const char *name, const char *expected)
{
	char path[128];
	struct strbuf text cleanup_strbuf = { 0 };

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	assert_int_equal(file_read_all(path, 4096, &text, NULL), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

static int setup(void **state)
{
	static const char *const empty[] = { "max_graph_depth", "set_ftrace_pid", "current_tracer",
					     "options/function-fork" };
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->settings = (struct record_settings){ .filters = &p->filters,
						.kernel_depth = 3,
						.depth = 1024 };
	p->kernel.settings = &p->settings;
	p->kernel.tracefs_fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p->kernel.instance_fd = p->kernel.tracefs_fd;
	assert_true(p->kernel.tracefs_fd >= 0);
	assert_int_equal(mkdirat(p->kernel.tracefs_fd, "options", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++)
		put(p, empty[i], "");
	put(p, "available_tracers", "hwlat function_graph function nop\n");
	put(p, "available_filter_functions", "do_read\ndo_write\ntest_read [test]\ndo_close\n");
	/* Another program has chosen functions. Its texts are longer than those of utrail. */
	put(p, "set_graph_function", "this_is_what_somebody_else_was_looking_for\n");
	put(p, "set_graph_notrace", "this_is_what_somebody_else_was_not_looking_for\n");
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

	filters_deinit(&p->filters);
	close(p->kernel.tracefs_fd);
	nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(p);
	return 0;
}

static void add(struct place *p, const char *specs)
{
	assert_int_equal(filters_add(&p->filters, SPEC_FILTER, MATCH_REGEX, specs, NULL), 0);
	assert_int_equal(filters_prepare(&p->filters, NULL), 0);
}

/* Each list gets its functions, those to record and those to leave out. Its old lines are gone. */
TEST_WITH(functions_in_and_out, setup, teardown)
{
	struct place *p = *state;

	add(p, "_read$@kernel;do_write@kernel;!do_close@kernel");
	assert_int_equal(graph_set_up(&p->kernel, 4711, NULL), 0);
	check(p, "set_graph_function", "do_read\ndo_write\ntest_read\n");
	check(p, "set_graph_notrace", "do_close\n");
	check(p, "max_graph_depth", "3");
	check(p, "set_ftrace_pid", "4711");
	check(p, "options/function-fork", "1");
	check(p, "current_tracer", "function_graph");
}

TEST_WITH(functions_that_are_not_there, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	add(p, "nothing_of_the_kind@kernel");
	assert_int_equal(graph_set_up(&p->kernel, 4711, &err), -ENOENT);
	assert_non_null(strstr(err.text, "--filter"));
	check(p, "current_tracer", "");
}

/* Filters of the program's functions do not apply to the kernel's. */
TEST_WITH(no_filters_of_the_kernel, setup, teardown)
{
	struct place *p = *state;

	add(p, "do_read;!do_write");
	assert_int_equal(unlinkat(p->kernel.tracefs_fd, "available_filter_functions", 0), 0);
	assert_int_equal(graph_set_up(&p->kernel, 4711, NULL), 0);
	check(p, "current_tracer", "function_graph");
}

TEST_WITH(a_list_that_cannot_be_written, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	add(p, "!do_close@kernel");
	assert_int_equal(unlinkat(p->kernel.tracefs_fd, "set_graph_notrace", 0), 0);
	assert_int_equal(graph_set_up(&p->kernel, 4711, &err), -ENOENT);
	assert_non_null(strstr(err.text, "set_graph_notrace"));
	check(p, "current_tracer", "");
}

/* The depth is the smaller one of --kernel-depth and --depth. */
TEST_WITH(the_smaller_depth, setup, teardown)
{
	struct place *p = *state;

	p->settings.kernel_depth = 8;
	p->settings.depth = 5;
	assert_int_equal(graph_set_up(&p->kernel, 1, NULL), 0);
	check(p, "max_graph_depth", "5");
	check(p, "set_ftrace_pid", "1");
	/* Without a choice of functions, the lists stay. */
	check(p, "set_graph_function", "this_is_what_somebody_else_was_looking_for\n");
	check(p, "set_graph_notrace", "this_is_what_somebody_else_was_not_looking_for\n");
}

/* If functions are only left out, all others are traced. */
TEST_WITH(functions_that_are_left_out, setup, teardown)
{
	struct place *p = *state;

	add(p, "!^do_@kernel");
	assert_int_equal(graph_set_up(&p->kernel, 4711, NULL), 0);
	check(p, "set_graph_function", "this_is_what_somebody_else_was_looking_for\n");
	check(p, "set_graph_notrace", "do_read\ndo_write\ndo_close\n");
}

TEST_WITH(a_choice_of_one_function, setup, teardown)
{
	struct place *p = *state;

	add(p, "^do_close$@kernel");
	assert_int_equal(graph_set_up(&p->kernel, 4711, NULL), 0);
	check(p, "set_graph_function", "do_close\n");
	check(p, "set_graph_notrace", "this_is_what_somebody_else_was_not_looking_for\n");
}

TEST_WITH(a_kernel_without_the_tracer, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	assert_int_equal(unlinkat(p->kernel.tracefs_fd, "available_tracers", 0), 0);
	assert_int_equal(graph_set_up(&p->kernel, 4711, &err), -EOPNOTSUPP);
	put(p, "available_tracers", "hwlat function nop\n");
	assert_int_equal(graph_set_up(&p->kernel, 4711, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "this kernel has no tracer 'function_graph' "
				      "(CONFIG_FUNCTION_GRAPH_TRACER)");
	check(p, "max_graph_depth", "");
}

/* The files are written in this order; the tracer starts last. */
TEST_WITH(a_file_that_is_missing, setup, teardown)
{
	static const char *const names[] = { "current_tracer", "options/function-fork",
					     "set_ftrace_pid", "max_graph_depth" };
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct uft_err err = { 0 };

		assert_int_equal(unlinkat(p->kernel.tracefs_fd, names[i], 0), 0);
		assert_int_equal(graph_set_up(&p->kernel, 4711, &err), -ENOENT);
		assert_non_null(strstr(err.text, names[i]));
	}
}

TEST_WITH(no_list_of_functions, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	add(p, "do_read@kernel");
	assert_int_equal(unlinkat(p->kernel.tracefs_fd, "available_filter_functions", 0), 0);
	assert_int_equal(graph_set_up(&p->kernel, 4711, &err), -ENOENT);
	assert_non_null(strstr(err.text, "available_filter_functions"));
	check(p, "current_tracer", "");
	check(p, "set_graph_function", "this_is_what_somebody_else_was_looking_for\n");
}

/* Each of these files must be there. The tracer is tried, and is not left in use. */
TEST_WITH(an_instance_that_can_trace_calls, setup, teardown)
{
	static const char *const names[] = { "max_graph_depth", "set_graph_function",
					     "set_ftrace_pid", "current_tracer" };
	struct place *p = *state;
	int fd = p->kernel.instance_fd;

	assert_true(graph_fits_instance(fd));
	/* In the plain file of this test, "nop" replaces only the first bytes of "function_graph". */
	check(p, "current_tracer", "nopction_graph");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(renameat(fd, names[i], fd, "away"), 0);
		assert_false(graph_fits_instance(fd));
		assert_int_equal(renameat(fd, "away", fd, names[i]), 0);
		assert_true(graph_fits_instance(fd));
	}
}
