/*
 * Finds functions that can be patched, and makes the patches of a plan. In some of these functions,
 * the compiler has left room for a hook. In others, the compiler has added a call of a hook. The
 * remaining functions are unprepared.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_PATCHES_H
#define UTRAIL_CMDS_RECORD_PLAN_PATCHES_H

#include "cmds/terminal/msg.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/known_functions.h"
#include "cmds/record/plan/unprepared.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/control.h"
#include "utils/format/sym.h"

struct known_module;

/*
 * The data that all modules share. The caller initializes the struct with { 0 }, and calls
 * patches_deinit() at the end. Only the control thread uses the struct.
 */
struct patches {
	struct strbuf complaints; /* lines to print at the end, each with its NUL */
	bool wants_verdicts;
	/* called with @tick_arg from time to time while files are searched; may be NULL */
	void (*tick)(void *arg);
	void *tick_arg;
	/* CPU time of the search in files */
	uint64_t took_ns;
};

void patches_deinit(struct patches *patches);

/*
 * The patches of a file that was not compiled for tracing (unprepared.h). A list of struct
 * found_patch with the same patches would take four times as much memory. A struct packed_patches
 * starts as { 0 }.
 *
 * @chosen: for each function in @known, true when the function is to be patched. NULL: the struct
 *          is empty
 * @nr: the number of patches of the chosen functions
 */
struct packed_patches {
	struct known_functions known;
	bool *chosen;
	size_t nr;
};

/*
 * The patches of a file for one use of the file: as a program, or as a library.
 *
 * @packed: the patches of an unprepared file, until module_patches_unpack() moves them to @found
 * @found: a list of struct found_patch. Directly after each patch with PLAN_PATCH_SILENT comes the
 *         patch that uses the jump of the silent patch
 * @nr_short, @nr_unknown: as in struct prepared
 * @nr_chosen: the number of functions that rules choose in an unprepared file. Some of these
 *             functions may be impossible to patch
 * @counts: the number of chosen functions, by enum unprepared_way
 * @verdicts: for each chosen function, "ADDRESS NAME: TEXT" with a NUL. TEXT tells how the
 *            function is patched, or why the function cannot be patched. Empty unless
 *            patches.wants_verdicts is set
 * @has_constructors: the file has its own constructors
 * @is_late_told: it was reported that the constructors were not recorded
 * @base: the lowest address in the file
 * @has_calls: @found has the patches of patches_find_calls(), which replace calls of hooks by nops.
 *             If a patch must not be made, found_patch.is_out is set
 * @by_func: an index of @found by functions, made when it is needed
 *
 * The members below are used when the rules change during the recording (patches_turn()):
 *
 * @has_all: @found has all possible patches. If a patch is not wanted, found_patch.is_out is set
 * @generation: the generation of the rules that were applied last
 * @refused: a list of struct patch_refusal. Each element describes a function that cannot be
 *           patched
 * @why_not: the reason why no function can be patched, as a constant text, or NULL
 */
struct module_patches {
	bool is_known;
	struct packed_patches packed;
	struct strbuf found;
	size_t nr_functions;
	size_t nr_short;
	size_t nr_unknown;
	size_t nr_chosen;
	size_t counts[UNPREPARED_WAYS];
	struct strbuf verdicts;
	bool is_of_cache;
	bool has_constructors;
	bool is_late_told;
	uint64_t base;
	bool has_calls;
	struct found_index by_func;

	bool has_all;
	unsigned generation;
	struct symtab symbols;
	struct strbuf refused;
	const char *why_not;
};

void module_patches_deinit(struct module_patches *patches);

/* True when the file has patches. A patch counts even if found_patch.is_out is set. */
static inline bool module_patches_has_any(const struct module_patches *patches)
{
	return patches->packed.nr || patches->found.len;
}

/* Move all patches from @packed to @found. */
void module_patches_unpack(struct module_patches *patches);

/*
 * Find the patches of @known. A file that was searched before with the same @is_program is not
 * searched again.
 *
 * @is_program: the file is used as a program; false: as a library
 */
void patches_find(struct patches *patches, const struct record_settings *settings,
		  struct known_module *known, bool is_program);

/*
 * Report that constructors of @known were not recorded. A process has loaded the file at run time,
 * and the constructors ran before the patches were made.
 */
void patches_note_late(struct patches *patches, struct known_module *known);

