/*
 * Functions with room for a hook, with a call of one, or unprepared: the patched ones become
 * patches of a plan.
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
 * Data that all modules share. Starts as { 0 }, ends with patches_deinit(). Only the control thread
 * touches it.
 */
struct patches {
	struct strbuf complaints; /* lines to print at the end, each with its NUL */
	bool wants_verdicts;
	/* Called with @tick_arg now and then while files are searched; NULL: not wanted. */
	void (*tick)(void *arg);
	void *tick_arg;
	/* CPU time that went into looking at files. */
	uint64_t took_ns;
};

void patches_deinit(struct patches *patches);

/*
 * Patches of an unprepared file in the form of its known functions. It takes a quarter of the
 * memory of struct found_patch. Starts as { 0 }.
 *
 * @chosen: by function of @known: it is patched; NULL: this struct is empty
 * @nr: their number of patches
 */
struct packed_patches {
	struct known_functions known;
	bool *chosen;
	size_t nr;
};

/*
 * The patches of one file, as a program or as a library.
 *
 * @packed: of an unprepared file, until single patches are needed:
 *          module_patches_unpack()
 * @found: struct found_patch; those that belong together follow each other
 * @nr_short, @nr_unknown: as in struct prepared
 * @nr_chosen: the functions of an unprepared file that rules put hooks into
 * @counts: of these, by enum unprepared_way
 * @verdicts: a line for each of these, "ADDRESS NAME: how or why not", each with its NUL; only if
 *            they are wanted
 * @has_constructors: it has some of its own
 * @is_late_told: it was reported that these were not recorded
 * @is_of_cache: its functions come from the cache
 * @base: of the file's addresses
 * @has_calls: @found has all calls of hooks, too; those that are not taken out are out
 * @by_func: an index of @found by functions, made on demand
 *
 * Once rules have changed while programs run (patches_turn()):
 *
 * @has_all: @found has all that could be patched; patches that are not wanted are out
 * @generation: of the rules that have chosen last
 * @symbols: of the file
 * @refused: struct patch_refusal: functions that cannot be patched; @why_not: none can be, or NULL;
 *           lives for ever
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

/* True when anything is to be patched, or might be. */
static inline bool module_patches_has_any(const struct module_patches *patches)
{
	return patches->packed.nr || patches->found.len;
}

/* From now on all are in @found. */
void module_patches_unpack(struct module_patches *patches);

/* Find the patches of @known, as a program or as a library; once is enough. */
void patches_find(struct patches *patches, const struct record_settings *settings,
		  struct known_module *known, bool is_program);

/*
 * A process has loaded @known while it ran, and its patches are put in now. Its constructors have
 * run by then, which must be reported.
 */
void patches_note_late(struct patches *patches, struct known_module *known);

/* The numbers of functions that have got hooks, and of those that have lost them. */
struct patches_turned {
	size_t nr_in;
	size_t nr_out;
};

/*
 * The rules of @settings have changed: choose the patches of @known again. The file is searched
 * when the first such change concerns it; later changes only choose. Returns 0 or -ENOMEM. A
 * function that cannot be patched is no error: it counts as no match of a rule.
 */
int patches_turn(const struct record_settings *settings, struct known_module *known,
		 bool is_program, struct patches_turned *turned);

/*
 * For functions that are left out (known_module.left_out): find calls of compiled-in hooks, once;
 * tell whether the function from @start to @end (relative to the file's start) has hooks that can
 * be taken out; and, after a change of the list, mark their hooks as out, also for later processes.
 */
void patches_find_calls(struct known_module *known);
bool patches_can_go(struct known_module *known, bool is_program, uint64_t start, uint64_t end);
void patches_leave_out(struct known_module *known);

/* Add a struct plan_patch to @out for each patch found in @known, which is loaded as @module. */
void patches_bind(const struct known_module *known, const struct control_module *module,
		  bool is_program, struct strbuf *out);

/*
 * The possible patches of one process, and the wanted ones. Starts as { 0 }, ends with
 * process_patches_deinit().
 *
 * @all: struct plan_patch; those that belong together follow each other, and only the last of
 *       them is not silent
 * @sites, @wanted: uint64_t, sorted: places of all patches that change text; places of patches
 *                 that must be in
 * @ends: struct patch_end, sorted: the sites that tell the ends of calls
 */
struct process_patches {
	struct strbuf all;
	struct strbuf sites;
	struct strbuf wanted;
	struct strbuf ends;
};

/* @func: where the function begins */
struct patch_end {
	uint64_t site;
	uint64_t func;
};

void process_patches_deinit(struct process_patches *patches);
#define cleanup_process_patches cleanup(process_patches_deinit)

/*
 * Add the patches that rules have chosen in @known (patches_turn()), which is loaded as @module;
 * then process_patches_sort() must be called.
 */
void process_patches_add(struct process_patches *patches, const struct known_module *known,
			 const struct control_module *module, bool is_program);
/* Add only patches of functions that are left out. */
void process_patches_add_left_out(struct process_patches *patches, struct known_module *known,
				  const struct control_module *module, bool is_program);
void process_patches_sort(struct process_patches *patches);

/*
 * To be called once they are sorted, for a process that gets no new hooks: keep only those of @all
 * that must be in its text. A hook that must go and that its probe does not know is not there.
 */
void process_patches_keep_wanted(struct process_patches *patches);

/* Returns the one of @ends at @site, once they are sorted; NULL: that patch tells no end. */
const struct patch_end *process_patches_end(const struct process_patches *patches, uint64_t site);

/*
 * At the end: report functions that could not be patched, and rules without a match. @names: names
 * of existing functions, each with its NUL.
 */
void patches_warn(const struct patches *patches, const struct patch_rules *rules,
		  const struct strbuf *names, const struct msg *msg);

/*
 * Explain why @rule has no match; @is_of: the origin of the rule: "option '--patch'".
 * @names: as above
 */
void patches_explain(const struct patch_rule *rule, const char *is_of, const struct strbuf *names,
		     struct strbuf *out);

/* True when any rule is about nothing. */
bool patches_have_unmatched(const struct patch_rules *rules);

#endif
