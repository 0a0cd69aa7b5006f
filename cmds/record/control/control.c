/* Conversations with probes: who reports what, and what it is told (utils/format/control.h has the protocol). */
#include "cmds/record/control/control.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "cmds/record/control/steering.h"
#include "cmds/record/plan/counters.h"
#include "cmds/record/plan/watches.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/unix_name.h"
#include "utils/base/vec.h"

/*
 * Where a conversation stands. HELLO is believed when it is what only somebody of ours can say.
 *
 *   STRANGER --HELLO--> REPORTING --MODULE--> REPORTING --READY--> SERVED
 *                 |---> ENDING --CRASH--> over
 *                 \---> STEERED --READY--> SERVED
 *
 * STATUS is answered in each state but the first. Whatever else comes is refused, and the conversation is over.
 */
enum talk_state {
	TALK_OVER = CONTROL_OVER,
	TALK_STRANGER,	/* has not said HELLO, or is not believed */
	TALK_REPORTING, /* a fresh image, a forked child, or one that has loaded more modules */
	TALK_ENDING,	/* about to die */
	TALK_SERVED,	/* has its answer to READY */
	TALK_STEERED,	/* wants the newest plan */
};

#define IN_BELIEVED                                                                       \
	(CONTROL_IN(TALK_REPORTING) | CONTROL_IN(TALK_ENDING) | CONTROL_IN(TALK_SERVED) | \
	 CONTROL_IN(TALK_STEERED))

/*
 * One connection. It collects HELLO and the MODULEs; READY makes it act and answer. Nothing here waits: a
 * probe that stops talking costs a descriptor, not the recording.
 *
 * @list: strangers, or those that are believed
 * @seq: of the message that is served just now
 * @origin: whose token HELLO had; NULL for a fresh image
 * @module_bytes: of @modules
 * @nr_others: messages that are none of those that make it go on
 * @older, @newer: in @list
 */
struct conversation {
	struct watcher watcher;
	int fd;
	struct peer peer;
	struct talk_list *list;
	unsigned state; /* enum talk_state */
	uint32_t seq;
	struct control_hello hello;
	struct process *origin;
	struct control_module **modules; /* heap copies, in the order they came */
	size_t nr_modules;
	size_t cap_modules;
	size_t module_bytes;
	unsigned nr_others;
	struct conversation *older;
	struct conversation *newer;
};

/* --- which are open --- */

/*
 * Limits. Probes are far from all of them: a process has one conversation at a time, seldom two, of a few milliseconds. Whoever
 * stays without a word keeps his place until others need it.
 */
#define STRANGERS_MAX	  256 /* have not said HELLO yet */
#define TALKS_OF_PEER_MAX 8
#define MODULES_MAX	  65536
#define MODULE_BYTES_MAX  (16UL << 20) /* of one conversation */
#define ALL_MODULE_BYTES  (64UL << 20) /* of all that are open */
#define OTHERS_MAX	  1024	       /* of one conversation: skipped, or questions */

/* So many connections and packets are served before somebody else's turn. */
#define ACCEPTS_AT_ONCE 64
#define PACKETS_AT_ONCE 1024

/* Without descriptors nobody can be served; we look again after that time. */
#define PAUSE_NS 20000000

static void unlink_talk(struct conversation *talk)
{
	struct talk_list *list = talk->list;

	*(talk->older ? &talk->older->newer : &list->oldest) = talk->newer;
	*(talk->newer ? &talk->newer->older : &list->newest) = talk->older;
	talk->older = talk->newer = NULL;
	list->nr--;
}

static void link_talk(struct talk_list *list, struct conversation *talk)
{
	talk->list = list;
	talk->older = list->newest;
	talk->newer = NULL;
	*(list->newest ? &list->newest->newer : &list->oldest) = talk;
	list->newest = talk;
	list->nr++;
}

