/* The selection of library calls that are recorded, and their call sites in files. */
#include "tests/unit/lib/unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/plan/libcalls.h"
#include "utils/base/clock.h"
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

/*
 * The probe replaces all these functions but puts() in calls through a PLT. In other calls it
 * replaces only the hooks of -pg.
 */
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
		{ "dlclose", PLAN_HOOK_DLCLOSE, -1 },
		{ "puts", -1, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		assert_int_equal(libcall_hook_of(calls[i].name, true), calls[i].by_plt);
		assert_int_equal(libcall_hook_of(calls[i].name, false), calls[i].by_any);
	}
}

/* --- calls of a file --- */

/* The call sites of a process that has the module at @load_bias. */
static struct strbuf sites_at(struct module_links *links, const char *path, uint64_t load_bias)
{
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet = { .m.load_bias = load_bias };
	struct strbuf out = { 0 };

	strcpy(packet.m.path, path);
	libcalls_plan((struct libcall_choice){ .all = true }, links, &packet.m, &out);
	return out;
}

/* The number of call sites that @choice has in @path, and of those with @flag. */
static size_t count_sites(struct libcall_choice choice, const char *path, uint32_t flag,
			  size_t *nr_flagged)
{
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet = { .m.load_bias = 0x10000 };
	struct strbuf out cleanup_strbuf = { 0 };
	const struct plan_call_site *sites;
	size_t nr;

	strcpy(packet.m.path, path);
	libcalls_plan(choice, NULL, &packet.m, &out);
	sites = (const struct plan_call_site *)out.data;
	nr = out.len / sizeof(*sites);
	*nr_flagged = 0;
	for (size_t i = 0; i < nr; i++)
		*nr_flagged += (sites[i].flags & flag) != 0;
	return nr;
}

static const char *library(void)
{
	Dl_info info;

	assert_true(dladdr((void *)_cmocka_run_group_tests, &info));
	return info.dli_fname;
}

/* The library is older than a second: its file is read for the first process only. */
TEST(calls_of_a_file_are_found_once)
{
	struct module_links links = { 0 };
	struct strbuf first cleanup_strbuf = sites_at(&links, library(), 0x10000);
	struct plan_call_site *found = (struct plan_call_site *)links.calls[true].data;
	size_t nr = first.len / sizeof(*found);

	assert_true(nr > 10);
	assert_true(links.has_calls[true]);
	assert_false(links.has_calls[false]);
	found[0].flags = 0x5ee7;

	struct strbuf second cleanup_strbuf = sites_at(&links, library(), 0x30000);
	const struct plan_call_site *before = (const struct plan_call_site *)first.data;
	const struct plan_call_site *after = (const struct plan_call_site *)second.data;

	assert_int_equal(second.len, first.len);
	assert_int_equal(after[0].flags, 0x5ee7);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(after[i].load_bias, 0x30000);
		assert_int_equal(after[i].slot - before[i].slot, 0x20000);
		assert_int_equal(after[i].addr - before[i].addr, 0x20000);
		assert_int_equal(after[i].reloc, before[i].reloc);
	}
	module_links_deinit(&links);
}

/*
 * The library calls longjmp() and setjmp(), and catches no exceptions. A probe that was loaded
 * later has its own hook in the call of longjmp().
 */
