/*
 * Runs the recorder from the start of the program to the end of the recording. Handles signals, the
 * program's status, and the processes that the program left running (see base/alive.h).
 */
#include "cmds/record/run/recorder.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"

/*
 * @is_parent: the recorder is the parent of @program. This is false with --keep-pid
 * @ticker_fd: a timer while ticks are counted, otherwise negative
 * @last_interrupt: the signal number of the last interrupt
 * @late_interrupt: an interrupt that came after the program's end, and before the report of that
 *         end. ssi_signo is 0 when there was none
 */
struct lifetime {
	struct recorder *rec;
	pid_t program;
	bool is_parent;
	int signal_fd;
	int ticker_fd;
	int last_interrupt;
	struct signalfd_siginfo late_interrupt;
	struct recorder_end *end;
	struct served signals;
	struct served program_end;
	struct served ticker;
};

void recorder_signals(const struct record_settings *settings, sigset_t *set)
{
	struct sigaction hangup;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGQUIT);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
	if (settings->flight_bytes)
		sigaddset(set, SIGUSR1);
}

/*
 * True when the program has ended. attach_patch() traces the program while hooks are changed.
 * During the tracing, waitid() also reports stops, which do not count as the end.
 */
static bool has_ended(const struct lifetime *life)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, life->program, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno != EINTR;
	return info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED;
}

static void start_ticking(struct lifetime *life);

/* Takes the program's exit status when the program has ended. Later calls do nothing. */
static void reap_program(void *arg)
{
	struct lifetime *life = arg;
	struct recorder *rec = life->rec;

	if (!alive_program_runs(&rec->alive))
		return;
	if (!proc_tells_end(&rec->proc) && life->is_parent && !has_ended(life))
		return;
	if (proc_tells_end(&rec->proc)) {
		if (!proc_program_end(&rec->proc, &life->end->status, &life->end->usage))
			return;
		loop_remove(&rec->loop, rec->proc.end_fd, &life->program_end);
	} else if (life->is_parent) {
		int status;
		pid_t pid = wait4(life->program, &status, WNOHANG, &life->end->usage);

		if (pid == 0 || (pid < 0 && errno == EINTR))
			return;
		/* If wait4() fails, the status stays RECORDER_STATUS_UNKNOWN. */
		if (pid == life->program)
			life->end->status = status;
	} else if (!peer_has_ended(rec->program_fd, 0)) {
		return;
	}
	alive_program_ended(&rec->alive);
	if (alive_wants_ticks(&rec->alive))
		start_ticking(life);
	if (rec->program_fd >= 0 && !proc_tells_end(&rec->proc))
		loop_remove(&rec->loop, rec->program_fd, &life->program_end);
}

/*
 * Sends the signal through the pidfd, because another process may have the program's pid by now.
 */
static void pass_on(const struct lifetime *life, int sig)
{
	if (life->rec->program_fd >= 0)
		syscall(SYS_pidfd_send_signal, life->rec->program_fd, sig, NULL, 0);
	else
		kill(life->program, sig);
}

static void serve_ticker(struct served *served, uint32_t epoll_events)
{
	struct lifetime *life = container_of(served, struct lifetime, ticker);
	uint64_t nr;

	/*
	 * Several missed ticks count as one tick. The recorder misses ticks when it cannot run, for
	 * example on a suspended machine. The program cannot run at these times either, so the
	 * missed ticks must not shorten the wait for the program.
	 */
	if (read(life->ticker_fd, &nr, sizeof(nr)) == sizeof(nr))
		alive_tick(&life->rec->alive);
}

static void start_ticking(struct lifetime *life)
{
	if (life->ticker_fd >= 0)
		return;
	life->ticker = (struct served){ serve_ticker, life->rec };
	life->ticker_fd = loop_add_timer(&life->rec->loop, ALIVE_TICK_MS * 1000000ULL,
					 &life->ticker);
}

/*
 * Handles an interrupt. A terminal sends each interrupt to both the recorder and the program. An
 * interrupt that a process has sent to the recorder is passed on to the program.
 */
static void interrupt(struct lifetime *life, const struct signalfd_siginfo *info)
{
	life->last_interrupt = info->ssi_signo;
	if (alive_interrupt(&life->rec->alive) && info->ssi_code <= 0)
		pass_on(life, info->ssi_signo);
	if (alive_wants_ticks(&life->rec->alive))
		start_ticking(life);
}

/*
 * True when the program has ended, but the tracer has not reported the end yet. If an interrupt
 * comes at this time, the recorder handles the interrupt after the report.
 */
static bool has_ended_untold(const struct lifetime *life)
{
	const struct recorder *rec = life->rec;

	return proc_tells_end(&rec->proc) && alive_program_runs(&rec->alive) &&
	       rec->program_fd >= 0 && peer_has_ended(rec->program_fd, 0);
}

static void see_program_end(struct served *served, uint32_t epoll_events)
{
	struct lifetime *life = container_of(served, struct lifetime, program_end);

	reap_program(life);
	if (life->late_interrupt.ssi_signo && !alive_program_runs(&life->rec->alive)) {
		interrupt(life, &life->late_interrupt);
		life->late_interrupt.ssi_signo = 0;
	}
}