/* It said something: others are to go first. */
static void touch(struct conversation *talk)
{
	unlink_talk(talk);
	link_talk(talk->list, talk);
}

static void free_modules(struct control *ctl, struct conversation *talk)
{
	for (size_t i = 0; i < talk->nr_modules; i++)
		free(talk->modules[i]);
	free(talk->modules);
	ctl->talks.module_bytes -= talk->module_bytes;
	talk->modules = NULL;
	talk->nr_modules = talk->cap_modules = talk->module_bytes = 0;
}

static void end_talk(struct control *ctl, struct conversation *talk)
{
	unlink_talk(talk);
	free_modules(ctl, talk);
	loop_unwatch(ctl->loop, talk->fd, &talk->watcher);
	close(talk->fd);
	free(talk);
}

/* Others need its place. */
static void drop_talk(struct control *ctl, struct conversation *talk)
{
	ctl->talks.nr_dropped += talk->state == TALK_REPORTING || talk->state == TALK_ENDING;
	end_talk(ctl, talk);
}

static unsigned count_peer(const struct talk_list *list, pid_t pid)
{
	unsigned nr = 0;

	for (const struct conversation *talk = list->oldest; talk; talk = talk->newer)
		nr += talk->peer.pid == pid;
	return nr;
}

/* --- answers --- */

/* @packet: a whole message, but for its header; @fds: @nr descriptors that go with it */
static bool answer(struct conversation *talk, enum control_type type, void *packet, size_t len,
		   const int *fds, int nr)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(CONTROL_FD_MAX * sizeof(int))] = { 0 };
	struct iovec iov = { packet, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	control_stamp(packet, type, CONTROL_ANSWER, len, talk->seq);
	if (nr) {
		msg.msg_control = space;
		msg.msg_controllen = CMSG_SPACE(nr * sizeof(int));

		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nr * sizeof(int));
	}
	return sendmsg(talk->fd, &msg, MSG_NOSIGNAL) == (ssize_t)len;
}

static void say_error(struct conversation *talk, const void *packet, enum control_verdict verdict)
{
	struct control_error error = control_error_about(packet, verdict);

	send(talk->fd, &error, sizeof(error), MSG_NOSIGNAL);
}

/* --- HELLO --- */

/* The process that was given this token. */
static struct process *find_token(const struct control *ctl,
				  const uint8_t token[CONTROL_SECRET_BYTES])
{
	uint64_t key;

	memcpy(&key, token, sizeof(key));

	struct process *proc = intmap_get(&ctl->processes->by_token, key);

	return proc && control_secret_is(proc->token, token) ? proc : NULL;
}

/*
 * Whether the peer may speak as the process that was given his token: as that itself; or as a child of it that was forked
 * off and has not reported itself. Others cannot have it.
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
		return true;
	case CONTROL_FORK:
	case CONTROL_DLOPEN:
		return has_token(ctl, talk);
	case CONTROL_STEER:
		return ctl->settings->is_steerable && has_token(ctl, talk);
	case CONTROL_ENDING:
		return ctl->settings->reports_crashes && has_token(ctl, talk);
	}
	return false;
}

/* Is it one that cannot be traced, and that only says why? */
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
	}
	return false;
}

static unsigned take_hello(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->watcher.owner;

	memcpy(&talk->hello, message, sizeof(talk->hello));
	if (!is_believable(ctl, talk) ||
	    count_peer(&ctl->talks.believed, talk->peer.pid) >= TALKS_OF_PEER_MAX)
		return TALK_OVER;
	if (count_declined(ctl, talk->hello.kind))
		return TALK_OVER;
	if (ctl->talks.believed.nr >= ctl->talks.max)
		drop_talk(ctl, ctl->talks.believed.oldest);
	unlink_talk(talk);
	link_talk(&ctl->talks.believed, talk);
	switch (talk->hello.kind) {
	case CONTROL_ENDING:
		return TALK_ENDING;
	case CONTROL_STEER:
		return TALK_STEERED;
	}
	return TALK_REPORTING;
}

