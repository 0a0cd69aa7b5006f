/*
 * Decides which library calls are recorded, and which of them need care (doc/facts/programs.md,
 * "Library calls").
 */
#include <string.h>

#include "cmds/record/plan/libcalls.h"
#include "utils/base/compiler.h"
#include "utils/base/path.h"
#include "utils/format/probe/plan.h"

struct special_call {
	const char *name;
	bool is_hooked;
	uint32_t flags;
};

#define NOT_HOOKED(name)       \
	{                      \
		name, false, 0 \
	}
#define NO_RETURN_HOOK(name)                         \
	{                                            \
		name, true, PLAN_CALL_NO_RETURN_HOOK \
	}
#define SETJMP(name)                                                    \
	{                                                               \
		name, true, PLAN_CALL_NO_RETURN_HOOK | PLAN_CALL_SETJMP \
	}
#define VFORK(name)                                                    \
	{                                                              \
		name, true, PLAN_CALL_NO_RETURN_HOOK | PLAN_CALL_VFORK \
	}
#define BY_CALLER(name)                         \
	{                                       \
		name, true, PLAN_CALL_BY_CALLER \
	}
#define LANDING(name)                         \
	{                                     \
		name, true, PLAN_CALL_LANDING \
	}

static const struct special_call special_calls[] = {
	/* The hooks themselves, and what only the start files call. */
	NOT_HOOKED("mcount"),
	NOT_HOOKED("_mcount"),
	NOT_HOOKED("__fentry__"),
	NOT_HOOKED("__gnu_mcount_nc"),
	NOT_HOOKED("__cyg_profile_func_enter"),
	NOT_HOOKED("__cyg_profile_func_exit"),
	/* gprof's, whose place the probe takes (libmcount/gprof.c). */
	NOT_HOOKED("__monstartup"),
	NOT_HOOKED("monstartup"),
	NOT_HOOKED("moncontrol"),
	NOT_HOOKED("_mcleanup"),
	NOT_HOOKED("__libc_start_main"),
	NOT_HOOKED("__cxa_finalize"),
	NOT_HOOKED("__gmon_start__"),
	/*
	 * FSTRACE() and FSTRACE_DECL() of fstrace.h are made of these: the event tells all that
	 * there is to be told.
	 */
	NOT_HOOKED("fstrace_log_2"),
	NOT_HOOKED("fstrace_specify"),
	/*
	 * The machinery of exceptions and of thread-local variables, not calls that a program
	 * makes.
	 */
	NOT_HOOKED("__cxa_throw"),
	NOT_HOOKED("__cxa_rethrow"),
	LANDING("__cxa_begin_catch"),
	NOT_HOOKED("__cxa_end_catch"),
	NOT_HOOKED("__gxx_personality_v0"),
	NOT_HOOKED("_Unwind_Resume"),
	NOT_HOOKED("__tls_get_addr"),
	NOT_HOOKED("runtime.schedinit"),
	/*
	 * They do not return. The frames that they leave get their EXITs after them, and then
	 * setjmp() returns once more: see libmcount/program/longjmp.c. uftrace, reading this, takes
	 * a call of such a name as the end of these frames by itself, and indents what follows
	 * less.
	 */
	NO_RETURN_HOOK("longjmp"),
	NO_RETURN_HOOK("_longjmp"),
	NO_RETURN_HOOK("siglongjmp"),
	NO_RETURN_HOOK("__longjmp_chk"),
	/* Returns more than once, or from elsewhere, to the address it was called from. */
	SETJMP("setjmp"),
	SETJMP("_setjmp"),
	SETJMP("sigsetjmp"),
	SETJMP("__sigsetjmp"),
	VFORK("vfork"),
	VFORK("__vfork"),
	NO_RETURN_HOOK("getcontext"),
	NO_RETURN_HOOK("swapcontext"),
	NO_RETURN_HOOK("setcontext"),
	/* Acts for the module that its return address lies in. */
	BY_CALLER("dlopen"),
	NO_RETURN_HOOK("dlmopen"),
	BY_CALLER("dlsym"),
	NO_RETURN_HOOK("dlvsym"),
};

bool libcall_is_hooked(const char *name, uint32_t *flags)
{
	*flags = 0;
	for (size_t i = 0; i < ARRAY_SIZE(special_calls); i++) {
		if (strcmp(special_calls[i].name, name) == 0) {
			*flags = special_calls[i].flags;
			return special_calls[i].is_hooked;
		}
	}
	return true;
}

bool libcall_is_nested_module(const char *path)
{
	/*
	 * The libraries that everything stands on: their calls are the implementation of what is
	 * recorded already.
	 */
	static const char *const system_libraries[] = {
		"libc.so.",	"libm.so.", "libgcc_s.so.", "libpthread.so.", "libdl.so.",
		"librt.so.",	"ld-linux", "ld-musl",	    "linux-vdso",     "linux-gate",
		"libmcount.so", "libc-2.",  "libm-2.",	    "libpthread-2.",  "libdl-2.",
	};
	const char *base = path_base(path);

	for (size_t i = 0; i < ARRAY_SIZE(system_libraries); i++) {
		if (strncmp(base, system_libraries[i], strlen(system_libraries[i])) == 0)
			return false;
	}
	return true;
}

/*
 * Compilers' hooks are called where nothing else is done with their address. Other functions'
 * addresses may be in registers when we are to leave, where calls go through the GOT (-fno-plt); a
 * PLT only jumps there.
 */
static const struct {
	const char *name;
	int hook;
	bool by_any;
} own_functions[] = {
	{ "mcount", PLAN_HOOK_MCOUNT, true },
	{ "_mcount", PLAN_HOOK_MCOUNT, true },
	{ "__fentry__", PLAN_HOOK_FENTRY, true },
	{ "__cyg_profile_func_enter", PLAN_HOOK_CYG_ENTER, false },
	{ "__cyg_profile_func_exit", PLAN_HOOK_CYG_EXIT, false },
	{ "dlopen", PLAN_HOOK_DLOPEN, false },
	{ "longjmp", PLAN_HOOK_LONGJMP, false },
	{ "_longjmp", PLAN_HOOK_LONGJMP_BSD, false },
	{ "siglongjmp", PLAN_HOOK_SIGLONGJMP, false },
	{ "__longjmp_chk", PLAN_HOOK_LONGJMP_CHK, false },
	{ "prctl", PLAN_HOOK_PRCTL, false },
	{ "dlclose", PLAN_HOOK_DLCLOSE, false },
};

int libcall_hook_of(const char *name, bool by_plt)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_functions); i++) {
		if (strcmp(own_functions[i].name, name) == 0)
			return by_plt || own_functions[i].by_any ? own_functions[i].hook : -1;
	}
	return -1;
}
