/*
 * Lengths and targets of instructions: arch/x86_64/steps.c and the disassembler agree on whole
 * libraries.
 */
#include "tests/unit/lib/unit.h"

#include <capstone/capstone.h>
#include <elf.h>

#include "arch/insn.h"
#include "arch/x86_64/steps.h"
#include "utils/object/code/code.h"

/* The C library, and files that are checked if they are installed. */
static const char *const libraries[] = {
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/bin/git",
};

struct tally {
	unsigned long known;
	unsigned long unknown; /* instructions that the disassembler does not know */
};

static uint64_t name_of(const cs_insn *insn, bool *has_name)
{
	const cs_x86 *x86 = &insn->detail->x86;

	*has_name = true;
	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP)
			return insn->address + insn->size + op->mem.disp;
	}
	for (unsigned i = 0; i < insn->detail->groups_count; i++) {
		uint8_t group = insn->detail->groups[i];

		if ((group == CS_GRP_JUMP || group == CS_GRP_CALL ||
		     group == CS_GRP_BRANCH_RELATIVE) &&
		    x86->op_count && x86->operands[0].type == X86_OP_IMM)
			return x86->operands[0].imm;
	}
	*has_name = false;
	return 0;
}

static void compare_function(csh handle, cs_insn *insn, const struct code *code,
			     const struct code_func *func, struct tally *tally)
{
	for (uint64_t addr = func->start; addr < func->end;) {
		const uint8_t *at = code_bytes(code, addr, func->end - addr);
		const uint8_t *next = at;
		uint64_t left = func->end - addr;
		uint64_t next_addr = addr;
		size_t size = left;
		struct insn_step step;
		bool has_name;
		bool is_known = x86_64_step(at, left, addr, &step);

		/* The function ends at an instruction that neither capstone nor utrail knows. */
		if (!cs_disasm_iter(handle, &next, &size, &next_addr, insn)) {
			tally->unknown++;
			if (!is_known)
				return;
			addr += step.len;
			continue;
		}
		if (!is_known || step.len != insn->size)
			fail_msg("%#lx: %d bytes, but '%s %s' has %d (%02x %02x %02x %02x)", addr,
				 is_known ? step.len : 0, insn->mnemonic, insn->op_str, insn->size,
				 at[0], at[1], at[2], at[3]);

		uint64_t name = name_of(insn, &has_name);

		/*
		 * Some instructions, such as `nop`, name an address that the disassembler leaves
		 * out.
		 */
		if (has_name && (!step.has_name || step.names != name))
			fail_msg("%#lx: '%s %s' names %#lx", addr, insn->mnemonic, insn->op_str,
				 step.names);
		assert_int_equal(step.is_address, insn->id == X86_INS_LEA && has_name);
		tally->known++;
		addr += step.len;
	}
}

TEST(same_as_disassembler)
{
	struct tally tally = { 0 };
	csh handle;
	cs_insn *insn;

	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &handle), CS_ERR_OK);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
		struct code code cleanup_code = { 0 };

		if (elf_file_open(&file, libraries[i], NULL) < 0)
			continue;
		assert_int_equal(code_load(&file, &code), 0);
		for (size_t k = 0; k < code.nr_funcs; k++)
			compare_function(handle, insn, &code, &code.funcs[k], &tally);
	}
	cs_free(insn, 1);
	cs_close(&handle);
	print_message("%lu instructions are the same, %lu are none to capstone\n", tally.known,
		      tally.unknown);
	assert_true(tally.known > 100000);
	assert_true(tally.unknown < tally.known / 500);
}

struct row {
	const char *bytes;
	size_t size;
	unsigned len; /* 0 when there is no instruction */
	enum insn_flow flow;
	int64_t names; /* the distance from the instruction to the address that it names; 0: none */
	unsigned left; /* the number of bytes that may be read; 0: all */
};

#define BYTES(text) text, sizeof(text) - 1