/* --- MODULE, READY --- */

static bool is_too_much(const struct control *ctl, const struct conversation *talk, size_t len)
{
	return talk->nr_modules >= MODULES_MAX || talk->module_bytes + len > MODULE_BYTES_MAX ||
	       ctl->talks.module_bytes + len > ALL_MODULE_BYTES;
}

/* What is too much is left out, and said at the end: the process is traced all the same. */
static unsigned take_module(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->watcher.owner;

	if (is_too_much(ctl, talk, len)) {
		ctl->talks.nr_modules_left_out++;
		return TALK_REPORTING;
	}

	struct control_module *copy = malloc(len);

	if (!copy)
		return TALK_OVER;
	memcpy(copy, message, len);

	struct control_module **modules = vec_room(talk->modules, talk->nr_modules,
						   &talk->cap_modules, sizeof(*modules));

	if (!modules) {
		free(copy);
		return TALK_OVER;
	}
	talk->modules = modules;
	modules[talk->nr_modules++] = copy;
	talk->module_bytes += len;
	ctl->talks.module_bytes += len;
	return TALK_REPORTING;
}

static bool switches_stacks(struct control *ctl, const struct conversation *talk)
{
	for (size_t i = 0; i < talk->nr_modules; i++) {
		const struct known_module *known = known_module_get(&ctl->planner->modules,
								    talk->modules[i]->path);

		if (known && known->switches_stacks)
			return true;
	}
	return false;
}

static void note_plan(struct process *proc, size_t nr_modules, const struct plan_entries *plan)
{
	proc->nr_modules += nr_modules;
	for (unsigned kind = 0; kind < PLAN_KINDS; kind++)
		proc->planned[kind] += plan_entries_nr(plan, kind);
}

/* The plan of a fresh image, as a memfd. */
static int plan_for(struct control *ctl, struct conversation *talk, struct process *proc)
{
	struct plan_entries entries cleanup_plan_entries = { 0 };
	struct plan settings = ctl->plan;

	if (switches_stacks(ctl, talk))
		settings.flags |= PLAN_STACKS;
	strbuf_add(&entries.lists[PLAN_SETTINGS], &settings, sizeof(settings));
	plan_make(ctl->planner, talk->modules, talk->nr_modules, true, &entries);
	if (talk->nr_modules)
		watches_bind(ctl->settings, talk->modules[0], &entries);
	counters_bind(ctl->settings, &entries);
	note_plan(proc, talk->nr_modules, &entries);
	return plan_memfd(&entries);
}

/* A forked child has the plan of its parent. */
static bool welcome(struct control *ctl, struct conversation *talk, struct process *proc,
		    int arena_fd)
{
	struct control_welcome msg = { 0 };
	int plan_fd cleanup_fd = talk->hello.kind == CONTROL_EXEC ? plan_for(ctl, talk, proc) : -1;
	int fds[CONTROL_FD_MAX] = { ctl->page_fd, arena_fd, plan_fd };

	memcpy(msg.token, proc->token, sizeof(msg.token));
	return answer(talk, CONTROL_WELCOME, &msg, sizeof(msg), fds, plan_fd >= 0 ? 3 : 2);
}

static void note_save_error(struct control *ctl, const struct uft_err *err)
{
	if (err->code && !ctl->save_error.code)
		ctl->save_error = *err;
}

/* A fresh image: a session with its modules. The files are written when the program has gone on. */
static struct image *begin_session(struct control *ctl, struct conversation *talk)
{
	const char *exe = talk->nr_modules ? talk->modules[0]->path : "";
	struct image *s = image_create(ctl->sessions, talk->hello.pid, exe);

