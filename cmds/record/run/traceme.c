/* Releases children that have asked the recorder to trace them (see traceme.h). */
#include "cmds/record/run/traceme.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "utils/base/fd.h"
#include "utils/base/containers/strbuf.h"

/*
 * The number of the field in /proc/<pid>/stat that contains the stack pointer at the start of the
 * program. The first field has the number 1.
 */
#define STAT_START_STACK 28

static uint64_t start_stack(pid_t tid)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char path[64];
	char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	at = file_read_all(path, 65536, &text, NULL) == 0 ? strrchr(strbuf_str(&text), ')') : NULL;
	for (int field = 2; at && field < STAT_START_STACK; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/*
 * True for the SIGTRAP with which the kernel reports an exec to a tracer. A traced process gets it
 * before the first instruction of the new program. A process without a tracer does not get it.
 */
static bool tells_exec(pid_t tid, const siginfo_t *info)
{
	struct __ptrace_syscall_info now = { 0 };

	return info->si_signo == SIGTRAP && info->si_code == SI_USER &&
	       ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(now), &now) > 0 &&
	       now.stack_pointer == start_stack(tid);
}

/* True for a child that has stopped itself by raise(SIGSTOP). Such a child waits for a tracer. */
static bool waits_for_tracer(pid_t pid, const siginfo_t *info)
{
	return info->si_signo == SIGSTOP && info->si_code <= 0 && info->si_pid == pid;
}

/* Lets the task go on without a tracer. Returns false when this thread does not trace the task. */
static bool let_go(struct traceme *seen, pid_t tid)
{
	siginfo_t info = { 0 };
	int sig = 0;

	/*
	 * EINVAL: a signal has stopped the whole process (group-stop, ptrace(2)). After
	 * PTRACE_DETACH, the task has no tracer, but stays stopped.
	 */
	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) < 0) {
		if (errno != EINVAL)
			return false;
	} else if (!tells_exec(tid, &info) && !waits_for_tracer(tid, &info)) {
		sig = info.si_signo;
	}
	if (ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)sig) < 0)
		return false;
	if (!seen->tid)
		*seen = (struct traceme){ tid, info.si_signo, sig != 0 };
	return true;
}

/*
 * waitid() always reports the first stopped child. If a thread other than the caller traces this
 * child, traceme_let_go() cannot release the child, and returns. At the next SIGCHLD, the recorder
 * calls traceme_let_go() again.
 */
void traceme_let_go(struct traceme *seen)
{
	for (;;) {
		siginfo_t stop = { 0 };

		if (waitid(P_ALL, 0, &stop, WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0 ||
		    !stop.si_pid)
			return;
		if (stop.si_code == CLD_TRAPPED) {
			/* If the stop has a ptrace event, another thread has seized the child. */
			if (stop.si_status >> 8 || !let_go(seen, stop.si_pid))
				return;
		} else {
			/*
			 * An untraced child was stopped, for example by Ctrl-Z. Take the report of
			 * its stop, so that the next waitid() does not return it again.
			 */
			waitid(P_PID, stop.si_pid, &stop, WSTOPPED | WNOHANG | __WALL);
		}
	}
}

void traceme_warn(const struct traceme *seen, const struct msg *msg)
{
	if (!seen->tid)
		return;
	msg_warn(msg,
		 "task %d asked its parent to trace it (PTRACE_TRACEME), which utrail is here: it "
		 "went on "
		 "untraced at its first signal, %d (%s), which was %s",
		 seen->tid, seen->sig, seen->sig ? strsignal(seen->sig) : "stop",
		 seen->was_passed_on ? "passed on" : "for a tracer alone");
}
