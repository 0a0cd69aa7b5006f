/*
 * Unit tests of cmds/record/plan/patches_turn.c: functions of a file that can be patched, changes
 * of rules, and functions that are left out.
 */
#include "tests/unit/lib/attach/patching.h"

#include <unistd.h>

#include "utils/base/compiler.h"

/*
 * A library whose functions call a hook, and one with functions of all shapes
 * (lib/attach/traced_children.c, lib/probe/shapes.c).
 */
static const char *with_calls;
static const char *shapes;

static struct plan_func func(const struct place *p, const char *name)
{
	struct symtab symbols cleanup_symtab = patching_symbols(p);
	const struct symbol *sym = patching_symbol(&symbols, name);

	return (struct plan_func){ sym->addr, sym->addr + sym->size };
}

/* Returns the patch that stands for the function, or NULL. */
static struct found_patch *place_of(const struct place *p, const char *name)
{
	uint64_t start = func(p, name).start + p->known->patches[LIBRARY].base;

	for (size_t i = 0; i < patching_count_found(p); i++) {
		if (patching_found_at(p, i)->func == start &&
		    found_patch_is_function(patching_found_at(p, i)))
			return patching_found_at(p, i);
	}
	return NULL;
}

/* --- shapes --- */

/* All places of a function come and go together, whatever kind of patch they have. */
TEST_WITH(all_places_of_a_function_turn_together, setup, teardown)
{
	struct place *p = *state;
	size_t nr_in = 0;

	patching_load(p, shapes, "shape_short@shapes");
	patching_find(p);
	patching_add_rules(p, "shape_p*@shapes;shape_loop@shapes");
	patching_turn(p, 3, 0);
	for (size_t i = 0; i < patching_count_found(p); i++) {
		bool is_ours = patching_found_at(p, i)->func == place_of(p, "shape_short")->func ||
			       patching_found_at(p, i)->func == place_of(p, "shape_plain")->func ||
			       patching_found_at(p, i)->func == place_of(p, "shape_pad")->func ||
			       patching_found_at(p, i)->func == place_of(p, "shape_loop")->func;

		assert_int_equal(patching_found_at(p, i)->is_out, !is_ours);
		nr_in += is_ours;
	}
	/* The short function counts, too: its jump goes through an island. */
	assert_int_equal(nr_in, 5);
	assert_true(p->known->has_functions);
	patching_add_rules(p, "!shape_short@shapes");
	patching_turn(p, 0, 1);
	for (size_t i = 0; i < patching_count_found(p); i++)
		nr_in -= !patching_found_at(p, i)->is_out;
	assert_int_equal(nr_in, 2);
	/* Each function is listed once, though it was searched twice. */
	for (size_t i = 0; i < patching_count_found(p); i++) {
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(patching_found_at(p, i)->patch.site,
					     patching_found_at(p, k)->patch.site);
	}
}

TEST_WITH(a_rule_learns_why_its_function_cannot_be_patched, setup, teardown)
{
	struct place *p = *state;

	patching_load(p, shapes, NULL);
	patching_add_rules(
		p, "shape_chosen@shapes;shape_byte@shapes;shape_plain@shapes;no_such@shapes");
	patching_turn(p, 1, 0);
	assert_false(p->rules.rules[0].has_match);
	assert_true(p->rules.rules[0].has_name);
	assert_string_equal(p->rules.rules[0].why_not, "the loader calls it to choose a function");
	assert_false(p->rules.rules[1].has_match);
	assert_true(p->rules.rules[1].why_not && p->rules.rules[1].why_not[0]);
	assert_true(p->rules.rules[2].has_match);
	assert_null(p->rules.rules[2].why_not);
	assert_false(p->rules.rules[3].has_match);
	assert_false(p->rules.rules[3].has_name);
}

TEST_WITH(of_a_file_that_cannot_be_patched_each_function_says_so, setup, teardown)
{
	struct place *p = *state;
	char dir[] = "/tmp/utrail-unit-XXXXXX";
	char path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/ld-linux-test.so", dir);
	assert_int_equal(symlink(shapes, path), 0);
	patching_load(p, path, NULL);
	patching_add_rules(p, "shape_plain@ld-linux-test;memcpy@other");
	patching_turn(p, 0, 0);
	assert_int_equal(patching_count_found(p), 0);
	assert_string_equal(p->known->patches[LIBRARY].why_not,
			    "it is needed before anything can be recorded");
	assert_false(p->rules.rules[0].has_match);
	assert_string_equal(p->rules.rules[0].why_not,
			    "it is needed before anything can be recorded");
	assert_null(p->rules.rules[1].why_not);
	unlink(path);
	rmdir(dir);
}

