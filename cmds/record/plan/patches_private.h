/* The declarations that patches.c, patches_turn.c and patches_unprepared.c share. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_PATCHES_PRIVATE_H
#define UTRAIL_CMDS_RECORD_PLAN_PATCHES_PRIVATE_H

#include "cmds/record/base/settings.h"
#include "cmds/record/plan/known_functions.h"
#include "cmds/record/plan/patches.h"
#include "utils/format/sym.h"
#include "utils/object/elf_file.h"
#include "utils/object/code/functions.h"

struct known_module;

/*
 * A file that is being searched.
 *
 * @base: the address that addresses of @symbols are relative to
 * @smallest: smaller functions are not recorded
 * @why_not: a constant text, the reason why nothing can be patched; or NULL
 * @name, @others: buffers for names
 */
struct finding {
	const struct record_settings *settings;
	struct known_module *known;
	bool is_program;
	bool wants_verdicts;
	uint64_t base;
	uint64_t smallest;
	struct symtab symbols;
	const char *why_not;
	struct strbuf name;
	struct strbuf others;
	void (*tick)(void *arg);
	void *tick_arg;
	struct module_patches *out;
};

/* Put the names of @sym into f->name and f->others, which @subject refers to. */
struct patch_subject;
void finding_name(struct finding *f, const struct symbol *sym, struct patch_subject *subject);

/*
 * Returns the rules' choice for the function @sym (NULL: it has no name). The rules note that it
 * can be patched (@can_be), or the reason @why_not.
 */
enum patch_choice finding_choose(struct finding *f, const struct symbol *sym, bool can_be,
				 const char *why_not);

/*
 * True when a place of kind @what in the function @sym (or NULL) must be patched, after the rules'
 * @choice.
 */
bool finding_wants(const struct finding *f, unsigned what, const struct symbol *sym,
		   enum patch_choice choice);

/* True when the file may be searched: an unprepared file is searched only on request. */
bool finding_may_be(const struct record_settings *settings, const struct known_module *known,
		    bool is_program);

/* Returns the patch for a site that the compiler has prepared. */
struct prepared_site;
struct found_patch;
struct found_patch found_patch_of_prepared(const struct prepared_site *site);

/* Returns the symbol that begins at @at, or NULL. @symbols: sorted */
const struct symbol *finding_symbol(const struct symtab *symbols, uint64_t at);

/*
 * Find the facts about an unprepared file, in the cache or in the file, and name the functions that
 * f->symbols lacks. Returns 0 or negative errno; -ENOSYS has a text. When f->why_not is set, there
 * are no facts.
 */
int finding_known(struct finding *f, const struct elf_file *file, struct known_functions *known,
		  struct uft_err *err);

/* Find the patches of an unprepared file. Returns 0 or negative errno; -ENOSYS has a text. */
int finding_unprepared(struct finding *f, const struct elf_file *file, struct uft_err *err);

#endif