	if (!s)
		return NULL;
	s->time_ns = settings_now_ns(ctl->settings);
	for (size_t i = 0; i < talk->nr_modules; i++) {
		if (image_add_module(s, talk->modules[i]) < 0)
			return NULL;
	}
	return image_add_stack(s, talk->peer.pid) < 0 ? NULL : s;
}

/*
 * Who has forked the child: mostly the process whose token it has. Between them there may be others that have not reported
 * themselves.
 */
static void find_parent(struct control *ctl, struct process *proc, struct process *origin)
{
	struct process *named = process_find(ctl->processes, proc->ppid);

	proc->session = origin->session;
	proc->parent = named && named->session == origin->session ? named : origin;
	if (named && proc->parent != named)
		proc->ppid = origin->pid;
}

/* A process for who has said HELLO; the descriptor of its arena goes to @arena_fd. NULL when it has ended, or without memory. */
static struct process *begin_process(struct control *ctl, struct conversation *talk, int *arena_fd)
{
	int pidfd cleanup_fd = peer_pidfd(talk->fd, &talk->peer);
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	struct process *former = process_find_os(ctl->processes, talk->peer.pid);

	/* He waits for our answer. Who does not is another one than he that has connected. */
	if (pidfd == -ESRCH || (pidfd >= 0 && poll(&end, 1, 0) != 0))
		return NULL;
	/* The records of the image that was replaced come first in the file. */
	if (former)
		process_retire(ctl->processes, former);

	struct process *proc = process_create(ctl->processes, &talk->hello, talk->peer.pid,
					      arena_fd);

	if (!proc)
		return NULL;
	proc->pidfd = pidfd < 0 ? -1 : take_fd(&pidfd);
	proc->peer = talk->peer;
	if (talk->hello.kind == CONTROL_EXEC)
		proc->session = begin_session(ctl, talk);
	else
		find_parent(ctl, proc, talk->origin);
	if (!proc->session) {
		process_destroy(proc);
		return NULL;
	}
	process_publish(ctl->processes, proc);
	return proc;
}

/* False when there was no answer. */
static bool serve_process(struct control *ctl, struct conversation *talk)
{
	int arena_fd cleanup_fd = -1;
	struct process *proc = begin_process(ctl, talk, &arena_fd);
	struct uft_err err = { 0 };

	if (!proc)
		return false;

	bool is_told = welcome(ctl, talk, proc, arena_fd);

	proc->plan_generation = ctl->steering->generation;
	if (ctl->settings->is_steerable && talk->hello.kind == CONTROL_FORK)
		process_inherit_modules(ctl->processes, proc, talk->origin);
	talk->origin = proc;

	if (talk->hello.kind == CONTROL_EXEC) {
		image_save(ctl->sessions, proc->session, &err);
		note_save_error(ctl, &err);
	}
	return is_told;
}

/* The same for a process that is known. */
static bool late_modules(struct control *ctl, struct conversation *talk)
{
	struct image *s = talk->origin->session;
	struct control_plan msg = { 0 };
	struct plan_entries plan cleanup_plan_entries = { 0 };
	struct uft_err err = { 0 };

	plan_make(ctl->planner, talk->modules, talk->nr_modules, false, &plan);

	int plan_fd cleanup_fd = plan_memfd(&plan);

	note_plan(talk->origin, talk->nr_modules, &plan);

	bool is_told = answer(talk, CONTROL_PLAN, &msg, sizeof(msg), &plan_fd, plan_fd >= 0);

	for (size_t i = 0; i < talk->nr_modules; i++) {
		if (!talk->modules[i]->has_text)
			continue;
		tasks_dlopen(ctl->tasks, s, talk->modules[i]);
		image_save_late(ctl->sessions, s, talk->modules[i], &err);
	}
	note_save_error(ctl, &err);
	return is_told;
}

/* The newest plan for a process that is known. */
static bool steer_process(struct control *ctl, struct conversation *talk)
{
	struct control_set_plan msg = { 0 };
	int plan_fd cleanup_fd = steering_plan(ctl->steering, talk->origin);

	return plan_fd >= 0 && answer(talk, CONTROL_SET_PLAN, &msg, sizeof(msg), &plan_fd, 1);
}

