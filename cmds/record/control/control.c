/*
 * Conversations with probes. They consist of the probes' reports and the recorder's answers
 * (utils/format/probe/control.h has the protocol).
 */
#include "cmds/record/control/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cmds/record/control/ready.h"
#include "cmds/record/control/talk.h"
#include "utils/base/unix_name.h"

#define IN_BELIEVED                                                                       \
	(CONTROL_IN(TALK_REPORTING) | CONTROL_IN(TALK_ENDING) | CONTROL_IN(TALK_SERVED) | \
	 CONTROL_IN(TALK_STEERED) | CONTROL_IN(TALK_DECLARING) | CONTROL_IN(TALK_NAMING))

/*
 * Limits that are far above the needs of probes. A process has one conversation at a time, seldom
 * two, and each takes a few milliseconds. If a peer sends nothing, its connection is closed only
 * when a new connection would exceed a limit.
 */
#define STRANGERS_MAX	  256 /* connections that have sent no HELLO yet */
#define TALKS_OF_PEER_MAX 8
#define OTHERS_MAX	  1024 /* per conversation: STATUS packets plus skipped packets */

/*
 * The maximum number of connections that are accepted, and of packets that are taken from one
 * connection, before other descriptors are served.
 */
#define ACCEPTS_AT_ONCE 64
#define PACKETS_AT_ONCE 1024

/*
 * When no file descriptor is free, the recorder waits this long before it accepts connections
 * again.
 */
#define PAUSE_NS 20000000

/* --- HELLO --- */

static struct process *find_token(const struct control *ctl,
				  const uint8_t token[CONTROL_SECRET_BYTES])
{
	uint64_t key;

	memcpy(&key, token, sizeof(key));

	struct process *proc = intmap_get(&ctl->processes->by_token, key);

	return proc && control_secret_is(proc->token, token) ? proc : NULL;
}

/*
 * True when the token in HELLO was given to the peer, or to the process from which the peer was
 * forked. In the second case the peer has not reported itself yet.
 */
static bool has_token(struct control *ctl, struct conversation *talk)
{
	const struct process *own = process_find_os(ctl->processes, talk->peer.pid);

	talk->origin = find_token(ctl, talk->hello.token);
	if (!talk->origin)
		return false;
	if (talk->hello.kind == CONTROL_FORK)
		return talk->origin != own || !own->arena;
	return talk->origin == own || !own || !own->arena;
}

static bool is_believable(struct control *ctl, struct conversation *talk)
{
	const struct control_hello *hello = &talk->hello;

	if (!control_secret_is(hello->secret, ctl->secret) ||
	    !peer_is_pid(talk->peer.pid, hello->pid))
		return false;
	switch (hello->kind) {
	case CONTROL_EXEC:
	case CONTROL_NO_ADDRESS_SPACE:
	case CONTROL_SHADOW_STACK:
	case CONTROL_OTHER_LIBC:
	case CONTROL_IN_VALGRIND:
		return true;
	case CONTROL_FORK:
	case CONTROL_DLOPEN:
	case CONTROL_EVENTS:
	case CONTROL_NAMES:
		return has_token(ctl, talk);
	case CONTROL_STEER:
		return ctl->settings->is_steerable && has_token(ctl, talk);
	case CONTROL_ENDING:
		return ctl->settings->reports_crashes && has_token(ctl, talk);
	}
	return false;
}

/*
 * If @kind says that the process cannot be traced, counts the process and returns true. Otherwise
 * returns false.
 */
static bool count_declined(struct control *ctl, uint32_t kind)
{
	switch (kind) {
	case CONTROL_NO_ADDRESS_SPACE:
		ctl->declined++;
		return true;
	case CONTROL_SHADOW_STACK:
		ctl->protected ++;
		return true;
	case CONTROL_OTHER_LIBC:
		ctl->other_libc++;
		return true;
	case CONTROL_IN_VALGRIND:
		ctl->in_valgrind++;
		return true;
	}
	return false;
}

