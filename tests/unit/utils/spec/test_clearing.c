/* Unit tests of utils/spec/clearing.c: the specs that remain when later ones clear some. */
#include "tests/unit/lib/unit.h"

#include "utils/spec/clearing.h"

static void make(struct filters *filters, char *filter, char *trigger)
{
	char *specs[SPEC_OPTIONS] = { [SPEC_FILTER] = filter, [SPEC_TRIGGER] = trigger };
	struct uft_err err = { 0 };
	enum spec_option option;

	if (filters_make(filters, specs, MATCH_REGEX, &option, &err) < 0)
		fail_msg("%s", err.text);
}

static void match(struct filters *filters, const char *name)
{
	struct filter_subject subject = { .name = name, .name_len = strlen(name) };
	struct trigger trigger;

	filters_match(filters, &subject, &trigger);
}

TEST(test_texts)
{
	static const struct {
		char *filter;
		char *trigger;
		const char *filters_left;
		const char *triggers_left;
	} cases[] = {
		{ "b;b@clear", NULL, NULL, NULL },
		{ "a;b;b@clear", NULL, "a;b@clear", NULL },
		{ "a@clear", NULL, NULL, NULL },
		{ "b;b@clear;b", NULL, "b", NULL },
		{ "b@depth=2;b@clear", NULL, "b@depth=2;b@clear", NULL },
		{ "b", "b@clear", NULL, NULL },
		{ "b@x;b@clear", NULL, "b@x;b@clear", NULL },
		{ NULL, "b@depth=2;b@time=1;b@clear=depth", NULL, "b@time=1" },
		/* The second spec must go on clearing the time of "^b". */
		{ NULL, "^b@time=1;b@depth=2,clear=time;b@clear=depth", NULL,
		  "^b@time=1;b@depth=2,clear=time;b@clear=depth" },
		/* A spec that clears is dropped, too, when a later one clears as much. */
		{ NULL, "b@depth=2,clear;b@depth=3,clear", NULL, "b@depth=3,clear" },
		{ NULL, "^b@time=1;b@clear;b@clear", NULL, "^b@time=1;b@clear" },
		{ NULL, "^b@time=1;b@clear;b@clear=time", NULL, "^b@time=1;b@clear=time" },
		/* The second spec must go on replacing the action of "^b". */
		{ NULL, "b@filter;b@clear=filter", NULL, NULL },
		{ NULL, "^b@notrace;b@filter;b@clear=filter", NULL,
		  "^b@notrace;b@filter;b@clear=filter" },
		{ NULL, "^b@notrace;b@filter;b@clear=filter+notrace", NULL,
		  "^b@notrace;b@clear=filter+notrace" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filters filters cleanup_filters = { 0 };
		char *left[SPEC_OPTIONS] = { 0 };

		make(&filters, cases[i].filter, cases[i].trigger);
		assert_int_equal(clearing_texts(&filters, left), 0);
		assert_string_equal(left[SPEC_FILTER] ?: "", cases[i].filters_left ?: "");
		assert_string_equal(left[SPEC_TRIGGER] ?: "", cases[i].triggers_left ?: "");
		for (unsigned k = 0; k < SPEC_OPTIONS; k++)
			free(left[k]);
	}
}

TEST(test_in_force)
{
	struct filters filters cleanup_filters = { 0 };

	make(&filters, "^b", "b1@clear");
	/* A filter without a match lets no function in. */
	assert_int_equal(filters_opt_in(&filters), TRIGGER_FILTER);
	match(&filters, "b1");
	assert_int_equal(filters_opt_in(&filters), 0);
	match(&filters, "b2");
	assert_int_equal(filters_opt_in(&filters), TRIGGER_FILTER);
}

static bool renews_depth(char *filter, char *trigger)
{
	struct filters filters cleanup_filters = { 0 };

	make(&filters, filter, trigger);
	return filters_renew_depth(&filters);
}

TEST(test_depth_is_renewed)
{
	assert_true(renews_depth("b", NULL));
	assert_true(renews_depth(NULL, "b@depth=2"));
	assert_false(renews_depth("!b", "b@trace"));
	assert_false(renews_depth("b@kernel", NULL));
}
