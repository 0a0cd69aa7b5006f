/*
 * The image of a plan is read back unchanged. Larger entries and unknown kinds are skipped.
 * References beyond its end are refused.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/format/probe/automaton.h"
#include "utils/format/probe/plan.h"

/*
 * A plan with two functions, a rule with a condition on a text, and a capture program with a
 * container.
 */
struct sample {
	struct plan settings;
	struct plan_func funcs[2];
	struct plan_rule rules[1];
	struct plan_cond conds[2]; /* the second one is the text */
	struct capture_step steps[6];
	struct plan_watch watches[PLAN_WATCHES_MAX + 1];
	struct plan_counter counters[PLAN_COUNTERS_MAX + 1];
	struct plan_view view;
};

static void make_sample(struct sample *s)
{
	*s = (struct sample){
		.settings = { .depth = 7 },
		.funcs = { { 16, 32, 0, PLAN_NO_CAPTURE }, { 32, 48, PLAN_NO_RULE, 0 } },
		.rules = { { .flags = PLAN_COND, .nr_conds = 1 } },
		.conds = { { .kind = PLAN_COND_TEXT, .index = 1, .len = 3 } },
		.steps = { { .op = CAPTURE_HEAD, .bytes = 5 },
			   { .op = CAPTURE_BOX, .bytes = 8 },
			   { .index = BOX_STEP_UNITS } },
		.watches = { { 4096, 4, 0 }, { 8192, 8, 0 } },
	};
	s->view.lists[PLAN_SETTINGS] = plan_list(PLAN_SETTINGS, &s->settings, 1);
	s->view.lists[PLAN_FUNCS] = plan_list(PLAN_FUNCS, s->funcs, 2);
	s->view.lists[PLAN_RULES] = plan_list(PLAN_RULES, s->rules, 1);
	s->view.lists[PLAN_CONDS] = plan_list(PLAN_CONDS, s->conds, 2);
	s->view.lists[PLAN_STEPS] = plan_list(PLAN_STEPS, s->steps, 6);
	s->view.lists[PLAN_WATCHES] = plan_list(PLAN_WATCHES, s->watches, 2);
	s->view.lists[PLAN_COUNTERS] = plan_list(PLAN_COUNTERS, s->counters, 2);
}

static void *image_of(const struct plan_view *view, uint64_t *len)
{
	void *image;

	*len = plan_image_bytes(view);
	image = malloc(*len);
	assert_non_null(image);
	plan_image_put(view, image);
	return image;
}

/* Returns the error in the image of @view, or NULL. */
static const char *open_view(const struct plan_view *view)
{
	struct plan_view out;
	const char *why;
	uint64_t len;
	void *image = image_of(view, &len);
	int ret = plan_open(&out, image, len, &why);

	assert_int_equal(ret, why ? -EINVAL : 0);
	free(image);
	return why;
}

TEST(what_is_made_is_read)
{
	struct sample s;
	struct plan_view out;
	struct plan_func funcs[2];
	uint64_t len;

	make_sample(&s);

	void *image = image_of(&s.view, &len);

	assert_int_equal(plan_open(&out, image, len, NULL), 0);
	for (unsigned kind = 0; kind < PLAN_KINDS; kind++)
		assert_int_equal(out.lists[kind].nr, s.view.lists[kind].nr);
	plan_copy(&out, PLAN_FUNCS, funcs);
	assert_memory_equal(funcs, s.funcs, sizeof(funcs));
	/* The plan is cut at each byte. */
	for (uint64_t i = 0; i < len; i++) {
		void *part = exact_copy(image, i);

		if (i < len - PLAN_ALIGN)
			assert_int_equal(plan_open(&out, part, i, NULL), -EINVAL);
		free(part);
	}
	free(image);
}

TEST(larger_entries_are_cut)
{
	struct {
		struct plan_watch known;
		uint64_t more;
	} watches[3] = { { { 1, 1, 0 }, 5 }, { { 2, 2, 0 }, 6 }, { { 3, 4, 0 }, 7 } };
	struct plan_view view = { .lists[PLAN_WATCHES] = { watches, 3, sizeof(watches[0]) } };
	struct plan_view out;
	struct plan_watch copy[3];
	uint64_t len;
	void *image = image_of(&view, &len);

	assert_int_equal(plan_open(&out, image, len, NULL), 0);
	plan_copy(&out, PLAN_WATCHES, copy);
	for (unsigned i = 0; i < 3; i++)
		assert_memory_equal(&copy[i], &watches[i].known, sizeof(copy[i]));
	free(image);
	view.lists[PLAN_WATCHES].entry_bytes = sizeof(struct plan_watch) - 8;
	assert_string_equal(open_view(&view), "a section's entries have a size that is not known");
	/* Only one size of conditions is accepted, since some entries of the list are texts. */
	view = (struct plan_view){ .lists[PLAN_CONDS] = { watches, 1, 24 } };
	assert_string_equal(open_view(&view), "a section's entries have a size that is not known");
}