/* One row for each form of length and flow. */
static const struct row rows[] = {
	{ BYTES("\x90"), 1, INSN_PLAIN, 0 },
	{ BYTES("\x66\x90"), 2, INSN_PLAIN, 0 },
	{ BYTES("\xf3\x0f\x1e\xfa"), 4, INSN_PLAIN, 0 },	  /* endbr64 */
	{ BYTES("\xf3\x48\x0f\x1e\xc8"), 5, INSN_PLAIN, 0 },	  /* rdsspq %rax */
	{ BYTES("\xf3\x48\x0f\xae\xe8"), 5, INSN_PLAIN, 0 },	  /* incsspq %rax */
	{ BYTES("\x48\x8b\x44\x24\x08"), 5, INSN_PLAIN, 0 },	  /* SIB, 8 bits */
	{ BYTES("\x8b\x84\x24\1\2\3\4"), 7, INSN_PLAIN, 0 },	  /* SIB, 32 bits */
	{ BYTES("\x8b\x04\x25\1\2\3\4"), 7, INSN_PLAIN, 0 },	  /* SIB without a base */
	{ BYTES("\x8b\x05\x10\0\0\0"), 6, INSN_PLAIN, 0x16 },	  /* a distance */
	{ BYTES("\x83\x3d\x10\0\0\0\x05"), 7, INSN_PLAIN, 0x17 }, /* a byte follows the distance */
	{ BYTES("\x66\x81\x3d\x10\0\0\0\1\2"), 9, INSN_PLAIN, 0x19 },
	{ BYTES("\x48\x8d\x05\xf0\xff\xff\xff"), 7, INSN_PLAIN, -9 },
	{ BYTES("\x48\xb8\1\2\3\4\5\6\7\x08"), 10, INSN_PLAIN, 0 },
	{ BYTES("\x66\xb8\1\2"), 4, INSN_PLAIN, 0 },
	{ BYTES("\x48\xa1\1\2\3\4\5\6\7\x08"), 10, INSN_PLAIN, 0 },
	{ BYTES("\x67\xa1\1\2\3\4"), 6, INSN_PLAIN, 0 },
	{ BYTES("\xc8\1\2\3"), 4, INSN_PLAIN, 0 },
	{ BYTES("\xf6\xc1\1"), 3, INSN_PLAIN, 0 }, /* test */
	{ BYTES("\xf6\xd1"), 2, INSN_PLAIN, 0 },   /* not */
	{ BYTES("\xf7\xc1\1\2\3\4"), 6, INSN_PLAIN, 0 },
	{ BYTES("\xf7\xd1"), 2, INSN_PLAIN, 0 },
	{ BYTES("\x66\x0f\x38\x00\xc1"), 5, INSN_PLAIN, 0 },
	{ BYTES("\x66\x0f\x3a\x0f\xc1\x08"), 6, INSN_PLAIN, 0 },
	{ BYTES("\xc5\xf8\x77"), 3, INSN_PLAIN, 0 },	     /* vzeroupper */
	{ BYTES("\xc5\xf9\x70\xc1\x08"), 5, INSN_PLAIN, 0 }, /* VEX, with a byte at the end */
	{ BYTES("\xc4\xe2\x79\x18\x05\x10\0\0\0"), 9, INSN_PLAIN, 0x19 }, /* VEX, map 2 */
	{ BYTES("\xc4\xe3\x7d\x19\xc1\x01"), 6, INSN_PLAIN, 0 },	  /* VEX, map 3 */
	{ BYTES("\x62\xf1\x7c\x48\x10\x05\x10\0\0\0"), 10, INSN_PLAIN, 0x1a },
	{ BYTES("\x62\xf3\x7d\x48\x25\xc1\xff"), 7, INSN_PLAIN, 0 }, /* EVEX, map 3 */
	{ BYTES("\x8f\xe8\x78\xc2\xc1\x07"), 6, INSN_PLAIN, 0 },     /* XOP, map 8 */
	{ BYTES("\x8f\xe9\x78\x80\xc1"), 5, INSN_PLAIN, 0 },	     /* XOP, map 9 */
	{ BYTES("\x8f\xea\x78\x10\xc1\1\2\3\4"), 9, INSN_PLAIN, 0 }, /* XOP, map 10 */
	{ BYTES("\x8f\xc0"), 2, INSN_PLAIN, 0 },		     /* pop */
	{ BYTES("\x0f\x0f\xc1\xb4"), 4, INSN_PLAIN, 0 },	     /* 3DNow */
	{ BYTES("\x66\x0f\x78\xc1\1\2"), 6, INSN_PLAIN, 0 },	     /* extrq */
	{ BYTES("\xeb\x10"), 2, INSN_JUMP, 0x12 },
	{ BYTES("\xe9\x10\0\0\0"), 5, INSN_JUMP, 0x15 },
	{ BYTES("\x75\xf0"), 2, INSN_BRANCH, -14 },
	{ BYTES("\x74\x10"), 2, INSN_BRANCH, 0x12 },
	{ BYTES("\x2e\x74\x10"), 3, INSN_BRANCH, 0x13 },
	{ BYTES("\x0f\x84\x10\0\0\0"), 6, INSN_BRANCH, 0x16 },
	{ BYTES("\xe2\x10"), 2, INSN_BRANCH, 0x12 },
	{ BYTES("\xe3\x10"), 2, INSN_BRANCH, 0x12 },
	{ BYTES("\xc7\xf8\x10\0\0\0"), 6, INSN_BRANCH, 0x16 }, /* xbegin */
	{ BYTES("\xc6\xf8\x10"), 3, INSN_PLAIN, 0 },	       /* xabort */
	{ BYTES("\xe8\x10\0\0\0"), 5, INSN_CALL, 0x15 },
	{ BYTES("\x66\x66\x48\xe8\x10\0\0\0"), 8, INSN_CALL, 0x18 },
	{ BYTES("\xf2\xe8\x10\0\0\0"), 6, INSN_CALL, 0x16 }, /* bnd */
	{ BYTES("\xff\xd0"), 2, INSN_CALL_ANYWHERE, 0 },
	{ BYTES("\xff\x15\x10\0\0\0"), 6, INSN_CALL_ANYWHERE, 0x16 },
	{ BYTES("\xff\xe0"), 2, INSN_JUMP_ANYWHERE, 0 },
	{ BYTES("\x3e\xff\xe0"), 3, INSN_JUMP_ANYWHERE, 0 }, /* notrack */
	{ BYTES("\xff\x25\x10\0\0\0"), 6, INSN_JUMP_ANYWHERE, 0x16 },
	{ BYTES("\xff\x35\x10\0\0\0"), 6, INSN_PLAIN, 0x16 }, /* push */
	{ BYTES("\xc3"), 1, INSN_RETURN, 0 },
	{ BYTES("\xf3\xc3"), 2, INSN_RETURN, 0 },
	{ BYTES("\xc2\x08\0"), 3, INSN_RETURN, 0 },
	{ BYTES("\x0f\x0b"), 2, INSN_END, 0 },
	{ BYTES("\xf4"), 1, INSN_END, 0 },
	{ BYTES("\xcc"), 1, INSN_END, 0 },
	/* Bytes that are no instruction. */
	{ BYTES("\x06"), 0 },
	{ BYTES("\x27"), 0 },
	{ BYTES("\x60"), 0 },
	{ BYTES("\xea\1\2\3\4\5\6"), 0 },
	{ BYTES("\x66\xe9\1\2\3\4"), 0 },
	{ BYTES("\xfe\xd0"), 0 },
	{ BYTES("\xff\xf8"), 0 },
	{ BYTES("\x0f\x04"), 0 },
	{ BYTES("\x66\xc5\xf8\x77"), 0 },
	{ BYTES("\x62\xf0\x7c\x48\x10\xc0"), 0 },
	{ BYTES("\xc4\xe0\x79\x18\xc0"), 0 },
	{ BYTES("\x48\xb8\1\2\3\4\5\6\7\x08"), 0, .left = 9 },
	{ BYTES("\x8b\x05\x10\0\0\0"), 0, .left = 5 },
	{ BYTES("\x8b\x04\x25"), 0, .left = 2 },
	{ BYTES("\x8b\x05"), 0, .left = 1 },
	{ BYTES("\x0f\x84"), 0, .left = 1 },
	{ BYTES("\x0f\x38\x00"), 0, .left = 2 },
	{ BYTES("\x48"), 0, .left = 1 },
	{ BYTES("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"), 0 },
};