static unsigned take_hello(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->served.owner;

	memcpy(&talk->hello, message, sizeof(talk->hello));
	if (!is_believable(ctl, talk) ||
	    talk_count_peer(&ctl->talks.believed, talk->peer.pid) >= TALKS_OF_PEER_MAX)
		return TALK_OVER;
	if (count_declined(ctl, talk->hello.kind))
		return TALK_OVER;
	if (ctl->talks.believed.nr >= ctl->talks.max)
		talk_drop(ctl, ctl->talks.believed.oldest);
	talk_unlink(talk);
	talk_link(&ctl->talks.believed, talk);
	switch (talk->hello.kind) {
	case CONTROL_ENDING:
		return TALK_ENDING;
	case CONTROL_STEER:
		return TALK_STEERED;
	case CONTROL_EVENTS:
		return TALK_DECLARING;
	case CONTROL_NAMES:
		return TALK_NAMING;
	}
	return TALK_REPORTING;
}

/* --- other messages --- */

static unsigned take_crash(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->served.owner;

	struct control_crash crash;

	memcpy(&crash, message, sizeof(crash));
	crash.tid = talk_number(talk, crash.tid);
	crash_keep(&ctl->crashes, &crash, talk->peer.pid);
	return TALK_OVER;
}

/* control_take() has checked that each text in the message ends with a NUL. */
static unsigned take_declare(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->served.owner;
	const struct control_declare *m = message;
	const char *format = m->texts + strlen(m->texts) + 1;
	const char *common = m->has_common ? format + strlen(format) + 1 : NULL;
	struct control_declared msg = { 0 };
	struct process *own = process_find_os(ctl->processes, talk->peer.pid);

	/* A child may declare events before it has reported itself. */
	talk->origin->has_declared = true;
	if (own)
		own->has_declared = true;
	msg.event = declared_add(&ctl->planner->declared, m->texts, format, common);
	if (msg.event)
		msg.choice = declared_choice(&ctl->planner->declared, m->texts);
	return talk_answer(talk, CONTROL_DECLARED, &msg, sizeof(msg), NULL, 0) ? TALK_SERVED
									       : TALK_OVER;
}

/*
 * Returns a memfd with the plan for @range, or -1. A probe requests this plan if the probe's own
 * plan lacks the range.
 */
static int plan_of_range(const struct control *ctl, uint32_t range)
{
	struct plan_entries entries cleanup_plan_entries = { 0 };

	callables_plan_range(&ctl->planner->callables, range, entries.lists);
	return plan_memfd(&entries);
}

static unsigned take_callable(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->served.owner;
	const struct control_callable *m = message;
	const struct callable *c = callables_add(&ctl->planner->callables, m->texts,
						 m->texts + strlen(m->texts) + 1, m->line,
						 m->nr_args, m->is_native);
	struct control_callable_is msg = {
		.addr = c ? c->addr : 0,
		.range = c ? c->range : 0,
		.values = c ? c->values : 0,
	};
	int plan_fd cleanup_fd = m->wants_plan && msg.range ? plan_of_range(ctl, msg.range) : -1;

	return talk_answer(talk, CONTROL_CALLABLE_IS, &msg, sizeof(msg), &plan_fd, plan_fd >= 0)
		       ? TALK_NAMING
		       : TALK_OVER;
}

static unsigned take_status(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->served.owner;
	struct control_status_is status = {
		.flags = (atomic_load(&ctl->store->is_full) ? CONTROL_STATUS_FULL : 0) |
			 (atomic_load(&ctl->processes->control->finished) ? CONTROL_STATUS_FINISHED
									  : 0) |
			 (atomic_load(&ctl->store->error) ? CONTROL_STATUS_FAILED : 0),
		.nr_alive = ctl->processes->alive->nr_followed,
		.bytes_written = atomic_load(&ctl->store->taken),
		.records_lost = atomic_load(&ctl->writers->records_lost),
	};

	talk->nr_others++;
	return talk_answer(talk, CONTROL_STATUS_IS, &status, sizeof(status), NULL, 0) ? talk->state
										      : TALK_OVER;
}

/* Handles ERROR: the probe does not understand an answer, and stops recording. */
static unsigned take_error(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->served.owner;

	ctl->talks.nr_refused++;
	return TALK_OVER;
}

