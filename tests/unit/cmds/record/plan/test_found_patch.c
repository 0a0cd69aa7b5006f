/* What is written for one place in a program's code: which patches, in which order, and whether another one has its room. */
#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/found_patch.h"
#include "utils/base/compiler.h"

#define SITE   0x1010
#define BEFORE 0x1008
#define ISLAND 0x1040
#define FUNC   0x1000

static const struct plan_patch call = { .what = PATCH_CALL };

static struct code_site site_at(uint64_t jump_at, uint64_t island)
{
	return (struct code_site){
		.addr = SITE,
		.jump_at = jump_at,
		.island = island,
		.before = { .from = BEFORE },
		.code = { .from = SITE },
	};
}

struct expected {
	uint64_t site;
	uint32_t flags;
};

static void check(const struct code_site *site, const struct expected *expected, size_t nr)
{
	struct strbuf found cleanup_strbuf = { 0 };
	const struct found_patch *list;

	found_patch_add_site(&found, site, call, FUNC);
	list = (const struct found_patch *)found.data;
	assert_int_equal(found.len / sizeof(*list), nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(list[i].patch.site, expected[i].site);
		assert_int_equal(list[i].patch.flags, expected[i].flags);
		assert_int_equal(list[i].patch.what, PATCH_CALL);
		assert_int_equal(list[i].func, FUNC);
		/* One stands for the function, and is the last. */
		assert_int_equal(found_patch_is_function(&list[i]), i == nr - 1);
	}
}

#define CHECK(site, ...)                                      \
	do {                                                  \
		const struct code_site s_ = site;             \
		const struct expected e_[] = { __VA_ARGS__ }; \
                                                              \
		check(&s_, e_, ARRAY_SIZE(e_));               \
	} while (0)

/* A short jump leads to the long one of what is before it in the list. */
static void at_an_entry(void **state)
{
	CHECK(site_at(SITE, 0), { SITE, 0 });
	CHECK(site_at(SITE, ISLAND), { ISLAND, PLAN_PATCH_SILENT },
	      { SITE, PLAN_PATCH_INNER | PLAN_PATCH_SHORT });
	CHECK(site_at(BEFORE, 0), { BEFORE, PLAN_PATCH_SILENT }, { SITE, PLAN_PATCH_INNER });
	CHECK(site_at(BEFORE, ISLAND), { ISLAND, PLAN_PATCH_SILENT },
	      { BEFORE, PLAN_PATCH_SILENT | PLAN_PATCH_INNER | PLAN_PATCH_SHORT },
	      { SITE, PLAN_PATCH_INNER });
}

/* Another site's jump does what there is to do before it: that is not written twice. */
static void inside_of_anothers_jump(void **state)
{
	struct code_site site = site_at(BEFORE, ISLAND);

	site.is_inner = true;
	CHECK(site, { SITE, PLAN_PATCH_INNER });
}

/* Two that would replace the same bytes cannot both be; in two modules they are elsewhere. */
static void room(void **state)
{
	const uint64_t bias = 0x40000;
	struct strbuf patches cleanup_strbuf = { 0 };
	struct found_patch first = { .patch = { .site = SITE, .bytes = 5 }, .code.taken = 7 };
	struct found_patch next = { .patch = { .site = SITE + 6, .bytes = 5 } };

	found_patch_bind(&first, bias, &patches);
	assert_int_equal(((struct plan_patch *)patches.data)->site, SITE + bias);
	assert_false(found_patch_is_free(&next, bias, &patches, 1));
	assert_true(found_patch_is_free(&next, bias, &patches, 0));
	assert_true(found_patch_is_free(&next, bias + 0x1000, &patches, 1));
	next.patch.site = SITE + 7;
	assert_true(found_patch_is_free(&next, bias, &patches, 1));
	next.patch.site = SITE - 5;
	assert_true(found_patch_is_free(&next, bias, &patches, 1));
	next.patch.bytes = 6;
	assert_false(found_patch_is_free(&next, bias, &patches, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_an_entry),
		cmocka_unit_test(inside_of_anothers_jump),
		cmocka_unit_test(room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
