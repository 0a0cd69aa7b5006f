/* Call trees: forks, lost records, and merged trees. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/format/record.h"
#include "utils/view/graph/tree.h"

static struct recording rec;
static struct strbuf out;

static int setup(void **state)
{
	recording_init(&rec);
	return 0;
}

static int teardown(void **state)
{
	recording_deinit(&rec);
	strbuf_deinit(&out);
	return 0;
}

/* Returns "a1{b2{}}": names with numbers of calls. */
static const char *text_of_tree(const struct tree *tree)
{
	strbuf_reset(&out);
	for (size_t i = 0; i < tree->nr_roots; i++) {
		const struct tree_node *root = tree->roots[i];
		size_t depth = 0;

		for (const struct tree_node *node = root; (node = tree_next(node, root));) {
			size_t above = 0;

			for (const struct tree_node *at = node->parent; at; at = at->parent)
				above++;
			for (; depth >= above; depth--)
				strbuf_addch(&out, '}');
			strbuf_addf(&out, "%s%d{", node->func->name, (int)node->calls);
			depth = above;
		}
		strbuf_addchars(&out, '}', depth);
	}
	return strbuf_str(&out);
}

static void open_recording(struct trace_data *data, struct pipeline *pipe, const int *tid)
{
	struct pipeline_config config;

	pipeline_config_init(&config);
	tree_configure(&config);
	config.tids = tid;
	config.nr_tids = tid ? 1 : 0;
	assert_int_equal(data_open(data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(pipe, data, &config, NULL), 0);
}

static void fill(struct tree *tree, struct pipeline *pipe)
{
	assert_int_equal(tree_init(tree, pipe, NULL), 0);
	assert_int_equal(pipeline_run(pipe, &(struct view){ tree_events, tree }, NULL), 0);
}

static const char *run(const int *tid)
{
	struct trace_data data;
	struct pipeline pipe;
	struct tree tree;

	recording_finish(&rec);
	open_recording(&data, &pipe, tid);
	fill(&tree, &pipe);
	assert_int_equal(tree_finish(&tree, NULL), 0);
	text_of_tree(&tree);
	tree_deinit(&tree);
	pipeline_close(&pipe);
	data_close(&data);
	return strbuf_str(&out);
}

static void add_forked_task(int32_t pid, int32_t ppid, const char *tree, uint64_t start_ns)
{
	size_t before = rec.task_txt.len;

	recording_add_task(&rec, pid, tree, start_ns);
	rec.task_txt.len = before; /* without the line for a thread */
	strbuf_addf(&rec.task_txt, "FORK timestamp=0.%09d pid=%d ppid=%d\n", (int)start_ns, pid,
		    ppid);
}

/* The child leaves F and b, as its parent does. Its later calls are its own. */
TEST_WITH(fork_goes_on_in_the_parent, setup, teardown)
{
	const int child = 101;

	recording_add_task(&rec, 100, "a{b{F{}c{}}}", 1000);
	add_forked_task(101, 100, "3)Fd{})be{", 1025);
	assert_string_equal(run(NULL), "a1{b1{F1{}d1{}c1{}}e1{}}");
	/* The name of the outermost call is not known from the child alone. */
	assert_string_equal(run(&child), "b1{F1{}d1{}}e1{}");
}

/*
 * The child is announced late: the calls that the parent has open then are not those of the fork.
 */
TEST_WITH(fork_told_late, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{F{}}c{ }}", 1000);
	add_forked_task(101, 100, "3)Fd{})b)a", 1100);
	assert_string_equal(run(NULL), "a1{b1{F1{}d1{}}c1{}}");
}

/* The child returns from none of the calls around the fork, so their names come from the parent. */
TEST_WITH(fork_and_exec, setup, teardown)
{
	rec.has_fork = true;
	recording_add_task(&rec, 100, "x{}a{b{F{}}c{b{F{}}}b{ F{}}}", 1000);
	add_forked_task(101, 100, "4)Fd{", 1130);
	assert_string_equal(run(NULL), "x1{}a1{b2{fork2{}}c1{b1{fork1{}d1{}}}}");
}

TEST_WITH(fork_and_exec_after_the_parent, setup, teardown)
{
	rec.has_fork = true;
	recording_add_task(&rec, 100, "a{F{}}b{}", 1000);
	add_forked_task(101, 100, "2)Fd{", 5000);
	assert_string_equal(run(NULL), "a1{fork1{}d1{}}b1{}");
}

/* Several children at once. Each comes from the fork whose depth is that of its first call. */
TEST_WITH(forks_of_many_depths, setup, teardown)
{
	rec.has_fork = true;
	recording_add_task(&rec, 100, "a{F{}b{F{}}}", 1000);
	add_forked_task(101, 100, "2)Fd{", 5000);
	add_forked_task(102, 100, "3)Fe{", 5000);
	assert_string_equal(run(NULL), "a1{fork1{}b1{fork1{}e1{}}d1{}}");
}

