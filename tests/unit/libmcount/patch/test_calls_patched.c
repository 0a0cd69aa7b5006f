/* Library calls of functions that have a hook of their own: the call's hook leaves them alone. */
#include "libmcount/patch/calls_patched.h"

#include <stdlib.h>
#include <string.h>

#include "libmcount/patch/patches_private.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"

#define FUNCTIONS   64
#define SPACE	    32 /* bytes from one function to the next one */
#define ORIGINAL    0x55
#define PATCHED	    0xe9
#define NR_PATCHES  8
#define OUTSIDE	    0x1000
#define THE_UNBOUND 0x2000

static struct pair pair;
static uint8_t text[FUNCTIONS * SPACE];

static struct patched_module *modules[2];

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	self = pair_thread();
	assert_non_null(self);
	memset(text, PATCHED, sizeof(text));
	for (unsigned i = 0; i < 2; i++) {
		modules[i] = calloc(1, sizeof(*modules[i]) + NR_PATCHES * sizeof(struct patch));
		assert_non_null(modules[i]);
	}
	modules[0]->next = modules[1];
	patched_modules = modules[0];
	return 0;
}

static int teardown(void **state)
{
	patched_modules = NULL;
	free(modules[0]);
	free(modules[1]);
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

static uint64_t function_at(unsigned nr)
{
	return (uint64_t)&text[nr * SPACE];
}

/* Add a patch of function @nr. @distance: from its site to the address in records */
static struct patch *add(unsigned module, unsigned nr, uint8_t what, uint8_t flags, int distance)
{
	struct patch *patch = &modules[module]->patches[modules[module]->nr++];

	*patch = (struct patch){ .site = function_at(nr),
				 .what = what,
				 .flags = flags,
				 .to_function = distance,
				 .original = { ORIGINAL } };
	return patch;
}

static struct call_site site_of(uint64_t function)
{
	return (struct call_site){ .target = function,
				   .function = function,
				   .unbound = THE_UNBOUND };
}

static bool is_found(struct call_site site)
{
	calls_find_patched(&site, 1);
	return site.flags & CALL_OF_PATCHED;
}

TEST_WITH(patches_that_record_calls_are_found, setup, teardown)
{
	static const struct {
		uint8_t what;
		uint8_t flags;
		bool is_found;
	} cases[] = {
		{ PATCH_ENTRY, 0, true },
		{ PATCH_ENTRY, PLAN_PATCH_BY_CALLER, false },
		{ PATCH_ENTRY, PLAN_PATCH_SILENT, false },
		{ PATCH_ENTRY, PLAN_PATCH_INNER, false },
		{ PATCH_ENTRY, PLAN_PATCH_SHORT, true },
		{ PATCH_ENTRY, PLAN_PATCH_INNER | PLAN_PATCH_SHORT, true },
		{ PATCH_ENTRY, PLAN_PATCH_INNER | PLAN_PATCH_SHORT | PLAN_PATCH_SILENT, false },
		{ PATCH_ENTRY, PLAN_PATCH_SHORT | PLAN_PATCH_BY_CALLER, false },
		{ PATCH_CALL, 0, true },
		{ PATCH_CALL, PLAN_PATCH_SILENT, true },
		{ PATCH_XRAY_ENTRY, 0, true },
		{ PATCH_XRAY_EXIT, 0, false },
		{ PATCH_XRAY_TAIL, 0, false },
		{ PATCH_EVENT, 0, false },
		{ PATCH_NOP, 0, false },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct call_site site = site_of(OUTSIDE);

		modules[0]->nr = 0;
		add(0, 1, cases[i].what, cases[i].flags, 0);
		assert_int_equal(is_found(site_of(function_at(1))), cases[i].is_found);
		/* The same is true for a site whose function is found at its first call. */
		site.flags = CALL_OF_UNKNOWN;
		site.target = function_at(1);
		assert_int_equal(calls_is_left_alone(&site, site.target), cases[i].is_found);
		assert_int_equal(site.flags, cases[i].is_found ? CALL_OF_PATCHED : 0);
	}
}

/* A landing pad and a call of the hook may come before the address that records have. */
TEST_WITH(the_address_in_records_may_be_after_the_first_byte, setup, teardown)
{
	for (int distance = -1; distance <= 11; distance++) {
		bool is_known = distance == 0 || distance == 4 || distance == 5 || distance == 9;
		struct call_site site = { .flags = CALL_OF_UNKNOWN, .target = function_at(2) };

		modules[0]->nr = 0;
		add(0, 2, PATCH_CALL, 0, distance);
		assert_int_equal(is_found(site_of(function_at(2))), is_known);
		assert_int_equal(calls_is_left_alone(&site, site.target),
				 distance >= 0 && distance <= 9);
	}
	modules[0]->nr = 0;
	add(0, 2, PATCH_CALL, 0, INT16_MIN);
	assert_false(is_found(site_of(function_at(2))));
}

TEST_WITH(a_found_site_knows_the_hook, setup, teardown)
{
	struct call_site site = site_of(function_at(3));
	struct call_site behind = site_of(OUTSIDE);

	add(0, 5, PATCH_CALL, 0, 0);
	add(1, 3, PATCH_ENTRY, 0, 4)->site = function_at(3) - 4;
	calls_find_patched(&site, 1);
	assert_int_equal(site.flags, CALL_OF_PATCHED);
	assert_ptr_equal(site.hook, function_at(3) - 4);
	assert_int_equal(site.unpatched, ORIGINAL);
	/* The function is one of the probe's, and the next one of that name has the hook. */
	behind.behind = function_at(5);
	calls_find_patched(&behind, 1);
	assert_int_equal(behind.flags, CALL_OF_PATCHED);
	assert_ptr_equal(behind.hook, function_at(5));
	site = site_of(function_at(3));
	site.behind = OUTSIDE;
	assert_false(is_found(site));
}

TEST_WITH(sites_that_need_a_record_are_not_left_alone, setup, teardown)
{
	struct call_site site = site_of(function_at(3));

	add(0, 3, PATCH_CALL, 0, 0);
	for (unsigned bit = 0; bit < 32; bit++) {
		site = site_of(function_at(3));
		site.flags = 1ULL << bit;
		assert_int_equal(is_found(site), 1ULL << bit == PLAN_CALL_NO_RETURN_HOOK);
	}
	site = site_of(0);
	site.flags = PLAN_CALL_NO_RETURN_HOOK;
	calls_find_patched(&site, 1);
	assert_int_equal(site.flags, PLAN_CALL_NO_RETURN_HOOK | CALL_OF_UNKNOWN);
	site = site_of(OUTSIDE);
	calls_find_patched(&site, 1);
	assert_int_equal(site.flags, 0);
	assert_false(calls_is_left_alone(&site, OUTSIDE));
}

TEST_WITH(there_may_be_no_sites_and_no_patches, setup, teardown)
{
	struct call_site site = site_of(0);

	calls_find_patched(&site, 0);
	assert_int_equal(site.flags, 0);
	patched_modules = NULL;
	calls_find_patched(&site, 1);
	assert_int_equal(site.flags, 0);
	patched_modules = modules[0];
	calls_find_patched(&site, 1);
	assert_int_equal(site.flags, CALL_OF_UNKNOWN);
}

TEST_WITH(many_sites_at_once, setup, teardown)
{
	for (uint32_t nr = 1; nr <= FUNCTIONS; nr++) {
		struct call_site sites[FUNCTIONS];

		modules[0]->nr = modules[1]->nr = 0;
		for (uint32_t i = 0; i < nr; i++)
			sites[i] = site_of(i % 7 == 6 ? 0 : function_at(i));
		for (uint32_t i = 0; i < NR_PATCHES; i++)
			add(i % 2, 5 * i, PATCH_ENTRY, 0, 0);
		calls_find_patched(sites, nr);
		for (uint32_t i = 0; i < nr; i++) {
			bool is_patched = i % 5 == 0 && i / 5 < NR_PATCHES;

			if (i % 7 == 6)
				assert_int_equal(sites[i].flags, CALL_OF_UNKNOWN);
			else
				assert_int_equal(sites[i].flags, is_patched ? CALL_OF_PATCHED : 0);
			if (sites[i].flags == CALL_OF_PATCHED)
				assert_ptr_equal(sites[i].hook, function_at(i));
		}
	}
}

TEST_WITH(a_call_is_left_alone_while_its_function_has_the_hook, setup, teardown)
{
	struct call_site site = site_of(function_at(4));

	add(0, 4, PATCH_ENTRY, 0, 0);
	calls_find_patched(&site, 1);
	assert_true(calls_is_left_alone(&site, function_at(4)));
	assert_true(calls_is_left_alone(&site, THE_UNBOUND));
	/* The program has bound the site anew. */
	assert_false(calls_is_left_alone(&site, function_at(5)));
	/* The recorder has taken the patch out. */
	text[4 * SPACE] = ORIGINAL;
	assert_false(calls_is_left_alone(&site, function_at(4)));
	assert_false(calls_is_left_alone(&site, THE_UNBOUND));
	text[4 * SPACE] = PATCHED;
	assert_true(calls_is_left_alone(&site, function_at(4)));
}

TEST_WITH(the_function_of_a_site_is_learnt_when_it_is_bound, setup, teardown)
{
	struct call_site site = { .target = THE_UNBOUND, .unbound = THE_UNBOUND };

	add(1, 4, PATCH_ENTRY, 0, 0);
	calls_find_patched(&site, 1);
	assert_int_equal(site.flags, CALL_OF_UNKNOWN);
	assert_false(calls_is_left_alone(&site, THE_UNBOUND));
	assert_int_equal(site.flags, CALL_OF_UNKNOWN);
	site.target = function_at(4);
	assert_true(calls_is_left_alone(&site, site.target));
	assert_int_equal(site.flags, CALL_OF_PATCHED);
	assert_int_equal(site.function, function_at(4));
	assert_ptr_equal(site.hook, function_at(4));
	assert_int_equal(site.unpatched, ORIGINAL);

	site = (struct call_site){ .target = function_at(6), .flags = CALL_OF_UNKNOWN };
	assert_false(calls_is_left_alone(&site, site.target));
	assert_int_equal(site.flags, 0);
	assert_int_equal(site.function, function_at(6));
	/* A site is looked at once. */
	site.target = function_at(4);
	assert_false(calls_is_left_alone(&site, site.target));
	assert_int_equal(site.function, function_at(6));
}