TEST(the_choice_decides)
{
	size_t nr_flagged;
	size_t nr = count_sites((struct libcall_choice){ .all = true }, library(), PLAN_CALL_HOOK,
				&nr_flagged);

	assert_true(nr > 10);
	assert_int_equal(nr_flagged, 0);
	count_sites((struct libcall_choice){ .all = true }, library(), PLAN_CALL_SETJMP,
		    &nr_flagged);
	assert_int_equal(nr_flagged, 1);
	assert_int_equal(count_sites((struct libcall_choice){ .all = false }, library(),
				     PLAN_CALL_HOOK, &nr_flagged),
			 0);
	assert_int_equal(count_sites((struct libcall_choice){ .attaches = true }, library(),
				     PLAN_CALL_HOOK, &nr_flagged),
			 1);
	assert_int_equal(nr_flagged, 1);
	assert_int_equal(count_sites((struct libcall_choice){ .all = true, .attaches = true },
				     library(), PLAN_CALL_HOOK, &nr_flagged),
			 nr + 1);
	assert_int_equal(nr_flagged, 1);
	/* Functions that are too small are left out, as are those of unknown size. */
	assert_int_equal(
		count_sites((struct libcall_choice){ .all = true, .smallest_bytes = 1 << 30 },
			    library(), PLAN_CALL_HOOK, &nr_flagged),
		0);
	assert_int_equal(count_sites((struct libcall_choice){ .all = true }, "/dev/null",
				     PLAN_CALL_HOOK, &nr_flagged),
			 0);
}

static void check_forgotten(struct module_links *links)
{
	module_links_renew(links, library());
	assert_false(links->has_calls[true]);
	assert_int_equal(links->calls[true].len, 0);

	struct strbuf again cleanup_strbuf = sites_at(links, library(), 0);

	assert_true(again.len > 0);
	assert_true(links->has_calls[true]);
}

TEST(calls_of_a_file_that_has_changed_are_found_anew)
{
	struct module_links links = { 0 };
	struct strbuf sites cleanup_strbuf = sites_at(&links, library(), 0);
	uint64_t *const stamps[] = { &links.device, &links.inode, &links.size, &links.mtime_ns,
				     &links.ctime_ns };

	assert_true(sites.len > 0);
	for (size_t i = 0; i < ARRAY_SIZE(stamps); i++) {
		(*stamps[i])--;
		check_forgotten(&links);
	}
	module_links_renew(&links, library());
	assert_true(links.has_calls[true]);
	module_links_deinit(&links);
}

TEST(a_file_that_is_gone_has_no_calls)
{
	struct module_links links = { 0 };
	char path[] = "/tmp/utrail-libcalls-XXXXXX";
	int fd = mkstemp(path);
	int from = open(library(), O_RDONLY);

	assert_true(fd >= 0 && from >= 0);
	assert_true(sendfile(fd, from, NULL, 1 << 30) > 0);

	struct strbuf sites cleanup_strbuf = sites_at(&links, path, 0);

	assert_true(sites.len > 0);

	/*
	 * A file that has changed just now may change without a sign, so it is read each time. If a
	 * busy machine takes a second for this, nothing was tested.
	 */
	bool is_new = false;

	for (int i = 0; i < 20 && !is_new; i++) {
		assert_int_equal(fchmod(fd, 0600), 0);

		struct strbuf before cleanup_strbuf = sites_at(&links, path, 0);

		assert_int_equal(before.len, sites.len);
		((struct plan_call_site *)links.calls[true].data)->flags = 0x5ee7;

		struct strbuf again cleanup_strbuf = sites_at(&links, path, 0);

		assert_int_equal(again.len, sites.len);
		is_new = clock_now_ns(CLOCK_REALTIME) < links.ctime_ns + NSEC_PER_SEC;
		if (is_new)
			assert_memory_equal(again.data, sites.data, sites.len);
	}
	assert_int_equal(unlink(path), 0);

	struct strbuf gone cleanup_strbuf = sites_at(&links, path, 0);

	assert_int_equal(gone.len, 0);
	assert_false(links.has_calls[true]);
	close(fd);
	close(from);
	module_links_deinit(&links);
}

TEST(needed_libraries_are_found_once)
{
	struct module_links links = { 0 };
	const struct strbuf *names = module_links_needed(&links, library());

	assert_true(strbuf_list_has(names, "libc.so.6"));
	assert_true(links.has_needed);
	strbuf_list_add(&links.needed, "libsentinel.so");
	assert_true(strbuf_list_has(module_links_needed(&links, library()), "libsentinel.so"));
	links.size--;
	assert_false(strbuf_list_has(module_links_needed(&links, library()), "libsentinel.so"));
	module_links_deinit(&links);
}
