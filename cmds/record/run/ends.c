/* Reports the ends of attached processes (see ends.h). */
#include "cmds/record/run/ends.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/base/containers/strbuf.h"

/* struct pidfd_info in linux/pidfd.h of Linux 6.15. */
struct pidfd_end {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define PIDFD_END_WANTED (1ULL << 3)
#define PIDFD_END_GET	 _IOWR(0xFF, 11, struct pidfd_end)

#define STAT_MAX 4096

/*
 * Gets the exit status of the process from the kernel. The kernel has the status even after wait(2)
 * by the parent of the process. Returns true on success.
 */
static bool ask_kernel(struct end *end)
{
	struct pidfd_end info = { .mask = PIDFD_END_WANTED };

	if (ioctl(end->pidfd, PIDFD_END_GET, &info) < 0 || !(info.mask & PIDFD_END_WANTED))
		return false;
	end->status = info.exit_code;
	return true;
}

/*
 * Reads the last number of /proc/PID/stat (proc_pid_stat(5)). For a zombie, this number is the exit
 * status. Kernels before 6.15 report the status only in /proc. Returns true on success.
 */
static bool ask_proc(struct end *end)
{
	struct strbuf stat cleanup_strbuf = { 0 };
	char path[64];
	const char *at;
	bool is_zombie;

	snprintf(path, sizeof(path), "/proc/%d/stat", end->pid);
	if (file_read_all(path, STAT_MAX, &stat, NULL) < 0 ||
	    syscall(SYS_pidfd_send_signal, end->pidfd, 0, NULL, 0) < 0)
		return false;
	at = strrchr(strbuf_str(&stat), ')');
	is_zombie = at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X');
	at = at ? strrchr(at, ' ') : NULL;
	return is_zombie && sscanf(at, "%d", &end->status) == 1;
}

static void note_end(struct end *end)
{
	end->has_ended = true;
	for (int i = 0; i < 2 && !end->is_known; i++)
		end->is_known = ask_proc(end) || ask_kernel(end);
	loop_close_fd(end->loop, &end->pidfd, &end->served);
}

static void serve_end(struct served *served, uint32_t epoll_events)
{
	note_end(container_of(served, struct end, served));
}

void ends_watch(struct end *end, pid_t pid, struct loop *loop)
{
	*end = (struct end){ .pid = pid, .loop = loop };
	end->served = (struct served){ .serve = serve_end, .owner = end };
	end->pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (end->pidfd >= 0 && loop_add(loop, end->pidfd, &end->served) < 0) {
		close(end->pidfd);
		end->pidfd = -1;
	}
}

int ends_tell(struct end *end, const struct msg *msg)
{
	if (end->pidfd >= 0 && peer_has_ended(end->pidfd, 0))
		note_end(end);
	loop_close_fd(end->loop, &end->pidfd, &end->served);
	if (!end->has_ended)
		return -1;
	if (!end->is_known) {
		msg_warn(msg,
			 "process %d has ended while it was recorded; how is not known: its "
			 "parent has waited for it, and this kernel tells no other process",
			 end->pid);
		return -1;
	}
	if (WIFSIGNALED(end->status))
		msg_warn(msg,
			 "process %d was ended by signal %d (%s) while it was recorded; recording "
			 "may have been the cause: try without it, and with -e or fewer functions "
			 "(-P)",
			 end->pid, WTERMSIG(end->status), strsignal(WTERMSIG(end->status)));
	/*
	 * If no signal has ended the process, the result is 0. The exit status of such a process is
	 * of interest only to the process's parent.
	 */
	return WIFSIGNALED(end->status) ? end->status : 0;
}