TEST(forms)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct insn_step step;
		uint8_t bytes[32] = { 0 };

		memcpy(bytes, row->bytes, row->size);

		bool is_known = x86_64_step(bytes, row->left ? row->left : 16, 0x1000, &step);

		if (is_known != (row->len != 0))
			fail_msg("row %zu: %d", i, is_known);
		if (!is_known)
			continue;
		if (step.len != row->len || step.flow != row->flow)
			fail_msg("row %zu: length %d, flow %d", i, step.len, step.flow);
		if (row->names && (!step.has_name || step.names != 0x1000 + (uint64_t)row->names))
			fail_msg("row %zu: names %#lx", i, step.names);
	}
}

/*
 * Start files of glibc for PIE and for fixed addresses, those of other C libraries, and code that
 * starts no main().
 */
TEST(where_main_is)
{
	static const struct {
		const char *code;
		size_t len;
		uint64_t address;
	} cases[] = {
#define CODE(text) text, sizeof(text) - 1
		{ CODE("\x31\xed\x49\x89\xd1\x48\x8d\x3d\xb5\xfe\xff\xff\xff\x15\x57\x5e\x35\x00"),
		  0x1000 + 12 - 0x14b },
		{ CODE("\xf3\x0f\x1e\xfa\x48\xc7\xc7\x40\x10\x40\x00\xff\x15\x57\x5e\x35\x00"),
		  0x401040 },
		{ CODE("\x31\xed\xbf\x50\x10\x40\x00\xe8\x01\x02\x03\x04"), 0x401050 },
		{ CODE("\x31\xed\xe8\x01\x02\x03\x04"), 0 },
		{ CODE("\x31\xed\xbf\x50\x10\x40\x00"), 0 },
		{ CODE("\x48\x8d\x3d\xb5\xfe\xff"), 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t address = 0;

		assert_int_equal(x86_64_main_of((const uint8_t *)cases[i].code, cases[i].len,
						0x1000, &address),
				 cases[i].address != 0);
		if (cases[i].address)
			assert_int_equal(address, cases[i].address);
	}
}