static bool serve_ready(struct control *ctl, struct conversation *talk)
{
	switch (talk->hello.kind) {
	case CONTROL_DLOPEN:
		return late_modules(ctl, talk);
	case CONTROL_STEER:
		return steer_process(ctl, talk);
	}
	return serve_process(ctl, talk);
}

/* The peer has said all. The files that he names are opened with no more rights than he has. */
static unsigned take_ready(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->watcher.owner;
	struct rights before;
	bool is_served = false;

	if (rights_enter(&talk->peer, &before)) {
		ctl->planner->modules.reads_as_peer = before.is_changed;
		is_served = serve_ready(ctl, talk);
	}
	rights_leave(&before);
	ctl->planner->modules.reads_as_peer = false;
	/* What a child loads before it has reported itself is none of its parent's. */
	if (is_served && ctl->settings->is_steerable && talk->origin->os_pid == talk->peer.pid)
		process_keep_modules(ctl->processes, talk->origin, talk->modules, talk->nr_modules);
	free_modules(ctl, talk);
	if (is_served)
		return TALK_SERVED;
	say_error(talk, message, CONTROL_FAILED);
	return TALK_OVER;
}

/* --- other messages --- */

static unsigned take_crash(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->watcher.owner;

	crash_keep(&ctl->crashes, message, talk->hello.pid);
	return TALK_OVER;
}

static unsigned take_status(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->watcher.owner;
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
	return answer(talk, CONTROL_STATUS_IS, &status, sizeof(status), NULL, 0) ? talk->state
										 : TALK_OVER;
}

/* The probe does not understand what we have said, and steps aside. */
static unsigned take_error(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->watcher.owner;

	ctl->talks.nr_refused++;
	return TALK_OVER;
}

static const struct control_row talk_rows[] = {
	{ &control_hello_shape, CONTROL_IN(TALK_STRANGER), take_hello },
	{ &control_module_shape, CONTROL_IN(TALK_REPORTING), take_module },
	{ &control_ready_shape, CONTROL_IN(TALK_REPORTING) | CONTROL_IN(TALK_STEERED), take_ready },
	{ &control_crash_shape, CONTROL_IN(TALK_ENDING), take_crash },
	{ &control_status_shape, IN_BELIEVED, take_status },
	{ &control_error_shape, IN_BELIEVED, take_error },
};
static const struct control_table talk_table = { talk_rows, ARRAY_SIZE(talk_rows) };

/* --- packets --- */

/* The conversation is over with this packet. Who knows the secret is told why, and so is the user at the end. */
static void refuse(struct control *ctl, struct conversation *talk, const void *packet, size_t len,
		   enum control_verdict verdict)
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
		say_error(talk, packet, verdict);
}

/* Take one packet in. False when the conversation is over, well or badly. */
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
	refuse(ctl, talk, packet, len, verdict);
	return false;
}

static void serve(struct control *ctl, struct conversation *talk)
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
			end_talk(ctl, talk);
			return;
		}
	}
	touch(talk);
}

static void serve_talk(struct watcher *watcher, uint32_t epoll_events)
{
	serve(watcher->owner, container_of(watcher, struct conversation, watcher));
}

/* --- accepting --- */

/* Somebody came: is there room for him? */
static bool make_place(struct control *ctl, const struct peer *peer)
{
	if (count_peer(&ctl->talks.strangers, peer->pid) >= TALKS_OF_PEER_MAX)
		return false;
	/* What serves the others needs descriptors, too. */
	if (ctl->talks.strangers.nr >= MIN(ctl->talks.max, (unsigned)STRANGERS_MAX))
		drop_talk(ctl, ctl->talks.strangers.oldest);
	return true;
}