TEST_WITH(a_file_that_is_gone_has_nothing, setup, teardown)
{
	struct place *p = *state;

	patching_load(p, shapes, NULL);
	free(p->known->path);
	p->known->path = strdup("/dev/null/shapes");
	patching_add_rules(p, "shape_plain@shapes");
	patching_turn(p, 0, 0);
	assert_true(p->known->patches[LIBRARY].has_all);
	assert_int_equal(patching_count_found(p), 0);
	assert_false(p->known->has_functions);
}

/*
 * Put another patch before or after that of shape_pad, so that they share @delta bytes. @is_free:
 * shape_pad can be patched all the same
 */
static void with_another(void **state, bool is_ahead, int delta, bool is_free)
{
	struct place *p = *state;
	struct found_patch other, pad;

	patching_load(p, shapes, "shape_pad@shapes");
	patching_find(p);
	assert_int_equal(patching_count_found(p), 1);
	pad = *patching_found_at(p, 0);
	other = pad;
	other.func = 1;
	other.patch.site = is_ahead ? pad.patch.site - found_patch_reach(&pad) + delta
				    : pad.patch.site + found_patch_reach(&pad) - delta;
	*patching_found_at(p, 0) = other;
	patching_add_rules(p, "shape_p*d@shapes");
	patching_turn(p, is_free, 1);
	assert_int_equal(place_of(p, "shape_pad") != NULL, is_free);
	assert_int_equal(p->rules.rules[1].has_match, is_free);
	if (!is_free)
		assert_string_equal(p->rules.rules[1].why_not, "another patch has its room");
}

TEST_WITH(bytes_in_front_of_it_are_no_matter, setup, teardown)
{
	with_another(state, true, 0, true);
}

TEST_WITH(one_byte_at_its_beginning_is, setup, teardown)
{
	with_another(state, true, 1, false);
}

TEST_WITH(bytes_behind_it_are_no_matter, setup, teardown)
{
	with_another(state, false, 0, true);
}

TEST_WITH(one_byte_at_its_end_is, setup, teardown)
{
	with_another(state, false, 1, false);
}

/* --- calls of hooks --- */

/* The library's calls of hooks are found. They are in its code, and can be taken out. */
TEST_WITH(calls_of_hooks_are_found_when_they_are_needed, setup, teardown)
{
	struct place *p = *state;
	const struct module_patches *found;
	struct plan_func leaf;
	struct module_left_out left;
	size_t nr;

	patching_load(p, with_calls, NULL);
	assert_true(p->known->calls_hooks);
	found = &p->known->patches[LIBRARY];
	/* The module was not searched yet. */
	patches_find_calls(p->known);
	assert_int_equal(patching_count_found(p), 0);
	patching_find(p);
	assert_int_equal(patching_count_found(p), 0);
	patches_find_calls(p->known);
	nr = patching_count_found(p);
	assert_true(nr >= 4);
	assert_true(found->has_calls);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(patching_found_at(p, i)->patch.what, PATCH_NOP);
		assert_true(patching_found_at(p, i)->is_out);
	}
	/* The file is searched once, and only as a library. */
	patches_find_calls(p->known);
	assert_int_equal(patching_count_found(p), nr);
	assert_int_equal(p->known->patches[!LIBRARY].found.len, 0);

	leaf = func(p, "victim_leaf");
	assert_true(patches_can_go(p->known, LIBRARY, leaf.start, leaf.end));
	assert_false(patches_can_go(p->known, !LIBRARY, leaf.start, leaf.end));
	left = (struct module_left_out){ .func = leaf };
	assert_int_equal(known_left_out_add(p->known, &left), 0);
	patches_leave_out(p->known);
	assert_false(patches_can_go(p->known, LIBRARY, leaf.start, leaf.end));
	assert_false(place_of(p, "victim_leaf")->is_out);
	assert_true(place_of(p, "victim_sum")->is_out);
}

