/* The descriptors of a process, and the uses of files that follow from them. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/filestext.h"
#include "utils/pipeline/recording/descriptors.h"

static struct files files;
static struct descriptors all;

static int setup(void **state)
{
	files = (struct files){ 0 };
	all = (struct descriptors){ 0 };
	return 0;
}

static int teardown(void **state)
{
	descriptors_deinit(&all);
	files_deinit(&files);
	assert_null(all.all);
	return 0;
}

/* Check "FD:CONTENT[r][w] ..." of a set, in its order. */
static void check_set(const struct descriptor_set *set, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	for (size_t i = 0; i < set->nr; i++)
		strbuf_addf(&out, "%s%u:%u%s%s", i ? " " : "", set->all[i].fd, set->all[i].content,
			    set->all[i].reads ? "r" : "", set->all[i].writes ? "w" : "");
	assert_string_equal(strbuf_str(&out), expected);
}

static void check_uses(const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	files_put_uses(&files, &out);
	assert_string_equal(strbuf_str(&out), expected);
}

/*
 * Remember that the process has opened @path as @fd.
 */
static void add(struct descriptors_of *of, uint32_t fd, const char *path, const char *how,
		uint64_t now_ns)
{
	uint32_t name = files_name(&files, path);
	struct descriptor it = { .fd = fd,
				 .content = files_content(&files, name),
				 .use = FILES_NONE,
				 .reads = strchr(how, 'r'),
				 .writes = strchr(how, 'w') };

	assert_int_equal(descriptors_add(&files, of, &it, name, now_ns), 0);
}

TEST_WITH(a_process_has_descriptors_of_its_own, setup, teardown)
{
	struct descriptors_of *one = descriptors_get(&all, 5, 0);
	struct descriptors_of *other = descriptors_get(&all, 6, 3);

	assert_ptr_not_equal(one, other);
	assert_ptr_equal(descriptors_get(&all, 5, 7), one);
	assert_int_equal(one->execution, 0);
	assert_int_equal(other->execution, 3);
	assert_int_equal(all.nr, 2);
	assert_non_null(descriptors_get(&all, -1, 0));
	add(one, 3, "/a", "r", 10);
	check_set(&one->now, "3:0r");
	check_set(&other->now, "");
}

TEST_WITH(what_is_opened_is_a_use_until_it_is_closed, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);

	add(of, 3, "/a", "r", 10);
	add(of, 4, "/b", "w", 20);
	add(of, 5, "/a", "rw", 30);
	add(of, 6, "/c", "", 40);
	check_set(&of->now, "3:0r 4:1w 5:0rw 6:2");
	check_uses("0 /a #0 10-10 r10 w30 o2\n0 /b #1 20-20 w20 o1\n0 /c #2 40-40 o1\n");
	assert_int_equal(descriptors_close(&files, of, 3, 3, 50), 0);
	check_set(&of->now, "6:2 4:1w 5:0rw");
	check_uses("0 /a #0 10-50 r10 w30 o1\n0 /b #1 20-20 w20 o1\n0 /c #2 40-40 o1\n");
	assert_int_equal(descriptors_close(&files, of, 3, 3, 55), 0);
	assert_int_equal(descriptors_close(&files, of, 5, 9, 60), 0);
	check_set(&of->now, "4:1w");
	check_uses("0 /a #0 10-60 r10 w30\n0 /b #1 20-20 w20 o1\n0 /c #2 40-60\n");
	assert_int_equal(descriptors_close(&files, of, 0, UINT32_MAX, 70), 0);
	check_set(&of->now, "");
	check_uses("0 /a #0 10-60 r10 w30\n0 /b #1 20-70 w20\n0 /c #2 40-60\n");
}

/* No record tells that the descriptor was closed. */
TEST_WITH(a_descriptor_that_is_opened_again_was_closed, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);

	add(of, 3, "/a", "r", 10);
	add(of, 3, "/b", "r", 20);
	check_set(&of->now, "3:1r");
	check_uses("0 /a #0 10-20 r10\n0 /b #1 20-20 r20 o1\n");
}

TEST_WITH(a_copy_is_another_descriptor_of_the_same_use, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);

	add(of, 3, "/a", "r", 10);
	assert_int_equal(descriptors_dup(&files, of, 3, 7, 20), 0);
	check_set(&of->now, "3:0r 7:0r");
	check_uses("0 /a #0 10-10 r10 o2\n");
	/* dup() of a descriptor to itself; then dup() of a closed descriptor to an open one. */
	assert_int_equal(descriptors_dup(&files, of, 3, 3, 30), 0);
	check_set(&of->now, "3:0r 7:0r");
	assert_int_equal(descriptors_dup(&files, of, 9, 3, 40), 0);
	check_set(&of->now, "7:0r");
	check_uses("0 /a #0 10-40 r10 o1\n");
	add(of, 8, "/b", "w", 50);
	assert_int_equal(descriptors_dup(&files, of, 8, 7, 60), 0);
	check_set(&of->now, "8:1w 7:1w");
	check_uses("0 /a #0 10-60 r10\n0 /b #1 50-50 w50 o2\n");
}

