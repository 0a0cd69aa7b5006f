/* The verdict of system call filters on a call, for any arguments. */
#include "libmcount/system/seal_filter.h"

#include <dlfcn.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "libmcount/system/seal.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what)   BPF_STMT(BPF_RET | BPF_K, what)
#define IF(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)

TEST(numbers_decide)
{
	const struct sock_filter code[] = {
		LOAD(arch),
		IF(ARCH_AUDIT, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		IF(7, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | 1),
		IF(8, 0, 1),
		RETURN(SECCOMP_RET_LOG),
		RETURN(SECCOMP_RET_ALLOW),
	};

	assert_false(seal_filter_allows(code, ARRAY_SIZE(code), 7));
	assert_true(seal_filter_allows(code, ARRAY_SIZE(code), 8));
	assert_true(seal_filter_allows(code, ARRAY_SIZE(code), 9));
	/* The last instruction of the filter is missing. */
	assert_false(seal_filter_allows(code, ARRAY_SIZE(code) - 1, 9));
}

TEST(arguments_may_be_anything)
{
	const struct sock_filter code[] = {
		LOAD(nr),
		IF(7, 0, 2),
		LOAD(args[1]),
		IF(3, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		IF(7, 0, 1),
		RETURN(SECCOMP_RET_TRAP),
		RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_filter both[ARRAY_SIZE(code)];

	memcpy(both, code, sizeof(code));
	assert_false(seal_filter_allows(both, ARRAY_SIZE(both), 7));
	assert_true(seal_filter_allows(both, ARRAY_SIZE(both), 9));
	both[6].k = SECCOMP_RET_ALLOW;
	assert_true(seal_filter_allows(both, ARRAY_SIZE(both), 7));
}

TEST(words_and_sums)
{
	const struct sock_filter code[] = {
		LOAD(nr),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 5),
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_LDX | BPF_MEM, 3),
		BPF_STMT(BPF_LD | BPF_IMM, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		RETURN(SECCOMP_RET_KILL),
		RETURN(SECCOMP_RET_ALLOW),
	};

	assert_false(seal_filter_allows(code, ARRAY_SIZE(code), 7));
	assert_true(seal_filter_allows(code, ARRAY_SIZE(code), 6));
}

#define MAX_CODE 16

/* A filter that a test puts together. */
struct filter {
	struct sock_filter code[MAX_CODE];
	uint32_t len;
};

static void add(struct filter *f, struct sock_filter insn)
{
	assert_in_range(f->len, 0, MAX_CODE - 1);
	f->code[f->len++] = insn;
}

#define ADD(f, ...) add(f, (struct sock_filter)__VA_ARGS__)

/* Adds a comparison of A with @number, and one permission. */
static bool allows_if(struct filter f, uint32_t number, bool is_equal)
{
	ADD(&f, IF(number, !is_equal, is_equal));
	ADD(&f, RETURN(SECCOMP_RET_ALLOW));
	ADD(&f, RETURN(SECCOMP_RET_KILL));
	return seal_filter_allows(f.code, f.len, 7);
}

/* A value that is known is equal to itself and to nothing else; an unknown one may be anything. */
static void check_known(const struct filter *f, uint32_t number)
{
	assert_true(allows_if(*f, number, true));
	assert_false(allows_if(*f, number, false));
	assert_true(allows_if(*f, number + 1, false));
	assert_false(allows_if(*f, number + 1, true));
}

static void check_unknown(const struct filter *f, uint32_t number)
{
	assert_false(allows_if(*f, number, true));
	assert_false(allows_if(*f, number, false));
}

TEST(each_operation)
{
	static const struct {
		uint16_t op;
		uint32_t a, b, result;
	} cases[] = {
		{ BPF_ADD, 5, 7, 12 },	      { BPF_ADD, UINT32_MAX, 2, 1 },
		{ BPF_SUB, 7, 5, 2 },	      { BPF_SUB, 5, 7, 0xfffffffe },
		{ BPF_MUL, 5, 7, 35 },	      { BPF_MUL, 0x10000, 0x10001, 0x10000 },
		{ BPF_AND, 12, 10, 8 },	      { BPF_OR, 12, 10, 14 },
		{ BPF_XOR, 12, 10, 6 },	      { BPF_LSH, 3, 4, 48 },
		{ BPF_LSH, 3, 31, 1U << 31 }, { BPF_RSH, 48, 4, 3 },
		{ BPF_RSH, 1U << 31, 31, 1 }, { BPF_DIV, 17, 5, 3 },
		{ BPF_DIV, 17, 1, 17 },	      { BPF_NEG, 5, 0, 0xfffffffb },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filter f = { .len = 0 };
		struct filter by_x = { .len = 0 };

		ADD(&f, BPF_STMT(BPF_LD | BPF_IMM, cases[i].a));
		ADD(&f, BPF_STMT(BPF_ALU | cases[i].op | BPF_K, cases[i].b));
		check_known(&f, cases[i].result);
		ADD(&by_x, BPF_STMT(BPF_LDX | BPF_IMM, cases[i].b));
		ADD(&by_x, BPF_STMT(BPF_LD | BPF_IMM, cases[i].a));
		ADD(&by_x, BPF_STMT(BPF_ALU | cases[i].op | BPF_X, 99));
		check_known(&by_x, cases[i].result);
	}
}

TEST(operations_without_a_known_result)
{
	static const struct {
		uint16_t op;
		uint32_t a, b, guess;
	} cases[] = {
		{ BPF_LSH, 3, 32, 3 }, { BPF_LSH, 3, 32, 0 }, { BPF_RSH, 3, 32, 3 },
		{ BPF_RSH, 3, 32, 0 }, { BPF_DIV, 3, 0, 0 },  { BPF_MOD, 7, 4, 3 },
		{ 0xf0, 7, 4, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filter f = { .len = 0 };

		ADD(&f, BPF_STMT(BPF_LD | BPF_IMM, cases[i].a));
		ADD(&f, BPF_STMT(BPF_ALU | cases[i].op | BPF_K, cases[i].b));
		check_unknown(&f, cases[i].guess);
	}
	/* An argument is unknown, and so is what is computed from it. */
	static const uint16_t ops[] = { BPF_ADD, BPF_AND, BPF_MUL, BPF_NEG };

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		struct filter f = { .len = 0 };
		struct filter by_x = { .len = 0 };

		ADD(&f, LOAD(args[0]));
		ADD(&f, BPF_STMT(BPF_ALU | ops[i] | BPF_K, 0));
		check_unknown(&f, 0);
		ADD(&by_x, LOAD(args[0]));
		ADD(&by_x, BPF_STMT(BPF_MISC | BPF_TAX, 0));
		ADD(&by_x, BPF_STMT(BPF_LD | BPF_IMM, 0));
		ADD(&by_x, BPF_STMT(BPF_ALU | ops[i] | BPF_X, 0));
		/* The negation has one operand. */
		if (ops[i] == BPF_NEG)
			check_known(&by_x, 0);
		else
			check_unknown(&by_x, 0);
	}
}

TEST(each_comparison)
{
	static const struct {
		uint16_t op;
		uint32_t a, b;
		bool is_true;
	} cases[] = {
		{ BPF_JEQ, 5, 5, true },   { BPF_JEQ, 5, 6, false },
		{ BPF_JGT, 6, 5, true },   { BPF_JGT, 5, 5, false },
		{ BPF_JGT, 4, 5, false },  { BPF_JGT, UINT32_MAX, 5, true },
		{ BPF_JGE, 6, 5, true },   { BPF_JGE, 5, 5, true },
		{ BPF_JGE, 4, 5, false },  { BPF_JSET, 6, 2, true },
		{ BPF_JSET, 6, 1, false }, { BPF_JSET, 0, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int by_x = 0; by_x < 2; by_x++) {
			struct filter f = { .len = 0 };
			uint16_t code = BPF_JMP | cases[i].op | (by_x ? BPF_X : BPF_K);

			ADD(&f, BPF_STMT(BPF_LDX | BPF_IMM, cases[i].b));
			ADD(&f, BPF_STMT(BPF_LD | BPF_IMM, cases[i].a));
			ADD(&f, BPF_JUMP(code, by_x ? 99 : cases[i].b, 1, 0));
			ADD(&f, RETURN(SECCOMP_RET_KILL));
			ADD(&f, RETURN(SECCOMP_RET_ALLOW));
			assert_int_equal(seal_filter_allows(f.code, f.len, 7), cases[i].is_true);
		}
	}
}

TEST(jumps_without_a_condition)
{
	struct filter f = { .len = 0 };

	ADD(&f, BPF_STMT(BPF_JMP | BPF_JA, 2));
	ADD(&f, RETURN(SECCOMP_RET_KILL));
	ADD(&f, RETURN(SECCOMP_RET_KILL));
	ADD(&f, RETURN(SECCOMP_RET_ALLOW));
	ADD(&f, RETURN(SECCOMP_RET_KILL));
	assert_true(seal_filter_allows(f.code, f.len, 7));
	f.code[0].k = 1;
	assert_false(seal_filter_allows(f.code, f.len, 7));
	/* A jump beyond the end. */
	f.code[0].k = 4;
	assert_false(seal_filter_allows(f.code, f.len, 7));
	assert_false(seal_filter_allows(f.code, 0, 7));
}

TEST(what_is_loaded)
{
	static const struct {
		struct sock_filter insn;
		bool is_known;
		uint32_t number;
	} cases[] = {
		{ LOAD(nr), true, 7 },
		{ LOAD(arch), ARCH_AUDIT != 0, ARCH_AUDIT },
		{ LOAD(args[0]), false, 0 },
		{ LOAD(instruction_pointer), false, 0 },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), true, 64 },
		{ BPF_STMT(BPF_LD | BPF_IMM, 1234), true, 1234 },
		{ BPF_STMT(BPF_LD | BPF_MEM, 0), false, 0 },
		{ BPF_STMT(BPF_LD | BPF_MEM, 15), false, 0 },
		/* The registers are 0 at the beginning. */
		{ BPF_STMT(BPF_MISC | BPF_TAX, 0), true, 0 },
		{ BPF_STMT(BPF_MISC | BPF_TXA, 0), true, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filter f = { .code = { cases[i].insn }, .len = 1 };

		if (cases[i].is_known)
			check_known(&f, cases[i].number);
		else
			check_unknown(&f, cases[i].number);
	}
}

TEST(registers_and_words)
{
	struct filter f = { .len = 0 };

	ADD(&f, BPF_STMT(BPF_LD | BPF_IMM, 11));
	ADD(&f, BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0));
	ADD(&f, BPF_STMT(BPF_ST, 0));
	ADD(&f, BPF_STMT(BPF_STX, 15));
	check_known(&f, 11);
	ADD(&f, BPF_STMT(BPF_MISC | BPF_TXA, 0));
	check_known(&f, 64);
	ADD(&f, BPF_STMT(BPF_LDX | BPF_MEM, 0));
	check_known(&f, 64);
	ADD(&f, BPF_STMT(BPF_MISC | BPF_TXA, 0));
	check_known(&f, 11);
	ADD(&f, BPF_STMT(BPF_LD | BPF_MEM, 15));
	check_known(&f, 64);
	ADD(&f, BPF_STMT(BPF_MISC | BPF_TAX, 0));
	ADD(&f, BPF_STMT(BPF_LD | BPF_IMM, 12));
	ADD(&f, BPF_STMT(BPF_MISC | BPF_TXA, 0));
	check_known(&f, 64);
}