TEST_WITH(calls_that_rules_take_out_count_as_functions_without_hooks, setup, teardown)
{
	struct place *p = *state;

	patching_load(p, with_calls, "!victim_leaf@victims_calls");
	patching_find(p);
	assert_false(place_of(p, "victim_leaf")->is_out);
	assert_null(place_of(p, "victim_sum"));
	patching_add_rules(p, "!victim_s*@victims_calls;victim_leaf@victims_calls");
	patching_turn(p, 1, 2);
	assert_true(place_of(p, "victim_leaf")->is_out);
	assert_false(place_of(p, "victim_sum")->is_out);
	assert_false(place_of(p, "victim_same")->is_out);
	assert_true(place_of(p, "victim_large")->is_out);
	/* All sites are known now. */
	size_t nr = patching_count_found(p);

	patches_find_calls(p->known);
	assert_int_equal(patching_count_found(p), nr);
	assert_false(p->known->patches[LIBRARY].has_calls);
}

/* --- lists that are made by hand --- */

#define BASE 0x400000

struct by_hand {
	struct known_module known;
	struct process_patches patches;
};

static void put(struct by_hand *h, struct found_patch one)
{
	one.patch.site += BASE;
	one.func += BASE;
	strbuf_add(&h->known.patches[LIBRARY].found, &one, sizeof(one));
}

static struct found_patch *get(const struct by_hand *h, size_t i)
{
	return (struct found_patch *)h->known.patches[LIBRARY].found.data + i;
}

static struct by_hand by_hand(void)
{
	return (struct by_hand){ .known.patches[LIBRARY] = { .base = BASE, .has_all = true } };
}

static void drop(struct by_hand *h)
{
	process_patches_deinit(&h->patches);
	module_patches_deinit(&h->known.patches[LIBRARY]);
	strbuf_deinit(&h->known.left_out);
}