/* A process with both ends of a pipe only passes them on. A process with one end uses the pipe. */
TEST_WITH(a_pipe_is_used_by_who_has_one_end, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);
	struct descriptors_of *child;

	assert_int_equal(descriptors_pipe(&files, of, 3, 4, 10), 0);
	check_set(&of->now, "3:0r 4:0w");
	check_uses("");
	assert_int_equal(descriptors_fork(&files, &all, of, 6, 1, 20), 0);
	child = descriptors_get(&all, 6, 1);
	check_set(&child->now, "3:0r 4:0w");
	check_uses("");
	assert_true(child->is_new);
	assert_int_equal(child->since_ns, 20);
	assert_int_equal(descriptors_close(&files, of, 3, 3, 30), 0);
	check_uses("0 - #0 30-30 w30 o1\n");
	assert_int_equal(descriptors_close(&files, child, 4, 4, 40), 0);
	check_uses("0 - #0 30-30 w30 o1\n1 - #0 40-40 r40 o1\n");
	/* When a process closes its last end, the list of uses does not change. */
	assert_int_equal(descriptors_close(&files, of, 4, 4, 50), 0);
	check_uses("0 - #0 30-30 w30 o1\n1 - #0 40-40 r40 o1\n");
	/* A process with two descriptors for the same end still has one end. */
	assert_int_equal(descriptors_dup(&files, child, 3, 0, 60), 0);
	assert_int_equal(descriptors_close(&files, child, 3, 3, 70), 0);
	check_uses("0 - #0 30-30 w30 o1\n1 - #0 40-40 r40 o1\n");
}

TEST_WITH(a_child_has_what_its_parent_has_open, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);
	struct descriptors_of *child;

	add(of, 3, "/a", "r", 10);
	add(of, 4, "/b", "w", 20);
	/* The child's number belonged to another process before. */
	child = descriptors_get(&all, 6, 1);
	add(child, 9, "/c", "r", 25);
	assert_int_equal(descriptors_fork(&files, &all, of, 6, 2, 30), 0);
	assert_ptr_equal(descriptors_get(&all, 6, 8), child);
	assert_int_equal(child->execution, 2);
	check_set(&child->now, "3:0r 4:1w");
	check_set(&child->before, "");
	check_uses("0 /a #0 10-10 r10 o1\n0 /b #1 20-20 w20 o1\n1 /c #2 25-25 r25 o1\n2 /a #0 "
		   "30-30 r30 o1\n2 /b #1 30-30 w30 o1\n");
}

TEST_WITH(with_exec_all_are_gone_and_known_as_those_before, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);

	add(of, 3, "/a", "r", 10);
	add(of, 4, "/b", "r", 10);
	descriptors_exec(of, 7, 20);
	assert_int_equal(of->execution, 7);
	assert_int_equal(of->since_ns, 20);
	assert_true(of->is_new);
	check_set(&of->now, "");
	check_set(&of->before, "3:0r 4:1r");
	assert_int_equal(descriptors_before(of, 3), 0);
	assert_int_equal(descriptors_before(of, 4), 1);
	assert_int_equal(descriptors_before(of, 5), FILES_NONE);
	descriptors_exec(of, 8, 30);
	check_set(&of->before, "");
	assert_int_equal(descriptors_before(of, 3), FILES_NONE);
}

/*
 * The pipes of an execution are counted when all its descriptors are known. They count from the
 * beginning of the execution.
 */
TEST_WITH(pipes_are_looked_at_when_an_execution_has_settled, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);
	struct descriptors_of *other = descriptors_get(&all, 6, 1);
	struct descriptor end = { .fd = 1, .use = FILES_NONE, .writes = true };

	assert_int_equal(descriptors_pipe(&files, of, 3, 4, 10), 0);
	descriptors_exec(of, 2, 20);
	assert_int_equal(descriptors_put(&files, of, &end, 25), 0);
	check_uses("");
	assert_int_equal(descriptors_settle(&files, of), 0);
	check_uses("2 - #0 20-20 w20 o1\n");
	assert_false(of->is_new);
	assert_int_equal(of->before.nr, 0);
	/* A second call counts nothing more. */
	end = (struct descriptor){ .fd = 5, .use = FILES_NONE, .reads = true };
	assert_int_equal(descriptors_put(&files, other, &end, 30), 0);
	assert_int_equal(descriptors_settle(&files, other), 0);
	check_uses("2 - #0 20-20 w20 o1\n");
	other->is_new = true;
	other->since_ns = 29;
	assert_int_equal(descriptors_settle_all(&files, &all), 0);
	check_uses("1 - #0 29-29 r29 o1\n2 - #0 20-20 w20 o1\n");
}

TEST_WITH(a_pipe_is_used_since_the_first_time, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);

	assert_int_equal(descriptors_pipe(&files, of, 3, 4, 10), 0);
	assert_int_equal(descriptors_dup(&files, of, 4, 5, 15), 0);
	assert_int_equal(descriptors_dup(&files, of, 4, 6, 15), 0);
	assert_int_equal(descriptors_close(&files, of, 3, 3, 30), 0);
	assert_int_equal(descriptors_close(&files, of, 4, 4, 20), 0);
	check_uses("0 - #0 30-30 w20 o1\n");
	assert_int_equal(descriptors_close(&files, of, 5, 5, 40), 0);
	check_uses("0 - #0 30-30 w20 o1\n");
}

/* The cost of a child grows with the descriptors that it inherits. */
TEST_WITH(what_it_may_cost, setup, teardown)
{
	struct descriptors_of *of = descriptors_get(&all, 5, 0);
	int nr = 0;

	for (uint32_t fd = 0; fd < 10; fd++)
		add(of, fd, "/a", "r", 10);
	files.cost_max = 200000;
	while (descriptors_fork(&files, &all, of, 100 + nr, nr + 1, 20) == 0)
		nr++;
	/* Each child has one use, and copies of ten descriptors. */
	assert_in_range(nr, 30, 40);
	assert_true(files_is_beyond(&files));
	assert_int_equal(descriptors_close(&files, of, 3, 3, 30), -EDQUOT);
	assert_int_equal(descriptors_dup(&files, of, 3, 4, 30), -EDQUOT);
}
