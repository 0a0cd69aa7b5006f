/*
 * Makes a thread of another process do calls (see attached.h).
 *
 * The recorder may be killed at any moment. So the recorder first writes the thread's context to
 * the memory of the other process. The code that the thread runs ends with rt_sigreturn(2), which
 * restores that context.
 *
 * If the recorder is alive, the recorder restores the registers before the thread reaches
 * rt_sigreturn(2). An interrupted system call then goes on with its remaining time. After
 * rt_sigreturn(2) the kernel would no longer know the remaining time.
 */
#include <errno.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/attach/attached_private.h"
#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

/* <sys/ptrace.h> cannot be included together with <linux/ptrace.h>. */
extern long ptrace(int request, ...) __THROW;

#define PTRACE_CONT_	7
#define RED_ZONE	128 /* psABI 3.2.2; other machines have a smaller red zone, or none */
#define CODE_BYTES	4096
#define STACK_BYTES	(256UL << 10)
#define CONTEXT_BYTES	(24UL << 10)
#define ROOM_BYTES	(CODE_BYTES + STACK_BYTES + CONTEXT_BYTES + ATTACHED_ARGS_BYTES)
#define CONTEXT_ALIGN	64
#define SYSCALL_WAIT_MS 2000
#define SYSCALL_STOP	(SIGTRAP | 0x80)

static const uint64_t all_signals = UINT64_MAX;
static const uint64_t no_word;

static int get_mask(const struct attached_thread *t, uint64_t *mask)
{
	return ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(*mask), mask) < 0 ? -errno : 0;
}

static int set_mask(const struct attached_thread *t, const uint64_t *mask)
{
	return ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(*mask), mask) < 0 ? -errno : 0;
}

/* Let the thread run until it stops or ends. */
static int go_on(const struct attached *w, struct attached_thread *t, int request, int sig,
		 uint64_t until_ms, int *status)
{
	t->is_stopped = false;
	if (ptrace(request, t->tid, 0L, (long)sig) < 0)
		return -errno;
	return world_wait(w, t, until_ms, status);
}

/*
 * Stop the thread before its next instruction. During this stop, the caller may restore the
 * registers that the thread had in an interrupted system call. The kernel then restarts the system
 * call.
 */
static int stand_still(const struct attached *w, struct attached_thread *t)
{
	uint64_t until_ms = world_now_ms() + SYSCALL_WAIT_MS;
	int status;

	if (ptrace(PTRACE_INTERRUPT, t->tid, 0L, 0L) < 0)
		return -errno;
	do {
		int ret = go_on(w, t, PTRACE_CONT_, 0, until_ms, &status);

		if (ret < 0)
			return ret;
	} while (status >> 16 != PTRACE_EVENT_STOP);
	return 0;
}

/* Restore the state that the thread had before the call. The registers are restored last. */
static int put_back(const struct attached *w, struct attached_thread *t, const uint64_t *mask)
{
	int ret = stand_still(w, t);

	if (ret == 0)
		ret = world_set_vectors(t->tid, &t->regs);
	if (ret == 0)
		ret = set_mask(t, mask);
	if (ret == 0)
		ret = world_set_regs(t->tid, &t->regs);
	return ret;
}

/*
 * Returns the number of the system call that @t repeats when rt_sigreturn(2) restores the context.
 * Returns a negative value when there is no such system call. If @t is in restart_syscall(2),
 * returns the number of the original system call, because restart_syscall(2) would fail after
 * rt_sigreturn(2).
 */
static long interrupted_call(const struct attached *w, const struct attached_thread *t)
{
	uint8_t code[ARCH_REMOTE_NUMBER_BYTES];
	uint64_t args[4];
	long nr = arch_remote_system_call(&t->regs, args);
	long of = -1;

	if (nr == SYS_restart_syscall && attached_read(w, arch_remote_pc(&t->regs) - sizeof(code),
						       code, sizeof(code)) == sizeof(code))
		of = arch_remote_number_in_code(code);
	return of >= 0 ? of : nr;
}

/* Write the context of @t to the address @at, and write @below to the word below @at. */
static int write_context(const struct attached *w, const struct attached_thread *t, uint64_t at,
			 uint64_t mask, uint64_t below)
{
	size_t bytes = arch_remote_context_bytes(&t->regs);
	uint8_t *memory cleanup_free = malloc(sizeof(below) + bytes);
	int ret = 0;

	if (!memory)
		return -ENOMEM;

	uint8_t *context = aligned_alloc(CONTEXT_ALIGN, ALIGN_UP(bytes, (size_t)CONTEXT_ALIGN));

	if (!context)
		return -ENOMEM;
	arch_remote_put_context(context, at, &t->regs, mask, interrupted_call(w, t));
	memcpy(memory, &below, sizeof(below));
	memcpy(memory + sizeof(below), context, bytes);
	free(context);
	if (attached_write(w, at - sizeof(below), memory, sizeof(below) + bytes) !=
	    sizeof(below) + bytes)
		ret = -EAGAIN;
	return ret;
}

