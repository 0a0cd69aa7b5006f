/*
 * Functions of a file that get hooks: at first, after a change of rules, and when they are left
 * out.
 */
#include "tests/unit/lib/attach/patching.h"

#include "utils/base/compiler.h"

/* The same functions, compiled with room for hooks, and compiled without. */
static const char *with_room;
static const char *without;

static void use_victims(struct place *p, const char *path, const char *rules)
{
	patching_load(p, path, rules);
	assert_int_equal(p->known->is_instrumented, path == with_room);
}

/* Check which victims are patched, in order of address, by the first letter after "victim_". */
static void check(const struct place *p, const char *expected)
{
	static const char *const names[] = { "victim_large", "victim_leaf", "victim_same",
					     "victim_sum" };
	struct symtab symbols cleanup_symtab = patching_symbols(p);
	char text[8] = "";

	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		uint64_t func = patching_symbol(&symbols, names[k])->addr +
				p->known->patches[LIBRARY].base;
		unsigned nr = 0;

		for (size_t i = 0; i < patching_count_found(p); i++) {
			const struct found_patch *one = patching_found_at(p, i);

			nr += one->func == func && !one->is_out && found_patch_is_function(one);
		}
		assert_true(nr <= 1);
		if (nr)
			strcat(text, (const char *[]){ "L", "l", "=", "+" }[k]);
	}
	assert_string_equal(text, expected);
}

/* --- at first --- */

TEST_WITH(all_that_have_room, setup, teardown)
{
	struct place *p = *state;
	const struct control_module module = { .load_bias = BIAS };
	struct strbuf plan cleanup_strbuf = { 0 };

	use_victims(p, with_room, NULL);
	patching_find(p);
	check(p, "Ll=+");
	assert_true(p->known->has_functions);
	assert_int_equal(p->known->patches[LIBRARY].nr_functions, patching_count_found(p));
	assert_int_equal(p->patches.complaints.len, 0);
	patches_bind(p->known, &module, LIBRARY, &plan);
	assert_int_equal(plan.len / sizeof(struct plan_patch), patching_count_found(p));

	const struct plan_patch *list = (const struct plan_patch *)plan.data;

	for (size_t i = 0; i < patching_count_found(p); i++) {
		assert_int_equal(list[i].site, patching_found_at(p, i)->patch.site + BIAS);
		assert_int_equal(list[i].addr, list[i].site + PLAN_PATCH_JUMP);
		assert_int_equal(list[i].what, PATCH_CALL);
	}
	/* A second search finds no further patches. */
	size_t nr = patching_count_found(p);

	patching_find(p);
	assert_int_equal(patching_count_found(p), nr);
}

TEST_WITH(those_that_are_chosen, setup, teardown)
{
	struct place *p = *state;

	use_victims(p, with_room, "victim_l*@victims");
	patching_find(p);
	check(p, "Ll");
	assert_false(patches_have_unmatched(&p->rules));
}

TEST_WITH(all_but_one, setup, teardown)
{
	struct place *p = *state;

	use_victims(p, with_room, "!victim_large@victims");
	patching_find(p);
	check(p, "l=+");
}

/* Limits of size go before rules. */
TEST_WITH(none_that_is_small, setup, teardown)
{
	struct place *p = *state;
	struct symtab symbols cleanup_symtab = { 0 };

	use_victims(p, with_room, "victim_*@victims");
	symbols = patching_symbols(p);
	p->settings.size_filter = patching_symbol(&symbols, "victim_large")->size;
	patching_find(p);
	check(p, "L");
	p->settings.size_filter++;
	patching_add_rules(p, "victim_leaf@victims");
	patching_turn(p, 0, 1);
	check(p, "");
}

TEST_WITH(what_has_no_room_is_asked_for, setup, teardown)
{
	struct place *p = *state;

	use_victims(p, without, "victim_*@other");
	patching_find(p);
	assert_false(p->known->patches[LIBRARY].is_known);
	assert_false(p->known->has_functions);
	assert_int_equal(patching_count_found(p), 0);
	assert_true(patches_have_unmatched(&p->rules));
}

TEST_WITH(functions_as_they_were_shipped, setup, teardown)
{
	struct place *p = *state;
	const struct module_patches *found;
	size_t nr_ways = 0;
	size_t nr_verdicts = 0;

	use_victims(p, without, "victim_l*@victims;no_such@victims");
	p->patches.wants_verdicts = true;
	patching_find(p);
	found = &p->known->patches[LIBRARY];
	assert_null(found->why_not);
	check(p, "Ll");
	assert_true(p->known->has_functions);
	assert_int_equal(found->nr_chosen, 2);
	assert_int_equal(found->nr_functions, 2);
	for (size_t i = 0; i < UNPREPARED_CANNOT; i++)
		nr_ways += found->counts[i];
	assert_int_equal(nr_ways, 2);
	strbuf_list_each (&found->verdicts, line) {
		nr_verdicts++;
		assert_non_null(strstr(line, "victim_l"));
		assert_non_null(strstr(line, ": "));
	}
	assert_int_equal(nr_verdicts, 2);
	assert_true(p->rules.rules[0].has_match);
	assert_false(p->rules.rules[1].has_name);
	assert_true(patches_have_unmatched(&p->rules));
}