TEST(directories)
{
	struct sample s;
	struct plan_view out;
	uint64_t len;

	make_sample(&s);

	struct plan_header *header = image_of(&s.view, &len);
	struct plan_section *first = (struct plan_section *)(header + 1);
	const struct plan_section good = *first;
	static const struct {
		struct plan_section section;
		int result;
	} cases[] = {
		{ { PLAN_KINDS + 5, 8, 1, 192 }, 0 }, /* an unknown kind, from a newer recorder */
		{ { PLAN_KINDS + 5, 8, 1, 196 }, -EINVAL }, /* a place that is not aligned */
		{ { PLAN_KINDS + 5, 12, 1, 192 }, -EINVAL },
		{ { PLAN_KINDS + 5, 8, UINT64_MAX / 8, 192 }, -EINVAL },
		{ { PLAN_KINDS + 5, 0, 1, 192 }, -EINVAL },
		{ { PLAN_KINDS + 5, 8, 1, 8 }, -EINVAL },   /* in the header */
		{ { PLAN_KINDS + 5, 8, 1, 176 }, -EINVAL }, /* in the directory */
		{ { PLAN_KINDS + 5, 8, 1, UINT64_MAX - 7 }, -EINVAL },
		{ { PLAN_WATCHES, 16, 0, 192 }, -EINVAL }, /* a second section of this kind */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		*first = cases[i].section;
		assert_int_equal(plan_open(&out, header, len, NULL), cases[i].result);
	}
	*first = good;
	header->nr_sections = PLAN_SECTIONS_MAX + 1;
	assert_int_equal(plan_open(&out, header, len, NULL), -EINVAL);
	header->nr_sections = 6;
	header->magic++;
	assert_int_equal(plan_open(&out, header, len, NULL), -EINVAL);
	free(header);
}

#define REFUSED(change, text)                                  \
	do {                                                   \
		make_sample(&s);                               \
		change;                                        \
		assert_string_equal(open_view(&s.view), text); \
	} while (0)

TEST(entries_lead_nowhere_else)
{
	struct sample s;
	struct plan_patch patch;

	REFUSED(s.funcs[1].start = 31, "functions are not in order");
	REFUSED(s.funcs[0].rule = 1, "a function's rule is not there");
	REFUSED(s.funcs[1].capture = 1, "a function's capture program leads out of the steps");
	REFUSED(s.funcs[1].capture = 1000, "a function's capture program is not there");
	REFUSED(s.steps[0].bytes = 6, "a function's capture program leads out of the steps");
	REFUSED(s.steps[0].index = 1, "a function's capture program leads out of the steps");
	REFUSED(s.steps[2].bytes = 1, "a function's capture program leads out of the steps");
	REFUSED(((struct box_step *)&s.steps[3])->skip = 1,
		"a function's capture program leads out of the steps");
	REFUSED(s.rules[0].nr_conds = 3, "a rule's conditions are not there");
	REFUSED(s.rules[0].cond = 2, "a rule's conditions are not there");
	REFUSED(s.conds[0].len = 17, "what a condition compares with is not there");
	REFUSED(s.conds[0].value = -1, "what a condition compares with is not there");
	REFUSED(s.conds[0].value = 14, "what a condition compares with is not there");
	/*
	 * Texts for comparison are after the rule's conditions. After the last condition there is
	 * none.
	 */
	REFUSED(s.rules[0].cond = 1;
		s.conds[1] = s.conds[0], "what a condition compares with is not there");
	REFUSED(s.conds[0].kind = PLAN_COND_AUTOMATON,
		"what a condition compares with is not there");
	REFUSED(s.conds[0].kind = PLAN_COND_INT;
		s.conds[0].index = 0, "what a condition compares with is not there");
	REFUSED(s.conds[0].kind = PLAN_COND_FLOAT;
		s.conds[0].index = 0, "what a condition compares with is not there");
	REFUSED(s.view.lists[PLAN_COUNTERS].nr = PLAN_COUNTERS_MAX + 1,
		"there are too many counters");
	REFUSED(s.view.lists[PLAN_WATCHES].nr = PLAN_WATCHES_MAX + 1,
		"there are too many variables to watch");
	REFUSED(s.watches[0].bytes = 9, "a variable to watch has a size that cannot be");
	REFUSED(s.watches[1].bytes = 0, "a variable to watch has a size that cannot be");
#define PATCH_REFUSED(why, ...)                                                                \
	do {                                                                                   \
		patch = (struct plan_patch){ __VA_ARGS__ };                                    \
		REFUSED(s.view.lists[PLAN_PATCHES] = plan_list(PLAN_PATCHES, &patch, 1), why); \
	} while (0)
	PATCH_REFUSED("a distance lies behind its patch's code", .bytes = 5, .len = 4,
		      .nr_fixes = 1, .fixes = { 1 });
	PATCH_REFUSED("a patch's code is too long", .bytes = 5, .len = PLAN_PATCH_CODE + 1);
	PATCH_REFUSED("a patch has none before it", .bytes = 5, .flags = PLAN_PATCH_INNER);
	PATCH_REFUSED("a patch replaces more bytes than it has, or too few", .bytes = 4);
	PATCH_REFUSED("a patch replaces more bytes than it has, or too few", .bytes = 17);
	PATCH_REFUSED("a patch is of a kind that is not known", .bytes = 5, .what = PATCH_KINDS);
	PATCH_REFUSED("a patch without code has flags for it", .bytes = 5, .what = PATCH_CALL,
		      .flags = PLAN_PATCH_SILENT);
}