static bool is_stop_behind_syscall(const struct attached_thread *t)
{
	struct ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_EXIT;
}

static int get_result(struct attached_thread *t, struct arch_remote *regs)
{
	struct {
		void *at;
		size_t bytes;
	} general = { regs->words, sizeof(regs->words) };

	if (ptrace(PTRACE_GETREGSET, t->tid, 1L /* NT_PRSTATUS */, &general) < 0)
		return -errno;
	regs->bytes = general.bytes;
	return 0;
}

static int say_failed_call(struct uft_err *err, const struct attached_thread *t, int ret)
{
	return ret < 0 ? err_set_errno(err, ret, "cannot have thread %d make a system call", t->tid)
		       : ret;
}

int attached_syscall(struct attached *w, struct attached_thread *t, long nr, const uint64_t args[6],
		     int64_t *result, struct uft_err *err)
{
	uint64_t until_ms = world_now_ms() + SYSCALL_WAIT_MS;
	struct arch_remote *regs cleanup_free = malloc(sizeof(*regs));
	uint64_t mask = 0;
	int ret = regs ? world_get_vectors(t) : -ENOMEM;
	int status = 0;

	if (ret == 0)
		ret = get_mask(t, &mask);
	if (ret < 0)
		return say_failed_call(err, t, ret);

	uint64_t context = (arch_remote_sp(&t->regs) - RED_ZONE -
			    arch_remote_context_bytes(&t->regs)) &
			   ~(uint64_t)(CONTEXT_ALIGN - 1);

	ret = write_context(w, t, context, mask, w->return_gadget);
	if (ret < 0)
		return say_failed_call(err, t, ret);
	*regs = t->regs;
	arch_remote_begin_syscall(regs, w->call_gadget, context, nr, args);
	ret = world_set_regs(t->tid, regs);
	if (ret == 0)
		ret = set_mask(t, &all_signals);
	while (ret == 0) {
		ret = go_on(w, t, PTRACE_SYSCALL, 0, until_ms, &status);
		if (ret < 0 || (WSTOPSIG(status) == SYSCALL_STOP && is_stop_behind_syscall(t)))
			break;
	}
	if (ret == 0)
		ret = get_result(t, regs);
	*result = arch_remote_result(regs);
	if (ret == 0)
		ret = put_back(w, t, &mask);
	/*
	 * write_context() has written a signal context. The word below this context has the address
	 * of code that calls rt_sigreturn(2). The word and the context look like the frame of a
	 * signal handler, and remain in memory below the stack pointer. If the stack later grows
	 * past the context, a search for frames of handlers (callable_thread.c) would find this
	 * false frame. So the word is cleared.
	 */
	if (ret == 0)
		attached_write(w, context - sizeof(no_word), &no_word, sizeof(no_word));
	return say_failed_call(err, t, ret);
}

int attached_find_gadgets(struct attached *w, uint64_t start, uint64_t end, struct uft_err *err)
{
	uint8_t *code cleanup_free = malloc(end - start);
	size_t call, handler_return;
	size_t len = code ? attached_read(w, start, code, end - start) : 0;

	if (!arch_remote_find_gadgets(code, len, &call, &handler_return))
		return err_set(err, -ENOEXEC, "the C library of process %d is not known here",
			       w->pid);
	w->call_gadget = start + call;
	w->return_gadget = start + handler_return;
	return 0;
}

int attached_make_room(struct attached *w, struct attached_thread *t, struct uft_err *err)
{
	uint8_t code[ARCH_REMOTE_CODE_BYTES];
	int64_t room, result;
	int ret = attached_map(w, t, ROOM_BYTES, &room, err);

	if (ret < 0)
		return ret;
	w->room = room;
	w->context = room + CODE_BYTES + STACK_BYTES;

	const uint64_t protect[6] = { room, CODE_BYTES, PROT_READ | PROT_EXEC };

	ret = attached_syscall(w, t, SYS_mprotect, protect, &result, err);
	if (ret == 0 && result < 0)
		ret = err_set_errno(err, result, "process %d may not have code of its own", w->pid);
	arch_remote_put_code(code);
	if (ret == 0 && attached_write(w, w->room, code, sizeof(code)) != sizeof(code))
		ret = err_set_errno(err, -EIO, "cannot write to the memory of process %d", w->pid);
	return ret;
}

