/* Conversations with probes: who reports what, and what it is told (utils/format/control.h has the protocol). */
#include "cmds/record/run/recorder.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"

/*
 * One connection. It collects HELLO and the MODULEs; READY makes it act, answer and end. Nothing here waits: a
 * probe that stops talking costs a descriptor, not the recording.
 *
 * @is_believed: its HELLO was what only somebody of ours can say
 * @origin: whose token HELLO had; NULL for a fresh image
 * @module_bytes: of @modules
 * @older, @newer: in the list of its kind
 */
struct conversation {
	struct watcher watcher;
	int fd;
	struct peer peer;
	bool is_believed;
	struct control_hello hello;
	struct process *origin;
	struct control_module **modules; /* heap copies, in the order they came */
	size_t nr_modules;
	size_t cap_modules;
	size_t module_bytes;
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

/* So many connections and packets are served before somebody else's turn. */
#define ACCEPTS_AT_ONCE 64
#define PACKETS_AT_ONCE 1024

/* Without descriptors nobody can be served; we look again after that time. */
#define PAUSE_NS 20000000

static struct talk_list *list_of(struct recorder *rec, const struct conversation *talk)
{
	return talk->is_believed ? &rec->talks.believed : &rec->talks.strangers;
}

static void unlink_talk(struct talk_list *list, struct conversation *talk)
{
	*(talk->older ? &talk->older->newer : &list->oldest) = talk->newer;
	*(talk->newer ? &talk->newer->older : &list->newest) = talk->older;
	talk->older = talk->newer = NULL;
	list->nr--;
}

static void link_talk(struct talk_list *list, struct conversation *talk)
{
	talk->older = list->newest;
	talk->newer = NULL;
	*(list->newest ? &list->newest->newer : &list->oldest) = talk;
	list->newest = talk;
	list->nr++;
}

/* It said something: others are to go first. */
static void touch(struct recorder *rec, struct conversation *talk)
{
	unlink_talk(list_of(rec, talk), talk);
	link_talk(list_of(rec, talk), talk);
}

static void free_modules(struct recorder *rec, struct conversation *talk)
{
	for (size_t i = 0; i < talk->nr_modules; i++)
		free(talk->modules[i]);
	free(talk->modules);
	rec->talks.module_bytes -= talk->module_bytes;
	talk->modules = NULL;
	talk->nr_modules = talk->cap_modules = talk->module_bytes = 0;
}

static void end_talk(struct recorder *rec, struct conversation *talk)
{
	unlink_talk(list_of(rec, talk), talk);
	free_modules(rec, talk);
	loop_unwatch(&rec->loop, talk->fd, &talk->watcher);
	close(talk->fd);
	free(talk);
}

/* Others need its place. */
static void drop_talk(struct recorder *rec, struct conversation *talk)
{
	rec->talks.nr_dropped += talk->is_believed;
	end_talk(rec, talk);
}

static unsigned count_peer(const struct talk_list *list, pid_t pid)
{
	unsigned nr = 0;

	for (const struct conversation *talk = list->oldest; talk; talk = talk->newer)
		nr += talk->peer.pid == pid;
	return nr;
}

/* --- HELLO --- */

/* The process that was given this token. */
static struct process *find_token(const struct recorder *rec,
				  const uint8_t token[CONTROL_SECRET_BYTES])
{
	uint64_t key;

	memcpy(&key, token, sizeof(key));

	struct process *proc = intmap_get(&rec->by_token, key);

	return proc && control_secret_is(proc->token, token) ? proc : NULL;
}

/*
 * Whether the peer may speak as the process that was given his token: as that itself; or as a child of it that was forked
 * off and has not reported itself. Others cannot have it.
 */
static bool has_token(struct recorder *rec, struct conversation *talk)
{
	const struct process *own = process_find_os(rec, talk->peer.pid);

	talk->origin = find_token(rec, talk->hello.token);
	if (!talk->origin)
		return false;
	if (talk->hello.kind == CONTROL_FORK)
		return talk->origin != own || !own->arena;
	return talk->origin == own || !own || !own->arena;
}

static bool is_believable(struct recorder *rec, struct conversation *talk)
{
	const struct control_hello *hello = &talk->hello;

	if (!control_secret_is(hello->secret, rec->secret) ||
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
		return has_token(rec, talk);
	case CONTROL_ENDING:
		return rec->settings->reports_crashes && has_token(rec, talk);
	}
	return false;
}

/* False when there is nothing more to say. */
/* Is it one that cannot be traced, and that only says why? */
static bool count_declined(struct recorder *rec, uint32_t kind)
{
	switch (kind) {
	case CONTROL_NO_ADDRESS_SPACE:
		rec->declined++;
		return true;
	case CONTROL_SHADOW_STACK:
		rec->protected ++;
		return true;
	case CONTROL_OTHER_LIBC:
		rec->other_libc++;
		return true;
	}
	return false;
}

static bool take_hello(struct recorder *rec, struct conversation *talk, const void *packet)
{
	if (talk->is_believed)
		return false;
	memcpy(&talk->hello, packet, sizeof(talk->hello));
	if (!is_believable(rec, talk) ||
	    count_peer(&rec->talks.believed, talk->peer.pid) >= TALKS_OF_PEER_MAX)
		return false;
	if (count_declined(rec, talk->hello.kind))
		return false;
	if (rec->talks.believed.nr >= rec->talks.max)
		drop_talk(rec, rec->talks.believed.oldest);
	unlink_talk(&rec->talks.strangers, talk);
	talk->is_believed = true;
	link_talk(&rec->talks.believed, talk);
	return true;
}

/* --- MODULE, READY --- */

static bool is_too_much(const struct recorder *rec, const struct conversation *talk, size_t len)
{
	return talk->nr_modules >= MODULES_MAX || talk->module_bytes + len > MODULE_BYTES_MAX ||
	       rec->talks.module_bytes + len > ALL_MODULE_BYTES;
}

/* What is too much is left out, and said at the end: the process is traced all the same. */
static bool keep_module(struct recorder *rec, struct conversation *talk, const void *packet,
			size_t len)
{
	if (is_too_much(rec, talk, len)) {
		rec->talks.nr_modules_left_out++;
		return true;
	}

	struct control_module *copy = malloc(len);

	if (!copy)
		return false;
	memcpy(copy, packet, len);
	if (talk->nr_modules == talk->cap_modules) {
		size_t cap = talk->cap_modules ? talk->cap_modules * 2 : 16;
		struct control_module **modules = realloc(talk->modules, cap * sizeof(*modules));

		if (!modules) {
			free(copy);
			return false;
		}
		talk->modules = modules;
		talk->cap_modules = cap;
	}
	talk->modules[talk->nr_modules++] = copy;
	talk->module_bytes += len;
	rec->talks.module_bytes += len;
	return true;
}

static bool answer(struct conversation *talk, const void *packet, size_t len, const int *fds,
		   int nr)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(CONTROL_FD_MAX * sizeof(int))] = { 0 };
	struct iovec iov = { (void *)packet, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

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

static bool switches_stacks(struct recorder *rec, const struct conversation *talk)
{
	for (size_t i = 0; i < talk->nr_modules; i++) {
		const struct known_module *known = known_module_get(rec, talk->modules[i]->path);

		if (known && known->switches_stacks)
			return true;
	}
	return false;
}

static void note_plan(struct process *proc, size_t nr_modules, const struct plan_counts *nr)
{
	proc->nr_modules += nr_modules;
	proc->planned.funcs += nr->funcs;
	proc->planned.calls += nr->calls;
	proc->planned.rules += nr->rules;
	proc->planned.conds += nr->conds;
	proc->planned.steps += nr->steps;
	proc->planned.points += nr->points;
}

static bool welcome(struct recorder *rec, struct conversation *talk, struct process *proc,
		    int arena_fd)
{
	struct control_welcome msg = { .h = control_header(CONTROL_WELCOME), .plan = rec->plan };
	struct plan_entries plan cleanup_plan_entries = { 0 };

	memcpy(msg.plan.sid, proc->session->sid, SID_LEN);
	memcpy(msg.token, proc->token, sizeof(msg.token));
	if (switches_stacks(rec, talk))
		msg.plan.flags |= PLAN_STACKS;
	plan_make(rec, talk->modules, talk->nr_modules, true, &plan);
	if (talk->nr_modules)
		watches_bind(rec->settings, talk->modules[0], &msg.plan);

	int plan_fd cleanup_fd = plan_memfd(&plan, &msg.plan.nr);
	int fds[CONTROL_FD_MAX] = { rec->control_fd, arena_fd, plan_fd };

	note_plan(proc, talk->nr_modules, &msg.plan.nr);

	return answer(talk, &msg, sizeof(msg), fds, plan_fd >= 0 ? 3 : 2);
}

static void note_save_error(struct recorder *rec, const struct uft_err *err)
{
	if (err->code && !rec->save_error.code)
		rec->save_error = *err;
}

/* A fresh image: a session with its modules. The files are written when the program has gone on. */
static struct session *begin_session(struct recorder *rec, struct conversation *talk)
{
	const char *exe = talk->nr_modules ? talk->modules[0]->path : "";
	struct session *s = rec_session_create(rec, talk->hello.pid, exe);

	if (!s)
		return NULL;
	s->time_ns = recorder_now_ns(rec);
	for (size_t i = 0; i < talk->nr_modules; i++) {
		if (session_add_module(s, talk->modules[i]) < 0)
			return NULL;
	}
	return session_add_stack(s, talk->peer.pid) < 0 ? NULL : s;
}

/*
 * Who has forked the child: mostly the process whose token it has. Between them there may be others that have not reported
 * themselves.
 */
static void find_parent(struct recorder *rec, struct process *proc, struct process *origin)
{
	struct process *named = process_find(rec, proc->ppid);

	proc->session = origin->session;
	proc->parent = named && named->session == origin->session ? named : origin;
	if (named && proc->parent != named)
		proc->ppid = origin->pid;
}

/* A process for who has said HELLO; the descriptor of its arena goes to @arena_fd. NULL when it has ended, or without memory. */
static struct process *begin_process(struct recorder *rec, struct conversation *talk, int *arena_fd)
{
	int pidfd cleanup_fd = peer_pidfd(talk->fd, &talk->peer);
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	struct process *former = process_find_os(rec, talk->peer.pid);

	/* He waits for our answer. Who does not is another one than he that has connected. */
	if (pidfd == -ESRCH || (pidfd >= 0 && poll(&end, 1, 0) != 0))
		return NULL;
	/* The records of the image that was replaced come first in the file. */
	if (former)
		process_retire(rec, former);

	struct process *proc = process_create(rec, &talk->hello, talk->peer.pid, arena_fd);

	if (!proc)
		return NULL;
	proc->pidfd = pidfd < 0 ? -1 : take_fd(&pidfd);
	if (talk->hello.kind == CONTROL_EXEC)
		proc->session = begin_session(rec, talk);
	else
		find_parent(rec, proc, talk->origin);
	if (!proc->session) {
		process_destroy(proc);
		return NULL;
	}
	process_publish(rec, proc);
	return proc;
}

static void serve_process(struct recorder *rec, struct conversation *talk)
{
	int arena_fd cleanup_fd = -1;
	struct process *proc = begin_process(rec, talk, &arena_fd);
	struct uft_err err = { 0 };

	if (!proc)
		return;
	welcome(rec, talk, proc, arena_fd);
	if (talk->hello.kind == CONTROL_EXEC) {
		session_save(rec, proc->session, &err);
		note_save_error(rec, &err);
	}
}

static void late_modules(struct recorder *rec, struct conversation *talk)
{
	struct session *s = talk->origin->session;
	struct control_plan msg = { .h = control_header(CONTROL_PLAN) };
	struct plan_entries plan cleanup_plan_entries = { 0 };
	struct uft_err err = { 0 };

	plan_make(rec, talk->modules, talk->nr_modules, false, &plan);

	int plan_fd cleanup_fd = plan_memfd(&plan, &msg.nr);

	note_plan(talk->origin, talk->nr_modules, &msg.nr);
	answer(talk, &msg, sizeof(msg), &plan_fd, plan_fd >= 0);
	for (size_t i = 0; i < talk->nr_modules; i++) {
		if (!talk->modules[i]->has_text)
			continue;
		tasks_dlopen(rec, s, talk->modules[i]);
		session_save_late(rec, s, talk->modules[i], &err);
	}
	note_save_error(rec, &err);
}

/* The peer has said all. The files that he names are opened with no more rights than he has. */
static void take_ready(struct recorder *rec, struct conversation *talk)
{
	struct rights before;

	if (rights_enter(&talk->peer, &before)) {
		rec->reads_as_peer = before.is_changed;
		if (talk->hello.kind == CONTROL_DLOPEN)
			late_modules(rec, talk);
		else
			serve_process(rec, talk);
	}
	rights_leave(&before);
	rec->reads_as_peer = false;
}

/* Take one packet in. False when the conversation is over, well or badly. */
static bool take_packet(struct recorder *rec, struct conversation *talk, const void *packet,
			size_t len)
{
	int type = control_check(packet, len);

	if (type == CONTROL_HELLO)
		return take_hello(rec, talk, packet);
	if (!talk->is_believed)
		return false;
	if (talk->hello.kind == CONTROL_ENDING) {
		if (type == CONTROL_CRASH)
			crash_keep(&rec->crashes, packet, talk->hello.pid);
		return false;
	}
	if (type == CONTROL_MODULE)
		return keep_module(rec, talk, packet, len);
	if (type == CONTROL_READY)
		take_ready(rec, talk);
	return false;
}

static void serve(struct recorder *rec, struct conversation *talk)
{
	_Alignas(8) char packet[CONTROL_MSG_MAX];

	for (int i = 0; i < PACKETS_AT_ONCE; i++) {
		ssize_t len = recv(talk->fd, packet, sizeof(packet), 0);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == EAGAIN)
			break;
		if (len <= 0 || !take_packet(rec, talk, packet, len)) {
			end_talk(rec, talk);
			return;
		}
	}
	touch(rec, talk);
}

