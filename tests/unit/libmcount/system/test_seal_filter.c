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
	/* With one of the sizes, the lines are where the probe's buffer ends. */
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
