/* Arguments of events: their places, their widths, and arguments that are missing. */
#include "libmcount/values/point_args.h"

#include <sys/mman.h>

#include "libmcount/system/fault.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define NONE PLAN_NO_REGISTER

/* Numbers of registers in DWARF. */
#define RAX 0
#define RDX 1
#define R15 15

static const uint8_t memory[16] = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88,
				    1,	  2,	3,    4,    5,	  6,	7,    8 };

static struct pair pair;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	fault_guard_begin();
	self = pair_thread();
	assert_non_null(self);
	self->busy = 1;
	return 0;
}

static int teardown(void **state)
{
	self->busy = 0;
	pair_stop(&pair);
	pair_close(&pair);
	return 0;
}

static uint64_t payload[1 + PLAN_OPERANDS_MAX];

static uint64_t read_all(const struct arch_point *point, const struct plan_operand *list,
			 uint64_t nr)
{
	struct point_operands *operands = malloc(point_operands_bytes(nr));
	uint64_t bytes;

	assert_non_null(operands);
	operands->nr = nr;
	memcpy(operands->list, list, nr * sizeof(*list));
	memset(payload, 0xee, sizeof(payload));
	bytes = point_args_read(operands, point, payload);
	free(operands);
	return bytes;
}

static uint64_t read_one(const struct arch_point *point, struct plan_operand operand)
{
	assert_int_equal(read_all(point, &operand, 1), 2 * sizeof(uint64_t));
	assert_int_equal(payload[0], 1);
	assert_int_equal(payload[2], 0xeeeeeeeeeeeeeeeeULL);
	return payload[1];
}

TEST(constants)
{
	const struct arch_point point = { 0 };
	struct plan_operand o = { .kind = PLAN_OPERAND_CONSTANT, .bytes = 8, .value = -5ULL };

	assert_int_equal(read_one(&point, o), -5ULL);
	o.bytes = 4;
	assert_int_equal(read_one(&point, o), 0xfffffffbULL);
	o.flags = PLAN_OPERAND_SIGNED;
	assert_int_equal(read_one(&point, o), -5ULL);
}

/*
 * An argument is in the low bytes of a register, and is extended by its sign or by zeros. For ah
 * and similar registers it is in the second byte.
 */
TEST(registers)
{
	const struct arch_point point = { .regs.rax = 0x1122334455667788, .r15 = 0x80 };
	struct plan_operand o = { .kind = PLAN_OPERAND_REGISTER, .bytes = 8, .base = RAX };

	assert_int_equal(read_one(&point, o), 0x1122334455667788);
	o.bytes = 4;
	assert_int_equal(read_one(&point, o), 0x55667788);
	o.bytes = 2;
	assert_int_equal(read_one(&point, o), 0x7788);
	o.bytes = 1;
	assert_int_equal(read_one(&point, o), 0x88);
	o.flags = PLAN_OPERAND_SIGNED;
	assert_int_equal(read_one(&point, o), (uint64_t)(int8_t)0x88);
	o.shift = 8;
	assert_int_equal(read_one(&point, o), 0x77);
	o = (struct plan_operand){ .kind = PLAN_OPERAND_REGISTER, .bytes = 1, .base = R15 };
	assert_int_equal(read_one(&point, o), 0x80);
	o.flags = PLAN_OPERAND_SIGNED;
	assert_int_equal(read_one(&point, o), (uint64_t)-128);
}

TEST(in_memory)
{
	const struct arch_point point = { .regs.rax = (uint64_t)memory, .regs.rdx = 2 };
	struct plan_operand o = {
		.kind = PLAN_OPERAND_MEMORY, .bytes = 8, .base = RAX, .index = NONE
	};
	uint64_t word;

	memcpy(&word, memory, sizeof(word));
	assert_int_equal(read_one(&point, o), word);
	o.bytes = 2;
	assert_int_equal(read_one(&point, o), 0x8281);
	o.flags = PLAN_OPERAND_SIGNED;
	assert_int_equal(read_one(&point, o), (uint64_t)(int16_t)0x8281);
	o.flags = 0;
	o.value = 8;
	assert_int_equal(read_one(&point, o), 0x0201);
	/*
	 * The register @index, shifted left by @shift, is added to the address.
	 */
	o.index = RDX;
	assert_int_equal(read_one(&point, o), 0x0403);
	o.shift = 1;
	assert_int_equal(read_one(&point, o), 0x0605);
	o.value = -2ULL;
	assert_int_equal(read_one(&point, o), 0x8483);
	/* Without registers the address is constant, as that of a variable. */
	o = (struct plan_operand){ .kind = PLAN_OPERAND_MEMORY,
				   .bytes = 1,
				   .base = NONE,
				   .index = NONE,
				   .value = (uint64_t)memory + 15 };
	assert_int_equal(read_one(&point, o), 8);
}

/* One bit is set for each missing argument. The other arguments are captured. */
TEST(not_there)
{
	const struct arch_point point = { .regs.rax = 0x1000 };
	uint8_t *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct plan_operand list[] = {
		{ .kind = PLAN_OPERAND_CONSTANT, .bytes = 8, .value = 11 },
		{ .kind = PLAN_OPERAND_NONE, .bytes = 8, .value = 12 },
		{ .kind = PLAN_OPERAND_MEMORY,
		  .bytes = 8,
		  .base = NONE,
		  .index = NONE,
		  .value = (uint64_t)page },
		{ .kind = PLAN_OPERAND_REGISTER, .bytes = 8, .base = RAX },
	};

	assert_true(page != MAP_FAILED);
	assert_int_equal(read_all(&point, list, 4), 5 * sizeof(uint64_t));
	assert_int_equal(payload[0], 1 | 8);
	assert_int_equal(payload[1], 11);
	assert_int_equal(payload[2], 0);
	assert_int_equal(payload[3], 0);
	assert_int_equal(payload[4], 0x1000);
	assert_int_equal(payload[5], 0xeeeeeeeeeeeeeeeeULL);
	munmap(page, 4096);
}

TEST(as_many_as_there_may_be)
{
	const struct arch_point point = { 0 };
	struct plan_operand list[PLAN_OPERANDS_MAX];

	for (unsigned i = 0; i < PLAN_OPERANDS_MAX; i++)
		list[i] = (struct plan_operand){ .kind = PLAN_OPERAND_CONSTANT,
						 .bytes = 8,
						 .value = 100 + i };
	assert_int_equal(read_all(&point, list, PLAN_OPERANDS_MAX), sizeof(payload));
	assert_int_equal(payload[0], (1ULL << PLAN_OPERANDS_MAX) - 1);
	for (unsigned i = 0; i < PLAN_OPERANDS_MAX; i++)
		assert_int_equal(payload[1 + i], 100 + i);
}

TEST(bytes_of_operands)
{
	assert_int_equal(point_operands_bytes(0), 0);
	assert_int_equal(point_operands_bytes(2),
			 sizeof(struct point_operands) + 2 * sizeof(struct plan_operand));
}

TEST_GROUP(setup, teardown)