#define OPERANDS_REFUSED(why, change)                                 \
	do {                                                          \
		make_event(&s, &patch, operands);                     \
		change;                                               \
		if (why)                                              \
			assert_string_equal(open_view(&s.view), why); \
		else                                                  \
			assert_null(open_view(&s.view));              \
	} while (0)

static void make_event(struct sample *s, struct plan_patch *patch,
		       struct plan_operand operands[PLAN_OPERANDS_MAX + 2])
{
	make_sample(s);
	*patch = (struct plan_patch){ .what = PATCH_EVENT, .bytes = 5, .operands = 2 };
	for (unsigned i = 0; i < PLAN_OPERANDS_MAX + 2; i++)
		operands[i] =
			(struct plan_operand){ PLAN_OPERAND_REGISTER, 0, 8, 15, 0, 0, { 0 }, 0 };
	operands[2].flags = PLAN_OPERAND_LAST;
	s->view.lists[PLAN_PATCHES] = plan_list(PLAN_PATCHES, patch, 1);
	s->view.lists[PLAN_OPERANDS] = plan_list(PLAN_OPERANDS, operands, PLAN_OPERANDS_MAX + 2);
}

TEST(operands)
{
	static const char *const nowhere = "an argument of an event is where nothing can be";
	static const char *const missing = "an event's arguments are not there";
	struct sample s;
	struct plan_patch patch;
	struct plan_operand operands[PLAN_OPERANDS_MAX + 2];
	struct plan_operand *o = &operands[1];

	OPERANDS_REFUSED(NULL, (void)o);
	OPERANDS_REFUSED("a patch that is no event has arguments", patch.what = PATCH_NOP);
	/* Operands that belong to no event are not checked. */
	OPERANDS_REFUSED(NULL, operands[0].kind = PLAN_OPERAND_KINDS);
	OPERANDS_REFUSED(nowhere, operands[2].kind = PLAN_OPERAND_KINDS);
	OPERANDS_REFUSED(nowhere, o->bytes = 0);
	OPERANDS_REFUSED(nowhere, o->bytes = 3);
	OPERANDS_REFUSED(nowhere, o->bytes = 16);
	OPERANDS_REFUSED(nowhere, o->base = PLAN_REGISTERS);
	OPERANDS_REFUSED(nowhere, o->base = PLAN_NO_REGISTER);
	OPERANDS_REFUSED(nowhere, o->shift = 64);
	OPERANDS_REFUSED(nowhere, o->kind = PLAN_OPERAND_VECTOR; o->base = PLAN_REGISTERS);
	OPERANDS_REFUSED(NULL, o->kind = PLAN_OPERAND_MEMORY;
			 o->base = o->index = PLAN_NO_REGISTER);
	OPERANDS_REFUSED(nowhere, o->kind = PLAN_OPERAND_MEMORY; o->index = PLAN_REGISTERS);
	OPERANDS_REFUSED(nowhere, o->kind = PLAN_OPERAND_MEMORY; o->shift = 64);
	OPERANDS_REFUSED(nowhere, o->kind = PLAN_OPERAND_CONSTANT; o->bytes = 0);
	OPERANDS_REFUSED(NULL, o->kind = PLAN_OPERAND_NONE; o->bytes = 0);
	OPERANDS_REFUSED(missing, s.view.lists[PLAN_OPERANDS].nr = 2);
	OPERANDS_REFUSED(NULL, s.view.lists[PLAN_OPERANDS].nr = 3);
	OPERANDS_REFUSED(missing, s.view.lists[PLAN_OPERANDS].nr = 0);
	OPERANDS_REFUSED(missing, patch.operands = UINT32_MAX);
	OPERANDS_REFUSED(missing, patch.operands = PLAN_OPERANDS_MAX + 2);
	OPERANDS_REFUSED(missing, patch.operands = PLAN_OPERANDS_MAX + 3);
	/* A patch may have this many operands; one more is refused. */
	OPERANDS_REFUSED(NULL, operands[2].flags = 0; operands[16].flags = PLAN_OPERAND_LAST);
	OPERANDS_REFUSED(missing, operands[2].flags = 0; operands[17].flags = PLAN_OPERAND_LAST);
}

