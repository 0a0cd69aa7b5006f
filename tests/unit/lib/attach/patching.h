/* A file, rules of -P and -U, and the functions to patch in it. */
#ifndef UTRAIL_TESTS_UNIT_PATCHING_H
#define UTRAIL_TESTS_UNIT_PATCHING_H

#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/modules.h"

#define LIBRARY false
#define BIAS	0x10000

struct place {
	struct patch_rules rules;
	struct filters filters;
	struct record_settings settings;
	struct known_modules modules;
	struct patches patches;
	struct known_module *known;
};

static inline int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->settings = (struct record_settings){ .patches = &p->rules, .filters = &p->filters };
	*state = p;
	return 0;
}

static inline int teardown(void **state)
{
	struct place *p = *state;

	patch_rules_deinit(&p->rules);
	patches_deinit(&p->patches);
	known_modules_deinit(&p->modules);
	free(p);
	return 0;
}

static inline void patching_load(struct place *p, const char *path, const char *rules)
{
	if (rules)
		assert_int_equal(patch_rules_parse(rules, MATCH_GLOB, &p->rules, NULL), 0);
	p->known = known_module_get(&p->modules, path);
	assert_non_null(p->known);
	assert_ptr_equal(known_module_get(&p->modules, path), p->known);
}

static inline void patching_find(struct place *p)
{
	patches_find(&p->patches, &p->settings, p->known, LIBRARY);
}

/* Adds rules, as the user does while the program runs. */
static inline void patching_add_rules(struct place *p, const char *text)
{
	struct patch_rules more = { 0 };
	struct patch_rules_change change = { 0 };

	assert_int_equal(patch_rules_parse(text, MATCH_GLOB, &more, NULL), 0);
	assert_int_equal(patch_rules_add(&p->rules, &more, &change), 0);
	patch_rules_keep(&p->rules, &change);
	patch_rules_deinit(&more);
}

static inline void patching_turn(struct place *p, size_t nr_in, size_t nr_out)
{
	struct patches_turned turned = { 0 };

	assert_int_equal(patches_turn(&p->settings, p->known, LIBRARY, &turned), 0);
	assert_int_equal(turned.nr_in, nr_in);
	assert_int_equal(turned.nr_out, nr_out);
}

static inline struct symtab patching_symbols(const struct place *p)
{
	struct symtab symbols = { 0 };

	assert_int_equal(known_symbols_load(&p->settings, p->known, &symbols), 0);
	return symbols;
}

static inline const struct symbol *patching_symbol(const struct symtab *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->nr; i++) {
		if (strcmp(symbols->syms[i].name, name) == 0)
			return &symbols->syms[i];
	}
	fail_msg("there is no %s", name);
	return NULL;
}

static inline size_t patching_count_found(const struct place *p)
{
	module_patches_unpack(&p->known->patches[LIBRARY]);
	return p->known->patches[LIBRARY].found.len / sizeof(struct found_patch);
}

static inline struct found_patch *patching_found_at(const struct place *p, size_t i)
{
	module_patches_unpack(&p->known->patches[LIBRARY]);
	return (struct found_patch *)p->known->patches[LIBRARY].found.data + i;
}

#endif
