/*
 * Functions with room for a hook, with a call of one, or as they were shipped: which are patched,
 * as patches of a plan.
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
 * The data that all modules have in common. Starts as { 0 }, ends with patches_deinit(). Only the
 * control thread touches it.
 */
struct patches {
	struct strbuf complaints; /* to be told at the end, each with its NUL */
	bool wants_verdicts;
	/*
	 * Called with @tick_arg now and then while files are looked at; NULL: nobody wants to know.
	 */
	void (*tick)(void *arg);
	void *tick_arg;
	/* CPU time that went into looking at files. */
	uint64_t took_ns;
};

void patches_deinit(struct patches *patches);

/*
 * Patches of an unprepared file as they are known of it, which takes a quarter of the memory that
 * struct found_patch does. Starts as { 0 }.
 *
 * @chosen: which functions of @known are patched; NULL: there is nothing in here
 * @nr: patches of these
 */
struct packed_patches {
	struct known_functions known;
	bool *chosen;
	size_t nr;
};

/*
 * The patches of one file, as a program or as a library.
 *
 * @packed: of a file that was not compiled for it, until somebody asks for single patches:
 *          module_patches_unpack()
 * @found: struct found_patch; those that belong together follow each other
 * @nr_short, @nr_unknown: as in struct prepared
 * @nr_chosen: the functions of an unprepared file that rules put hooks into
 * @counts: of these, by enum unprepared_way
 * @verdicts: each of these in a line, "ADDRESS NAME: how or why not", each with its NUL; when they
 *            are wanted
 * @has_constructors: it has some of its own
 * @is_late_told: it was said that these were not recorded
 * @is_of_cache: its functions were found out an earlier time
 * @base: of the file's addresses
 * @has_calls: @found has all calls of hooks, too; those that are not taken out are out
 * @by_func: @found by functions, as far as somebody has asked
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

/* Find out what of @known is to be patched, as a program or as a library; once is enough. */
void patches_find(struct patches *patches, const struct record_settings *settings,
		  struct known_module *known, bool is_program);

/*
 * A process has loaded @known while it ran, and its patches are put in now. Its constructors have
 * run by then, which is to be told.
 */
void patches_note_late(struct patches *patches, struct known_module *known);

/* The numbers of functions that have got a hook, and that have none any more. */
struct patches_turned {
	size_t nr_in;
	size_t nr_out;
};

/*
 * The rules of @settings have changed: which of what could be patched in @known is to be from now
 * on. It is looked for when the first such change is about this file, and later changes only
 * choose. 0 or -ENOMEM; what cannot be patched at all is not an error: no rule has a match then.
 */
int patches_turn(const struct record_settings *settings, struct known_module *known,
		 bool is_program, struct patches_turned *turned);

/*
 * The work for functions that are left out (known_module.left_out). Calls of hooks that were
 * compiled into them are found, once. A function from @start to @end, relative to the file's start,
 * is asked whether it has hooks that can be taken out. After a change of that list, hooks that are
 * to go become out, for processes that come, too.
 */
void patches_find_calls(struct known_module *known);
bool patches_can_go(struct known_module *known, bool is_program, uint64_t start, uint64_t end);
void patches_leave_out(struct known_module *known);

/*
 * Add a struct plan_patch to @out for each place that was found in @known, which is loaded as
 * @module.
 */
void patches_bind(const struct known_module *known, const struct control_module *module,
		  bool is_program, struct strbuf *out);

/*
 * The possible patches of one process, and the wanted ones. Starts as { 0 }, ends with
 * process_patches_deinit().
 *
 * @all: struct plan_patch; those that belong together follow each other, and the last of them is
 *       the one that is not silent
 * @sites, @wanted: uint64_t, sorted: places of all of them that text is written at; those where a
 *                 patch is to be
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
 * Add what rules have chosen of @known (patches_turn()), which is loaded as @module; then
 * process_patches_sort() is due.
 */
void process_patches_add(struct process_patches *patches, const struct known_module *known,
			 const struct control_module *module, bool is_program);
/* Only those of functions that are left out. */
void process_patches_add_left_out(struct process_patches *patches, struct known_module *known,
				  const struct control_module *module, bool is_program);
void process_patches_sort(struct process_patches *patches);

/*
 * Once they are sorted, for a process that gets no hook that it has not had: of @all keep only what
 * is to be in its text. A hook that is to go and that its probe does not know is not there.
 */
void process_patches_keep_wanted(struct process_patches *patches);

/* The one of @ends that is at @site, once they are sorted; NULL: what is there tells no end. */
const struct patch_end *process_patches_end(const struct process_patches *patches, uint64_t site);

/*
 * At the end: say what could not be patched, and which rules are about nothing. @names: of
 * functions that there are, each with its NUL.
 */
void patches_warn(const struct patches *patches, const struct patch_rules *rules,
		  const struct strbuf *names, const struct msg *msg);

/*
 * Why @rule, which has no match, is about nothing; @is_of: what has said it: "option '--patch'".
 * @names: as above
 */
void patches_explain(const struct patch_rule *rule, const char *is_of, const struct strbuf *names,
		     struct strbuf *out);

/* True when any rule is about nothing. */
bool patches_have_unmatched(const struct patch_rules *rules);

#endif