static void serve_talk(struct watcher *watcher, uint32_t epoll_events)
{
	serve(watcher->rec, container_of(watcher, struct conversation, watcher));
}

/* --- accepting --- */

/* Somebody came: is there room for him? */
static bool make_place(struct recorder *rec, const struct peer *peer)
{
	if (count_peer(&rec->talks.strangers, peer->pid) >= TALKS_OF_PEER_MAX)
		return false;
	/* What serves the others needs descriptors, too. */
	if (rec->talks.strangers.nr >= MIN(rec->talks.max, (unsigned)STRANGERS_MAX))
		drop_talk(rec, rec->talks.strangers.oldest);
	return true;
}

/* Takes @fd over. */
static void begin_talk(struct recorder *rec, int fd)
{
	struct conversation *talk = NULL;
	struct peer peer;
	/* Another user than ours has no business here, unless we are root: then he may be one who was root, too. */
	bool may_talk = peer_get(fd, &peer) && (geteuid() == 0 || peer.uid == geteuid()) &&
			peer.pid > 0 && make_place(rec, &peer);

	if (may_talk)
		talk = malloc(sizeof(*talk));
	if (!talk) {
		close(fd);
		return;
	}
	*talk = (struct conversation){ .watcher = { serve_talk, rec }, .fd = fd, .peer = peer };
	link_talk(&rec->talks.strangers, talk);
	if (loop_watch(&rec->loop, talk->fd, &talk->watcher) < 0)
		end_talk(rec, talk);
	else
		serve(rec,
		      talk); /* mostly HELLO is there already: then no stranger takes its place */
}