/* Takes @fd over. */
static void begin_talk(struct control *ctl, int fd)
{
	struct conversation *talk = NULL;
	struct peer peer;
	/* Another user than ours has no business here, unless we are root: then he may be one who was root, too. */
	bool may_talk = peer_get(fd, &peer) && (geteuid() == 0 || peer.uid == geteuid()) &&
			peer.pid > 0 && make_place(ctl, &peer);

	if (may_talk)
		talk = malloc(sizeof(*talk));
	if (!talk) {
		close(fd);
		return;
	}
	*talk = (struct conversation){
		.watcher = { serve_talk, ctl },
		.fd = fd,
		.peer = peer,
		.state = TALK_STRANGER,
	};
	link_talk(&ctl->talks.strangers, talk);
	if (loop_watch(ctl->loop, talk->fd, &talk->watcher) < 0)
		end_talk(ctl, talk);
	else
		serve(ctl,
		      talk); /* mostly HELLO is there already: then no stranger takes its place */
}

/* While descriptors are short, the listening socket would be reported again and again. */
static void pause_accepting(struct control *ctl)
{
	const struct itimerspec soon = { .it_value.tv_nsec = PAUSE_NS };

	loop_unwatch(ctl->loop, ctl->listen_fd, &ctl->listener);
	timerfd_settime(ctl->talks.pause_fd, 0, &soon, NULL);
}

static void accept_probes(struct watcher *watcher, uint32_t epoll_events)
{
	struct control *ctl = watcher->owner;

	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(ctl->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			begin_talk(ctl, fd);
			continue;
		}
		if (errno == ECONNABORTED || errno == EINTR)
			continue;
		if (errno == EAGAIN)
			return;
		if (!ctl->talks.strangers.oldest) {
			pause_accepting(ctl);
			return;
		}
		drop_talk(ctl, ctl->talks.strangers.oldest);
	}
}

static void end_pause(struct watcher *watcher, uint32_t epoll_events)
{
	struct control *ctl = watcher->owner;
	uint64_t times;

	if (read(ctl->talks.pause_fd, &times, sizeof(times)) == sizeof(times))
		loop_watch(ctl->loop, ctl->listen_fd, &ctl->listener);
}

static int watch_for_pause(struct control *ctl)
{
	ctl->talks.pause = (struct watcher){ end_pause, ctl };
	ctl->talks.pause_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return ctl->talks.pause_fd < 0
		       ? -errno
		       : loop_watch(ctl->loop, ctl->talks.pause_fd, &ctl->talks.pause);
}

int control_listen(struct control *ctl, struct uft_err *err)
{
	struct sockaddr_un addr;
	socklen_t addr_len = unix_name_address(&addr, ctl->socket_name, strlen(ctl->socket_name));

	ctl->listener = (struct watcher){ accept_probes, ctl };
	ctl->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ctl->listen_fd < 0 || bind(ctl->listen_fd, (struct sockaddr *)&addr, addr_len) < 0 ||
	    listen(ctl->listen_fd, SOMAXCONN) < 0)
		return err_set_errno(err, -errno, "cannot open the control socket");

	int ret = watch_for_pause(ctl);

	if (ret == 0)
		ret = loop_watch(ctl->loop, ctl->listen_fd, &ctl->listener);
	return ret < 0 ? err_set_errno(err, ret, "cannot watch the control socket") : 0;
}

void control_close(struct control *ctl)
{
	while (ctl->talks.strangers.oldest)
		end_talk(ctl, ctl->talks.strangers.oldest);
	while (ctl->talks.believed.oldest)
		end_talk(ctl, ctl->talks.believed.oldest);
	if (ctl->talks.pause_fd < 0)
		return;
	loop_unwatch(ctl->loop, ctl->talks.pause_fd, &ctl->talks.pause);
	close(ctl->talks.pause_fd);
	ctl->talks.pause_fd = -1;
}