/* The check goes on after a valid patch. */
TEST(all_patches_are_looked_at)
{
	struct plan_patch patches[3] = {
		{ .load_bias = 4096, .bytes = 5 },
		{ .load_bias = 4096, .bytes = 5, .flags = PLAN_PATCH_INNER },
		{ .load_bias = 4096, .bytes = 5 }
	};
	struct sample s;

	make_sample(&s);
	s.view.lists[PLAN_PATCHES] = plan_list(PLAN_PATCHES, patches, 3);
	assert_null(open_view(&s.view));
	patches[2].len = PLAN_PATCH_CODE + 1;
	assert_string_equal(open_view(&s.view), "a patch's code is too long");
	/* The patch before an inner patch must belong to the same module. */
	patches[2] = patches[1];
	patches[2].load_bias = 8192;
	assert_string_equal(open_view(&s.view), "a patch has none before it");
}

/* Lists begin at aligned places. Between them are zeros, whatever the memory contained before. */
TEST(an_image_has_nothing_but_its_lists)
{
	struct sample s;

	make_sample(&s);
	for (uint32_t nr = 1; nr <= 2; nr++) {
		uint8_t *image;
		uint64_t len;
		uint64_t at;

		s.view.lists[PLAN_FUNCS].nr = nr;
		len = plan_image_bytes(&s.view);
		image = malloc(len);
		memset(image, 0xff, len);
		plan_image_put(&s.view, image);

		const struct plan_header *header = (const struct plan_header *)image;
		const struct plan_section *sections = (const struct plan_section *)(header + 1);

		assert_int_equal(header->magic, PLAN_MAGIC);
		assert_int_equal(header->nr_sections, 7);
		assert_int_equal(header->pad, 0);
		at = sizeof(*header) + 7 * sizeof(*sections);
		for (unsigned i = 0; i < 7; i++) {
			const struct plan_list *list = &s.view.lists[sections[i].kind];
			uint64_t bytes = sections[i].nr * sections[i].entry_bytes;

			for (; at < sections[i].offset; at++)
				assert_int_equal(image[at], 0);
			assert_int_equal(at % PLAN_ALIGN, 0);
			assert_int_equal(sections[i].nr, list->nr);
			assert_int_equal(sections[i].entry_bytes, list->entry_bytes);
			assert_memory_equal(image + at, list->entries, bytes);
			at += bytes;
		}
		for (; at < len; at++)
			assert_int_equal(image[at], 0);
		free(image);
	}
}

#define ACCEPTED(change)                         \
	do {                                     \
		make_sample(&s);                 \
		change;                          \
		assert_null(open_view(&s.view)); \
	} while (0)

static const char no_text[] = "what a condition compares with is not there";

