/* Arguments of static probes: operands from texts in notes, and their places in a plan. */
#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/values/point_args.h"
#include "utils/base/compiler.h"

static const struct elf_file program = { .fd = -1, .head = { .e_machine = EM_X86_64 } };

static const struct found_operand *find(const char *args, size_t nr, const char *types,
					struct strbuf *found)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_reset(found);
	assert_int_equal(point_args_find(&program, args, found, &text), nr);
	assert_string_equal(strbuf_str(&text), types);
	assert_int_equal(found->len,
			 MIN(nr, (size_t)PLAN_OPERANDS_MAX) * sizeof(struct found_operand));
	return (const struct found_operand *)found->data;
}

TEST(kinds_of_operands)
{
	struct strbuf found cleanup_strbuf = { 0 };
	const struct found_operand *list;

	list = find("4@$7 -4@-20(%rbp) 8@%rax -2@8(%rsp,%rcx,4)", 4, "4 -4 8 -2", &found);
	assert_int_equal(list[0].operand.kind, PLAN_OPERAND_CONSTANT);
	assert_int_equal(list[0].operand.value, 7);
	assert_int_equal(list[0].operand.bytes, 4);
	assert_int_equal(list[0].operand.flags, 0);
	assert_int_equal(list[1].operand.kind, PLAN_OPERAND_MEMORY);
	assert_int_equal((int64_t)list[1].operand.value, -20);
	assert_int_equal(list[1].operand.flags, PLAN_OPERAND_SIGNED);
	assert_int_equal(list[1].operand.index, PLAN_NO_REGISTER);
	assert_int_equal(list[2].operand.kind, PLAN_OPERAND_REGISTER);
	assert_int_equal(list[2].operand.bytes, 8);
	assert_int_equal(list[2].operand.flags, 0);
	assert_int_equal(list[3].operand.kind, PLAN_OPERAND_MEMORY);
	assert_int_equal(list[3].operand.value, 8);
	assert_int_equal(list[3].operand.shift, 2);
	assert_int_equal(list[3].operand.bytes, 2);
	assert_int_not_equal(list[3].operand.base, list[3].operand.index);
	assert_int_equal(list[3].operand.flags, PLAN_OPERAND_SIGNED | PLAN_OPERAND_LAST);
	for (size_t i = 0; i < 4; i++)
		assert_false(list[i].is_address);

	list = find("8@%rax", 1, "8", &found);
	assert_int_equal(list[0].operand.flags, PLAN_OPERAND_LAST);
}

/* Only as many operands are found as a plan can have. The others are counted. */
TEST(too_many_operands)
{
	struct strbuf found cleanup_strbuf = { 0 };
	struct strbuf args cleanup_strbuf = { 0 };
	struct strbuf types cleanup_strbuf = { 0 };
	const struct found_operand *list;

	for (unsigned i = 0; i < PLAN_OPERANDS_MAX + 2; i++) {
		if (i < PLAN_OPERANDS_MAX)
			strbuf_addf(&types, "%s4", i ? " " : "");
		strbuf_addf(&args, "%s4@$%u", i ? " " : "", i);
	}
	list = find(strbuf_str(&args), PLAN_OPERANDS_MAX + 2, strbuf_str(&types), &found);
	for (unsigned i = 0; i < PLAN_OPERANDS_MAX; i++) {
		assert_int_equal(list[i].operand.value, i);
		assert_int_equal(list[i].operand.flags,
				 i + 1 == PLAN_OPERANDS_MAX ? PLAN_OPERAND_LAST : 0);
	}
}

static void check_bound(const struct strbuf *out, size_t nr, const uint64_t *values)
{
	const struct plan_operand *list = (const struct plan_operand *)out->data;

	assert_int_equal(out->len, nr * sizeof(*list));
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(list[i].value, values[i]);
}

/* A list of operands ends at PLAN_OPERAND_LAST. The base of the module is added to addresses. */
TEST(operands_in_a_plan)
{
	static const struct found_operand list[] = {
		{ .operand = { .value = 10 } },
		{ .operand = { .value = 20, .flags = PLAN_OPERAND_LAST }, .is_address = true },
		{ .operand = { .value = 30, .flags = PLAN_OPERAND_SIGNED }, .is_address = true },
		{ .operand = { .value = 40 } },
		{ .operand = { .value = 50, .flags = PLAN_OPERAND_SIGNED | PLAN_OPERAND_LAST } },
	};
	const struct strbuf found = { .data = (char *)list, .len = sizeof(list) };
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(point_args_bind(&found, 1, 1000, &out), 1);
	check_bound(&out, 2, (const uint64_t[]){ 10, 1020 });
	assert_int_equal(point_args_bind(&found, 3, 2000, &out), 3);
	check_bound(&out, 5, (const uint64_t[]){ 10, 1020, 2030, 40, 50 });
	assert_int_equal(point_args_bind(&found, 5, 0, &out), 6);
	check_bound(&out, 6, (const uint64_t[]){ 10, 1020, 2030, 40, 50, 50 });
}
