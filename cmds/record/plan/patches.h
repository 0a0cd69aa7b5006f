/* Functions that were compiled with room for a hook, or with a call of one: which are patched, as patches of a plan. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_PATCHES_H
#define UTRAIL_CMDS_RECORD_PLAN_PATCHES_H

#include "cmds/msg.h"
#include "cmds/record/base/settings.h"
#include "utils/base/strbuf.h"
#include "utils/format/control.h"

struct known_module;

/* What all modules have in common. Starts as { 0 }, ends with patches_deinit(). Only the control thread touches it. */
struct patches {
	struct strbuf complaints; /* to be told at the end, each with its NUL */
};

void patches_deinit(struct patches *patches);

/*
 * Of one file, as a program or as a library.
 *
 * @found: struct found_patch
 * @nr_short, @nr_unknown: as in struct prepared
 */
struct module_patches {
	bool is_known;
	struct strbuf found;
	size_t nr_functions;
	size_t nr_short;
	size_t nr_unknown;
};

void module_patches_deinit(struct module_patches *patches);

/* Add a struct plan_patch to @out for each place of @known, loaded as @module, that is to be patched. */
void patches_bind(struct patches *patches, const struct record_settings *settings,
		  struct known_module *known, const struct control_module *module, bool is_program,
		  struct strbuf *out);

/*
 * At the end: say what could not be patched, and which rules are about nothing. @names: of functions that there are, each with its NUL.
 */
void patches_warn(const struct patches *patches, const struct patch_rules *rules,
		  const struct strbuf *names, const struct msg *msg);

/* Whether any rule is about nothing. */
bool patches_have_unmatched(const struct patch_rules *rules);

#endif