/* The number of functions that have got hooks, and the number of functions that have lost hooks. */
struct patches_turned {
	size_t nr_in;
	size_t nr_out;
};

/*
 * Choose the patches of @known again, after the rules in @settings have changed. Only the first
 * call searches the file. A rule does not match a function that cannot be patched. Returns 0 or a
 * negative errno; -E2BIG: see known_functions_make().
 */
int patches_turn(const struct record_settings *settings, struct known_module *known,
		 bool is_program, struct patches_turned *turned);

/*
 * The option --overhead leaves out functions of the program (known_module.left_out). The next three
 * functions prepare patches that take the hooks out of such functions.
 *
 * patches_find_calls() finds the instructions that call hooks. patches_can_go() is true when the
 * function from @start to @end has a hook that can be taken out. Both addresses are relative to the
 * file's start. After a change of known_module.left_out, patches_leave_out() sets
 * found_patch.is_out so that the functions in known_module.left_out lose their hooks. Running
 * processes and later processes get these patches.
 */
void patches_find_calls(struct known_module *known);
bool patches_can_go(struct known_module *known, bool is_program, uint64_t start, uint64_t end);
void patches_leave_out(struct known_module *known);

/*
 * Add to @out a struct plan_patch for each patch of the file @known. Patches with
 * found_patch.is_out are skipped.
 *
 * @module: the module that a process has loaded from this file
 */
void patches_bind(const struct known_module *known, const struct control_module *module,
		  bool is_program, struct strbuf *out);

/*
 * The possible patches and the wanted patches of a process. The struct starts as { 0 }.
 *
 * @all: a list of struct plan_patch. Patches that belong together stand together, as a group. All
 *       patches of a group except the last patch have PLAN_PATCH_SILENT
 * @sites: the sites of all patches that change text, as sorted uint64_t
 * @wanted: the sites of patches that must be in the text, as sorted uint64_t
 * @ends: the sites at ends of functions, as sorted struct patch_end
 */
struct process_patches {
	struct strbuf all;
	struct strbuf sites;
	struct strbuf wanted;
	struct strbuf ends;
};

/* @func: the start of the function */
struct patch_end {
	uint64_t site;
	uint64_t func;
};

void process_patches_deinit(struct process_patches *patches);
#define cleanup_process_patches cleanup(process_patches_deinit)

/*
 * Add all patches of @known, wanted or not. patches_turn() has decided which of these patches are
 * wanted. The process has loaded @known as @module. Call process_patches_sort() after the patches
 * of all modules were added.
 */
void process_patches_add(struct process_patches *patches, const struct known_module *known,
			 const struct control_module *module, bool is_program);
/* Like process_patches_add(), but only for patches of functions that are left out. */
void process_patches_add_left_out(struct process_patches *patches, struct known_module *known,
				  const struct control_module *module, bool is_program);
/* Sort the lists. Returns 0, or -ENOMEM if memory was short when the patches were added. */
int process_patches_sort(struct process_patches *patches);

/*
 * Drop each group of patches in @all that has no site in @wanted. Call this function for a process
 * that loses hooks, and gets no new hooks. The dropped groups are the groups of the lost hooks. The
 * recorder need not send these groups, because the probe of the process already knows them. Call
 * process_patches_sort() first.
 */
void process_patches_keep_wanted(struct process_patches *patches);

/*
 * Returns the entry of @ends for @site, or NULL when no function ends at @site. Call
 * process_patches_sort() first.
 */
const struct patch_end *process_patches_end(const struct process_patches *patches, uint64_t site);

/*
 * Report functions that could not be patched, and rules without a match. Call this function after
 * all files were searched.
 *
 * @names: the names of existing functions, each with its NUL
 */
void patches_warn(const struct patches *patches, const struct patch_rules *rules,
		  const struct strbuf *names, const struct msg *msg);

/*
 * Append to @out the reason why @rule has no match.
 *
 * @is_of: the origin of the rule, such as "option '--patch'"
 * @names: the names of existing functions, each with its NUL
 */
void patches_explain(const struct patch_rule *rule, const char *is_of, const struct strbuf *names,
		     struct strbuf *out);

/* True when a rule names a file. A rule that names no file is only about the program. */
bool patches_name_files(const struct patch_rules *rules);

/* True when a rule has no match. */
bool patches_have_unmatched(const struct patch_rules *rules);

#endif
