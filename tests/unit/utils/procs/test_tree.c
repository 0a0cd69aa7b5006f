/* The process tree as JSON and for graphviz. */
#include "tests/unit/lib/unit.h"

#include <signal.h>

#include "utils/format/proc_dat.h"
#include "utils/procs/tree.h"

#define NONE EXECUTION_NONE

/* make forks a child that becomes a script, and one that is killed before it becomes anything. */
static struct execution all[] = {
	{ 1000, 9000, 50, 1, 1, 0, NONE, NONE, 1, 3, NONE, "/bin/make", "/bin/make", "/src",
	  "make\0-j", 8, true, 2 << 8 },
	{ 2000, 3000, 51, 2, 0, PROC_BY_VFORK, 0, NONE, NONE, NONE, 3, "/bin/make", "/bin/make",
	  "/src", "make\0-j", 8, false, 0 },
	{ 3000, 4000, 51, 2, 1, PROC_BY_VFORK, 0, 1, NONE, NONE, NONE, "/x/run", "/bin/dash",
	  "/src", "sh\0/x/run\0\"\n", 13, true, 0 },
	{ 5000, 6000, 52, 3, 0, PROC_BY_FORK, 0, NONE, NONE, NONE, NONE, "/bin/make", "/bin/make",
	  "/src", "make\0-j", 8, true, SIGKILL },
};

static const struct executions tree = { all, 4, 3 };

static void json(void **state)
{
	struct strbuf text cleanup_strbuf = { 0 };

	assert_true(tree_json(&tree, NULL, &text));
	assert_string_equal(
		strbuf_str(&text),
		"[\n"
		"{\"p\":4194354,\"x\":1,\"s\":0,\"e\":8000,\"b\":\"/bin/make\",\"w\":\"/"
		"src\",\"v\":[\"make\",\"-j\"],"
		"\"c\":[{\"p\":8388659,\"f\":16657},{\"p\":12582964,\"f\":17}],\"r\":{\"p\":-1,"
		"\"x\":-1},\"!\":2,\"pid\":50},\n"
		"{\"p\":8388659,\"x\":0,\"s\":1000,\"e\":1000,\"b\":\"/bin/make\",\"w\":\"/"
		"src\",\"v\":[\"make\",\"-j\"],"
		"\"c\":[],\"r\":{\"p\":4194354,\"x\":1},\"pid\":51},\n"
		"{\"p\":8388659,\"x\":1,\"s\":2000,\"e\":1000,\"b\":\"/x/run\",\"w\":\"/"
		"src\",\"v\":[\"sh\",\"/x/run\",\"\\\"\\n\"],"
		"\"c\":[],\"r\":{\"p\":4194354,\"x\":1},\"!\":0,\"pid\":51,\"interpreter\":\"/bin/"
		"dash\"},\n"
		"{\"p\":12582964,\"x\":0,\"s\":4000,\"e\":1000,\"b\":\"/bin/make\",\"w\":\"/"
		"src\",\"v\":[\"make\",\"-j\"],"
		"\"c\":[],\"r\":{\"p\":4194354,\"x\":1},\"!\":0,\"signal\":9,\"pid\":52}\n"
		"]\n");
}

static void dot(void **state)
{
	struct strbuf text cleanup_strbuf = { 0 };

	tree_dot(&tree, &text);
	assert_string_equal(strbuf_str(&text),
			    "digraph processes {\n  rankdir=LR\n  node [shape=box]\n"
			    "  n0 [label=\"make -j\\n0.008 ms, status 2\" color=red]\n"
			    "  n2 [label=\"sh /x/run \\\"\\\\x0a\\n0.001 ms\"]\n"
			    "  n0 -> n2\n"
			    "  n3 [label=\"fork of make -j\\n0.001 ms, signal 9\" color=red]\n"
			    "  n0 -> n3\n}\n");
}

static void nothing(void **state)
{
	struct strbuf text cleanup_strbuf = { 0 };

	assert_true(tree_json(&(struct executions){ 0 }, NULL, &text));
	assert_string_equal(strbuf_str(&text), "[\n]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json),
		cmocka_unit_test(dot),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