static const struct control_row talk_rows[] = {
	{ &control_hello_shape, CONTROL_IN(TALK_STRANGER), take_hello },
	{ &control_module_shape, CONTROL_IN(TALK_REPORTING), ready_take_module },
	{ &control_ready_shape, CONTROL_IN(TALK_REPORTING) | CONTROL_IN(TALK_STEERED),
	  ready_take_ready },
	{ &control_crash_shape, CONTROL_IN(TALK_ENDING), take_crash },
	{ &control_declare_shape, CONTROL_IN(TALK_DECLARING), take_declare },
	{ &control_callable_shape, CONTROL_IN(TALK_NAMING), take_callable },
	{ &control_status_shape, IN_BELIEVED, take_status },
	{ &control_error_shape, IN_BELIEVED, take_error },
};
static const struct control_table talk_table = { talk_rows, ARRAY_SIZE(talk_rows) };

/* --- packets --- */

/*
 * Counts the refused conversation, and sends the reason to the peer. At the end of the recording,
 * the recorder reports the number of refused conversations. A conversation with a stranger
 * (TALK_STRANGER) is usually neither counted nor answered. But if @packet is a HELLO that has the
 * secret of UTRAIL_SOCKET and another protocol version, the conversation is counted separately
 * (nr_other_version), and answered.
 */
static void refuse_talk(struct control *ctl, struct conversation *talk, const void *packet,
			size_t len, enum control_verdict verdict)
{
	unsigned version = talk->state == TALK_STRANGER
				   ? control_other_version(packet, len, ctl->secret)
				   : 0;

	if (version) {
		ctl->talks.nr_other_version++;
		ctl->talks.other_version = version;
	} else if (talk->state == TALK_STRANGER) {
		return;
	} else {
		ctl->talks.nr_refused++;
	}
	if (len >= sizeof(struct control_header))
		talk_say_error(talk, packet, verdict);
}

/* Handles one packet. Returns false when the conversation is over, after success or failure. */
static bool take_packet(struct control *ctl, struct conversation *talk, const void *packet,
			size_t len)
{
	talk->seq = len < sizeof(struct control_header)
			    ? 0
			    : ((const struct control_header *)packet)->seq;

	enum control_verdict verdict = control_take(&talk_table, &talk->state, talk, packet, len);

	if (verdict == CONTROL_SKIPPED && talk->state != TALK_STRANGER) {
		talk->nr_others++;
		verdict = CONTROL_TAKEN;
	}
	if (talk->nr_others > OTHERS_MAX)
		verdict = CONTROL_TOO_MANY;
	if (verdict == CONTROL_TAKEN)
		return talk->state != TALK_OVER;
	refuse_talk(ctl, talk, packet, len, verdict);
	return false;
}

static void serve_packets(struct control *ctl, struct conversation *talk)
{
	_Alignas(8) char packet[CONTROL_MSG_MAX];

	for (int i = 0; i < PACKETS_AT_ONCE; i++) {
		ssize_t len = recv(talk->fd, packet, sizeof(packet), MSG_TRUNC);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == EAGAIN)
			break;
		if (len <= 0 || len > (ssize_t)sizeof(packet) ||
		    !take_packet(ctl, talk, packet, len)) {
			talk_end(ctl, talk);
			return;
		}
	}
	talk_touch(talk);
}

static void serve_talk(struct served *served, uint32_t epoll_events)
{
	serve_packets(served->owner, container_of(served, struct conversation, served));
}

/* --- accepting --- */

/* Makes room for a client. Returns false when the client's process has too many connections. */
static bool make_place(struct control *ctl, const struct peer *peer)
{
	if (talk_count_peer(&ctl->talks.strangers, peer->pid) >= TALKS_OF_PEER_MAX)
		return false;
	/*
	 * talks.max depends on the limit on open files (RLIMIT_NOFILE), and may be below
	 * STRANGERS_MAX.
	 */
	if (ctl->talks.strangers.nr >= MIN(ctl->talks.max, (unsigned)STRANGERS_MAX))
		talk_drop(ctl, ctl->talks.strangers.oldest);
	return true;
}

