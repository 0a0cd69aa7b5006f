/* The parts that patches.c and patches_unprepared.c have in common. */
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
 * One file on its way.
 *
 * @base: of the file's addresses, to which those of @symbols are relative
 * @smallest: functions of fewer bytes are not recorded
 * @why_not: nothing of it can be patched, with the reason; lives for ever
 * @name, @others: room for texts
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

/* Put the names of @sym to f->name and f->others, which @subject refers to. */
struct patch_subject;
void finding_name(struct finding *f, const struct symbol *sym, struct patch_subject *subject);

/*
 * The rules' choice for the function @sym (NULL: it has no name); they note whether it @can_be
 * patched, or why not.
 */
enum patch_choice finding_choose(struct finding *f, const struct symbol *sym, bool can_be,
				 const char *why_not);

/*
 * True when a place of the function @sym (or NULL) is to be patched as @what says, for which the
 * rules say @choice.
 */
bool finding_wants(const struct finding *f, unsigned what, const struct symbol *sym,
		   enum patch_choice choice);

/*
 * True when the file may be looked at. If it was not compiled for it, somebody must have asked for
 * it.
 */
bool finding_may_be(const struct record_settings *settings, const struct known_module *known,
		    bool is_program);

/* One that the file was compiled with. */
struct prepared_site;
struct found_patch;
struct found_patch found_patch_of_prepared(const struct prepared_site *site);

/* @symbols: sorted; the symbol that begins at @func, or NULL. */
const struct symbol *finding_symbol(const struct symtab *symbols, uint64_t at);

/*
 * Find the facts about a file that was not compiled for it, from the cache or from itself, with
 * names for functions that have none in f->symbols. 0; nothing is known when f->why_not says so; or
 * negative errno, with a text when it is -ENOSYS.
 */
int finding_known(struct finding *f, const struct elf_file *file, struct known_functions *known,
		  struct uft_err *err);

/*
 * Find the patches of a file that was not compiled for it. 0, or negative errno with a text when it
 * is -ENOSYS.
 */
int finding_unprepared(struct finding *f, const struct elf_file *file, struct uft_err *err);

#endif
