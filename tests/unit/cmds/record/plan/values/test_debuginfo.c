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

/* Only functions of the file itself have debug information. */
TEST(functions_by_their_symbols)
{
	static const struct {
		char type;
		bool has_it;
	} types[] = { { 't', true },  { 'T', true },  { 'w', true },  { 'W', false },
		      { 'P', false }, { 'd', false }, { 'i', false }, { '?', false } };
	struct dwarf_func funcs[] = { { .addr = 0x100 }, { .addr = 0x200 } };
	const struct dwarf_info info = { .funcs = funcs, .nr_funcs = 2 };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct symbol sym = { .addr = 0x200, .name = "f", .type = types[i].type };

		assert_ptr_equal(debuginfo_func(&info, &sym), types[i].has_it ? &funcs[1] : NULL);
		assert_null(debuginfo_func(NULL, &sym));
		sym.addr = 0x201;
		assert_null(debuginfo_func(&info, &sym));
	}
}

/* Files are kept by their paths, however many there are. */
TEST(several_files)
{
	static const char *const paths[] = { "/dev/null", "/dev/zero", "/no/such/file", "/" };
	const struct dwarf_info *infos[ARRAY_SIZE(paths)];
	struct debuginfo debug = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		infos[i] = debuginfo_of(&debug, paths[i]);
		assert_non_null(infos[i]);
		assert_int_equal(infos[i]->nr_funcs, 0);
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(infos[i], infos[k]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_true(debuginfo_has(&debug, paths[i]));
		assert_ptr_equal(debuginfo_of(&debug, paths[i]), infos[i]);
	}
	/* A file that cannot be read is no problem of the recording. */
	assert_int_equal(debug.problem.code, 0);
	debuginfo_deinit(&debug);
	assert_null(debug.files);
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