/* Begins a conversation, which then owns @fd. */
static void begin_talk(struct control *ctl, int fd)
{
	struct conversation *talk = NULL;
	struct peer peer;
	/*
	 * A recorder that runs as root accepts processes of all users, because a traced process
	 * that began as root may have changed its user ID. Any other recorder accepts only
	 * processes of the recorder's own user.
	 */
	bool may_talk = peer_get(fd, &peer) && (geteuid() == 0 || peer.uid == geteuid()) &&
			peer.pid > 0 && make_place(ctl, &peer);

	if (may_talk)
		talk = malloc(sizeof(*talk));
	if (!talk) {
		close(fd);
		return;
	}
	*talk = (struct conversation){
		.served = { serve_talk, ctl },
		.fd = fd,
		.peer = peer,
		.state = TALK_STRANGER,
	};
	talk_link(&ctl->talks.strangers, talk);
	if (loop_add(ctl->loop, talk->fd, &talk->served) < 0)
		talk_end(ctl, talk);
	else
		/*
		 * In most cases HELLO has already arrived, and is served at once. If HELLO is
		 * accepted, the client is no longer a stranger.
		 */
		serve_packets(ctl, talk);
}

/*
 * Stops accepting connections for a moment. Without free descriptors, the loop would report the
 * socket again and again.
 */
static void pause_accepting(struct control *ctl)
{
	const struct itimerspec soon = { .it_value.tv_nsec = PAUSE_NS };

	loop_remove(ctl->loop, ctl->listen_fd, &ctl->listener);
	timerfd_settime(ctl->talks.pause_fd, 0, &soon, NULL);
}

/*
 * True when a client waits. If no descriptor is free, accept4(2) fails, whether or not a client
 * waits.
 */
static bool is_anybody_waiting(const struct control *ctl)
{
	struct pollfd listening = { .fd = ctl->listen_fd, .events = POLLIN };

	return poll(&listening, 1, 0) > 0;
}

static void accept_probes(struct served *served, uint32_t epoll_events)
{
	struct control *ctl = served->owner;

	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(ctl->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			begin_talk(ctl, fd);
			continue;
		}
		if (errno == ECONNABORTED || errno == EINTR)
			continue;
		if (errno == EAGAIN || !is_anybody_waiting(ctl))
			return;
		if (!ctl->talks.strangers.oldest) {
			pause_accepting(ctl);
			return;
		}
		talk_drop(ctl, ctl->talks.strangers.oldest);
	}
}

static void end_pause(struct served *served, uint32_t epoll_events)
{
	struct control *ctl = served->owner;
	uint64_t times;

	if (read(ctl->talks.pause_fd, &times, sizeof(times)) == sizeof(times))
		loop_add(ctl->loop, ctl->listen_fd, &ctl->listener);
}

static int watch_for_pause(struct control *ctl)
{
	ctl->talks.pause = (struct served){ end_pause, ctl };
	ctl->talks.pause_fd = loop_add_timer(ctl->loop, 0, &ctl->talks.pause);
	return MIN(ctl->talks.pause_fd, 0);
}

int control_listen(struct control *ctl, struct uft_err *err)
{
	struct sockaddr_un addr;
	socklen_t addr_len = unix_name_address(&addr, ctl->socket_name, strlen(ctl->socket_name));

	ctl->listener = (struct served){ accept_probes, ctl };
	ctl->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ctl->listen_fd < 0 || bind(ctl->listen_fd, (struct sockaddr *)&addr, addr_len) < 0 ||
	    listen(ctl->listen_fd, SOMAXCONN) < 0)
		return err_set_errno(err, -errno, "cannot open the control socket");

	int ret = watch_for_pause(ctl);

	if (ret == 0)
		ret = loop_add(ctl->loop, ctl->listen_fd, &ctl->listener);
	return ret < 0 ? err_set_errno(err, ret, "cannot watch the control socket") : 0;
}

void control_close(struct control *ctl)
{
	while (ctl->talks.strangers.oldest)
		talk_end(ctl, ctl->talks.strangers.oldest);
	while (ctl->talks.believed.oldest)
		talk_end(ctl, ctl->talks.believed.oldest);
	loop_close_fd(ctl->loop, &ctl->talks.pause_fd, &ctl->talks.pause);
}
