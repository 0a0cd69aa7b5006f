/* x86_64: the steps that make a stopped thread of another process run code (see arch/remote.h). */
#include "arch/remote.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "utils/base/compiler.h"

/* The words of struct user_regs_struct (<sys/user.h>). */
enum reg {
	R15,
	R14,
	R13,
	R12,
	RBP,
	RBX,
	R11,
	R10,
	R9,
	R8,
	RAX,
	RCX,
	RDX,
	RSI,
	RDI,
	ORIG_RAX,
	RIP,
	CS,
	FLAGS,
	RSP,
	SS,
};

/* The kernel's internal errors, which programs never see (include/linux/errno.h). */
#define ERESTARTSYS	      512
#define ERESTARTNOINTR	      513
#define ERESTARTNOHAND	      514
#define ERESTART_RESTARTBLOCK 516
#define SYSCALL_BYTES	      2 /* the length of the instruction syscall */
#define USER_CS		      0x33
#define CONTEXT_FLAGS \
	0x7UL /* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS (asm/ucontext.h) */
#define CONTEXT_ALIGN  64
#define FLAG_DIRECTION 0x400
#define FLAG_TRAP      0x100

const bool arch_has_remote = true;
const int arch_remote_vector_note = NT_X86_XSTATE;

/* System V ABI for AMD64, "DWARF Register Number Mapping". */
const unsigned arch_remote_dwarf_sp = 7;

unsigned arch_remote_dwarf_regs(const struct arch_remote *r, uint64_t regs[ARCH_REMOTE_DWARF_REGS])
{
	static const uint8_t order[] = { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8,
					 R9,  R10, R11, R12, R13, R14, R15, RIP };

	for (unsigned i = 0; i < sizeof(order); i++)
		regs[i] = r->words[order[i]];
	return sizeof(order);
}

uint64_t arch_remote_pc(const struct arch_remote *r)
{
	return r->words[RIP];
}

uint64_t arch_remote_sp(const struct arch_remote *r)
{
	return r->words[RSP];
}

void arch_remote_set_pc(struct arch_remote *r, uint64_t pc)
{
	r->words[RIP] = pc;
}

static bool is_restarted(int64_t result)
{
	return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
	       result == -ERESTART_RESTARTBLOCK;
}

long arch_remote_entered_call(const struct arch_remote *r)
{
	int64_t nr = r->words[ORIG_RAX];

	return nr >= 0 ? nr : -1;
}

long arch_remote_system_call(const struct arch_remote *r, uint64_t args[4])
{
	int64_t nr = r->words[ORIG_RAX];

	args[0] = r->words[RDI];
	args[1] = r->words[RSI];
	args[2] = r->words[RDX];
	args[3] = r->words[R10];
	return nr >= 0 && is_restarted(r->words[RAX]) ? nr : -1;
}

/* System calls that end with EINTR when a thread is stopped (signal(7)). */
static const uint16_t restarted[] = {
	SYS_epoll_wait,	  SYS_epoll_pwait,     SYS_epoll_pwait2, SYS_io_pgetevents,
	SYS_recvmmsg,	  SYS_rt_sigtimedwait, SYS_semop,	 SYS_semtimedop,
	SYS_io_getevents, SYS_accept,	       SYS_accept4,	 SYS_recvfrom,
	SYS_recvmsg,	  SYS_sendto,	       SYS_sendmsg,	 SYS_read,
	SYS_write,	  SYS_futex,
};

bool arch_remote_restart(struct arch_remote *r)
{
	bool is_one = false;

	for (size_t i = 0; i < ARRAY_SIZE(restarted); i++)
		is_one |= r->words[ORIG_RAX] == restarted[i];
	if (!is_one || (int64_t)r->words[RAX] != -EINTR)
		return false;
	r->words[RAX] = -ERESTARTNOINTR;
	return true;
}

static const uint8_t call_gadget[] = { 0x0f, 0x05, 0xc3 }; /* syscall; ret */
/*
 * mov $15, %rax; syscall. These are the bytes of __restore_rt in the C libraries. Unwinders
 * recognize a signal frame by these bytes.
 */
