/* Functions with room for a hook, with a call of one, or as they were shipped: which are patched, as patches of a plan. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_PATCHES_H
#define UTRAIL_CMDS_RECORD_PLAN_PATCHES_H

#include "cmds/msg.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/plan/unprepared.h"
#include "utils/base/strbuf.h"
#include "utils/format/control.h"

struct known_module;

/* What all modules have in common. Starts as { 0 }, ends with patches_deinit(). Only the control thread touches it. */
struct patches {
	struct strbuf complaints; /* to be told at the end, each with its NUL */
	bool wants_verdicts;
	/* Called with @tick_arg now and then while files are looked at; NULL: nobody wants to know. */
	void (*tick)(void *arg);
	void *tick_arg;
};

void patches_deinit(struct patches *patches);

/*
 * Of one file, as a program or as a library.
 *
 * @found: struct found_patch
 * @nr_short, @nr_unknown: as in struct prepared
 * @nr_chosen: the functions of an unprepared file that rules put hooks into
 * @counts: of these, by enum unprepared_way
 * @verdicts: each of these in a line, "ADDRESS NAME: how or why not", each with its NUL; when they are wanted
 */
struct module_patches {
	bool is_known;
	struct strbuf found;
	size_t nr_functions;
	size_t nr_short;
	size_t nr_unknown;
	size_t nr_chosen;
	size_t counts[UNPREPARED_WAYS];
	struct strbuf verdicts;
};

void module_patches_deinit(struct module_patches *patches);

/* Find out what of @known is to be patched, as a program or as a library; once is enough. */
void patches_find(struct patches *patches, const struct record_settings *settings,
		  struct known_module *known, bool is_program);

/* Add a struct plan_patch to @out for each place that was found in @known, which is loaded as @module. */
void patches_bind(const struct known_module *known, const struct control_module *module,
		  bool is_program, struct strbuf *out);

/*
 * At the end: say what could not be patched, and which rules are about nothing. @names: of functions that there are, each with its NUL.
 */
void patches_warn(const struct patches *patches, const struct patch_rules *rules,
		  const struct strbuf *names, const struct msg *msg);

/* Whether any rule is about nothing. */
bool patches_have_unmatched(const struct patch_rules *rules);

#endif
