/*
 * Instructions moved elsewhere: they run there with the same result, or are refused with a reason.
 */
#include "tests/unit/lib/unit.h"

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>

#include "arch/insn.h"
#include "arch/isa.h"

/*
 * Functions from int to int; some call helper(), too. The moved code begins at <name>_site and has
 * at least 5 bytes; <name>_end is right after the function.
 */
#define FUNCTION(name, before, site)                                                              \
	__asm__(".pushsection .text\n"                                                            \
		".balign 16\n"                                                                    \
		".globl " #name ", " #name "_site, " #name "_end\n" #name ":\n" before "\n" #name \
		"_site:\n" site "\n" #name "_end:\n"                                              \
		".popsection");                                                                   \
	int name(int arg);                                                                        \
	extern const uint8_t name##_site[];                                                       \
	extern const uint8_t name##_end[];

static int counter = 41;
static const void *came_from;

/* The target of the moved calls. */
__attribute__((noinline, used)) static int helper(int arg)
{
	came_from = __builtin_return_address(0);
	return arg * 3;
}

static int (*const volatile helper_pointer)(int arg) __attribute__((used)) = helper;

FUNCTION(plain, "mov %edi, %eax", "nop; add $7, %eax; imul %eax, %eax; ret")
FUNCTION(loads, "mov %edi, %eax", "nop; add counter(%rip), %eax; ret")
FUNCTION(compares, "mov %edi, %eax",
	 "nop; cmpl $41, counter(%rip); sete %al; movzbl %al, %eax; ret")
FUNCTION(addresses, "mov %edi, %eax", "nop; lea counter(%rip), %rcx; add (%rcx), %eax; ret")
FUNCTION(jumps_near, "mov %edi, %eax", "nop; .byte 0xe9; .long 1f - . - 4; ud2; 1: inc %eax; ret")
FUNCTION(jumps_short, "mov %edi, %eax; jmp 2f; 1: inc %eax; ret; 2:", "nop; jmp 1b; nop; nop")
FUNCTION(branches_short, "mov %edi, %eax; test %eax, %eax",
	 "nop; js 1f; add $100, %eax; ret; 1: neg %eax; ret")
FUNCTION(branches_near, "mov %edi, %eax; test %eax, %eax",
	 "nop; .byte 0x0f, 0x88; .long 1f - . - 4; add $100, %eax; ret; 1: neg %eax; ret")
FUNCTION(calls, "push %rbx; mov %edi, %ebx", "nop; call helper; add %ebx, %eax; pop %rbx; ret")
FUNCTION(calls_through_memory, "push %rbx; mov %edi, %ebx",
	 "nop; call *helper_pointer(%rip); add %ebx, %eax; pop %rbx; ret")
FUNCTION(calls_through_register, "push %rbx; mov %edi, %ebx; lea helper(%rip), %r11",
	 "nop; nop; call *%r11; add %ebx, %eax; pop %rbx; ret")
FUNCTION(tail_calls, "add $1, %edi", "nop; jmp *helper_pointer(%rip)")
FUNCTION(returns, "lea 5(%rdi), %eax", "nop; ret; nop; nop; nop")
FUNCTION(begins, "", "endbr64; lea 5(%rdi), %eax; ret")
FUNCTION(uses_red_zone, "mov %edi, -8(%rsp)", "nop; mov -8(%rsp), %eax; add %eax, %eax; ret")
FUNCTION(wide, "mov %edi, %eax", "nop; movabs $0x1122334455667788, %rcx; add %ecx, %eax; ret")

/* Instructions that need a special form when they are moved. */
FUNCTION(loops,
	 "mov %edi, %ecx; and $7, %ecx; inc %ecx; xor %eax, %eax; jmp 2f; 1: add $3, %eax; ret; 2:",
	 "nop; add $5, %eax; loop 1b; sub $9, %eax; ret")
FUNCTION(tests_counter, "mov %edi, %ecx; xor %eax, %eax; jmp 2f; 1: add $3, %eax; ret; 2:",
	 "add $5, %eax; jrcxz 1b; sub $9, %eax; ret")
FUNCTION(calls_by_stack, "push %rbx; push %rsi; push %rsi; mov %edi, %ebx",
	 "nop; call *8(%rsp); add %ebx, %eax; pop %rbx; pop %rbx; pop %rbx; ret")
FUNCTION(calls_top_of_stack, "push %rbx; push %rsi; push %rsi; mov %edi, %ebx",
	 "nop; nop; call *(%rsp); add %ebx, %eax; pop %rbx; pop %rbx; pop %rbx; ret")
