/*
 * Answers the requests that other commands, such as `utrail snapshot`, send to a running recorder
 * (utils/format/probe/request.h).
 */
#include "cmds/record/control/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cmds/record/base/peer.h"
#include "utils/base/unix_name.h"

#define CLIENTS_MAX 64

/* When no file descriptor is free, the recorder accepts no connections for this period. */
#define PAUSE_NS 20000000

/* @is_parked: the client waits for its turn. The event loop does not watch @fd meanwhile */
struct client {
	struct served served;
	int fd;
	bool is_parked;
	struct client *next; /* in service.clients */
};

static void add_client(struct service *svc, struct client *client)
{
	client->next = svc->clients;
	svc->clients = client;
}

static void drop_client(struct service *svc, struct client *client)
{
	struct client **link = &svc->clients;

	while (*link != client)
		link = &(*link)->next;
	*link = client->next;
	loop_close_fd(svc->loop, &client->fd, &client->served);
	free(client);
}

void service_close(struct service *svc)
{
	if (svc->secret[0])
		store_remove(svc->store, REQUEST_DOOR_NAME);
	svc->secret[0] = '\0';
	while (svc->clients)
		drop_client(svc, svc->clients);
	loop_close_fd(svc->loop, &svc->pause_fd, &svc->pause);
}

int service_save(struct service *svc, unsigned *nr_tasks)
{
	if (!svc->settings->flight_bytes)
		return -EOPNOTSUPP;
	*nr_tasks = flight_save_all(svc->writers);

	int ret = sources_save(svc->sources);

	return ret < 0 ? ret : atomic_load(&svc->store->error);
}

static bool program_runs(const struct service *svc)
{
	return *svc->program_fd < 0 || !peer_has_ended(*svc->program_fd, 0);
}

/*
 * Answer with the time up to which the records are complete. Symbols are always complete, because
 * this thread writes them between two answers. A map is written before the records that need it
 * (tasks_announce()).
 */
static int tell_progress(struct service *svc, struct request_answer *answer)
{
	if (svc->settings->flight_bytes)
		return -EOPNOTSUPP;
	atomic_store(&svc->writers->is_followed, true);
	answer->complete_ns = writers_complete_ns(svc->writers);
	answer->holds_back = settings_hold_back(&svc->steering->now);

	/* Like any write error, an error of sources_save() is reported when the recording ends. */
	store_note_error(svc->store, sources_save(svc->sources));
	return 0;
}

static void tell_status(struct service *svc, struct strbuf *text)
{
	steering_status(svc->steering, text);
	strbuf_addf(text, "written: %llu bytes of records\n",
		    (unsigned long long)atomic_load(&svc->store->taken));
	strbuf_addf(text, "lost: %llu records\n",
		    (unsigned long long)atomic_load(&svc->writers->records_lost));
}

static int obey_words(struct service *svc, const struct strbuf *words, struct strbuf *text,
		      struct uft_err *err)
{
	struct steer_change change cleanup_steer_change = { 0 };
	unsigned nr_tasks = 0;
	int ret = steer_parse(words, &change, err);

	/* A change is refused if it cannot be made completely. */
	if (ret == 0 && (change.flags & STEER_SNAPSHOT) && !svc->settings->flight_bytes)
		return err_set(err, -EOPNOTSUPP,
			       "'snapshot': it is recorded without --flight, so everything is "
			       "saved as it comes");
	if (ret == 0)
		ret = steering_change(svc->steering, &change, text, err);
	if (ret == 0 && (change.flags & STEER_SNAPSHOT)) {
		ret = service_save(svc, &nr_tasks);
		strbuf_addf(text, "saved what %u tasks did last\n", nr_tasks);
	}
	if (ret == 0 && (change.flags & STEER_STATUS))
		tell_status(svc, text);
	return ret;
}

static int serve_words(struct service *svc, const struct strbuf *words, struct strbuf *text)
{
	struct uft_err err = { 0 };
	int ret = obey_words(svc, words, text, &err);

	if (ret < 0) {
		strbuf_reset(text);
		strbuf_addstr(text, err.code ? err.text : strerror(-ret));
	}
	return ret;
}

/*
 * Returns 0 if @text is the pid of the recorder or of a process that is being recorded.
 * Otherwise returns -ESRCH.
 */
static int find_pid(struct service *svc, const char *text)
{
	pid_t pid = strtol(text, NULL, 10);

	if (pid == getpid())
		return 0;
	for (const struct process *p = svc->processes->live; p; p = p->next_live) {
		if (p->os_pid == pid)
			return 0;
	}
	return -ESRCH;
}