/* The largest values that are accepted, and values that are not looked at. */
TEST(entries_at_their_borders)
{
	struct sample s;

	ACCEPTED((void)s);
	ACCEPTED(s.funcs[0].end = 16);
	REFUSED(s.funcs[0].end = 15, "functions are not in order");
	ACCEPTED(s.rules[0].nr_conds = 0; s.rules[0].cond = 1000);
	REFUSED(s.rules[0].cond = 1000, "a rule's conditions are not there");
	ACCEPTED(s.conds[0].len = 16);
	ACCEPTED(s.conds[0].value = 13);
	ACCEPTED(s.conds[0].value = 16; s.conds[0].len = 0);
	REFUSED(s.conds[0].value = 17; s.conds[0].len = 0, no_text);
	REFUSED(s.conds[0].kind = PLAN_COND_PREFIX; s.conds[0].len = 17, no_text);
	REFUSED(s.conds[0].kind = PLAN_COND_REAL + 1, no_text);
	ACCEPTED(s.conds[0].kind = PLAN_COND_INT; s.conds[0].len = 100);
	ACCEPTED(s.conds[0].kind = PLAN_COND_FLOAT; s.conds[0].value = -1);
	/* These conditions take their argument from a text in the payload. */
	ACCEPTED(s.conds[0].kind = PLAN_COND_NUMBER; s.conds[0].index = 36);
	REFUSED(s.conds[0].kind = PLAN_COND_NUMBER; s.conds[0].index = 37, no_text);
	ACCEPTED(s.conds[0].kind = PLAN_COND_REAL; s.conds[0].index = 0);
	REFUSED(s.conds[0].kind = PLAN_COND_REAL; s.conds[0].index = 37, no_text);
	ACCEPTED(s.conds[0].string = CAPTURE_TEXT; s.conds[0].index = 36);
	REFUSED(s.conds[0].string = CAPTURE_TEXT; s.conds[0].index = 37, no_text);
	ACCEPTED(s.conds[0].string = CAPTURE_STRING; s.conds[0].index = 37);
	/* The last condition of a rule is checked, too. */
	ACCEPTED(s.rules[0].nr_conds = 2; s.conds[0].kind = PLAN_COND_INT; s.conds[1] = s.conds[0]);
	REFUSED(s.rules[0].nr_conds = 2; s.conds[0].kind = PLAN_COND_INT; s.conds[1] = s.conds[0];
		s.conds[1].index = 0, no_text);
	/* Numbers of entries. */
	ACCEPTED(for (unsigned i = 0; i < PLAN_WATCHES_MAX; i++) s.watches[i].bytes = 1;
		 s.view.lists[PLAN_WATCHES].nr = PLAN_WATCHES_MAX);
	ACCEPTED(s.view.lists[PLAN_COUNTERS].nr = PLAN_COUNTERS_MAX);
	REFUSED(s.view.lists[PLAN_SETTINGS] = plan_list(PLAN_SETTINGS, (struct plan[2]){ { 0 } },
							2),
		"there are settings twice");
}

/* An automaton is complete, and at an aligned place, among the entries after the conditions. */
TEST(automatons)
{
	static const struct {
		int64_t value;
		uint32_t less; /* by which the list of conditions is too short for the automaton */
		bool is_good;
	} rows[] = {
		{ 0, 0, true }, { 0, 1, false }, { 8, 0, false }, { 4, 0, false }, { -8, 0, false },
	};
	static struct plan_cond conds[1 + sizeof(struct automaton) / sizeof(struct plan_cond)];
	const uint32_t nr = ARRAY_SIZE(conds);
	struct sample s;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		conds[0] = (struct plan_cond){ .kind = PLAN_COND_AUTOMATON,
					       .index = 1,
					       .value = rows[i].value };
		make_sample(&s);
		s.view.lists[PLAN_CONDS] = plan_list(PLAN_CONDS, conds, nr - rows[i].less);
		if (rows[i].is_good)
			assert_null(open_view(&s.view));
		else
			assert_string_equal(open_view(&s.view), no_text);
	}
	/* With more entries, the automaton may begin at other multiples of 8, too. */
	for (int64_t value = 0; value <= 24; value += 4) {
		static struct plan_cond more[ARRAY_SIZE(conds) + 1];

		more[0] = (struct plan_cond){ .kind = PLAN_COND_AUTOMATON, .value = value };
		make_sample(&s);
		s.view.lists[PLAN_CONDS] = plan_list(PLAN_CONDS, more, ARRAY_SIZE(more));
		assert_int_equal(!open_view(&s.view), value % 8 == 0 && value <= 16);
	}
}