/* Words beyond the last one, and kinds of loads that seccomp(2) does not have. */
TEST(what_no_filter_has)
{
	static const struct sock_filter cases[] = {
		BPF_STMT(BPF_ST, 16),
		BPF_STMT(BPF_STX, 16),
		BPF_STMT(BPF_LD | BPF_MEM, 16),
		BPF_STMT(BPF_LDX | BPF_MEM, 16),
		BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filter f = { .code = { cases[i] }, .len = 1 };

		ADD(&f, RETURN(SECCOMP_RET_ALLOW));
		assert_false(seal_filter_allows(f.code, f.len, 7));
		assert_true(seal_filter_allows(f.code + 1, 1, 7));
	}
}

TEST(each_result)
{
	static const struct {
		uint32_t result;
		bool is_allowed;
	} cases[] = {
		{ SECCOMP_RET_ALLOW, true },	    { SECCOMP_RET_ALLOW | 0xffff, true },
		{ SECCOMP_RET_LOG, true },	    { SECCOMP_RET_LOG | 5, true },
		{ SECCOMP_RET_TRACE, false },	    { SECCOMP_RET_USER_NOTIF, false },
		{ SECCOMP_RET_ERRNO, false },	    { SECCOMP_RET_TRAP, false },
		{ SECCOMP_RET_KILL_THREAD, false }, { SECCOMP_RET_KILL_PROCESS, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filter f = { .len = 0 };

		ADD(&f, RETURN(cases[i].result));
		assert_int_equal(seal_filter_allows(f.code, f.len, 7), cases[i].is_allowed);
		f.len = 0;
		ADD(&f, BPF_STMT(BPF_LD | BPF_IMM, cases[i].result));
		ADD(&f, BPF_STMT(BPF_RET | BPF_A, SECCOMP_RET_KILL));
		assert_int_equal(seal_filter_allows(f.code, f.len, 7), cases[i].is_allowed);
	}
	/* The result is an argument of the call. */
	struct filter f = { .len = 0 };

	ADD(&f, LOAD(args[0]));
	ADD(&f, BPF_STMT(BPF_RET | BPF_A, 0));
	assert_false(seal_filter_allows(f.code, f.len, 7));
}

/* Returns the verdict on a filter that begins with @nr jumps. Each may lead to the filter's end. */
static bool allows_with_ways(unsigned nr, bool is_alike)
{
	struct sock_filter code[64] = { LOAD(args[0]) };

	for (unsigned i = 1; i <= nr; i++)
		code[i] = (struct sock_filter)IF(i, 0, is_alike ? 0 : nr - i);
	code[nr + 1] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	return seal_filter_allows(code, nr + 2, 7);
}

TEST(as_many_ways_as_there_is_room_for)
{
	assert_true(allows_with_ways(1, false));
	assert_true(allows_with_ways(32, false));
	/* The last of these jumps has one way only. */
	assert_true(allows_with_ways(33, false));
	assert_false(allows_with_ways(34, false));
	/* A jump whose two ways lead to the same place is followed once. */
	assert_true(allows_with_ways(60, true));
}

TEST(as_many_steps_as_are_taken)
{
	const uint32_t nr = 20001;
	struct sock_filter *code = calloc(nr, sizeof(*code));

	assert_non_null(code);
	for (uint32_t i = 0; i < nr - 1; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1);
	code[nr - 1] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	assert_true(seal_filter_allows(code + 1, nr - 1, 7));
	assert_false(seal_filter_allows(code, nr, 7));
	free(code);
}

/*
 * The number of paths doubles at each jump. No program has such a filter, but its analysis must
 * end.
 */
TEST(too_many_ways)
{
	struct sock_filter code[402];

	for (unsigned i = 0; i < 400; i += 2) {
		code[i] = (struct sock_filter)LOAD(args[0]);
		code[i + 1] = (struct sock_filter)IF(i, 0, 1);
	}
	code[400] = code[401] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	assert_false(seal_filter_allows(code, ARRAY_SIZE(code), 7));
}

/* Give this process a filter without the probe's help. False when that is not possible. */
static bool add_filter(void)
{
	struct sock_filter code[] = { RETURN(SECCOMP_RET_ALLOW) };
	const struct sock_fprog program = { ARRAY_SIZE(code), code };
	int (*libc_prctl)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");

	return libc_prctl && libc_prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
	       libc_prctl(PR_SET_SECCOMP, (unsigned long)SECCOMP_MODE_FILTER, &program, 0UL, 0UL) ==
		       0;
}

enum {
	GOOD,
	BAD,
	IMPOSSIBLE
};

/* Have many groups, whose numbers the kernel writes before the lines about filters. */
static int count_with_groups(size_t nr)
{
	static gid_t groups[3000];

	for (size_t i = 0; i < nr; i++)
		groups[i] = 1000000 + i;
	if (setgroups(nr, groups) < 0 || !add_filter())
		return IMPOSSIBLE;
	return seal_was_before(0) && !seal_was_before(1000) ? GOOD : BAD;
}

TEST(filters_of_a_process_with_many_groups_are_counted)
{
	/*
	 * With one of these numbers of groups, the lines about filters in /proc/self/status begin
	 * just before the end of the probe's buffer.
	 */
	for (size_t nr = 300; nr <= 3000; nr += nr < 600 ? 1 : 300) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(count_with_groups(nr));
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == IMPOSSIBLE)
			skip_because("this user may not have groups or filters");
		assert_int_equal(status, 0);
	}
}
