/* cmds/show/parts/contexts.c: paths of calls as numbers. */
#include "cmds/show/parts/contexts.h"
#include "tests/unit/lib/unit.h"

TEST(a_path_has_one_number)
{
	struct contexts contexts = { 0 };
	uint32_t a = contexts_child(&contexts, 0, 7);
	uint32_t b = contexts_child(&contexts, a, 7);

	assert_int_equal(a, 1);
	assert_int_not_equal(b, a);
	assert_int_equal(contexts_child(&contexts, 0, 7), a);
	assert_int_equal(contexts_child(&contexts, a, 7), b);
	assert_int_not_equal(contexts_child(&contexts, 0, 8), b);
	assert_int_equal(contexts.nodes[a].depth, 0);
	assert_int_equal(contexts.nodes[b].depth, 1);
	assert_int_equal(contexts.nodes[b].parent, a);
	contexts_deinit(&contexts);
}

TEST(many_paths)
{
	enum {
		NR = 50000
	};
	struct contexts contexts = { 0 };
	uint32_t *nodes = calloc(NR, sizeof(*nodes));

	for (uint32_t i = 0; i < NR; i++)
		nodes[i] = contexts_child(&contexts, i ? nodes[i / 3] : 0, i * 31);
	for (uint32_t i = NR; i-- > 0;) {
		assert_int_equal(contexts_child(&contexts, i ? nodes[i / 3] : 0, i * 31), nodes[i]);
		assert_int_equal(contexts.nodes[nodes[i]].func, i * 31);
	}
	assert_int_equal(contexts.nr, NR + 1);
	free(nodes);
	contexts_deinit(&contexts);
}

/* Levels are counted in 16 bits: all levels beyond count as one. */
TEST(deep_paths)
{
	struct contexts contexts = { 0 };
	uint32_t node = 0;

	for (int i = 0; i < 70000; i++)
		node = contexts_child(&contexts, node, 1);
	assert_int_equal(contexts.nr, 70001);
	assert_int_equal(contexts.nodes[node].depth, UINT16_MAX);
	contexts_deinit(&contexts);
}