/* While descriptors are short, the listening socket would be reported again and again. */
static void pause_accepting(struct recorder *rec)
{
	const struct itimerspec soon = { .it_value.tv_nsec = PAUSE_NS };

	loop_unwatch(&rec->loop, rec->listen_fd, &rec->listener);
	timerfd_settime(rec->talks.pause_fd, 0, &soon, NULL);
}

static void accept_probes(struct watcher *watcher, uint32_t epoll_events)
{
	struct recorder *rec = watcher->rec;

	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(rec->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			begin_talk(rec, fd);
			continue;
		}
		if (errno == ECONNABORTED || errno == EINTR)
			continue;
		if (errno == EAGAIN)
			return;
		if (!rec->talks.strangers.oldest) {
			pause_accepting(rec);
			return;
		}
		drop_talk(rec, rec->talks.strangers.oldest);
	}
}

static void end_pause(struct watcher *watcher, uint32_t epoll_events)
{
	struct recorder *rec = watcher->rec;
	uint64_t times;

	if (read(rec->talks.pause_fd, &times, sizeof(times)) == sizeof(times))
		loop_watch(&rec->loop, rec->listen_fd, &rec->listener);
}

static int watch_for_pause(struct recorder *rec)
{
	rec->talks.pause = (struct watcher){ end_pause, rec };
	rec->talks.pause_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return rec->talks.pause_fd < 0
		       ? -errno
		       : loop_watch(&rec->loop, rec->talks.pause_fd, &rec->talks.pause);
}