/* Steps of captures: one program for arguments and one for the result, with containers. */
TEST(steps_of_captures)
{
	static const char *const out = "a function's capture program leads out of the steps";
	static const struct {
		struct capture_step steps[9];
		bool is_good;
		uint32_t missing; /* of the steps that the head states */
	} rows[] = {
		{ { { .op = CAPTURE_HEAD } }, true },
		{ { { .op = CAPTURE_HEAD, .bytes = 8 }, { CAPTURE_WORD } }, false },
		{ { { .op = CAPTURE_HEAD, .bytes = 1 }, { CAPTURE_WORD } }, true },
		{ { { .op = CAPTURE_HEAD, .bytes = 1, .index = 1 },
		    { CAPTURE_WORD },
		    { CAPTURE_WORD } },
		  true },
		{ { { .op = CAPTURE_HEAD, .bytes = 1, .index = 1 },
		    { CAPTURE_WORD },
		    { CAPTURE_WORD } },
		  false,
		  1 },
		{ { { .op = CAPTURE_HEAD, .bytes = 1 }, { CAPTURE_WORD } }, false, 1 },
		{ { { .op = CAPTURE_HEAD, .bytes = 1 } }, false },
		{ { { .op = CAPTURE_WORD } }, false },
		/* Two steps begin a container. The steps of its parts and of its shape follow. */
		{ { { .op = CAPTURE_HEAD, .index = 5 }, { CAPTURE_BOX }, { .index = 3 } }, true },
		{ { { .op = CAPTURE_HEAD, .index = 4 }, { CAPTURE_BOX }, { .index = 3 } }, false },
		{ { { .op = CAPTURE_HEAD, .bytes = 1, .index = 4 },
		    { CAPTURE_BOX },
		    { .index = 3 } },
		  false },
		{ { { .op = CAPTURE_HEAD, .index = 1 }, { CAPTURE_BOX }, { .index = 3 } }, false },
		{ { { .op = CAPTURE_HEAD, .index = 2 }, { CAPTURE_BOX }, { .index = 0 } }, false },
		{ { { .op = CAPTURE_HEAD, .index = 6 }, { CAPTURE_BOX }, { .index = 4 } }, false },
		{ { { .op = CAPTURE_HEAD, .index = 4 }, { CAPTURE_BOX }, { .index = 2 } }, false },
		{ { { .op = CAPTURE_HEAD, .index = 6 },
		    { CAPTURE_BOX },
		    { .bytes = 1, .index = 3 },
		    { CAPTURE_WORD } },
		  true },
		{ { { .op = CAPTURE_HEAD, .index = 6 },
		    { CAPTURE_BOX },
		    { .bytes = 2, .index = 3 },
		    { CAPTURE_WORD } },
		  false },
		{ { { .op = CAPTURE_HEAD, .index = 8 },
		    { CAPTURE_BOX },
		    { .index = 6 },
		    { 0, 0, 1, 0 } }, /* the first step of a shape has one below it */
		  true },
		{ { { .op = CAPTURE_HEAD, .index = 8 },
		    { CAPTURE_BOX },
		    { .index = 6 },
		    { 0, 0, 2, 0 } },
		  false },
		{ { { .op = CAPTURE_HEAD, .index = 8 },
		    { CAPTURE_BOX },
		    { .index = 6 },
		    { 0, 0, 1, 0 },
		    { 0 },
		    { 0 },
		    { 0, 0, 1, 0 } }, /* the last one has none */
		  false },
	};
	struct sample s;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t nr = 1 + rows[i].steps[0].bytes + rows[i].steps[0].index;
		const char *why;

		make_sample(&s);
		s.view.lists[PLAN_STEPS] = plan_list(PLAN_STEPS, rows[i].steps,
						     nr - rows[i].missing);
		why = open_view(&s.view);
		if (rows[i].is_good)
			assert_null(why);
		else
			assert_string_equal(why, out);
	}
}