FUNCTION(calls_far_in_stack, "push %rbx; push %rsi; sub $0x100, %rsp; mov %edi, %ebx",
	 "call *0x100(%rsp); add %ebx, %eax; add $0x108, %rsp; pop %rbx; ret")
FUNCTION(adds_vectors, "mov %edi, %eax; vmovd %edi, %xmm0",
	 "vpaddd vector(%rip), %xmm0, %xmm0; vmovd %xmm0, %eax; ret")
FUNCTION(stores_constant, "mov %edi, %eax", "movl $77, scratch(%rip); add scratch(%rip), %eax; ret")

static uint32_t vector[4] __attribute__((used)) = { 11, 12, 13, 14 };
static int scratch __attribute__((used));

/* Loops that are moved whole. */
FUNCTION(counts, "mov %edi, %ecx; and $15, %ecx; mov $1, %eax",
	 "1: add %eax, %eax; sub $1, %ecx; jns 1b; add $2, %eax; ret")
FUNCTION(counts_by_loop, "mov %edi, %ecx; and $15, %ecx; inc %ecx; mov $1, %eax",
	 "1: add %eax, %eax; loop 1b; add counter(%rip), %eax; ret")
FUNCTION(leaves_in_the_middle, "mov %edi, %eax",
	 "1: test $7, %eax; jne 2f; add $100, %eax; ret; 2: inc %eax; .byte 0xe9; .long 1b - . - 4")
FUNCTION(jumps_over, "mov %edi, %eax", "1: cmp $9, %eax; jg 2f; add $4, %eax; jmp 1b; 2: ret")

/* Sites that cannot be patched. */
FUNCTION(loop_with_call, "push %rbx; mov %edi, %ebx",
	 "1: call helper; sub $1, %ebx; jns 1b; pop %rbx; ret")
FUNCTION(loop_into_middle, "", "1: mov $0x01eb9090, %eax; jmp 1b + 1; ret")
FUNCTION(takes_address, "", "1: lea 1b(%rip), %rax; nop; nop; ret")
FUNCTION(reads_itself, "", "1: nop; mov 1b(%rip), %eax; jmp 1b")

/* Code that cannot be moved. */
FUNCTION(returns_into, "lea helper(%rip), %rax", "nop; call *%rax; nop; nop; nop; ret")
FUNCTION(calls_stack_pointer, "", "nop; nop; nop; call *%rsp; ret")
FUNCTION(traps, "", "nop; int3; nop; nop; nop; ret")
FUNCTION(lands, "", "nop; endbr64; ret")
FUNCTION(unknown, "", "nop; .byte 0x06, 0x06, 0x06, 0x06")
FUNCTION(transaction, "mov %edi, %eax", "xbegin 1f; 1: ret")

struct moved {
	const char *name;
	int (*fn)(int arg);
	const uint8_t *site;
	const uint8_t *end;
};

#define ROW(name)                                    \
	{                                            \
#name, name, name##_site, name##_end \
	}

static struct insns *insns;

static int move(const struct moved *m, struct insn_code *code, struct uft_err *err)
{
	struct insn_text text = { (const uint8_t *)m->fn, (uint64_t)m->fn, (uint64_t)m->end };
	int ret = insns_move(insns, &text, (uint64_t)m->site, 5, code, err);

	return ret < 0 ? ret : insns_go_on(insns, code, (uint64_t)m->site + code->taken, err);
}

