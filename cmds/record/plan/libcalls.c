/*
 * Decides which library calls are recorded, and which of them need special treatment
 * (doc/facts/programs.md, "Library calls").
 */
#include "cmds/record/plan/libcalls.h"

#include <string.h>
#include <sys/stat.h>

#include "cmds/record/base/settings.h"
#include "utils/base/compiler.h"
#include "utils/base/path.h"
#include "utils/base/units.h"
#include "utils/format/probe/plan.h"
#include "utils/object/elf_file.h"
#include "utils/object/names/plt.h"
#include "utils/object/needed.h"

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
	/* The hooks of compilers. */
	NOT_HOOKED("mcount"),
	NOT_HOOKED("_mcount"),
	NOT_HOOKED("__fentry__"),
	NOT_HOOKED("__gnu_mcount_nc"),
	NOT_HOOKED("__cyg_profile_func_enter"),
	NOT_HOOKED("__cyg_profile_func_exit"),
	/*
	 * Functions of gprof, and functions that only the start files call. The probe replaces the
	 * functions of gprof (libmcount/gprof.c).
	 */
	NOT_HOOKED("__monstartup"),
	NOT_HOOKED("monstartup"),
	NOT_HOOKED("moncontrol"),
	NOT_HOOKED("_mcleanup"),
	NOT_HOOKED("__libc_start_main"),
	NOT_HOOKED("__cxa_finalize"),
	NOT_HOOKED("__gmon_start__"),
	/*
	 * The macros FSTRACE() and FSTRACE_DECL() of fstrace.h call fstrace_log_2() and
	 * fstrace_specify(). The calls are not recorded, because the recorded event of FSTRACE()
	 * has all information.
	 */
	NOT_HOOKED("fstrace_log_2"),
	NOT_HOOKED("fstrace_specify"),
	/*
	 * Functions that implement exceptions, thread-local variables or the runtime of Go. The
	 * source code of a program does not call these functions.
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
	 * These functions do not return, but jump out of frames. The EXITs of these frames are
	 * recorded after the ENTRY of the jump. setjmp() then returns once more
	 * (libmcount/program/longjmp.c).
	 */
	NO_RETURN_HOOK("longjmp"),
	NO_RETURN_HOOK("_longjmp"),
	NO_RETURN_HOOK("siglongjmp"),
	NO_RETURN_HOOK("__longjmp_chk"),
	/*
	 * setjmp(), vfork() and getcontext() may return more than once. swapcontext() returns after
	 * another context has run. setcontext() does not return.
	 */
	SETJMP("setjmp"),
	SETJMP("_setjmp"),
	SETJMP("sigsetjmp"),
	SETJMP("__sigsetjmp"),
	VFORK("vfork"),
	VFORK("__vfork"),
	NO_RETURN_HOOK("getcontext"),
	NO_RETURN_HOOK("swapcontext"),
	NO_RETURN_HOOK("setcontext"),
	/* Each of these functions uses its return address to find the module of the caller. */
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
	 * The basic libraries. The calls that they make are not recorded: these calls only
	 * implement library calls that are recorded.
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
 * The functions that the probe replaces.
 *
 * @by_any: true: all calls of the function are changed. False: calls through a PLT are changed,
 *          and calls without a PLT (-fno-plt) stay unchanged. If such a call were changed, a
 *          thread could load the probe's address into a register, and jump to this address
 *          after the probe was removed
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

/*
 * Appends @call to @out if the probe replaces the called function. A probe that was loaded after
 * the program cannot interpose the function by its name, so each call must be changed.
 */
static void add_hook(const struct plt_entry *e, struct plan_call_site call, struct strbuf *out)
{
	int hook = libcall_hook_of(e->name, e->reloc != PLT_NO_RELOC);

	if (hook < 0)
		return;
	call.flags = PLAN_CALL_HOOK | (uint32_t)hook << PLAN_CALL_HOOK_SHIFT;
	strbuf_add(out, &call, sizeof(call));
}