int control_listen(struct recorder *rec, struct uft_err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(rec->socket_name);

	rec->listener = (struct watcher){ accept_probes, rec };
	memcpy(addr.sun_path + 1, rec->socket_name, len);
	rec->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (rec->listen_fd < 0 ||
	    bind(rec->listen_fd, (struct sockaddr *)&addr,
		 offsetof(struct sockaddr_un, sun_path) + 1 + len) < 0 ||
	    listen(rec->listen_fd, SOMAXCONN) < 0)
		return err_set_errno(err, -errno, "cannot open the control socket");

	int ret = watch_for_pause(rec);

	if (ret == 0)
		ret = loop_watch(&rec->loop, rec->listen_fd, &rec->listener);
	return ret < 0 ? err_set_errno(err, ret, "cannot watch the control socket") : 0;
}

void control_close(struct recorder *rec)
{
	while (rec->talks.strangers.oldest)
		end_talk(rec, rec->talks.strangers.oldest);
	while (rec->talks.believed.oldest)
		end_talk(rec, rec->talks.believed.oldest);
	if (rec->talks.pause_fd < 0)
		return;
	loop_unwatch(&rec->loop, rec->talks.pause_fd, &rec->talks.pause);
	close(rec->talks.pause_fd);
	rec->talks.pause_fd = -1;
}
