/* The files that are modules of traced processes. All processes share the facts about a file. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_MODULES_H
#define UTRAIL_CMDS_RECORD_PLAN_MODULES_H

#include <stdbool.h>

#include "cmds/record/base/settings.h"
#include "cmds/record/plan/libcalls.h"
#include "cmds/record/plan/patches.h"
#include "cmds/record/plan/points.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/strmap.h"
#include "utils/format/probe/plan.h"
#include "utils/format/sym.h"
#include "utils/object/build_id.h"

/*
 * A function that utrail leaves out, because recording the function costs too much
 * (control/overhead.c).
 *
 * @func: the function, relative to the start of the file. Its rule is PLAN_NO_RULE
 * @rate: as in struct budget_func
 * @rules: the generation of the rules of -P and -U at the time when the function was left out.
 *         If a later rule of -P chooses the function, the function is recorded again
 * @can_go: the function has hooks that can be taken out
 * @stays: in at least one process, the hooks could not be taken out
 * @is_back: the user has put the hooks back in. The function is recorded, and is not left out again
 * @is_told: readers were informed of @is_back
 * @reach: the greatest func.end of this function and of all functions before it in the list. A
 *         function may contain other functions, so func.end does not always ascend
 */
struct module_left_out {
	struct plan_func func;
	uint64_t reach;
	double rate;
	unsigned rules;
	bool can_go;
	bool stays;
	bool is_back;
	bool is_told;
};

/*
 * A file that was seen as a module of a process.
 *
 * @build_id: in hex, "" when the file has none
 * @is_instrumented: the compiler has put calls of the probe's hooks, or room for such calls, into
 *         functions of the file
 * @has_functions: functions of the file can have records, because @is_instrumented is true, or
 *         because the recorder patches functions of the file
 * @switches_stacks: see struct object_program
 * @is_saved: the file's symbols were saved in the recording
 * @is_bound: @funcs is complete
 * @funcs: a list of struct plan_func: functions that options choose, and small functions (see
 *         binding.listed_below). Addresses are relative to the file's start
 * @left_out: a list of struct module_left_out, sorted by start
 * @patches: [0]: if the file is used as a library; [1]: if the file is used as a program
 * @own_frames: a list of struct own_frames, valid if @has_own_frames_known
 * @callers_why: the reason why some return addresses into the file are not replaced. NULL: all are
 *               replaced
 * @unnamed: symbols with generated names, for functions without a name
 */
struct known_module {
	char *path;
	char build_id[BUILD_ID_HEX_SIZE];
	bool is_instrumented;
	bool calls_hooks;
	bool has_functions;
	bool switches_stacks;
	bool is_saved;
	bool is_bound;
	struct strbuf funcs;
	struct strbuf left_out;
	struct module_points points;
	struct module_patches patches[2];
	struct symtab unnamed;
	struct strbuf own_frames;
	bool has_own_frames_known;
	struct module_links links;
	const char *callers_why;
	struct known_module *next;
};

/*
 * All modules. The list starts with the newest module. Modules stay in the list until the recording
 * ends. Only the control thread uses the modules and this struct. The struct starts as { 0 }.
 *
 * @reads_as_peer: rights_enter() has given the control thread the rights of a traced process. Files
 *         that the traced process may not read are not used
 * @nr_left_out: the number of calls of known_module_get() that failed because of
 *               KNOWN_MODULES_MAX. Several failed calls for one file count several times
 */
struct known_modules {
	struct known_module *first;
	struct strmap by_path;
	bool reads_as_peer;
	unsigned long long nr_left_out;
};

void known_modules_deinit(struct known_modules *modules);

/*
 * Returns the facts about the file @path. Many processes may share these facts. Returns NULL when
 * @path is not absolute, when there are too many files, or when memory is short. Returns NULL also
 * when @reads_as_peer is set and the traced process may not read the file. If reading the file
 * fails for another reason, the result says that the file is not instrumented.
 */
struct known_module *known_module_get(struct known_modules *modules, const char *path);

/*
 * Load the symbols of the file @path. If the directory of --with-syms has no symbols of this file,
 * the symbols are read from the file itself. Returns 0 or a negative errno.
 */
int symbols_load(const struct record_settings *settings, const char *path, const char *build_id,
		 struct symtab *out);

/*
 * Load the symbols of a known file as symbols_load() does, and add its @unnamed functions. If a
 * function has several names, @out has the name that the options use.
 */
int known_symbols_load(const struct record_settings *settings, const struct known_module *known,
		       struct symtab *out);

/*
 * known_left_out_each() visits all functions of known_module.left_out. known_left_out_at() returns
 * the innermost of these functions that contains the address @at, or NULL when no function contains
 * this address. The address is relative to the file's start.
 */
#define known_left_out_each(known, at)                                                      \
	for (struct module_left_out *at = (struct module_left_out *)(known)->left_out.data; \
	     at && (char *)at < (known)->left_out.data + (known)->left_out.len; at++)

struct module_left_out *known_left_out_at(const struct known_module *known, uint64_t at);

/* Add a function that is not in the list yet. Returns 0 or -ENOMEM. */
int known_left_out_add(struct known_module *known, const struct module_left_out *left);

#endif
