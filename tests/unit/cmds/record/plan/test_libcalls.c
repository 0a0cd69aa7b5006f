/* The selection of recorded library calls, and their recording. */
#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/libcalls.h"
#include "utils/base/compiler.h"
#include "utils/format/probe/plan.h"

#define ONCE	  PLAN_CALL_NO_RETURN_HOOK
#define RETURNS_2 (PLAN_CALL_NO_RETURN_HOOK | PLAN_CALL_SETJMP)

TEST(special_ones)
{
	static const struct {
		const char *name;
		bool is_hooked;
		uint32_t flags;
	} calls[] = {
		{ "puts", true, 0 },
		{ "mcoun", true, 0 },
		{ "mcount2", true, 0 },
		{ "", true, 0 },
		{ "mcount", false, 0 },
		{ "__fentry__", false, 0 },
		{ "__cyg_profile_func_exit", false, 0 },
		{ "__libc_start_main", false, 0 },
		{ "_Unwind_Resume", false, 0 },
		{ "fstrace_log_2", false, 0 },
		{ "__cxa_begin_catch", true, PLAN_CALL_LANDING },
		{ "__cxa_end_catch", false, 0 },
		{ "longjmp", true, ONCE },
		{ "vfork", true, PLAN_CALL_NO_RETURN_HOOK | PLAN_CALL_VFORK },
		{ "setjmp", true, RETURNS_2 },
		{ "__sigsetjmp", true, RETURNS_2 },
		{ "dlopen", true, PLAN_CALL_BY_CALLER },
		{ "dlsym", true, PLAN_CALL_BY_CALLER },
		{ "dlmopen", true, ONCE },
		{ "dlvsym", true, ONCE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		uint32_t flags = UINT32_MAX;

		assert_int_equal(libcall_is_hooked(calls[i].name, &flags), calls[i].is_hooked);
		assert_int_equal(flags, calls[i].flags);
	}
}

/* The beginning of the file name decides, not its directory. */
TEST(libraries_whose_calls_are_nested)
{
	assert_true(libcall_is_nested_module("/usr/lib/libz.so.1"));
	assert_true(libcall_is_nested_module("/libc.so.6/libz.so.1"));
	assert_true(libcall_is_nested_module("libc.so"));
	assert_true(libcall_is_nested_module("/usr/lib/libc++.so.1"));
	assert_false(libcall_is_nested_module("/usr/lib/libc.so.6"));
	assert_false(libcall_is_nested_module("libm.so.6"));
	assert_false(libcall_is_nested_module("/lib64/ld-linux-x86-64.so.2"));
	assert_false(libcall_is_nested_module("linux-vdso.so.1"));
	assert_false(libcall_is_nested_module("/x/libmcount.so"));
	assert_false(libcall_is_nested_module("/lib/libdl-2.31.so"));
}

/* Only hooks of compilers are called at places without a stored address. */
TEST(the_probes_own_functions)
{
	static const struct {
		const char *name;
		int by_plt;
		int by_any;
	} calls[] = {
		{ "mcount", PLAN_HOOK_MCOUNT, PLAN_HOOK_MCOUNT },
		{ "_mcount", PLAN_HOOK_MCOUNT, PLAN_HOOK_MCOUNT },
		{ "__fentry__", PLAN_HOOK_FENTRY, PLAN_HOOK_FENTRY },
		{ "__cyg_profile_func_enter", PLAN_HOOK_CYG_ENTER, -1 },
		{ "__cyg_profile_func_exit", PLAN_HOOK_CYG_EXIT, -1 },
		{ "dlopen", PLAN_HOOK_DLOPEN, -1 },
		{ "longjmp", PLAN_HOOK_LONGJMP, -1 },
		{ "_longjmp", PLAN_HOOK_LONGJMP_BSD, -1 },
		{ "siglongjmp", PLAN_HOOK_SIGLONGJMP, -1 },
		{ "__longjmp_chk", PLAN_HOOK_LONGJMP_CHK, -1 },
		{ "prctl", PLAN_HOOK_PRCTL, -1 },
		{ "puts", -1, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		assert_int_equal(libcall_hook_of(calls[i].name, true), calls[i].by_plt);
		assert_int_equal(libcall_hook_of(calls[i].name, false), calls[i].by_any);
	}
}
