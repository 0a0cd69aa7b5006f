/* The process tree as JSON and for graphviz. */
#include "tests/unit/lib/unit.h"

#include <signal.h>

#include "utils/format/proc_dat.h"
#include "utils/builddb/tree.h"

#define NONE EXECUTION_NONE

/*
 * make forks two children: one executes a script, the other one is killed before it executes
 * anything.
 */
#define MAKE	      .program = "/bin/make", .interpreter = "/bin/make", .args = "make\0-j", .args_len = 8
#define FROM_1(child) .parent = 0, .first_child = NONE, .last_child = NONE, .next_child = (child)

static struct execution all[] = {
	{ 1000, 9000, 50, .process = 1, .task = 1, .index = 1, .parent = NONE, .previous = NONE,
	  .first_child = 1, .last_child = 3, .next_child = NONE, MAKE, .cwd = "/src",
	  .first_place = 0, .last_place = 2, .is_over = true, .status = 2 << 8 },
	{ 2000, 3000, 51, .process = 2, .task = 2, .how = PROC_BY_VFORK, FROM_1(3),
	  .previous = NONE, MAKE, .cwd = "/src", .first_place = 1, .last_place = 1 },
	{ 3000, 4000, 51, .process = 2, .task = 2, .index = 1, .how = PROC_BY_VFORK, FROM_1(NONE),
	  .previous = 1, .program = "/x/run", .interpreter = "/bin/dash", .cwd = "/src",
	  .args = "sh\0/x/run\0\"\n", .args_len = 13, .first_place = NONE, .is_over = true },
	{ 5000, 6000, 52, .process = 3, .task = 3, .how = PROC_BY_FORK, FROM_1(4), .previous = NONE,
	  MAKE, .cwd = "/src", .first_place = NONE, .is_over = true, .status = SIGKILL },
	/* Two children by clone(2): one with known flags, one without. */
	{ 7000, 8000, 53, .process = 4, .task = 4, .how = PROC_BY_CLONE, .flags = 0x4111, FROM_1(5),
	  .previous = NONE, MAKE, .cwd = "/src", .first_place = NONE },
	{ 7000, 8000, 54, .process = 5, .task = 5, .how = PROC_BY_CLONE, FROM_1(NONE),
	  .previous = NONE, MAKE, .cwd = "/src", .first_place = NONE },
};

static struct execution_place places[] = { { 1000, 1, 2 }, { 2000, 0, NONE }, { 4000, 0, NONE } };

static const struct executions tree = { all, ARRAY_SIZE(all), places, ARRAY_SIZE(places), 5 };

static struct strbuf text;

static const char *shown(struct sink *sink)
{
	assert_int_equal(sink_flush(sink), 0);
	return strbuf_str(&text);
}

static const char *shown_json(const struct executions *executions)
{
	struct sink sink cleanup_sink = { 0 };

	strbuf_reset(&text);
	assert_int_equal(sink_init_text(&sink, &text), 0);
	tree_json(executions, NULL, &sink);
	assert_false(sink.has_broken);
	return shown(&sink);
}

TEST(json)
{
	assert_string_equal(
		shown_json(&tree),
		"[\n"
		"{\"p\":4194354,\"x\":1,\"s\":0,\"e\":8000,\"b\":\"/bin/make\",\"w\":\"/"
		"src\",\"v\":[\"make\",\"-j\"],"
		"\"c\":[{\"p\":8388659,\"f\":16657},{\"p\":12582964,\"f\":17},"
		"{\"p\":16777269,\"f\":16657},{\"p\":20971574}],\"r\":{\"p\":-1,"
		"\"x\":-1},\"u\":[{\"c\":1,\"t\":0},{\"c\":0,\"t\":3000}],\"!\":2,\"pid\":50},\n"
		"{\"p\":8388659,\"x\":0,\"s\":1000,\"e\":1000,\"b\":\"/bin/make\",\"w\":\"/"
		"src\",\"v\":[\"make\",\"-j\"],"
		"\"c\":[],\"r\":{\"p\":4194354,\"x\":1},\"u\":[{\"c\":0,\"t\":1000}],\"pid\":51},\n"
		"{\"p\":8388659,\"x\":1,\"s\":2000,\"e\":1000,\"b\":\"/x/run\",\"w\":\"/"
		"src\",\"v\":[\"sh\",\"/x/run\",\"\\\"\\n\"],"
		"\"c\":[],\"r\":{\"p\":4194354,\"x\":1},\"u\":[],\"!\":0,\"pid\":51,"
		"\"interpreter\":\"/bin/"
		"dash\"},\n"
		"{\"p\":12582964,\"x\":0,\"s\":4000,\"e\":1000,\"b\":\"/bin/make\",\"w\":\"/"
		"src\",\"v\":[\"make\",\"-j\"],"
		"\"c\":[],\"r\":{\"p\":4194354,\"x\":1},\"u\":[],\"!\":0,\"signal\":9,\"pid\":52},"
		"\n"
		"{\"p\":16777269,\"x\":0,\"s\":6000,\"e\":1000,\"b\":\"/bin/make\",\"w\":\"/"
		"src\",\"v\":[\"make\",\"-j\"],"
		"\"c\":[],\"r\":{\"p\":4194354,\"x\":1},\"u\":[],\"pid\":53},\n"
		"{\"p\":20971574,\"x\":0,\"s\":6000,\"e\":1000,\"b\":\"/bin/make\",\"w\":\"/"
		"src\",\"v\":[\"make\",\"-j\"],"
		"\"c\":[],\"r\":{\"p\":4194354,\"x\":1},\"u\":[],\"pid\":54}\n"
		"]\n");
}

TEST(dot)
{
	struct sink sink cleanup_sink = { 0 };

	strbuf_reset(&text);
	assert_int_equal(sink_init_text(&sink, &text), 0);
	tree_dot(&tree, &sink);
	assert_string_equal(shown(&sink),
			    "digraph processes {\n  rankdir=LR\n  node [shape=box]\n"
			    "  n0 [label=\"make -j\\n0.008 ms, status 2\" color=red]\n"
			    "  n2 [label=\"sh /x/run \\\"\\\\x0a\\n0.001 ms\"]\n"
			    "  n0 -> n2\n"
			    "  n3 [label=\"fork of make -j\\n0.001 ms, signal 9\" color=red]\n"
			    "  n0 -> n3\n}\n");
}

TEST(nothing)
{
	assert_string_equal(shown_json(&(struct executions){ 0 }), "[\n]\n");
}

/* JSON cannot hold a name that is not UTF-8. The error is reported. */
TEST(broken_name)
{
	struct execution named = all[2];
	struct sink sink cleanup_sink = { 0 };

	named.parent = NONE;
	named.cwd = "/a\xff";
	strbuf_reset(&text);
	assert_int_equal(sink_init_text(&sink, &text), 0);
	tree_json(&(struct executions){ &named, 1 }, NULL, &sink);
	assert_non_null(strstr(shown(&sink), "\"/a\xef\xbf\xbd\""));
	assert_true(sink.has_broken);
}

static int tear_down(void **state)
{
	strbuf_deinit(&text);
	return 0;
}

TEST_GROUP(NULL, tear_down)