/* It is unknown which function forks: the call of the parent that fits best is taken. */
TEST_WITH(unknown_fork_and_exec, setup, teardown)
{
	recording_add_task(&rec, 100, "x{}a{F{}}c{G{}}", 1000);
	add_forked_task(101, 100, "2)Fd{", 5000);
	assert_string_equal(run(NULL), "x1{}a1{F1{}d1{}}c1{G1{}}");
}

TEST_WITH(fork_of_a_fork, setup, teardown)
{
	recording_add_task(&rec, 100, "a{F{}}", 1000);
	add_forked_task(101, 100, "2)Fb{F{}}", 1015);
	add_forked_task(102, 101, "3)Fc{}", 1040);
	assert_string_equal(run(NULL), "a1{F1{}b1{F1{}c1{}}}");
}

TEST_WITH(lost_records, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{!1c{})x}d{}", 1000);
	assert_non_null(strstr(run(NULL), "c1{}"));
	assert_non_null(strstr(run(NULL), "d1{}"));
}

/*
 * A child begins within a call that its parent has not made. The child's calls are put under the
 * parent all the same.
 */
TEST_WITH(fork_from_an_unknown_call, setup, teardown)
{
	recording_add_task(&rec, 100, "a{}", 1000);
	add_forked_task(101, 100, "1d{e{}})z", 1100);
	assert_string_equal(run(NULL), "a1{}d1{e1{}}");
}

/*
 * Adds returns from @nr nested calls of functions that take turns. The entries of these calls were
 * not seen.
 */
static void add_unseen_returns(unsigned nr)
{
	struct strbuf bytes cleanup_strbuf = { 0 };
	uint64_t time_ns = 1000;

	while (nr-- > 0) {
		char name[] = { 'a' + nr % 20, '\0' };

		recording_put(&rec, &bytes, time_ns++,
			      record_data(RECORD_EXIT, nr, recording_addr(name)));
	}
	recording_add_task(&rec, 100, "", 1000);
	recording_add_file(&rec, "100.dat", bytes.data, bytes.len);
}

/* The outer calls are not made once more for each inner call. */
TEST_WITH(nested_unseen_calls, setup, teardown)
{
	struct trace_data data;
	struct pipeline pipe;
	struct tree tree;
	size_t depth = 0;

	add_unseen_returns(1000);
	recording_finish(&rec);
	open_recording(&data, &pipe, NULL);
	fill(&tree, &pipe);
	assert_int_equal(tree.nr_unseen, 1000);
	assert_int_equal(tree_finish(&tree, NULL), 0);
	assert_in_range(tree.nr_nodes, 1000, 2000);
	for (const struct tree_node *node = tree.roots[0]->first; node; node = node->first) {
		assert_null(node->next);
		assert_int_equal(node->func->name[0], 'a' + depth % 20);
		depth++;
	}
	assert_int_equal(depth, 1000);
	tree_deinit(&tree);
	pipeline_close(&pipe);
	data_close(&data);
}

/* The trees of all tasks, merged, are the same as one tree of all tasks. */
TEST_WITH(merged_trees_are_the_same, setup, teardown)
{
	static const int tids[] = { 102, 100, 101 };
	struct trace_data data;
	struct pipeline pipe, pipes[3];
	struct tree whole, parts[3];

	recording_add_task(&rec, 100, "a{b{}F{}c{b{}}", 1000);
	add_forked_task(101, 100, "2)Fa{}c{}", 1030);
	recording_add_task(&rec, 102, "c{a{}b{}}", 900);
	recording_finish(&rec);

	open_recording(&data, &pipe, NULL);
	fill(&whole, &pipe);
	assert_int_equal(tree_finish(&whole, NULL), 0);

	char *expected = strdup(text_of_tree(&whole));

	tree_deinit(&whole);
	assert_int_equal(tree_init(&whole, &pipe, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		struct pipeline_config config = pipe.config;

		config.tids = &tids[i];
		config.nr_tids = 1;
		assert_int_equal(pipeline_open(&pipes[i], &data, &config, NULL), 0);
		fill(&parts[i], &pipes[i]);
		assert_int_equal(tree_merge(&whole, &parts[i], NULL), 0);
	}
	assert_int_equal(tree_finish(&whole, NULL), 0);
	assert_string_equal(text_of_tree(&whole), expected);
	for (size_t i = 0; i < 3; i++) {
		tree_deinit(&parts[i]);
		pipeline_close(&pipes[i]);
	}
	tree_deinit(&whole);
	pipeline_close(&pipe);
	data_close(&data);
	free(expected);
}
