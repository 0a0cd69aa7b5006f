/*
 * Unit tests of cmds/record/plan/values/debuginfo.c: functions whose parameters come from debug
 * information.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/values/debuginfo.h"

TEST(clones)
{
	static const struct {
		char *name;
		bool is_clone;
	} rows[] = {
		{ "run.isra.0", true },	 { "run.constprop.1", true },
		{ "run.part.12", true }, { "run", false },
		{ "run.cold", false },	 { "run.lto_priv.0", false },
		{ "partition", false },	 { "isra", false },
		{ "constprop.", false }, { "run.part.0.isra.0", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct symbol sym = { .name = rows[i].name };

		assert_int_equal(symbol_is_clone(&sym), rows[i].is_clone);
	}
}

/* A file without debug information is searched once. */
TEST(files_without_debug_information)
{
	struct debuginfo debug = { 0 };
	const struct dwarf_info *info;

	assert_false(debuginfo_has(&debug, "/dev/null"));
	info = debuginfo_of(&debug, "/dev/null");
	assert_non_null(info);
	assert_true(debuginfo_has(&debug, "/dev/null"));
	assert_false(debuginfo_has(&debug, "/dev/zero"));
	assert_ptr_equal(debuginfo_of(&debug, "/dev/null"), info);
	debuginfo_deinit(&debug);
}