int attached_drop_room(struct attached *w, struct attached_thread *t, struct uft_err *err)
{
	const uint64_t unmap[6] = { w->room, ROOM_BYTES };
	int64_t result;

	if (!w->room)
		return 0;

	int ret = attached_syscall(w, t, SYS_munmap, unmap, &result, err);

	if (ret == 0)
		w->room = 0;
	return ret;
}

uint64_t attached_args(const struct attached *w)
{
	return w->context + CONTEXT_BYTES;
}

/*
 * Gives up a call that did not return in time, and lets all threads go on. If the call returns
 * later, the thread @t returns to its former work without the recorder's help. Returns -ETIMEDOUT
 * with @err.
 */
static int give_up(struct attached *w, struct attached_thread *t, struct uft_err *err)
{
	world_interrupt(w, t, world_now_ms() + SYSCALL_WAIT_MS);
	attached_let_others_go(w, t);
	attached_let_go(w);
	return err_set(
		err, -ETIMEDOUT,
		"process %d did not come back from a call in time: a lock of its C library is "
		"held, or it is very slow",
		w->pid);
}

static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE ||
	       sig == SIGTRAP || sig == SIGSYS || sig == SIGABRT;
}

/* Chooses a signal that has no handler and is ignored by default. Returns 0 when there is none. */
static int choose_signal(const struct attached *w)
{
	static const int ignored[] = { SIGURG, SIGWINCH, SIGCONT, SIGCHLD };

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++) {
		if (!world_is_caught(w, ignored[i]))
			return ignored[i];
	}
	return 0;
}

/*
 * Let the thread run until the function has returned. After the return, the thread sends the signal
 * @told_by to itself, and stops at this signal.
 */
static int run_call(struct attached *w, struct attached_thread *t, struct arch_remote *regs,
		    int told_by, uint64_t until_ms, uint64_t *result)
{
	int sig = 0;

	for (;;) {
		int status;
		int ret = go_on(w, t, PTRACE_CONT_, sig, until_ms, &status);

		if (ret < 0)
			return ret;
		sig = 0;
		if (status >> 16 == PTRACE_EVENT_STOP)
			continue;
		if (is_fault(WSTOPSIG(status)))
			return -EFAULT;
		sig = WSTOPSIG(status);
		ret = get_result(t, regs);
		if (ret < 0)
			return ret;
		*result = arch_remote_call_result(regs);
		if (sig == told_by && arch_remote_pc(regs) == w->room + ARCH_REMOTE_CODE_END)
			return 0;
	}
}

int attached_call(struct attached *w, struct attached_thread *t, uint64_t fn,
		  const uint64_t args[6], int patience_ms, uint64_t *result, struct uft_err *err)
{
	uint64_t until_ms = world_now_ms() + patience_ms;
	struct arch_remote *regs cleanup_free = malloc(sizeof(*regs));
	int told_by = choose_signal(w);
	uint64_t mask = 0;
	int ret = regs ? world_get_vectors(t) : -ENOMEM;

	if (!told_by)
		return err_set(err, -EBUSY,
			       "process %d handles all signals that others ignore: none is left to "
			       "announce the end of a call",
			       w->pid);

	uint64_t blocked = all_signals & ~(1ULL << (told_by - 1));

	if (ret == 0)
		ret = get_mask(t, &mask);
	if (ret == 0 && arch_remote_context_bytes(&t->regs) > CONTEXT_BYTES)
		ret = -E2BIG;
	if (ret == 0)
		ret = write_context(w, t, w->context, mask, 0);
	if (ret < 0)
		return say_failed_call(err, t, ret);
	*regs = t->regs;
	arch_remote_begin_call(regs, w->room, w->context, fn, args, told_by);
	ret = world_set_regs(t->tid, regs);
	if (ret == 0)
		ret = set_mask(t, &blocked);
	if (ret == 0)
		ret = run_call(w, t, regs, told_by, until_ms, result);
	if (ret == -ETIMEDOUT)
		return give_up(w, t, err);
	if (ret == 0)
		return say_failed_call(err, t, put_back(w, t, &mask));
	if (ret == -EFAULT) {
		/*
		 * If the recorder dies before put_back() has restored the registers, the thread
		 * runs only the end of the code in w->room. This end restores the registers.
		 */
		arch_remote_begin_call(regs, w->room, w->context, 0, args, told_by);
		arch_remote_set_pc(regs, w->room + ARCH_REMOTE_CODE_END);
		world_set_regs(t->tid, regs);
		put_back(w, t, &mask);
		return err_set(err, -EFAULT,
			       "process %d met a fault in a call that it was made to do", w->pid);
	}
	return say_failed_call(err, t, ret);
}