/*
 * Continues the children that have asked for a tracer. Does nothing while hooks may change, because
 * attach_patch() then handles the stops of the children.
 */
static void let_go(struct lifetime *life)
{
	if (life->is_parent && !proc_tells_end(&life->rec->proc) && !life->rec->service.is_busy)
		traceme_let_go(&life->end->traceme);
}

static void serve_signals(struct served *served, uint32_t epoll_events)
{
	struct lifetime *life = container_of(served, struct lifetime, signals);
	struct signalfd_siginfo info;

	while (read(life->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		/*
		 * First check whether the program has ended. After the program's end, an interrupt
		 * has a different effect (see alive.h).
		 */
		reap_program(life);
		if (info.ssi_signo == SIGCHLD)
			let_go(life);
		if (info.ssi_signo == SIGUSR1) {
			unsigned nr_tasks;

			service_save(&life->rec->service, &nr_tasks);
		} else if (info.ssi_signo != SIGCHLD && has_ended_untold(life)) {
			life->late_interrupt = info;
		} else if (info.ssi_signo != SIGCHLD) {
			interrupt(life, &info);
		}
	}
}

static int watch_signals(struct lifetime *life, struct uft_err *err)
{
	sigset_t set;

	recorder_signals(life->rec->settings, &set);
	life->signals = (struct served){ serve_signals, life->rec };
	life->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);

	int ret = life->signal_fd < 0 ? -errno
				      : loop_add(&life->rec->loop, life->signal_fd, &life->signals);

	return ret < 0 ? err_set_errno(err, ret, "cannot watch signals") : 0;
}

/*
 * Watches for the program's end: by the tracer's report if proc_tells_end() is true, otherwise by
 * a pidfd. If the pidfd cannot be opened, SIGCHLD is enough for a program that is a child of the
 * recorder. For any other program, the function fails unless the program has already ended.
 */
static int watch_program(struct lifetime *life, struct uft_err *err)
{
	struct recorder *rec = life->rec;
	siginfo_t unused;

	life->is_parent = waitid(P_PID, life->program, &unused, WEXITED | WNOHANG | WNOWAIT) == 0;
	life->program_end = (struct served){ see_program_end, rec };
	rec->program_fd = syscall(SYS_pidfd_open, life->program, 0);
	/*
	 * A tracing thread may get the program's status from wait(2). After that, no other thread
	 * can get the status. So the recorder waits for the tracer's report.
	 */
	if (proc_tells_end(&rec->proc)) {
		int watched = loop_add(&rec->loop, rec->proc.end_fd, &life->program_end);

		return watched < 0 ? err_set_errno(err, watched, "cannot watch the program") : 0;
	}

	int ret = rec->program_fd < 0 ? -errno
				      : loop_add(&rec->loop, rec->program_fd, &life->program_end);

	if (ret < 0 && ret != -ESRCH && !life->is_parent)
		return err_set_errno(err, ret, "cannot watch the program");
	/* The program may have stopped or ended before the recorder watched it. */
	let_go(life);
	reap_program(life);
	return 0;
}

static int serve_loop(void *arg, bool waits)
{
	struct lifetime *life = arg;

	return loop_serve(&life->rec->loop, waits ? -1 : 0);
}

static void look_at_orphans(void *arg)
{
	struct lifetime *life = arg;

	orphans_look(&life->rec->processes);
}

int recorder_run(struct recorder *rec, pid_t child, struct recorder_end *end, struct uft_err *err)
{
	static const struct alive_ops ops = { serve_loop, look_at_orphans, reap_program };
	struct lifetime life = {
		.rec = rec,
		.program = child,
		.signal_fd = -1,
		.ticker_fd = -1,
		.end = end,
	};

	*end = (struct recorder_end){ .status = RECORDER_STATUS_UNKNOWN };

	/*
	 * A process with a filter of system calls must not outlive the recorder. After the
	 * recorder's end, each system call that the filter reports to the recorder fails.
	 */
	rec->alive.leaves_rest = rec->settings->without_probe &&
				 !proc_uses_filter(&rec->proc, rec->settings);

	int ret = watch_signals(&life, err);

	if (ret == 0)
		ret = watch_program(&life, err);
	if (ret == 0) {
		ret = alive_run(&rec->alive, &ops, &life);
		if (ret < 0)
			err_set_errno(err, ret, "cannot wait for the program");
	}
	if (ret == 0 && alive_program_runs(&rec->alive))
		end->given_up = life.last_interrupt;
	end->has_left_rest = rec->alive.has_left_rest;
	if (proc_tells_end(&rec->proc) || rec->program_fd >= 0)
		loop_remove(&rec->loop,
			    proc_tells_end(&rec->proc) ? rec->proc.end_fd : rec->program_fd,
			    &life.program_end);
	loop_close_fd(&rec->loop, &life.signal_fd, &life.signals);
	loop_close_fd(&rec->loop, &life.ticker_fd, &life.ticker);
	return ret;
}