static int serve_request(struct service *svc, const struct request *request,
			 const struct strbuf *words, struct request_answer *answer,
			 struct strbuf *text)
{
	switch (request->type) {
	case REQUEST_SAVE:
		return service_save(svc, &answer->nr_tasks);
	case REQUEST_IS_RUNNING:
		return 0;
	case REQUEST_PROGRESS:
		return tell_progress(svc, answer);
	case REQUEST_CONTROL:
		return serve_words(svc, words, text);
	case REQUEST_HAS_PID:
		return find_pid(svc, strbuf_str(words));
	case REQUEST_PROVE:
		strbuf_addstr(text, svc->secret);
		return svc->secret[0] ? 0 : -ENOENT;
	}
	return -EPROTO;
}

/*
 * Reads a request and its text. Returns false when no packet can be read, or when the packet is no
 * request. If errno is EAGAIN or EINTR, no packet was read, and the client may still send one.
 */
static bool take_request(int fd, struct request *request, struct strbuf *words)
{
	static char packet[sizeof(struct request) + REQUEST_TEXT_MAX];
	ssize_t len = recv(fd, packet, sizeof(packet), MSG_TRUNC);

	if (len < 0)
		return false;
	errno = 0;
	if (len < (ssize_t)sizeof(*request) || len > (ssize_t)sizeof(packet))
		return false;
	memcpy(request, packet, sizeof(*request));

	const char *text = packet + sizeof(*request);
	size_t text_bytes = len - sizeof(*request);

	strbuf_add(words, text, text_bytes);
	return request->magic == REQUEST_MAGIC && request->version == REQUEST_VERSION &&
	       request->text_bytes == text_bytes && !strbuf_oom(words) &&
	       (text_bytes == 0 || text[text_bytes - 1] == '\0');
}

static void send_answer(int fd, struct request_answer *answer, const struct strbuf *text)
{
	struct iovec parts[] = { { answer, sizeof(*answer) },
				 { text->data, MIN(text->len, (size_t)REQUEST_TEXT_MAX) } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts) };

	sendmsg(fd, &msg, MSG_NOSIGNAL);
}

static void serve_alone(struct service *svc, struct client *client)
{
	struct request_answer answer = { .magic = REQUEST_MAGIC };
	struct strbuf words cleanup_strbuf = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct request request = { 0 };
	bool is_request = take_request(client->fd, &request, &words);

	if (!is_request && (errno == EAGAIN || errno == EINTR))
		return;
	if (is_request && request.type == REQUEST_IS_RUNNING && !program_runs(svc)) {
		/*
		 * The client waits until the recorder ends. At that time the recorder closes the
		 * connection.
		 */
		loop_remove(svc->loop, client->fd, &client->served);
		return;
	}
	if (is_request) {
		/*
		 * The event loop may run inside of serve_request(). During that time, the loop must
		 * not serve this client.
		 */
		loop_remove(svc->loop, client->fd, &client->served);
		answer.error = serve_request(svc, &request, &words, &answer, &text);
		send_answer(client->fd, &answer, &text);
	}
	drop_client(svc, client);
}

static void park(struct service *svc, struct client *client)
{
	loop_remove(svc->loop, client->fd, &client->served);
	client->is_parked = true;
}

static void unpark_all(struct service *svc)
{
	for (struct client *c = svc->clients, *next; c; c = next) {
		next = c->next;
		if (!c->is_parked)
			continue;
		c->is_parked = false;
		if (loop_add(svc->loop, c->fd, &c->served) < 0)
			drop_client(svc, c);
	}
}

bool service_hold(struct service *svc)
{
	if (svc->is_busy)
		return false;
	svc->is_busy = true;
	return true;
}

void service_release(struct service *svc)
{
	svc->is_busy = false;
	unpark_all(svc);
}

/* True for a request that is answered even while another client is served. */
static bool is_quick(int fd)
{
	struct request request = { 0 };

	return recv(fd, &request, sizeof(request), MSG_PEEK) == sizeof(request) &&
	       (request.type == REQUEST_HAS_PID || request.type == REQUEST_PROVE);
}

static void serve_client(struct served *served, uint32_t epoll_events)
{
	struct client *client = container_of(served, struct client, served);
	struct service *svc = served->owner;

	if (is_quick(client->fd)) {
		serve_alone(svc, client);
		return;
	}
	/*
	 * The event loop may run while another client is being served, or while the recorder
	 * removes hooks for --overhead. Until that work is done, this client waits.
	 */
	if (!service_hold(svc)) {
		park(svc, client);
		return;
	}
	serve_alone(svc, client);
	service_release(svc);
}

/* True when user @uid has started the recorder by sudo (store_dir_give_to_user()). */
static bool is_behind_sudo(uid_t uid)
{
	const char *user = geteuid() == 0 ? getenv("SUDO_UID") : NULL;

	return user && *user && strtoul(user, NULL, 10) == uid;
}

