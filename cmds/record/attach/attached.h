/*
 * The threads of a running process. Stops threads, reads and writes the memory of the process,
 * makes a thread call a function, and lets threads go.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACHED_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/remote.h"
#include "utils/base/err.h"

/*
 * A thread of the process, to which a thread of the recorder has attached by ptrace(2). The kernel
 * accepts further ptrace(2) calls only from the attaching thread. So for one process, one thread of
 * the recorder must make all calls of the functions in this file.
 *
 * If the recorder dies, the kernel lets all threads of the process go on in their current state. At
 * this moment, a thread of the process may be executing a call for the recorder. After this call,
 * the thread must return to its former context without the recorder's help (call.c).
 *
 * @regs: the registers at the stop
 */
struct attached_thread {
	pid_t tid;
	bool is_stopped;
	bool is_gone;
	struct arch_remote regs;
};

/*
 * @memory_fd: /proc/PID/mem
 * @is_child: the process is a child of the recorder. The functions of this file leave the exit
 *         status of such a process to other code
 * @threads: the threads to which the recorder is attached
 * @wait: a function that is called again and again while the recorder waits for a thread, for
 *        example during a call. The function waits for at most a millisecond. NULL: no function
 * @call_gadget, @return_gadget: see arch_remote_find_gadgets()
 * @room: the address of memory that the recorder has mapped in the process, for code, a stack, a
 *        thread's context, and arguments; 0: no such memory
 * @context: the address of the part of @room for a thread's context. Before a thread calls a
 *         function for the recorder, the recorder writes the thread's context to this part
 */
struct attached {
	pid_t pid;
	int memory_fd;
	bool is_child;
	struct attached_thread **threads;
	size_t nr;
	size_t cap;
	void (*wait)(void *arg);
	void *wait_arg;
	uint64_t call_gadget;
	uint64_t return_gadget;
	uint64_t room;
	uint64_t context;
};

#define ATTACHED_CLOSED         \
	{                       \
		.memory_fd = -1 \
	}

/* Open a process without stopping its threads. Returns 0, or a negative errno with a text. */
int attached_open(struct attached *w, pid_t pid, struct uft_err *err);

/* Let all threads go. Memory and code that were added to the process stay there. */
void attached_close(struct attached *w);
#define cleanup_world cleanup(attached_close)

/*
 * Stop all threads, including threads that start during this function. A thread cannot stop while
 * it waits for a disk, or for the child of vfork(2). If a thread does not stop in time, all threads
 * are let go, and the result is -EBUSY. Returns 0, -EBUSY, or another negative errno.
 */
int attached_stop(struct attached *w, struct uft_err *err);

/*
 * Stop one thread of the process. Returns 0, -ESRCH when the thread has ended, -EBUSY when it does
 * not stop, or another negative errno. After an error all threads are let go, and *@thread is not
 * valid.
 */
int attached_stop_thread(struct attached *w, pid_t tid, struct attached_thread **thread,
			 struct uft_err *err);

/* Detach from all threads, and let them go on. */
void attached_let_go(struct attached *w);

/* Detach from all threads except @thread, and let them go on. @thread stays stopped. */
void attached_let_others_go(struct attached *w, const struct attached_thread *thread);

/*
 * Read or write memory of the process. The result is the number of bytes that were read or written.
 * If the memory is mapped read-only, a write changes a copy of the memory. Only the attached
 * process has this copy.
 */
size_t attached_read(const struct attached *w, uint64_t address, void *to, size_t len);
size_t attached_write(const struct attached *w, uint64_t address, const void *from, size_t len);

/*
 * Make the stopped thread execute single instructions until it is outside of [@start, @end).
 * Returns 0, or -EBUSY when the thread stays inside, for example in a loop or in a system call.
 */
int attached_step_out(struct attached *w, struct attached_thread *t, uint64_t start, uint64_t end);

/*
 * Find @call_gadget and @return_gadget in the executable memory [@start, @end) of a C library.
 * attached_syscall() starts a thread at @call_gadget. If the recorder dies during the system call,
 * the thread returns to its former context by @return_gadget. Returns 0, or -ENOEXEC when one of
 * the gadgets is missing.
 */
int attached_find_gadgets(struct attached *w, uint64_t start, uint64_t end, struct uft_err *err);

/*
 * Make a stopped thread do a system call. After the call, the thread is in its former state, even
 * if the recorder dies during the call (call.c). Returns 0, or a negative errno with a text.
 * -EAGAIN: there is no room on the thread's stack.
 *
 * @result: gets the return value
 */
int attached_syscall(struct attached *w, struct attached_thread *thread, long nr,
		     const uint64_t args[6], int64_t *result, struct uft_err *err);

/*
 * Map @bytes of new memory in the process, by a call of mmap(2) in a thread. *@at gets the address.
 * Returns 0 or a negative errno.
 */
int attached_map(struct attached *w, struct attached_thread *thread, uint64_t bytes, int64_t *at,
		 struct uft_err *err);

/*
 * attached_make_room() maps the memory at @room. attached_drop_room() unmaps this memory. @thread
 * does the system calls.
 */
int attached_make_room(struct attached *w, struct attached_thread *thread, struct uft_err *err);
int attached_drop_room(struct attached *w, struct attached_thread *thread, struct uft_err *err);

/*
 * Arguments of a call may point to data. One part of @room is for such data. ATTACHED_ARGS_BYTES is
 * the size of this part in bytes. attached_args() returns the address of this part.
 */
#define ATTACHED_ARGS_BYTES 8192
uint64_t attached_args(const struct attached *w);

/*
 * Make a stopped thread call @fn on the stack in @room. @result gets the return value. When @fn has
 * returned, the thread sends itself a signal, which tells the recorder about the return. The
 * program has no handler for this signal, and the default action is to ignore the signal. During
 * the call, the thread blocks all other signals. Returns 0, or a negative errno with a text:
 *
 * - -ETIMEDOUT: @fn has not returned within @patience_ms. All threads are let go, and the thread
 *   finishes the call.
 * - -EFAULT: a fault has happened in @fn. The thread is in its former state.
 */
int attached_call(struct attached *w, struct attached_thread *thread, uint64_t fn,
		  const uint64_t args[6], int patience_ms, uint64_t *result, struct uft_err *err);

#endif