/* --- rules that change --- */

TEST_WITH(they_come_and_go, setup, teardown)
{
	struct place *p = *state;

	for (unsigned k = 0; k < 2; k++) {
		use_victims(p, k ? with_room : without, k ? NULL : "victim_leaf@victims");
		patching_find(p);
		check(p, "l");
		/* A rule about another module changes nothing. */
		patching_add_rules(p, "victim_sum@other");
		patching_turn(p, 0, 0);
		patching_add_rules(p, "victim_sum@victims;victim_large@victims");
		patching_turn(p, 2, 0);
		check(p, "Ll+");
		assert_true(p->known->patches[LIBRARY].has_all);
		patching_turn(p, 0, 0);
		patching_add_rules(p, "!victim_l*@victims");
		patching_turn(p, 0, 2);
		check(p, "+");
		patching_turn(p, 0, 0);
		patching_add_rules(p, "victim_leaf@victims");
		patching_turn(p, 1, 0);
		check(p, "l+");
		/* Restore the rules for the second file. */
		patch_rules_deinit(&p->rules);
		p->rules = (struct patch_rules){ 0 };
		assert_int_equal(
			patch_rules_parse("victim_leaf@victims", MATCH_GLOB, &p->rules, NULL), 0);
	}
}

/* No rule of the session has chosen the function before. */
TEST_WITH(later_than_ever, setup, teardown)
{
	struct place *p = *state;

	use_victims(p, without, NULL);
	patching_find(p);
	assert_false(p->known->patches[LIBRARY].is_known);
	patching_add_rules(p, "victim_large@victims");
	patching_turn(p, 1, 0);
	check(p, "L");
	assert_true(p->known->has_functions);
}

/*
 * Patches that processes already have stay. A patch that would overlap them is refused, and its
 * rule gets the reason.
 */
TEST_WITH(another_has_its_room, setup, teardown)
{
	struct place *p = *state;
	struct found_patch other;

	use_victims(p, without, "victim_sum@victims");
	patching_find(p);
	assert_int_equal(patching_count_found(p), 1);
	/* Make the patch one of another function. */
	other = *patching_found_at(p, 0);
	other.func = 1;
	*patching_found_at(p, 0) = other;
	p->rules.rules[0].has_match = false;
	patching_add_rules(p, "victim_leaf@victims");
	patching_turn(p, 1, 1);
	check(p, "l");
	assert_false(p->rules.rules[0].has_match);
	assert_string_equal(p->rules.rules[0].why_not, "another patch has its room");
	assert_true(p->rules.rules[1].has_match);
}

/* --- for a process --- */

TEST_WITH(what_a_process_is_told, setup, teardown)
{
	const struct control_module module = { .load_bias = BIAS };
	struct process_patches patches cleanup_process_patches = { 0 };
	struct place *p = *state;
	const uint64_t *sites;
	const uint64_t *wanted;

	use_victims(p, with_room, "victim_leaf@victims");
	patching_find(p);
	/* At first the other functions of the file are not known. */
	process_patches_add(&patches, p->known, &module, LIBRARY);
	assert_int_equal(patches.all.len, 0);
	patching_add_rules(p, "victim_sum@victims");
	patching_turn(p, 1, 0);
	process_patches_add(&patches, p->known, &module, LIBRARY);
	process_patches_sort(&patches);
	assert_int_equal(patches.all.len / sizeof(struct plan_patch), patching_count_found(p));
	assert_int_equal(patches.sites.len / sizeof(*sites), patching_count_found(p));
	assert_int_equal(patches.wanted.len / sizeof(*wanted), 2);
	assert_int_equal(patches.ends.len, 0);
	assert_null(process_patches_end(&patches, 0));
	sites = (const uint64_t *)patches.sites.data;
	for (size_t i = 1; i < patching_count_found(p); i++)
		assert_true(sites[i - 1] < sites[i]);
	wanted = (const uint64_t *)patches.wanted.data;
	for (size_t i = 0; i < patching_count_found(p); i++) {
		uint64_t site = patching_found_at(p, i)->patch.site + BIAS;

		assert_int_equal(!patching_found_at(p, i)->is_out,
				 site == wanted[0] || site == wanted[1]);
	}
}

