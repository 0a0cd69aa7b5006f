/*
 * The filter of system calls: calls that it passes and calls that it stops at, run here as in the
 * kernel; and this machine's numbers of calls.
 */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "cmds/record/proc/filter.h"
#include "utils/base/compiler.h"

/* Run the few instructions of which filters consist. */
static uint32_t run(const struct proc_filter *filter, const struct seccomp_data *data)
{
	uint32_t value = 0;

	for (size_t at = 0; at < filter->program.len; at++) {
		const struct sock_filter *insn = &filter->code[at];

		switch (insn->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(insn->k % 4 == 0 && insn->k + 4 <= sizeof(*data));
			memcpy(&value, (const char *)data + insn->k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			value &= insn->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			at += value == insn->k ? insn->jt : insn->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			at += value & insn->k ? insn->jt : insn->jf;
			break;
		case BPF_RET | BPF_K:
			return insn->k;
		default:
			fail();
		}
	}
	fail();
	return 0;
}

static struct proc_filter *filter_here(void)
{
	static struct proc_filter filter;

	proc_filter_make(&filter);
	assert_true(filter.program.len < PROC_FILTER_MAX);
	return &filter;
}

static enum syscall_id seen(const struct proc_filter *filter, uint32_t arch, uint32_t number,
			    uint64_t arg0, uint64_t arg1)
{
	struct seccomp_data data = { .arch = arch, .nr = number, .args = { arg0, arg1 } };
	uint32_t action = run(filter, &data);

	if (action == SECCOMP_RET_ALLOW)
		return SYSCALL_NONE;
	assert_int_equal(action & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_TRACE);
	return proc_filter_call(action & SECCOMP_RET_DATA);
}

/* Test every number of every ABI: the filter stops at the watched calls, and at no others. */
TEST(all_numbers)
{
	const struct proc_filter *filter = filter_here();

	for (const struct syscall_abi *abi = syscall_abis; abi->audit_arch; abi++) {
		for (uint32_t number = 0; number < 1024; number++) {
			enum syscall_id want = SYSCALL_NONE;

			for (enum syscall_id id = 1; id < SYSCALL_NOT_WATCHED; id++) {
				if (abi->numbers[id] == (int)number)
					want = id;
			}
			for (enum syscall_id id = SYSCALL_CLONE; id <= SYSCALL_CLONE3; id++) {
				if (abi->numbers[id] == (int)number)
					want = id;
			}

			bool by_arg = want == SYSCALL_FCNTL || want == SYSCALL_FCNTL64 ||
				      want == SYSCALL_PRCTL;

			assert_int_equal(seen(filter, abi->audit_arch, number, 99, 99),
					 by_arg ? SYSCALL_NONE : want);
			assert_int_equal(
				seen(filter, abi->audit_arch, number, PR_SET_NAME, F_DUPFD_CLOEXEC),
				want);
		}
	}
}

TEST(ways_to_call)
{
	const struct proc_filter *filter = filter_here();

	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 257, 0, 0), SYSCALL_OPENAT);
	/* x32 */
	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 0x40000000 | 257, 0, 0), SYSCALL_OPENAT);
	assert_int_equal(seen(filter, AUDIT_ARCH_I386, 5, 0, 0), SYSCALL_OPEN);
	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 5, 0, 0), SYSCALL_NONE);
	assert_int_equal(seen(filter, AUDIT_ARCH_I386, (uint32_t)-1, 0, 0), SYSCALL_NONE);
	/* Calls that make a child, by ABI: they may fail, or make a child without a tracer. */
	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 56, 0x800011, 0), SYSCALL_CLONE);
	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 0x40000038, 0x800011, 0), SYSCALL_CLONE);
	assert_int_equal(seen(filter, AUDIT_ARCH_I386, 120, 0x800011, 0), SYSCALL_CLONE);
	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 56, 0x11, 0), SYSCALL_CLONE);
	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 435, 0, 0), SYSCALL_CLONE3);
	assert_int_equal(seen(filter, AUDIT_ARCH_I386, 435, 0, 0), SYSCALL_CLONE3);
	/* A call of an unknown machine. */
	assert_int_equal(seen(filter, AUDIT_ARCH_S390X, 5, 0, 0), SYSCALL_NONE);
	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 72, 0, F_DUPFD), SYSCALL_FCNTL);
	assert_int_equal(seen(filter, AUDIT_ARCH_X86_64, 72, 0, F_GETFD), SYSCALL_NONE);
}

TEST(others_stops)
{
	assert_int_equal(proc_filter_call(0), SYSCALL_NONE);
	assert_int_equal(proc_filter_call(SYSCALL_OPEN), SYSCALL_NONE);
	assert_int_equal(proc_filter_call(0x5500 | SYSCALL_CLONE3), SYSCALL_CLONE3);
	assert_int_equal(proc_filter_call(0x5500 | SYSCALL_VFORK), SYSCALL_NONE);
	assert_int_equal(proc_filter_call(0x5500 | SYSCALL_OPEN), SYSCALL_OPEN);
}

TEST(numbers_of_this_machine)
{
#ifdef __x86_64__
	const int16_t *numbers = syscall_abis[0].numbers;
	static const struct {
		enum syscall_id id;
		int number;
	} calls[] = {
		{ SYSCALL_OPEN, SYS_open },
		{ SYSCALL_CREAT, SYS_creat },
		{ SYSCALL_OPENAT, SYS_openat },
		{ SYSCALL_OPENAT2, SYS_openat2 },
		{ SYSCALL_CLOSE, SYS_close },
		{ SYSCALL_CLOSE_RANGE, SYS_close_range },
		{ SYSCALL_DUP, SYS_dup },
		{ SYSCALL_DUP2, SYS_dup2 },
		{ SYSCALL_DUP3, SYS_dup3 },
		{ SYSCALL_FCNTL, SYS_fcntl },
		{ SYSCALL_PIPE, SYS_pipe },
		{ SYSCALL_PIPE2, SYS_pipe2 },
		{ SYSCALL_RENAME, SYS_rename },
		{ SYSCALL_RENAMEAT, SYS_renameat },
		{ SYSCALL_RENAMEAT2, SYS_renameat2 },
		{ SYSCALL_LINK, SYS_link },
		{ SYSCALL_LINKAT, SYS_linkat },
		{ SYSCALL_SYMLINK, SYS_symlink },
		{ SYSCALL_SYMLINKAT, SYS_symlinkat },
		{ SYSCALL_UNLINK, SYS_unlink },
		{ SYSCALL_UNLINKAT, SYS_unlinkat },
		{ SYSCALL_RMDIR, SYS_rmdir },
		{ SYSCALL_MOUNT, SYS_mount },
		{ SYSCALL_UMOUNT2, SYS_umount2 },
		{ SYSCALL_PRCTL, SYS_prctl },
		{ SYSCALL_CLONE, SYS_clone },
		{ SYSCALL_CLONE3, SYS_clone3 },
		{ SYSCALL_OPEN_BY_HANDLE_AT, SYS_open_by_handle_at },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(numbers[calls[i].id], calls[i].number);
#endif
	assert_true(syscall_may_be(56, SYSCALL_CLONE) && syscall_may_be(120, SYSCALL_CLONE));
	assert_false(syscall_may_be(57, SYSCALL_CLONE));
}