static const uint8_t return_gadget[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

bool arch_remote_find_gadgets(const uint8_t *code, size_t len, size_t *call, size_t *handler_return)
{
	const uint8_t *c = memmem(code, len, call_gadget, sizeof(call_gadget));
	const uint8_t *h = memmem(code, len, return_gadget, sizeof(return_gadget));

	if (!c || !h)
		return false;
	*call = c - code;
	*handler_return = h - code;
	return true;
}

/*
 * In a signal frame, the vector state has a struct _fpx_sw_bytes (asm/sigcontext.h) at the offset
 * XSTATE_SW_RESERVED. The struct begins with XSTATE_MAGIC1. The word XSTATE_MAGIC2 follows the
 * vector state.
 */
#define XSTATE_MAGIC1	   0x46505853U
#define XSTATE_MAGIC2	   0x46505845U
#define XSTATE_SW_RESERVED 464

static size_t ucontext_bytes(void)
{
	return (sizeof(ucontext_t) + CONTEXT_ALIGN - 1) & ~(size_t)(CONTEXT_ALIGN - 1);
}

size_t arch_remote_context_bytes(const struct arch_remote *r)
{
	return ucontext_bytes() + r->vector_bytes + sizeof(uint32_t);
}

static void put_vectors(uint8_t *to, const struct arch_remote *r)
{
	const uint32_t magic2 = XSTATE_MAGIC2;
	uint64_t components;
	struct {
		uint32_t magic1;
		uint32_t extended_size;
		uint64_t components;
		uint32_t size;
		uint32_t padding[7];
	} reserved = { XSTATE_MAGIC1, r->vector_bytes + sizeof(magic2), 0, r->vector_bytes, { 0 } };

	memcpy(to, r->vectors, r->vector_bytes);
	/* PTRACE_GETREGSET has stored the mask of enabled XSAVE components at this offset. */
	memcpy(&components, r->vectors + XSTATE_SW_RESERVED, sizeof(components));
	reserved.components = components;
	memcpy(to + XSTATE_SW_RESERVED, &reserved, sizeof(reserved));
	memcpy(to + r->vector_bytes, &magic2, sizeof(magic2));
}

void arch_remote_put_context(void *memory, uint64_t at, const struct arch_remote *r, uint64_t mask,
			     long nr)
{
	static const uint8_t order[] = {
		[REG_R8] = R8,	 [REG_R9] = R9,	   [REG_R10] = R10, [REG_R11] = R11,
		[REG_R12] = R12, [REG_R13] = R13,  [REG_R14] = R14, [REG_R15] = R15,
		[REG_RDI] = RDI, [REG_RSI] = RSI,  [REG_RBP] = RBP, [REG_RBX] = RBX,
		[REG_RDX] = RDX, [REG_RAX] = RAX,  [REG_RCX] = RCX, [REG_RSP] = RSP,
		[REG_RIP] = RIP, [REG_EFL] = FLAGS
	};
	ucontext_t *context = memory;
	uint64_t vectors = at + ucontext_bytes();

	memset(context, 0, sizeof(*context));
	context->uc_flags = CONTEXT_FLAGS;
	for (size_t i = 0; i < sizeof(order); i++)
		context->uc_mcontext.gregs[i] = r->words[order[i]];
	if (nr >= 0) {
		context->uc_mcontext.gregs[REG_RAX] = nr;
		context->uc_mcontext.gregs[REG_RIP] -= SYSCALL_BYTES;
	}
	context->uc_mcontext.gregs[REG_CSGSFS] = r->words[CS] | r->words[SS] << 48;
	memcpy(&context->uc_mcontext.fpregs, &vectors, sizeof(vectors));
	memcpy(&context->uc_sigmask, &mask, sizeof(mask));
	put_vectors((uint8_t *)memory + ucontext_bytes(), r);
}

long arch_remote_number_in_code(const uint8_t code[ARCH_REMOTE_NUMBER_BYTES])
{
	/* mov $number, %eax; syscall */
	if (code[0] != 0xb8 || code[5] != 0x0f || code[6] != 0x05)
		return -1;
	return code[1] | code[2] << 8 | code[3] << 16 | (long)code[4] << 24;
}

static void set_call_registers(struct arch_remote *r, uint64_t pc, uint64_t sp,
			       const uint64_t args[6])
{
	r->words[RIP] = pc;
	r->words[RSP] = sp;
	r->words[RDI] = args[0];
	r->words[RSI] = args[1];
	r->words[RDX] = args[2];
	r->words[R8] = args[4];
	r->words[R9] = args[5];
	/* The value -1 tells the kernel that the thread is not in a system call to be restarted. */
	r->words[ORIG_RAX] = -1;
	r->words[FLAGS] &= ~(uint64_t)(FLAG_DIRECTION | FLAG_TRAP);
}

void arch_remote_begin_syscall(struct arch_remote *r, uint64_t call, uint64_t context, long nr,
			       const uint64_t args[6])
{
	set_call_registers(r, call, context - sizeof(uint64_t), args);
	r->words[R10] = args[3];
	r->words[RAX] = nr;
}

void arch_remote_put_code(uint8_t code[ARCH_REMOTE_CODE_BYTES])
{
	static const uint8_t bytes[] = {
		0xff, 0xd3,		      /* call *%rbx */
		0x49, 0x89, 0xc4,	      /* mov %rax, %r12 */
		0xb8, 0xba, 0x00, 0x00, 0x00, /* mov $186, %eax: gettid */
		0x0f, 0x05,		      /* syscall */
		0x89, 0xc6,		      /* mov %eax, %esi */
		0xb8, 0x27, 0x00, 0x00, 0x00, /* mov $39, %eax: getpid */
		0x0f, 0x05,		      /* syscall */
		0x89, 0xc7,		      /* mov %eax, %edi */
		0x44, 0x89, 0xea,	      /* mov %r13d, %edx */
		0xb8, 0xea, 0x00, 0x00, 0x00, /* mov $234, %eax: tgkill */
		0x0f, 0x05,		      /* syscall */
		0xb8, 0x0f, 0x00, 0x00, 0x00, /* 1: mov $15, %eax: rt_sigreturn */
		0x0f, 0x05,		      /* syscall */
		0xeb, 0xf7,		      /* jmp 1b */
	};

	memset(code, 0xcc, ARCH_REMOTE_CODE_BYTES);
	memcpy(code, bytes, sizeof(bytes));
}

void arch_remote_begin_call(struct arch_remote *r, uint64_t code, uint64_t context, uint64_t fn,
			    const uint64_t args[6], int signal)
{
	set_call_registers(r, code, context, args);
	r->words[R13] = signal;
	r->words[RCX] = args[3];
	r->words[RBX] = fn;
	r->words[RAX] = 0;
	r->words[R12] = 0;
	r->words[RBP] = 0; /* tells unwinders that this frame is the outermost */
}

uint64_t arch_remote_call_result(const struct arch_remote *r)
{
	return r->words[R12];
}

uint64_t arch_remote_result(const struct arch_remote *r)
{
	return r->words[RAX];
}

static uint64_t sigframe_register(const uint64_t *words, size_t nr, int reg)
{
	const size_t gregs = offsetof(ucontext_t, uc_mcontext.gregs) / sizeof(*words);

	if (nr <= gregs + REG_CSGSFS || (words[gregs + REG_CSGSFS] & 0xffff) != USER_CS)
		return 0;
	return words[gregs + reg];
}

uint64_t arch_remote_sigframe_pc(const uint64_t *words, size_t nr)
{
	return sigframe_register(words, nr, REG_RIP);
}

uint64_t arch_remote_sigframe_sp(const uint64_t *words, size_t nr)
{
	return sigframe_register(words, nr, REG_RSP);
}

/* Bit 1 is always set, and user code always has interrupts enabled (Intel SDM, volume 1, 3.4.3). */
#define EFLAGS_SET    0x202UL
#define EFLAGS_UNUSED 0xffffffff00000000UL

bool arch_remote_may_be_interrupted(const uint64_t *words, size_t nr)
{
	const size_t flags = REG_EFL - REG_RIP;
	const size_t segments = REG_CSGSFS - REG_RIP;

	return nr > segments && (words[segments] & 0xffff) == USER_CS &&
	       (words[flags] & (EFLAGS_SET | EFLAGS_UNUSED)) == EFLAGS_SET;
}

/*
 * Returns the number of bytes of an instruction `call *r/m64` (Intel SDM, volume 2, 2.1.5).
 *
 * @modrm: the second byte of the instruction
 * @sib: the third byte; ignored if the instruction has no SIB byte
 */
static size_t indirect_call_bytes(uint8_t modrm, uint8_t sib)
{
	const unsigned mod = modrm >> 6;
	const unsigned rm = modrm & 7;
	const bool has_sib = mod != 3 && rm == 4;

	if (mod == 0 && (rm == 5 || (has_sib && (sib & 7) == 5)))
		return 6 + has_sib;
	return 2 + has_sib + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

bool arch_remote_may_end_call(const uint8_t code[ARCH_REMOTE_CALL_BYTES])
{
	if (code[ARCH_REMOTE_CALL_BYTES - 5] == 0xe8)
		return true;
	for (size_t bytes = 2; bytes <= ARCH_REMOTE_CALL_BYTES; bytes++) {
		const uint8_t *call = code + ARCH_REMOTE_CALL_BYTES - bytes;

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2 &&
		    indirect_call_bytes(call[1], bytes > 2 ? call[2] : 0) == bytes)
			return true;
	}
	return false;
}

/* A system call of i386 has its first argument in ebx, which is the low half of rbx. */
bool arch_remote_set_argument(int tid, uint32_t audit_arch, uint64_t value)
{
	uintptr_t at = (audit_arch == AUDIT_ARCH_I386 ? RBX : RDI) * sizeof(uint64_t);

	return ptrace(PTRACE_POKEUSER, tid, (void *)at, (void *)(uintptr_t)value) == 0;
}