/* Patches at the limits of their members. */
TEST(patches_at_their_borders)
{
	static const struct plan_patch good[] = {
		{ .bytes = 5 },
		{ .bytes = 16 },
		{ .bytes = 5, .what = PATCH_KINDS - 1 },
		{ .bytes = 5, .len = 64 },
		{ .bytes = 5, .len = 4, .nr_fixes = 1 },
		{ .bytes = 5, .len = 5, .nr_fixes = 2, .fixes = { 0, 1 } },
		{ .bytes = 5, .len = 4, .nr_fixes = 1, .fixes = { 0, 99 } },
		{ .bytes = 5,
		  .len = 64,
		  .nr_fixes = 8,
		  .fixes = { 60, 60, 60, 60, 60, 60, 60, 60 } },
		{ .bytes = 5, .what = PATCH_EVENT, .flags = PLAN_PATCH_SILENT },
		{ .bytes = 5, .what = PATCH_ENTRY, .flags = PLAN_PATCH_BY_CALLER },
	};
	static const struct {
		struct plan_patch patch;
		const char *why;
	} bad[] = {
		{ { .bytes = 5, .len = 3, .nr_fixes = 1 },
		  "a distance lies behind its patch's code" },
		{ { .bytes = 5, .len = 5, .nr_fixes = 2, .fixes = { 1, 2 } },
		  "a distance lies behind its patch's code" },
		{ { .bytes = 5, .len = 64, .nr_fixes = 9 }, "a patch's code is too long" },
		{ { .bytes = 5, .what = PATCH_NOP, .flags = PLAN_PATCH_SILENT },
		  "a patch without code has flags for it" },
		{ { .bytes = 5, .what = PATCH_ENTRY, .flags = PLAN_PATCH_SHORT },
		  "a patch has none before it" },
		{ { .bytes = 5, .what = 255 }, "a patch is of a kind that is not known" },
	};
	struct sample s;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ACCEPTED(s.view.lists[PLAN_PATCHES] = plan_list(PLAN_PATCHES, &good[i], 1));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		REFUSED(s.view.lists[PLAN_PATCHES] = plan_list(PLAN_PATCHES, &bad[i].patch, 1),
			bad[i].why);
}

/* A section ends at the end of the image at the latest. */
TEST(sections_at_the_end_of_the_image)
{
	struct sample s;
	struct plan_view out;
	uint64_t len;

	make_sample(&s);

	struct plan_header *header = image_of(&s.view, &len);
	struct plan_section *first = (struct plan_section *)(header + 1);
	const struct {
		struct plan_section section;
		int result;
	} cases[] = {
		{ { PLAN_KINDS, 8, (len - 192) / 8, 192 }, 0 },
		{ { PLAN_KINDS, 8, (len - 192) / 8 + 1, 192 }, -EINVAL },
		{ { PLAN_KINDS, 8, 1, len - 8 }, 0 },
		{ { PLAN_KINDS, 16, 1, len - 8 }, -EINVAL },
		{ { PLAN_KINDS, 8, 0, len }, 0 },
		{ { PLAN_KINDS, 8, 0, len + 8 }, -EINVAL },
		{ { PLAN_KINDS, 8, 1, 184 }, 0 }, /* after the directory */
		{ { 0, 8, 1, 192 }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		*first = cases[i].section;
		assert_int_equal(plan_open(&out, header, len, NULL), cases[i].result);
		assert_int_equal(out.lists[0].nr, 0);
	}
	free(header);
}

/* The sizes and places of an image's parts, all of which are multiples of 16. */
TEST(places_in_an_image)
{
	struct sample s;
	struct plan_view empty = { 0 };

	assert_int_equal(plan_image_head_bytes(&empty), 16);
	assert_int_equal(plan_image_bytes(&empty), 16);
	assert_null(open_view(&empty));
	make_sample(&s);
	assert_int_equal(plan_image_head_bytes(&s.view), 192);
	assert_int_equal(plan_image_place(&s.view, PLAN_SETTINGS), 192);
	assert_int_equal(plan_image_place(&s.view, PLAN_CALLS), 0);
	assert_int_equal(plan_image_place(&s.view, PLAN_PATCHES), 0);
	assert_int_equal(
		plan_image_place(&s.view, PLAN_CONDS) - plan_image_place(&s.view, PLAN_RULES), 32);
	assert_int_equal(
		plan_image_place(&s.view, PLAN_STEPS) - plan_image_place(&s.view, PLAN_CONDS), 32);
	assert_int_equal(plan_image_place(&s.view, PLAN_WATCHES) -
				 plan_image_place(&s.view, PLAN_STEPS),
			 48);
	assert_int_equal(plan_image_bytes(&s.view) - plan_image_place(&s.view, PLAN_COUNTERS), 32);
}
