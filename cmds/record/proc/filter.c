/* Makes and installs the filter of system calls (see filter.h). */
#include "cmds/record/proc/filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/proc/shapes.h"

/*
 * The recorder's filter passes the sum of OURS and the call's enum syscall_id to the tracer
 * (SECCOMP_RET_DATA).
 */
#define OURS	  0x5500U
#define OURS_MASK 0xff00U

#define ARG_LOW(i)                                     \
	(offsetof(struct seccomp_data, args) + (i)*8 + \
	 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))

static void add_filter_insn(struct proc_filter *filter, uint16_t code, uint32_t k, uint8_t jt,
			    uint8_t jf)
{
	filter->code[filter->program.len++] = (struct sock_filter){ code, jt, jf, k };
}

static void add_load(struct proc_filter *filter, uint32_t offset)
{
	add_filter_insn(filter, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

/*
 * Adds a check of the number that the filter has loaded. If the number is not @value, the filter
 * skips the next @nr instructions.
 */
static void add_unless(struct proc_filter *filter, uint32_t value, uint8_t nr)
{
	add_filter_insn(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, nr);
}

static void add_return(struct proc_filter *filter, uint32_t action)
{
	add_filter_insn(filter, BPF_RET | BPF_K, action, 0, 0);
}

/*
 * Adds the check for a system call. Some system calls are watched only if an argument has certain
 * values. For example, prctl(2) is watched only if the first argument is PR_SET_NAME.
 */
static void add_call(struct proc_filter *filter, enum syscall_id id, uint32_t number)
{
	const struct call_shape *shape = &call_shapes[id];
	uint32_t tell = SECCOMP_RET_TRACE | OURS | id;

	if (shape->choice >= 0) {
		add_unless(filter, number, 6);
		add_load(filter, ARG_LOW(shape->choice));
		add_unless(filter, shape->choices[0], 1);
		add_return(filter, tell);
		add_unless(filter, shape->choices[1], 1);
		add_return(filter, tell);
		add_return(filter, SECCOMP_RET_ALLOW);
		return;
	}
	add_unless(filter, number, 1);
	add_return(filter, tell);
}

static void add_abi(struct proc_filter *filter, const struct syscall_abi *abi)
{
	size_t skip;

	add_load(filter, offsetof(struct seccomp_data, arch));
	skip = filter->program.len;
	add_unless(filter, abi->audit_arch, 0);
	add_load(filter, offsetof(struct seccomp_data, nr));
	add_filter_insn(filter, BPF_ALU | BPF_AND | BPF_K, abi->mask, 0, 0);
	for (enum syscall_id id = SYSCALL_NONE + 1; id < SYSCALL_NOT_WATCHED; id++) {
		if (abi->numbers[id] >= 0)
			add_call(filter, id, abi->numbers[id]);
	}
	/*
	 * System calls that make processes are watched for two reasons. First, their failures are
	 * recorded. Second, a call may request a child without a tracer. Such a child would inherit
	 * the filter, and the watched calls of the child would fail. Therefore the recorder changes
	 * the call (untraced.h).
	 */
	for (enum syscall_id id = SYSCALL_CLONE; id <= SYSCALL_CLONE3; id++) {
		add_unless(filter, abi->numbers[id], 1);
		add_return(filter, SECCOMP_RET_TRACE | OURS | id);
	}
	add_return(filter, SECCOMP_RET_ALLOW);
	filter->code[skip].jf = filter->program.len - skip - 1;
}

void proc_filter_make(struct proc_filter *filter)
{
	filter->program = (struct sock_fprog){ 0, filter->code };
	for (const struct syscall_abi *abi = syscall_abis; abi->audit_arch; abi++)
		add_abi(filter, abi);
	add_return(filter, SECCOMP_RET_ALLOW);
}

enum syscall_id proc_filter_call(uint32_t data)
{
	uint32_t id = data & ~OURS_MASK & 0xffff;

	return (data & OURS_MASK) == OURS && id <= SYSCALL_CLONE3 ? id : SYSCALL_NONE;
}

int proc_filter_check(void)
{
	uint32_t action = SECCOMP_RET_TRACE;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0 ? -errno : 0;
}

static int install_filter(const struct sock_fprog *program)
{
	/* Without this flag, some kernels slow down the program for its whole life. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		       program) < 0
		       ? -errno
		       : 0;
}

int proc_filter_install(const struct sock_fprog *program)
{
	int ret = install_filter(program);

	if (ret != -EACCES)
		return ret;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return install_filter(program);
}
