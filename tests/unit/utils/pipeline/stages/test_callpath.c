/* Call paths: each exists once, whatever their number. */
#include "tests/unit/lib/unit.h"

#include "utils/pipeline/stages/callpath.h"

TEST(each_once)
{
	struct call_paths paths = { 0 };
	struct func funcs[3] = { { 0 } };
	const struct call_path *root = call_paths_get(&paths, NULL, &funcs[0], 1);
	const struct call_path *child = call_paths_get(&paths, root, &funcs[1], 1);

	assert_null(root->parent);
	assert_int_equal(root->depth, 0);
	assert_ptr_equal(child->parent, root);
	assert_ptr_equal(child->func, &funcs[1]);
	assert_int_equal(child->depth, 1);
	assert_ptr_equal(call_paths_get(&paths, NULL, &funcs[0], 1), root);
	assert_ptr_equal(call_paths_get(&paths, root, &funcs[1], 1), child);
	assert_ptr_not_equal(call_paths_get(&paths, root, &funcs[2], 1), child);
	assert_ptr_not_equal(call_paths_get(&paths, root, &funcs[1], 2), child);
	assert_ptr_not_equal(call_paths_get(&paths, child, &funcs[1], 1), child);
	assert_int_equal(paths.nr, 5);
	call_paths_deinit(&paths);
	assert_int_equal(paths.nr_slots, 0);
}

TEST(many)
{
	enum {
		NR = 3000
	};
	static const struct call_path *made[NR];
	struct call_paths paths = { 0 };
	struct func func = { 0 };

	for (int i = 0; i < NR; i++) {
		made[i] = call_paths_get(&paths, i ? made[(i - 1) / 2] : NULL, &func, i);
		assert_int_equal(made[i]->depth, i ? made[(i - 1) / 2]->depth + 1 : 0);
		/* The table is never more than half full. */
		assert_true(paths.nr * 2 <= paths.nr_slots);
	}
	for (int i = 0; i < NR; i++)
		assert_ptr_equal(call_paths_get(&paths, i ? made[(i - 1) / 2] : NULL, &func, i),
				 made[i]);
	assert_int_equal(paths.nr, NR);
	call_paths_deinit(&paths);
}