static void *map_near(const void *near)
{
	for (uint64_t away = 1 << 20; away < 1 << 30; away += 1 << 20) {
		void *hint = (void *)(((uint64_t)near & ~4095UL) - away);
		void *p = mmap(hint, 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (p != MAP_FAILED)
			return p;
	}
	fail_msg("no memory near code");
	return NULL;
}

static uint8_t *place;

/* Call a copy of a function: the code before its site, and then the moved code. */
static int run_moved(const struct moved *m, const struct insn_code *code, int arg)
{
	size_t before = m->site - (const uint8_t *)m->fn;
	uint8_t *to;
	int result;

	assert_int_equal(mprotect(place, 4096, PROT_READ | PROT_WRITE), 0);
	memcpy(place, (const void *)m->fn, before);
	to = place + before;
	memcpy(to, code->bytes, code->len);
	for (unsigned i = 0; i < code->nr_fixes; i++) {
		int32_t distance;

		memcpy(&distance, to + code->fixes[i], sizeof(distance));
		distance += (int64_t)(code->from - (uint64_t)to);
		memcpy(to + code->fixes[i], &distance, sizeof(distance));
	}
	assert_int_equal(mprotect(place, 4096, PROT_READ | PROT_EXEC), 0);
	result = ((int (*)(int, int (*)(int)))place)(arg, helper);
	return result;
}

TEST(runs_elsewhere)
{
	/* Instructions whose first part has no distances in it. */
	static const struct moved rows[] = {
		ROW(plain),
		ROW(loads),
		ROW(compares),
		ROW(addresses),
		ROW(jumps_near),
		ROW(branches_short),
		ROW(branches_near),
		ROW(calls),
		ROW(returns),
		ROW(begins),
		ROW(uses_red_zone),
		ROW(wide),
		ROW(tail_calls),
		ROW(calls_through_memory),
		ROW(loops),
		ROW(tests_counter),
		ROW(calls_by_stack),
		ROW(calls_top_of_stack),
		ROW(calls_far_in_stack),
		ROW(stores_constant),
		ROW(adds_vectors),
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct insn_code code;
		struct uft_err err = { 0 };

		if (move(&rows[i], &code, &err) < 0)
			fail_msg("%s: %s", rows[i].name, err.text);
		insn_load_at(isa_of(EM_X86_64, 0), &code, 0);
		assert_true(code.taken >= 5 || rows[i].fn == returns);
		for (int arg = -3; arg < 4; arg++) {
			int expected;

			if (rows[i].fn == adds_vectors && !__builtin_cpu_supports("avx"))
				continue;
			expected = ((int (*)(int, int (*)(int)))(void *)rows[i].fn)(arg, helper);
			const void *caller = came_from;
			int found = run_moved(&rows[i], &code, arg);

			if (found != expected)
				fail_msg("%s(%d): %d, expected %d", rows[i].name, arg, found,
					 expected);
			/* Backtraces see an address in the program's own code, not in the copy. */
			if (code.ret_at)
				assert_ptr_equal(came_from, caller);
		}
	}
}

/* Functions whose first part cannot be copied: only the code is compared. */
TEST(encodings)
{
	static const struct moved short_jump = ROW(jumps_short);
	static const struct moved by_register = ROW(calls_through_register);
	struct insn_code code;
	struct uft_err err = { 0 };
	int32_t distance;

	assert_int_equal(move(&short_jump, &code, &err), 0);
	assert_int_equal(code.len, 6);
	assert_int_equal(code.taken, 3);
	assert_memory_equal(code.bytes, "\x90\xe9", 2);
	memcpy(&distance, code.bytes + 2, sizeof(distance));
	assert_int_equal(short_jump.site + 6 + distance,
			 short_jump.site + 3 + (int8_t)short_jump.site[2]);

	assert_int_equal(move(&by_register, &code, &err), 0);
	assert_int_equal(code.taken, 5);
	assert_int_equal(code.len, 2 + 13 + 3);
	assert_memory_equal(code.bytes + 15, "\x41\xff\xe3", 3); /* jmp *%r11 */
	assert_int_equal(code.ret, by_register.site + 5);
	assert_true(code.ends);
	insn_load_at(isa_of(EM_X86_64, 0), &code, 0x1000);
	assert_memory_equal(code.bytes + code.ret_at, &(uint32_t){ code.ret + 0x1000 }, 4);
	assert_memory_equal(code.bytes + code.ret_at + INSN_RET_HIGH,
			    &(uint32_t){ (code.ret + 0x1000) >> 32 }, 4);
}

TEST(refused)
{
	static const struct {
		struct moved moved;
		enum insn_refusal refusal;
		const char *why;
	} rows[] = {
		{ ROW(returns_into), INSN_RETURNS_INTO, "returns to what would be overwritten" },
		{ ROW(calls_stack_pointer), INSN_NOT_UNDERSTOOD, "is not understood" },
		{ ROW(traps), INSN_NOT_UNDERSTOOD, "is not understood" },
		{ ROW(lands), INSN_LANDS, "something may jump to what is after it" },
		{ ROW(unknown), INSN_UNKNOWN, "not known as an instruction" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct insn_code code;
		struct uft_err err = { 0 };

		assert_int_equal(move(&rows[i].moved, &code, &err), -EXDEV);
		if (!strstr(err.text, rows[i].why) || code.refusal != rows[i].refusal)
			fail_msg("%s: %d, %s", rows[i].moved.name, code.refusal, err.text);
	}
}

static int move_loop(const struct moved *m, struct insn_code *code, struct uft_err *err)
{
	struct insn_text text = { (const uint8_t *)m->fn, (uint64_t)m->fn, (uint64_t)m->end };
	int ret = insns_move_all(insns, &text, (uint64_t)m->site, (uint64_t)m->end, code, err);

	return ret < 0 ? ret : insns_go_on(insns, code, (uint64_t)m->end, err);
}

/* No moved instruction leads back to the original place. */
TEST(whole_loops)
{
	static const struct moved rows[] = {
		ROW(counts),
		ROW(counts_by_loop),
		ROW(leaves_in_the_middle),
		ROW(jumps_over),
	};
	static const struct moved refused[] = {
		ROW(loop_with_call),
		ROW(loop_into_middle),
		ROW(takes_address),
		ROW(reads_itself),
	};
	struct insn_code code;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct uft_err err = { 0 };

		if (move_loop(&rows[i], &code, &err) < 0)
			fail_msg("%s: %s", rows[i].name, err.text);
		assert_true(code.ends);
		assert_int_equal(code.taken, rows[i].end - rows[i].site);
		assert_int_equal(code.nr_fixes, rows[i].fn == counts_by_loop);
		for (int arg = -3; arg < 20; arg++) {
			int expected = rows[i].fn(arg);
			int found = run_moved(&rows[i], &code, arg);

			if (found != expected)
				fail_msg("%s(%d): %d, expected %d", rows[i].name, arg, found,
					 expected);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (move_loop(&refused[i], &code, NULL) != -EXDEV || !code.refusal)
			fail_msg("%s was moved", refused[i].name);
	}
}

/* The distance of xbegin already has 32 bits, so the moved instruction keeps its form. */
TEST(branches_of_transactions)
{
	static const struct moved row = ROW(transaction);
	struct insn_code code;

	assert_int_equal(move(&row, &code, NULL), 0);
	assert_memory_equal(code.bytes, "\xc7\xf8", 2);
	assert_int_equal(code.fixes[0], 2);
	assert_int_equal(*(const int32_t *)(code.bytes + 2), 0);
}

static void one_name(const struct insn_step *step, void *arg)
{
	uint64_t **next = arg;

	if (step->has_name)
		*(*next)++ = step->names;
}

TEST(names)
{
	uint64_t found[8] = { 0 };
	uint64_t *next = found;
	struct insn_text text = { (const uint8_t *)branches_short, (uint64_t)branches_short,
				  (uint64_t)branches_short_end };

	assert_int_equal(insns_look_through(insns, &text, one_name, &next, NULL), 0);
	assert_int_equal(next - found, 1);
	assert_in_range(found[0], text.start, text.end - 1);

	next = found;
	text = (struct insn_text){ (const uint8_t *)addresses, (uint64_t)addresses,
				   (uint64_t)addresses_end };
	assert_int_equal(insns_look_through(insns, &text, one_name, &next, NULL), 0);
	assert_int_equal(next - found, 1);
	assert_int_equal(found[0], &counter);

	struct uft_err err = { 0 };

	text = (struct insn_text){ (const uint8_t *)unknown, (uint64_t)unknown,
				   (uint64_t)unknown_end };
	assert_int_equal(insns_look_through(insns, &text, one_name, &next, &err), -EILSEQ);
}

TEST(padding)
{
	static const uint8_t code[] = { 0x90, 0x0f, 0x1f, 0x40, 0x00, 0xcc, 0x66, 0x90, 0xc3 };

	assert_int_equal(insns_padding(insns, code, code + sizeof(code)), 8);
	assert_int_equal(insns_padding(insns, code, code + 3), 1);
	assert_int_equal(insns_padding(insns, code + 8, code + 9), 0);
}

/* endbr64, rdssp and incssp, which are moved like nops, are not padding. */
TEST(what_counts_as_a_nop_is_no_padding)
{
	static const struct {
		uint8_t code[6];
		unsigned len;
	} cases[] = {
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0x90 }, 5 },
		{ { 0xf3, 0x0f, 0x1e, 0xc8, 0x90 }, 5 },
		{ { 0xf3, 0x48, 0x0f, 0x1e, 0xc9, 0x90 }, 6 },
		{ { 0xf3, 0x0f, 0xae, 0xe8, 0x90 }, 5 },
		{ { 0xf3, 0x48, 0x0f, 0xae, 0xe9, 0x90 }, 6 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(insns_padding(insns, cases[i].code, cases[i].code + cases[i].len),
				 0);
}

int main(void)
{
	/* A build without capstone has nothing to test. */
	if (insns_open(&insns, isa_of(EM_X86_64, 0), NULL) == -ENOSYS)
		return 77;
	place = map_near((const void *)plain);

	int failed = unit_run();

	insns_close(insns);
	return failed;
}