TEST(what_can_go_is_what_is_there)
{
	static const struct {
		unsigned what;
		bool is_out;
		bool can_go;
	} cases[] = {
		{ PATCH_ENTRY, false, true },
		{ PATCH_ENTRY, true, false },
		{ PATCH_NOP, false, false },
		{ PATCH_NOP, true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct by_hand h = by_hand();
		bool can_go = cases[i].can_go;

		put(&h, (struct found_patch){ .patch = { .site = 0x110, .what = cases[i].what },
					      .func = 0x100,
					      .is_out = cases[i].is_out });
		assert_int_equal(patches_can_go(&h.known, LIBRARY, 0x100, 0x101), can_go);
		assert_int_equal(patches_can_go(&h.known, LIBRARY, 0xf0, 0x120), can_go);
		assert_false(patches_can_go(&h.known, LIBRARY, 0xf0, 0x100));
		assert_false(patches_can_go(&h.known, LIBRARY, 0x101, 0x120));
		assert_false(patches_can_go(&h.known, !LIBRARY, 0xf0, 0x120));
		drop(&h);
	}
}

static void leave_out(struct by_hand *h, uint64_t start, uint64_t end, bool is_back)
{
	const struct module_left_out left = { .func = { start, end }, .is_back = is_back };

	assert_int_equal(known_left_out_add(&h->known, &left), 0);
}

TEST(what_is_left_out_has_no_hooks_whoever_comes)
{
	static const struct control_module module = { .load_bias = BIAS };
	struct by_hand h = by_hand();

	put(&h,
	    (struct found_patch){ .patch = { .site = 0x100, .what = PATCH_ENTRY }, .func = 0x100 });
	put(&h, (struct found_patch){ .patch = { .site = 0x200, .what = PATCH_NOP },
				      .func = 0x200,
				      .is_out = true });
	put(&h,
	    (struct found_patch){ .patch = { .site = 0x300, .what = PATCH_ENTRY }, .func = 0x300 });
	put(&h,
	    (struct found_patch){ .patch = { .site = 0x400, .what = PATCH_ENTRY }, .func = 0x400 });
	process_patches_add_left_out(&h.patches, &h.known, &module, LIBRARY);
	assert_int_equal(h.patches.all.len, 0);
	leave_out(&h, 0x100, 0x110, false);
	leave_out(&h, 0x200, 0x210, false);
	leave_out(&h, 0x300, 0x310, true);
	patches_leave_out(&h.known);
	assert_true(get(&h, 0)->is_out);
	assert_false(get(&h, 1)->is_out);
	assert_false(get(&h, 2)->is_out);
	assert_false(get(&h, 3)->is_out);
	process_patches_add_left_out(&h.patches, &h.known, &module, LIBRARY);
	assert_int_equal(h.patches.all.len, 2 * sizeof(struct plan_patch));
	assert_int_equal(h.patches.sites.len, 2 * sizeof(uint64_t));
	assert_int_equal(h.patches.wanted.len, sizeof(uint64_t));
	assert_int_equal(*(const uint64_t *)h.patches.wanted.data, BASE + BIAS + 0x200);
	drop(&h);
}

/* A process makes no stubs for a hook that it never had, when other processes lose that hook. */
TEST(only_what_is_wanted_is_made_known)
{
	static const struct control_module module = { .load_bias = BIAS };
	struct by_hand h = by_hand();
	const struct plan_patch *all;

	put(&h, (struct found_patch){ .patch = { .site = 0x100 }, .is_out = true });
	put(&h, (struct found_patch){ .patch = { .site = 0x200, .flags = PLAN_PATCH_SILENT } });
	put(&h, (struct found_patch){ .patch = { .site = 0x210 } });
	put(&h, (struct found_patch){ .patch = { .site = 0x300, .flags = PLAN_PATCH_SILENT },
				      .is_out = true });
	put(&h, (struct found_patch){ .patch = { .site = 0x310 }, .is_out = true });
	put(&h, (struct found_patch){ .patch = { .site = 0x400, .what = PATCH_NOP } });
	process_patches_add(&h.patches, &h.known, &module, LIBRARY);
	process_patches_sort(&h.patches);
	process_patches_keep_wanted(&h.patches);
	all = (const struct plan_patch *)h.patches.all.data;
	assert_int_equal(h.patches.all.len, 3 * sizeof(*all));
	assert_int_equal(all[0].site, BASE + BIAS + 0x200);
	assert_int_equal(all[1].site, BASE + BIAS + 0x210);
	assert_int_equal(all[2].site, BASE + BIAS + 0x400);
	assert_int_equal(h.patches.sites.len, 6 * sizeof(uint64_t));
	drop(&h);
}

/* A place that another patch covers has no text of its own, unless the place has a short jump. */
TEST(what_has_no_text_is_no_place)
{
	static const struct control_module module = { .load_bias = BIAS };
	struct by_hand h = by_hand();
	const uint64_t *sites;

	put(&h, (struct found_patch){ .patch = { .site = 0x300, .flags = PLAN_PATCH_INNER } });
	put(&h, (struct found_patch){
			.patch = { .site = 0x200, .flags = PLAN_PATCH_INNER | PLAN_PATCH_SHORT } });
	put(&h, (struct found_patch){ .patch = { .site = 0x100 }, .is_out = true });
	process_patches_add(&h.patches, &h.known, &module, LIBRARY);
	process_patches_sort(&h.patches);
	assert_int_equal(h.patches.all.len, 3 * sizeof(struct plan_patch));
	assert_int_equal(h.patches.sites.len, 2 * sizeof(uint64_t));
	sites = (const uint64_t *)h.patches.sites.data;
	assert_int_equal(sites[0], BASE + BIAS + 0x100);
	assert_int_equal(sites[1], BASE + BIAS + 0x200);
	assert_int_equal(h.patches.wanted.len, sizeof(uint64_t));
	assert_int_equal(h.patches.ends.len, 0);
	drop(&h);
}

TEST(ends_are_those_of_xray_and_are_found_by_their_place)
{
	static const unsigned kinds[] = { PATCH_XRAY_TAIL, PATCH_XRAY_EXIT, PATCH_XRAY_ENTRY,
					  PATCH_ENTRY };
	static const struct control_module module = { .load_bias = BIAS };
	struct by_hand h = by_hand();

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		put(&h,
		    (struct found_patch){ .patch = { .site = 0x900 - 0x100 * i, .what = kinds[i] },
					  .func = 0x10 * i });
	process_patches_add(&h.patches, &h.known, &module, LIBRARY);
	process_patches_sort(&h.patches);
	assert_int_equal(h.patches.ends.len, 2 * sizeof(struct patch_end));
	assert_int_equal(process_patches_end(&h.patches, BASE + BIAS + 0x900)->func, BASE + BIAS);
	assert_int_equal(process_patches_end(&h.patches, BASE + BIAS + 0x800)->func,
			 BASE + BIAS + 0x10);
	assert_null(process_patches_end(&h.patches, BASE + BIAS + 0x700));
	assert_null(process_patches_end(&h.patches, BASE + BIAS + 0x600));
	/* Not all patches of the file are known, so none is added. */
	h.known.patches[LIBRARY].has_all = false;
	process_patches_add(&h.patches, &h.known, &module, LIBRARY);
	assert_int_equal(h.patches.all.len, 4 * sizeof(struct plan_patch));
	drop(&h);
}

int main(int argc, char *argv[])
{
	if (argc != 3)
		return 2;
	with_calls = argv[1];
	shapes = argv[2];
	return unit_run();
}
