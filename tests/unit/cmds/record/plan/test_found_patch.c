/*
 * Patches for one place in a program's code: their order, and whether another patch has the room.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/modules.h"
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
		/* The last entry stands for the function. */
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

/* A short jump leads to the long jump of the entry before it in the list. */
TEST(at_an_entry)
{
	CHECK(site_at(SITE, 0), { SITE, 0 });
	CHECK(site_at(SITE, ISLAND), { ISLAND, PLAN_PATCH_SILENT },
	      { SITE, PLAN_PATCH_INNER | PLAN_PATCH_SHORT });
	CHECK(site_at(BEFORE, 0), { BEFORE, PLAN_PATCH_SILENT }, { SITE, PLAN_PATCH_INNER });
	CHECK(site_at(BEFORE, ISLAND), { ISLAND, PLAN_PATCH_SILENT },
	      { BEFORE, PLAN_PATCH_SILENT | PLAN_PATCH_INNER | PLAN_PATCH_SHORT },
	      { SITE, PLAN_PATCH_INNER });
}

/* The jump of another site runs these instructions first: the bytes are not written twice. */
TEST(inside_of_anothers_jump)
{
	struct code_site site = site_at(BEFORE, ISLAND);

	site.is_inner = true;
	CHECK(site, { SITE, PLAN_PATCH_INNER });
}

/*
 * Two patches that need the same bytes exclude each other, unless they are in different modules.
 */
TEST(room)
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

/* --- by function --- */

static void add_for(struct strbuf *found, uint64_t func, uint64_t site)
{
	const struct found_patch one = { .patch.site = site, .func = func };

	strbuf_add(found, &one, sizeof(one));
}

TEST(single_ones_of_many_are_found)
{
	struct strbuf found cleanup_strbuf = { 0 };
	struct found_index index = { 0 };
	const struct found_index_entry *entries;
	size_t nr;

	found_index_update(&index, &found);
	found_index_range(&index, 0, UINT64_MAX, &nr);
	assert_int_equal(nr, 0);
	/* The entries come out of order; two of them are of one function and stay together. */
	add_for(&found, 0x300, 1);
	add_for(&found, 0x100, 2);
	add_for(&found, 0x100, 3);
	found_index_update(&index, &found);
	entries = found_index_range(&index, 0x100, 0x101, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(entries[0].number, 1);
	assert_int_equal(entries[1].number, 2);
	/* An update takes an entry that was added later. */
	add_for(&found, 0x200, 4);
	found_index_update(&index, &found);
	entries = found_index_range(&index, 0x101, 0x300, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(entries[0].number, 3);
	found_index_range(&index, 0, UINT64_MAX, &nr);
	assert_int_equal(nr, 4);
	found_index_range(&index, 0x301, UINT64_MAX, &nr);
	assert_int_equal(nr, 0);
	found_index_deinit(&index);
}

static void leave_out(struct known_module *known, uint64_t start, uint64_t end)
{
	const struct module_left_out left = { .func = { start, end, PLAN_NO_RULE,
							PLAN_NO_CAPTURE } };

	assert_int_equal(known_left_out_add(known, &left), 0);
}

static uint64_t start_of(const struct known_module *known, uint64_t at)
{
	const struct module_left_out *left = known_left_out_at(known, at);

	return left ? left->func.start : 0;
}

TEST(what_is_left_out_is_found_by_address)
{
	struct known_module known = { 0 };

	assert_null(known_left_out_at(&known, 1));
	leave_out(&known, 0x300, 0x310);
	leave_out(&known, 0x100, 0x200);
	/* Two ranges, one after the other, within a larger one. */
	leave_out(&known, 0x120, 0x130);
	leave_out(&known, 0x140, 0x150);
	assert_int_equal(start_of(&known, 0xff), 0);
	assert_int_equal(start_of(&known, 0x100), 0x100);
	assert_int_equal(start_of(&known, 0x125), 0x120);
	assert_int_equal(start_of(&known, 0x130), 0x100);
	assert_int_equal(start_of(&known, 0x1ff), 0x100);
	assert_int_equal(start_of(&known, 0x200), 0);
	assert_int_equal(start_of(&known, 0x30f), 0x300);
	assert_int_equal(start_of(&known, 0x310), 0);
	strbuf_deinit(&known.left_out);
}