/* XRay: a function has one end of its own, or several. */
TEST(ends_of_calls)
{
	static const struct found_patch found[] = {
		{ .patch = { .site = 0x500, .what = PATCH_XRAY_TAIL }, .func = 0x400 },
		{ .patch = { .site = 0x200, .what = PATCH_XRAY_EXIT },
		  .func = 0x100,
		  .is_out = true },
		{ .patch = { .site = 0x100, .what = PATCH_XRAY_ENTRY }, .func = 0x100 },
	};
	const struct control_module module = { .load_bias = BIAS };
	struct process_patches patches cleanup_process_patches = { 0 };
	struct known_module known = { .patches[LIBRARY].has_all = true };

	strbuf_add(&known.patches[LIBRARY].found, found, sizeof(found));
	process_patches_add(&patches, &known, &module, LIBRARY);
	process_patches_sort(&patches);
	module_patches_deinit(&known.patches[LIBRARY]);
	assert_int_equal(process_patches_end(&patches, BIAS + 0x200)->func, BIAS + 0x100);
	assert_int_equal(process_patches_end(&patches, BIAS + 0x500)->func, BIAS + 0x400);
	assert_null(process_patches_end(&patches, BIAS + 0x100));
	assert_int_equal(patches.wanted.len / sizeof(uint64_t), 2);
	assert_int_equal(((const uint64_t *)patches.wanted.data)[0], BIAS + 0x100);
}

/* --- functions that are left out --- */

static void leave_out(struct place *p, const struct symbol *sym)
{
	const struct module_left_out left = { .func = { sym->addr, sym->addr + sym->size },
					      .rules = p->rules.generation };

	assert_int_equal(known_left_out_add(p->known, &left), 0);
	patches_leave_out(p->known);
}

TEST_WITH(left_out_and_back, setup, teardown)
{
	const struct control_module module = { .load_bias = BIAS };
	struct process_patches patches cleanup_process_patches = { 0 };
	struct place *p = *state;
	struct symtab symbols cleanup_symtab = { 0 };
	const struct symbol *leaf;

	use_victims(p, with_room, "victim_l*@victims");
	patching_find(p);
	symbols = patching_symbols(p);
	leaf = patching_symbol(&symbols, "victim_leaf");
	assert_true(patches_can_go(p->known, LIBRARY, leaf->addr, leaf->addr + leaf->size));
	assert_true(patches_can_go(p->known, LIBRARY, leaf->addr, leaf->addr + 1));
	assert_false(patches_can_go(p->known, LIBRARY, leaf->addr + 1, leaf->addr + leaf->size));
	assert_false(patches_can_go(p->known, LIBRARY, 0, leaf->addr ? 1 : 0));
	process_patches_add_left_out(&patches, p->known, &module, LIBRARY);
	assert_int_equal(patches.all.len, 0);
	leave_out(p, leaf);
	check(p, "L");
	assert_false(patches_can_go(p->known, LIBRARY, leaf->addr, leaf->addr + leaf->size));
	process_patches_add_left_out(&patches, p->known, &module, LIBRARY);
	assert_int_equal(patches.all.len, sizeof(struct plan_patch));
	assert_int_equal(patches.wanted.len, 0);
	/* Rules about other functions do not bring the function back. */
	patching_add_rules(p, "victim_sum@victims");
	patching_turn(p, 1, 0);
	check(p, "L+");
	patching_add_rules(p, "victim_leaf@victims");
	patching_turn(p, 1, 0);
	check(p, "Ll+");
	known_left_out_each (p->known, left)
		assert_true(left->is_back);
	patching_add_rules(p, "!victim_leaf@victims");
	patching_turn(p, 0, 1);
	check(p, "L+");
}

/* --- messages for the user --- */

static void explain(const struct place *p, size_t rule, const char *expected)
{
	struct strbuf names cleanup_strbuf = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_list_add(&names, "victim_large");
	strbuf_list_add(&names, "something_else");
	patches_explain(&p->rules.rules[rule], "'patch'", &names, &text);
	assert_string_equal(strbuf_str(&text), expected);
}

TEST_WITH(why_a_rule_is_about_nothing, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(patch_rules_parse("victim_largo;near@victims;victim_large;!victim_leaf",
					   MATCH_SIMPLE, &p->rules, NULL),
			 0);
	explain(p, 0,
		"'patch': no function of the program matches 'victim_largo'; the nearest: "
		"victim_large");
	explain(p, 1,
		"'patch': no function in a file whose name begins with 'victims' matches "
		"'near'");
	p->rules.rules[2].has_name = p->rules.rules[3].has_name = true;
	explain(p, 2,
		"'patch': no function that matches 'victim_large' was compiled with room for a "
		"hook (-fpatchable-function-entry, -mnop-mcount, -fxray-instrument)");
	explain(p, 3,
		"'patch': no function that matches 'victim_leaf' was compiled with a call of "
		"mcount or __fentry__, or with room for one");
	p->rules.rules[2].why_not = strdup("it is too short");
	explain(p, 2,
		"'patch': no function that matches 'victim_large' can be patched: it is too "
		"short");
}

int main(int argc, char *argv[])
{
	if (argc != 3)
		return 2;
	with_room = argv[1];
	without = argv[2];
	return unit_run();
}
