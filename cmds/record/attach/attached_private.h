/* The declarations that attached.c and call.c share. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACHED_PRIVATE_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACHED_PRIVATE_H

#include "cmds/record/attach/attached.h"

uint64_t world_now_ms(void);

/*
 * Wait for the kernel's next report on @t. @status gets the status of waitpid(2). Returns 0, -ESRCH
 * when the thread has ended, or -ETIMEDOUT when it still runs.
 */
int world_wait(const struct attached *w, struct attached_thread *t, uint64_t until_ms, int *status);

/* Stop a running thread of the process, and read its registers into @t. */
int world_interrupt(const struct attached *w, struct attached_thread *t, uint64_t until_ms);

/* True when the process has a handler for @sig (proc_pid_status(5)). */
bool world_is_caught(const struct attached *w, int sig);

int world_get_vectors(struct attached_thread *t);
int world_set_regs(pid_t tid, const struct arch_remote *regs);
int world_set_vectors(pid_t tid, const struct arch_remote *regs);

#endif
