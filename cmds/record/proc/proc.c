/* Traces the processes of the program, by one of the tracers (see proc.h). */
#include "cmds/record/proc/proc.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cmds/record/proc/filter.h"

int proc_choose(struct proc *proc, const struct record_settings *settings, struct uft_err *note,
		struct uft_err *err)
{
	int ret;

	*proc = (struct proc){ .end_fd = -1, .over_fd = -1 };
	if (settings->proc_way == PROC_WAY_BPF ||
	    (settings->proc_way == PROC_WAY_AUTO && !settings->expects_few)) {
		proc->way = &proc_by_bpf;
		ret = proc->way->prepare(proc, settings,
					 settings->proc_way == PROC_WAY_BPF ? err : note);
		if (ret == 0 || settings->proc_way == PROC_WAY_BPF)
			return ret;
	}
	proc->way = &proc_by_ptrace;
	return proc->way->prepare(proc, settings, err);
}

bool proc_uses_filter(const struct proc *proc, const struct record_settings *settings)
{
	return proc->way && proc->way->uses_filter && settings->traces_files;
}

bool proc_tells_end(const struct proc *proc)
{
	return proc->way && proc->way->tells_end;
}

bool proc_program_end(struct proc *proc, int *status, struct rusage *usage)
{
	return proc_tells_end(proc) && proc->way->end(proc, status, usage);
}

void proc_tell(int eventfd)
{
	const uint64_t one = 1;

	if (write(eventfd, &one, sizeof(one)) < 0)
		return;
}

static void see_over(struct served *served, uint32_t epoll_events)
{
	struct proc *proc = container_of(served, struct proc, over);

	loop_remove(proc->loop, proc->over_fd, served);
	if (proc->is_followed)
		alive_remove(proc->alive);
	proc->is_followed = false;
}

/* Does nothing, because each record is written when it is made. */
static int proc_save(struct source *source)
{
	return 0;
}

static void close_both(struct proc *proc)
{
	if (proc->over_fd >= 0)
		close(proc->over_fd);
	if (proc->end_fd >= 0)
		close(proc->end_fd);
	proc->over_fd = -1;
	proc->end_fd = -1;
}

void proc_forget(struct proc *proc)
{
	if (proc->way)
		proc->way->release(proc);
	proc->way = NULL;
}

static int proc_finish(struct source *source)
{
	struct proc *proc = container_of(source, struct proc, source);

	proc->way->stop(proc);
	if (proc->is_followed)
		loop_remove(proc->loop, proc->over_fd, &proc->over);
	close_both(proc);
	proc_log_close(&proc->log);
	proc_forget(proc);
	return 0;
}

static int open_all(struct proc *proc, struct sources *sources)
{
	int ret = proc_log_open(&proc->log, sources->settings, sources->store);

	if (ret < 0)
		return ret;
	proc->over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (proc->way->tells_end)
		proc->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (proc->over_fd < 0 || (proc->way->tells_end && proc->end_fd < 0))
		return -errno;
	return loop_add(proc->loop, proc->over_fd, &proc->over);
}

int proc_open(struct proc *proc, struct sources *sources, struct alive *alive, pid_t pid,
	      struct uft_err *err)
{
	int ret;

	proc->source = (struct source){ proc_save, proc_finish };
	proc->loop = sources->loop;
	proc->alive = alive;
	proc->over = (struct served){ see_over, NULL };
	ret = open_all(proc, sources);
	if (ret < 0)
		err_set_errno(err, ret, "cannot record processes");
	else
		ret = proc->way->start(proc, pid, err);
	if (ret < 0) {
		proc_log_remove(&proc->log);
		close_both(proc);
		proc_forget(proc);
		return ret;
	}
	proc->is_followed = true;
	alive_add(alive);
	sources_add(sources, &proc->source);
	return 0;
}
