/* Conversations with probes: who reports what, and what it is told (utils/format/control.h has the protocol). */
#include "cmds/record/recorder.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"

/*
 * One connection. It collects HELLO and the MODULEs; READY makes it act, answer and end. Nothing here waits: a
 * probe that stops talking costs a descriptor, not the recording.
 */
struct conversation {
	enum watch watch; /* WATCH_CONVERSATION */
	int fd;
	pid_t os_pid;
	bool has_hello;
	struct control_hello hello;
	struct control_module **modules; /* heap copies, in the order they came */
	size_t nr_modules;
	size_t cap_modules;
};

static void conversation_destroy(struct conversation *talk)
{
	close(talk->fd);
	for (size_t i = 0; i < talk->nr_modules; i++)
		free(talk->modules[i]);
	free(talk->modules);
	free(talk);
}

int control_listen(struct recorder *rec, struct uft_err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(rec->socket_name);
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &rec->listen_watch };

	rec->listen_watch = WATCH_LISTEN;
	memcpy(addr.sun_path + 1, rec->socket_name, len);
	rec->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (rec->listen_fd < 0 ||
	    bind(rec->listen_fd, (struct sockaddr *)&addr,
		 offsetof(struct sockaddr_un, sun_path) + 1 + len) < 0 ||
	    listen(rec->listen_fd, SOMAXCONN) < 0 ||
	    epoll_ctl(rec->epoll_fd, EPOLL_CTL_ADD, rec->listen_fd, &ev) < 0)
		return err_set_errno(err, -errno, "cannot open the control socket");
	return 0;
}

/* Abstract sockets have no permissions: only our own user may report, or anyone when we are root. */
bool control_is_allowed(int fd, pid_t *pid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	*pid = peer.pid;
	return geteuid() == 0 || peer.uid == geteuid();
}

void control_accept(struct recorder *rec)
{
	for (;;) {
		int fd cleanup_fd = accept4(rec->listen_fd, NULL, NULL,
					    SOCK_CLOEXEC | SOCK_NONBLOCK);
		pid_t pid;

		if (fd < 0)
			return;
		if (!control_is_allowed(fd, &pid))
			continue;

		struct conversation *talk = calloc(1, sizeof(*talk));

		if (!talk)
			continue;
		talk->watch = WATCH_CONVERSATION;
		talk->os_pid = pid;
		talk->fd = take_fd(&fd);

		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = talk };

		if (epoll_ctl(rec->epoll_fd, EPOLL_CTL_ADD, talk->fd, &ev) < 0)
			conversation_destroy(talk);
	}
}

static bool keep_module(struct conversation *talk, const void *packet, size_t len)
{
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

static bool welcome(struct recorder *rec, struct conversation *talk, struct process *proc,
		    int arena_fd)
{
	struct control_welcome msg = { .h = control_header(CONTROL_WELCOME), .plan = rec->plan };
	struct plan_entries plan cleanup_plan_entries = { 0 };

	memcpy(msg.plan.sid, proc->session->sid, SID_LEN);
	if (switches_stacks(rec, talk))
		msg.plan.flags |= PLAN_STACKS;
	plan_make(rec, talk->modules, talk->nr_modules, true, &plan);
	if (talk->nr_modules)
		watches_bind(rec->settings, talk->modules[0], &msg.plan);

	int plan_fd cleanup_fd = plan_memfd(&plan, &msg.plan.nr);
	int fds[CONTROL_FD_MAX] = { rec->control_fd, arena_fd, plan_fd };

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
	return session_add_stack(s) < 0 ? NULL : s;
}

static void begin_process(struct recorder *rec, struct conversation *talk)
{
	struct process *former = process_find_os(rec, talk->os_pid);
	int arena_fd cleanup_fd = -1;
	bool is_exec = talk->hello.kind == CONTROL_EXEC;
	struct uft_err err = { 0 };

	/* The records of the image that was replaced come first in the file. */
	if (former)
		process_retire(rec, former);

	struct session *s = is_exec ? begin_session(rec, talk) : session_find(rec, talk->hello.sid);
	struct process *proc = s ? process_create(rec, &talk->hello, talk->os_pid, &arena_fd)
				 : NULL;

	if (!proc)
		return;
	proc->session = s;
	if (!is_exec)
		proc->parent = process_find(rec, talk->hello.ppid);
	process_publish(rec, proc);
	welcome(rec, talk, proc, arena_fd);
	if (is_exec) {
		session_save(rec, s, &err);
		note_save_error(rec, &err);
	}
}

static void late_modules(struct recorder *rec, struct conversation *talk)
{
	struct session *s = session_find(rec, talk->hello.sid);
	struct control_plan msg = { .h = control_header(CONTROL_PLAN) };
	struct plan_entries plan cleanup_plan_entries = { 0 };
	struct uft_err err = { 0 };

	if (!s)
		return;
	plan_make(rec, talk->modules, talk->nr_modules, false, &plan);

	int plan_fd cleanup_fd = plan_memfd(&plan, &msg.nr);

	answer(talk, &msg, sizeof(msg), &plan_fd, plan_fd >= 0);
	for (size_t i = 0; i < talk->nr_modules; i++) {
		if (!talk->modules[i]->has_text)
			continue;
		tasks_dlopen(rec, s, talk->modules[i]);
		session_save_late(rec, s, talk->modules[i], &err);
	}
	note_save_error(rec, &err);
}

/* Take one packet in. False when the conversation is over, well or badly. */
static bool take_packet(struct recorder *rec, struct conversation *talk, const void *packet,
			size_t len)
{
	switch (control_check(packet, len)) {
	case CONTROL_HELLO:
		memcpy(&talk->hello, packet, sizeof(talk->hello));
		talk->has_hello = true;
		rec->declined += talk->hello.kind == CONTROL_NO_ADDRESS_SPACE;
		rec->protected += talk->hello.kind == CONTROL_SHADOW_STACK;
		rec->other_libc += talk->hello.kind == CONTROL_OTHER_LIBC;
		return talk->hello.kind < CONTROL_NO_ADDRESS_SPACE ||
		       talk->hello.kind > CONTROL_OTHER_LIBC;
	case CONTROL_MODULE:
		return talk->has_hello && keep_module(talk, packet, len);
	case CONTROL_CRASH:
		crash_keep(&rec->crashes, packet);
		return false;
	case CONTROL_READY:
		if (talk->has_hello && talk->hello.kind == CONTROL_DLOPEN)
			late_modules(rec, talk);
		else if (talk->has_hello)
			begin_process(rec, talk);
		return false;
	}
	return false;
}

void control_serve(struct recorder *rec, struct conversation *talk)
{
	_Alignas(8) char packet[CONTROL_MSG_MAX];

	for (;;) {
		ssize_t len = recv(talk->fd, packet, sizeof(packet), 0);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == EAGAIN)
			return;
		if (len <= 0 || !take_packet(rec, talk, packet, len)) {
			conversation_destroy(talk);
			return;
		}
	}
}
