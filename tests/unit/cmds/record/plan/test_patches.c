/*
 * Functions of a file that get hooks: at first, after a change of rules, and when they are left
 * out.
 */
#include "tests/unit/lib/attach/patching.h"

#include "cmds/record/plan/patches_private.h"
#include "cmds/terminal/msg.h"
#include "utils/base/compiler.h"
#include "utils/object/prepared.h"

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

/* A limit of size applies to functions that a rule names, too. */
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
		assert_int_equal(line[8], ' ');
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
	/* Pretend that the patch is that of another function. */
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

/* --- places, files and rules --- */

TEST(which_places_are_wanted)
{
	static const struct symbol small = { .size = 19 };
	static const struct symbol large = { .size = 20 };
	static const struct {
		unsigned what;
		const struct symbol *sym;
		enum patch_choice choice;
		bool is_instrumented;
		const char *rules;
		bool is_wanted;
	} rows[] = {
		{ PATCH_NOP, &small, PATCH_OUT, false, "", true },
		{ PATCH_NOP, &large, PATCH_IN, true, "", false },
		{ PATCH_NOP, &large, PATCH_UNSAID, true, "", false },
		{ PATCH_CALL, &small, PATCH_IN, true, "", false },
		{ PATCH_CALL, &small, PATCH_UNSAID, true, "", false },
		{ PATCH_CALL, &large, PATCH_IN, true, "", true },
		{ PATCH_CALL, NULL, PATCH_IN, false, "", true },
		{ PATCH_CALL, &large, PATCH_OUT, true, "", false },
		{ PATCH_CALL, &large, PATCH_UNSAID, true, "", true },
		{ PATCH_CALL, NULL, PATCH_UNSAID, true, "!x", true },
		{ PATCH_CALL, &large, PATCH_UNSAID, true, "!x;y", false },
		{ PATCH_CALL, &large, PATCH_UNSAID, false, "", false },
		{ PATCH_XRAY_EXIT, &large, PATCH_IN, true, "", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct patch_rules rules = { 0 };
		const struct record_settings settings = { .patches = &rules };
		struct known_module known = { .is_instrumented = rows[i].is_instrumented };
		const struct finding f = { .settings = &settings, .known = &known, .smallest = 20 };

		if (rows[i].rules[0])
			assert_int_equal(
				patch_rules_parse(rows[i].rules, MATCH_SIMPLE, &rules, NULL), 0);
		if (finding_wants(&f, rows[i].what, rows[i].sym, rows[i].choice) !=
		    rows[i].is_wanted)
			fail_msg("row %zu", i);
		patch_rules_deinit(&rules);
	}
}

/*
 * The records of a nop have no address. Records of all other patches have the address after the
 * jump.
 */
TEST(patches_of_prepared_sites)
{
	struct prepared_site site = { .addr = 0x1000, .func = 0xff0, .bytes = 7 };

	memset(site.original, 0x90, sizeof(site.original));
	for (unsigned what = PATCH_ENTRY; what <= PATCH_NOP; what++) {
		struct found_patch found;

		site.what = what;
		found = found_patch_of_prepared(&site);
		assert_int_equal(found.patch.site, 0x1000);
		assert_int_equal(found.patch.addr, what == PATCH_NOP ? 0 : 0x1005);
		assert_int_equal(found.patch.what, what);
		assert_int_equal(found.patch.bytes, 7);
		assert_int_equal(found.func, 0xff0);
		assert_false(found.is_out);
		assert_memory_equal(found.patch.original, site.original, sizeof(site.original));
	}
}

TEST(which_files_are_searched)
{
	static const struct {
		const char *path;
		bool is_instrumented;
		bool is_program;
		const char *rules;
		bool may_be;
	} rows[] = {
		{ "/lib/libm.so.6", false, false, "sin@libm", true },
		{ "/lib/libm.so.6", false, false, "sin@libc", false },
		{ "/libm/libc.so", false, false, "sin@libm", false },
		{ "/lib/libm.so.6", false, false, "!sin@libm", false },
		{ "/lib/libm.so.6", false, false, "", false },
		{ "/lib/libm.so.6", true, false, "", true },
		{ "/bin/prog", false, true, "main", true },
		{ "/bin/prog", false, false, "main", false },
		{ "/opt/libmcount.so", false, false, ".@libm", false },
		{ "/opt/libmcount.so", true, false, "", true },
		{ "/opt/libmcoun.so", false, false, ".@libm", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct patch_rules rules = { 0 };
		const struct record_settings settings = { .patches = &rules };
		char path[32];
		const struct known_module known = { .path = path,
						    .is_instrumented = rows[i].is_instrumented };

		snprintf(path, sizeof(path), "%s", rows[i].path);
		if (rows[i].rules[0])
			assert_int_equal(
				patch_rules_parse(rows[i].rules, MATCH_REGEX, &rules, NULL), 0);
		if (finding_may_be(&settings, &known, rows[i].is_program) != rows[i].may_be)
			fail_msg("row %zu", i);
		patch_rules_deinit(&rules);
	}
}

TEST(rules_that_name_files)
{
	static const struct {
		const char *text;
		bool names_files;
	} rows[] = { { "a", false }, { "a;!b", false }, { "a@lib", true }, { "a;b;c@lib", true } };
	struct patch_rules none = { 0 };

	assert_false(patches_name_files(&none));
	assert_false(patches_have_unmatched(&none));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct patch_rules rules = { 0 };

		assert_int_equal(patch_rules_parse(rows[i].text, MATCH_SIMPLE, &rules, NULL), 0);
		assert_int_equal(patches_name_files(&rules), rows[i].names_files);
		for (size_t k = 0; k < rules.nr; k++) {
			assert_true(patches_have_unmatched(&rules));
			rules.rules[k].has_match = true;
		}
		assert_false(patches_have_unmatched(&rules));
		patch_rules_deinit(&rules);
	}
}

/* A function is found only by the address at which it begins. */
TEST(functions_by_their_start)
{
	struct symbol list[] = { { .addr = 0x10, .size = 0x10, .type = 'T', .name = "one" },
				 { .addr = 0x20, .size = 0x10, .type = 'd', .name = "data" },
				 { .addr = 0x30, .size = 0x10, .type = 't', .name = "two" } };
	const struct symtab symbols = { .syms = list, .nr = ARRAY_SIZE(list) };

	assert_ptr_equal(finding_symbol(&symbols, 0x10), &list[0]);
	assert_ptr_equal(finding_symbol(&symbols, 0x30), &list[2]);
	assert_null(finding_symbol(&symbols, 0x0f));
	assert_null(finding_symbol(&symbols, 0x11));
	assert_null(finding_symbol(&symbols, 0x20));
	assert_null(finding_symbol(&symbols, 0x40));
}

/* --- messages about files --- */

static void check_complaints(size_t nr_short, size_t nr_unknown, const char *first,
			     const char *second)
{
	struct place *p;
	struct strbuf expected cleanup_strbuf = { 0 };

	assert_int_equal(setup((void **)&p), 0);
	use_victims(p, with_room, NULL);
	strbuf_addf(&expected, first, with_room);
	strbuf_addch(&expected, '\0');
	strbuf_addf(&expected, second, with_room);
	strbuf_addch(&expected, '\0');
	/* The search adds its own numbers, which are 0 for this file. */
	p->known->patches[LIBRARY].nr_short = nr_short;
	p->known->patches[LIBRARY].nr_unknown = nr_unknown;
	patching_find(p);
	assert_int_equal(p->patches.complaints.len, expected.len);
	assert_memory_equal(p->patches.complaints.data, expected.data, expected.len);
	/* A file that is known is not searched again, and its complaints are not repeated. */
	patching_find(p);
	assert_int_equal(p->patches.complaints.len, expected.len);
	teardown((void **)&p);
}

TEST(places_that_are_left_alone)
{
	check_complaints(1, 2,
			 "1 function of '%s' is not recorded: it has nops where it begins, but "
			 "fewer than the 5 bytes of a call; compile it with "
			 "-fpatchable-function-entry=5",
			 "2 places to be patched in '%s' are left alone: something else is there "
			 "than compilers put there");
	check_complaints(2, 1,
			 "2 functions of '%s' are not recorded: they have nops where they begin, "
			 "but fewer than the 5 bytes of a call; compile them with "
			 "-fpatchable-function-entry=5",
			 "1 place to be patched in '%s' is left alone: something else is there "
			 "than compilers put there");
}

/*
 * A complaint about constructors is made only for a library that has constructors and patches, and
 * only once.
 */
TEST(constructors_that_were_not_recorded)
{
	char path[] = "/lib/libx.so";
	struct known_module known = { .path = path };
	struct module_patches *found = &known.patches[LIBRARY];
	struct patches patches = { 0 };

	patches_note_late(&patches, &known);
	found->has_constructors = true;
	patches_note_late(&patches, &known);
	found->has_constructors = false;
	found->packed.nr = 1;
	patches_note_late(&patches, &known);
	/* The patches of a program are made before its constructors run. */
	known.patches[!LIBRARY].has_constructors = true;
	known.patches[!LIBRARY].packed.nr = 1;
	patches_note_late(&patches, &known);
	assert_int_equal(patches.complaints.len, 0);
	assert_false(found->is_late_told);
	found->has_constructors = true;
	patches_note_late(&patches, &known);
	patches_note_late(&patches, &known);
	assert_true(found->is_late_told);
	assert_string_equal(strbuf_str(&patches.complaints),
			    "the constructors of '/lib/libx.so' were not recorded: the program has "
			    "loaded it while it ran, and its functions are patched when that is "
			    "done; with LD_PRELOAD=/lib/libx.so it is loaded at the start");
	assert_int_equal(patches.complaints.len, strlen(patches.complaints.data) + 1);
	patches_deinit(&patches);
}

/* All complaints come first, and then the rules that apply to no function. */
TEST(warnings)
{
	struct patch_rules rules = { 0 };
	struct strbuf names cleanup_strbuf = { 0 };
	struct patches patches = { 0 };
	struct msg msg = { 0 };
	char *text = NULL;
	size_t len;

	assert_int_equal(patch_rules_parse("one;two;three", MATCH_SIMPLE, &rules, NULL), 0);
	rules.rules[1].has_match = true;
	rules.rules[2].is_unpatch = true;
	strbuf_list_add(&patches.complaints, "first");
	strbuf_list_add(&patches.complaints, "second %s");
	strbuf_list_add(&names, "on");
	msg.file = open_memstream(&text, &len);
	assert_non_null(msg.file);
	patches_warn(&patches, &rules, &names, &msg);
	fclose(msg.file);
	assert_string_equal(
		text, "WARN: first\n"
		      "WARN: second %s\n"
		      "WARN: option '--patch': no function of the program matches 'one'; the "
		      "nearest: on\n"
		      "WARN: option '--unpatch': no function of the program matches 'three'\n");
	free(text);
	patch_rules_deinit(&rules);
	patches_deinit(&patches);
}

int main(int argc, char *argv[])
{
	if (argc != 3)
		return 2;
	with_room = argv[1];
	without = argv[2];
	return unit_run();
}