/*
 * True when the peer is of a user whose requests are accepted (utils/format/probe/request.h), and
 * there are fewer than CLIENTS_MAX clients. The user is checked here, because an abstract socket
 * has no permissions.
 */
static bool may_ask(const struct service *svc, int fd)
{
	struct peer peer;
	struct stat dir;
	unsigned nr = 0;

	for (const struct client *c = svc->clients; c; c = c->next)
		nr++;
	return nr < CLIENTS_MAX && peer_get(fd, &peer) &&
	       (peer.uid == 0 || peer.uid == geteuid() || is_behind_sudo(peer.uid) ||
		(store_place(svc->store, &dir) == 0 && dir.st_uid == peer.uid));
}

/*
 * Called when a connection could not be accepted, for example because no descriptor was free. Stops
 * accepting connections for a moment. Otherwise the event loop would report the waiting connection
 * again and again.
 */
static void pause_accepting(struct service *svc)
{
	const struct itimerspec soon = { .it_value.tv_nsec = PAUSE_NS };

	loop_remove(svc->loop, svc->service_fd, &svc->served);
	timerfd_settime(svc->pause_fd, 0, &soon, NULL);
}

static void end_pause(struct served *served, uint32_t epoll_events)
{
	struct service *svc = served->owner;
	uint64_t times;

	if (read(svc->pause_fd, &times, sizeof(times)) == sizeof(times))
		loop_add(svc->loop, svc->service_fd, &svc->served);
}

static int watch_for_pause(struct service *svc)
{
	svc->pause = (struct served){ end_pause, svc };
	svc->pause_fd = loop_add_timer(svc->loop, 0, &svc->pause);
	return MIN(svc->pause_fd, 0);
}

static void accept_client(struct served *served, uint32_t epoll_events)
{
	struct service *svc = served->owner;
	int fd cleanup_fd = accept4(svc->service_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client = fd < 0 ? NULL : malloc(sizeof(*client));

	if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		pause_accepting(svc);
	if (!client)
		return;
	*client = (struct client){ .served = { serve_client, svc }, .fd = fd };
	if (!may_ask(svc, fd) || loop_add(svc->loop, fd, &client->served) < 0) {
		free(client);
		return;
	}
	take_fd(&fd);
	add_client(svc, client);
}

static int bind_name(int fd, const char *name)
{
	struct sockaddr_un addr;
	socklen_t addr_len = unix_name_address(&addr, name, strlen(name));

	return bind(fd, (struct sockaddr *)&addr, addr_len) < 0 ? -errno : 0;
}

/*
 * Binds the socket to a name that cannot be guessed. Writes the name and a secret to the file
 * REQUEST_DOOR_NAME, which has mode 0600.
 */
static int take_other_name(struct service *svc, int fd, const char *name, struct uft_err *err)
{
	char other[REQUEST_NAME_SIZE + 17];
	char text[sizeof(other) + sizeof(svc->secret) + 2];
	uint64_t random[3];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(other, sizeof(other), "%s-%016" PRIx64, name, random[0]);
	snprintf(svc->secret, sizeof(svc->secret), "%016" PRIx64 "%016" PRIx64, random[1],
		 random[2]);

	int len = snprintf(text, sizeof(text), "%s\n%s\n", other, svc->secret);
	int ret = bind_name(fd, other);

	return ret < 0 ? ret : store_publish(svc->store, REQUEST_DOOR_NAME, text, len, err);
}

static int open_door(struct service *svc, int fd, struct uft_err *err)
{
	char name[REQUEST_NAME_SIZE];
	struct stat dir;
	int ret = store_place(svc->store, &dir);

	if (ret < 0)
		return ret;
	request_name(name, &dir);
	ret = bind_name(fd, name);
	if (ret != -EADDRINUSE)
		return ret;
	ret = take_other_name(svc, fd, name, err);
	if (ret == 0)
		err_set(err, -EADDRINUSE,
			"another process listens where control, snapshot and --follow look for "
			"this recorder; they find it by '" REQUEST_DOOR_NAME
			"' in the data directory");
	return ret;
}

void service_listen(struct service *svc)
{
	int fd cleanup_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret = fd < 0 ? -errno : open_door(svc, fd, &svc->trouble);

	svc->served = (struct served){ accept_client, svc };
	if (ret == 0 && listen(fd, SOMAXCONN) < 0)
		ret = -errno;
	if (ret == 0)
		ret = watch_for_pause(svc);
	if (ret == 0)
		ret = loop_add(svc->loop, fd, &svc->served);
	if (ret == 0)
		svc->service_fd = take_fd(&fd);
	else
		err_set_errno(&svc->trouble, ret,
			      "control, snapshot and --follow cannot reach this recorder");
}