/*
 * Finds the library calls that the code in the file @path makes and that @choice selects. Appends a
 * struct plan_call_site for each of these calls to @out. Addresses are relative to the start of the
 * file. Returns false on failure.
 */
static bool find_sites(struct libcall_choice choice, const char *path, struct strbuf *out)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct plt_entries plt cleanup_plt_entries = { 0 };

	if (elf_file_open(&file, path, NULL) < 0 || plt_entries_load(&file, &plt) < 0)
		return false;

	bool use_got = !choice.attaches && plt_is_bypassed(&file, &plt);

	for (size_t i = 0; i < plt.nr; i++) {
		const struct plt_entry *e = &plt.entries[i];
		struct plan_call_site call = {
			.slot = e->slot,
			.addr = e->addr,
			.reloc = e->reloc,
		};

		if (choice.attaches)
			add_hook(e, call, out);
		if ((e->reloc == PLT_NO_RELOC && !use_got) ||
		    !libcall_is_hooked(e->name, &call.flags))
			continue;
		if (!(call.flags & PLAN_CALL_LANDING) &&
		    (!choice.all || e->size < choice.smallest_bytes))
			continue;
		strbuf_add(out, &call, sizeof(call));
	}
	return !strbuf_oom(out);
}

static void add_sites(const struct strbuf *sites, uint64_t load_bias, struct strbuf *out)
{
	const struct plan_call_site *all = (const struct plan_call_site *)sites->data;

	for (size_t i = 0; i < sites->len / sizeof(*all); i++) {
		struct plan_call_site call = all[i];

		call.load_bias = load_bias;
		call.slot += load_bias;
		call.addr += load_bias;
		strbuf_add(out, &call, sizeof(call));
	}
}

void module_links_deinit(struct module_links *links)
{
	for (size_t i = 0; i < ARRAY_SIZE(links->calls); i++)
		strbuf_deinit(&links->calls[i]);
	strbuf_deinit(&links->needed);
	*links = (struct module_links){ 0 };
}

/*
 * If the last change of a file is older than SETTLED_NS, the times of the file identify its
 * content. Two changes within one tick of the kernel's clock may leave equal times.
 */
#define SETTLED_NS NSEC_PER_SEC

static bool is_settled(uint64_t ctime_ns)
{
	return ctime_ns + SETTLED_NS < clock_now_ns(CLOCK_REALTIME);
}

void module_links_renew(struct module_links *links, const char *path)
{
	struct stat st = { 0 };

	if (stat(path, &st) == 0 && links->ctime_ns == timespec_ns(&st.st_ctim) &&
	    links->mtime_ns == timespec_ns(&st.st_mtim) && links->device == st.st_dev &&
	    links->inode == st.st_ino && links->size == (uint64_t)st.st_size &&
	    is_settled(links->ctime_ns))
		return;
	module_links_deinit(links);
	links->device = st.st_dev;
	links->inode = st.st_ino;
	links->size = st.st_size;
	links->mtime_ns = timespec_ns(&st.st_mtim);
	links->ctime_ns = timespec_ns(&st.st_ctim);
}

const struct strbuf *module_links_needed(struct module_links *links, const char *path)
{
	module_links_renew(links, path);
	if (!links->has_needed)
		links->has_needed = object_needed_load(path, &links->needed, NULL) == 0;
	return &links->needed;
}

void libcalls_plan(struct libcall_choice choice, struct module_links *links,
		   const struct control_module *m, struct strbuf *out)
{
	struct strbuf unknown cleanup_strbuf = { 0 };
	bool all = choice.all;

	if (!links) {
		if (find_sites(choice, m->path, &unknown))
			add_sites(&unknown, m->load_bias, out);
		return;
	}

	module_links_renew(links, m->path);
	if (!links->has_calls[all]) {
		strbuf_deinit(&links->calls[all]);
		links->has_calls[all] = find_sites(choice, m->path, &links->calls[all]);
	}
	if (links->has_calls[all])
		add_sites(&links->calls[all], m->load_bias, out);
}
