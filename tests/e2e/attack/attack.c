/*
 * A hostile client of the recorder. It speaks the protocol from a copy of its own, and misuses
 * everything that it is given.
 *
 *   attack [--as-nobody] [--recorder PID] ATTACK [ARGUMENT]
 *
 * It finds the recorder as any process would: by /proc/net/unix. With UTRAIL_SOCKET in its
 * environment it knows the secret, as children of the traced program do. It prints the recorder's
 * answer ("refused", "served") or the result of the attack.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol.h"

/* --- talking --- */

static char name[128];
static uint8_t secret[16];
static int fds[3] = { -1, -1, -1 };
static uint8_t token[16];

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static struct header head(int type)
{
	return (struct header){ 0x7554, type, VERSION, 0, 0, 0 };
}

static void find_recorder(int pid)
{
	const char *address = getenv("UTRAIL_SOCKET");
	char line[512];
	char begin[32];
	FILE *list = fopen("/proc/net/unix", "r");

	if (address) {
		const char *hex = strchr(address, ':');

		if (!hex || hex - address >= (int)sizeof(name))
			die("UTRAIL_SOCKET");
		memcpy(name, address, hex - address);
		for (int i = 0; i < 16; i++)
			sscanf(hex + 1 + 2 * i, "%2hhx", &secret[i]);
		return;
	}
	snprintf(begin, sizeof(begin), "@utrail-%d-", pid);
	while (list && fgets(line, sizeof(line), list)) {
		char *at = strstr(line, begin);

		if (at)
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	}
	if (!name[0])
		die("no recorder");
}

static int connect_to(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval limit = { 20, 0 };
	int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	memcpy(addr.sun_path + 1, name, strlen(name));
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(s, (void *)&addr, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)))
		die("connect");
	return s;
}

static void say(int s, void *packet, size_t len)
{
	static uint32_t seq;
	struct header *h = packet;

	h->len = len;
	h->seq = ++seq;
	send(s, packet, len, MSG_NOSIGNAL);
}

static void say_hello(int s, int kind, int pid)
{
	struct hello hello = { .h = head(HELLO), .pid = pid, .ppid = getppid(), .kind = kind };

	memcpy(hello.secret, secret, 16);
	memcpy(hello.token, token, 16);
	say(s, &hello, sizeof(hello));
}

static void say_module(int s, uint64_t start, const char *path)
{
	struct module m = { .h = head(MODULE), .start = start, .end = start + 4096, .has_text = 1 };

	snprintf(m.path, sizeof(m.path), "%s", path);
	say(s, &m, offsetof(struct module, path) + strlen(m.path) + 1);
}

/* True when the recorder has answered, false when it has hung up. */
static int get_answer(int s)
{
	static char packet[8192];
	char space[CMSG_SPACE(sizeof(fds))];
	struct iovec iov = { packet, sizeof(packet) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };
	struct header ready = head(READY);
	ssize_t len;

	say(s, &ready, sizeof(ready));
	len = recvmsg(s, &msg, 0);
	if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		die("no answer");
	if (len < (ssize_t)sizeof(struct header))
		return 0;
	if (CMSG_FIRSTHDR(&msg))
		memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)),
		       CMSG_FIRSTHDR(&msg)->cmsg_len - CMSG_LEN(0));
	if (((struct header *)packet)->type == ERROR)
		return 0;
	if (((struct header *)packet)->seq != ready.seq)
		die("an answer to something else");
	if (((struct header *)packet)->type == WELCOME)
		memcpy(token, ((struct welcome_start *)packet)->token, 16);
	return 1;
}

static int talk(int kind, int pid, const char *path)
{
	int s = connect_to();

	say_hello(s, kind, pid);
	if (path)
		say_module(s, 0x10000, path);
	return get_answer(s);
}

static void tell(const char *what, int is_served)
{
	printf("%s: %s\n", what, is_served ? "served" : "refused");
}

static struct arena *be_traced(void)
{
	struct arena *a;

	if (!talk(EXEC, getpid(), "/nowhere/attack"))
		die("WELCOME");
	a = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	if (a == MAP_FAILED)
		die("arena");
	return a;
}

/* --- attacks --- */

static void say_everything(const char *arg)
{
	struct crash crash = { .h = head(CRASH), .pid = getppid(), .tid = getppid(), .signal = 11 };
	int s = connect_to();

	tell("a READY of nobody", get_answer(s));
	tell("a fresh image", talk(EXEC, getpid(), "/bin/true"));
	tell("the recorder's parent", talk(EXEC, getppid(), "/bin/true"));
	tell("a child", talk(FORK, getpid(), NULL));
	tell("a library", talk(DLOPEN, getpid(), "/bin/true"));
	s = connect_to();
	say_hello(s, ENDING, getpid());
	say(s, &crash, sizeof(crash));
	s = connect_to();
	say(s, &crash, sizeof(crash));
	memset(secret, 0xff, 16);
	tell("another secret", talk(EXEC, getpid(), "/bin/true"));
}

static void say_pid(const char *arg)
{
	tell("another's pid", talk(EXEC, atoi(arg), "/bin/true"));
	tell("our pid", talk(EXEC, getpid(), "/bin/true"));
}

static void say_token(const char *arg)
{
	uint8_t own[16];

	tell("a child without a token", talk(FORK, getpid(), NULL));
	tell("a library without a token", talk(DLOPEN, getpid(), "/bin/true"));
	be_traced();
	memcpy(own, token, 16);
	tell("a library of our own", talk(DLOPEN, getpid(), "/bin/true"));
	token[15] ^= 1;
	tell("a library with a bit changed", talk(DLOPEN, getpid(), "/bin/true"));
	memcpy(token, own, 16);
	tell("our own child", talk(FORK, getpid(), NULL));
}

static int can_map(int fd)
{
	uint32_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return 0;
	p[0] = 0; /* the number of writers, which all probes divide by */
	return 1;
}

static void write_control(const char *arg)
{
	char path[64];
	uint32_t *p;
	int fd;

	be_traced();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	fd = open(path, O_RDWR);
	tell("map for writing", can_map(fds[0]));
	tell("map for writing, opened again", fd >= 0 && can_map(fd));
	tell("write", pwrite(fds[0], "\0\0\0\0", 4, 0) == 4);
	tell("cut off", ftruncate(fds[0], 0) == 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fds[0], 0);
	tell("change the mapping",
	     p != MAP_FAILED && mprotect(p, 4096, PROT_READ | PROT_WRITE) == 0);
	tell("map for reading", p != MAP_FAILED && p[0] > 0);
}

static void want_finish(const char *arg)
{
	struct arena *a = be_traced();

	a->finish_wanted = 1;
	a->high_water = 1;
	a->nr_rings = a->nr_segments = a->segment_bytes = 0;
	a->ring_stride = 0;
	/* The recorder's writers look at the arena at least ten times a second. */
	usleep(500000);
	tell("asked for the end", 1);
}

/* Gives a ring the tid of a thread of another process, and writes a record into it. */
static void take_tid(const char *arg)
{
	struct arena *a = be_traced();
	struct ring *r = (struct ring *)((char *)a + 4096);
	uint64_t *record = (uint64_t *)((char *)r + 4096);

	a->high_water = 1;
	r->tid = atoi(arg);
	r->start_ns = 1;
	record[0] = 1;
	record[1] = 0x5ULL << 3 | 0xbadc0deULL << 16;
	r->head = 16;
	__atomic_store_n(&r->state, 1, __ATOMIC_RELEASE);
	tell("somebody's ring", 1);
}

/*
 * Claims that records were lost. @arg: "ALL,INSIDE", the number of all of them, and of those that
 * were lost inside the probe
 */
static void lose(const char *arg)
{
	struct arena *a = be_traced();
	struct ring *r = (struct ring *)((char *)a + 4096);

	a->high_water = 1;
	r->tid = getpid();
	r->start_ns = 1;
	sscanf(arg, "%lu,%lu", &r->lost, &r->lost_inside);
	__atomic_store_n(&r->state, 1, __ATOMIC_RELEASE);
}

/*
 * This is no attack: a process executes another program as another user before the recorder takes
 * the records of the first program.
 */
static void be_another(const char *arg)
{
	char self[16];

	snprintf(self, sizeof(self), "%d", getpid());
	take_tid(self);
	be_traced();
	tell("another image", 1);
}

/* Sends more than the recorder should keep, and no READY. */
static void flood(const char *arg)
{
	int nr = atoi(arg);
	char path[7800];
	int s = connect_to();

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	say_hello(s, EXEC, getpid());
	for (int i = 0; i < nr; i++)
		say_module(s, i * 4096ULL, path);
	tell("all of them", 1);
	fflush(stdout);
	pause();
}

/* Opens connections of several processes and sends nothing, until standard input ends. */
static void sit(const char *arg)
{
	int nr = atoi(arg);
	struct rlimit limit;
	char byte;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < nr / 8; i++) {
		if (fork() == 0) {
			for (int k = 0; k < 8; k++)
				connect_to();
			while (read(0, &byte, 1) > 0)
				;
			_exit(0);
		}
	}
	for (int i = 0; i < nr; i++)
		connect_to();
	printf("sitting\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
}

static void name_module(const char *arg)
{
	tell("a module", talk(EXEC, getpid(), arg));
}

/* Sends many modules, each with a name of its own. */
static void name_many(const char *arg)
{
	char path[64];
	int s = connect_to();

	say_hello(s, EXEC, getpid());
	for (int i = 0; i < atoi(arg); i++) {
		snprintf(path, sizeof(path), "/nowhere/lib%d.so", i);
		say_module(s, 4096ULL + i * 8192ULL, path);
	}
	tell("many modules", get_answer(s));
}

static void say_crash(const char *arg)
{
	struct crash crash = { .h = head(CRASH), .pid = atoi(arg), .tid = atoi(arg), .signal = 11 };

	be_traced();
	for (int i = 0; i < 20; i++) {
		int s = connect_to();

		say_hello(s, ENDING, getpid());
		say(s, &crash, sizeof(crash));
		while (recv(s, &crash.tid, 0, 0) > 0)
			;
		close(s);
	}
	tell("crashes", 1);
}

/* Report the next message on @s. */
static void tell_answer(int s)
{
	union {
		struct header h;
		struct error error;
		struct status status;
		struct declared declared;
		struct callable_is callable;
		char bytes[8192];
	} packet = { 0 };
	ssize_t len = recv(s, &packet, sizeof(packet), 0);

	if (len > 0 && packet.h.type == ERROR)
		printf("ERROR %u about %u\n", packet.error.verdict, packet.error.h.seq);
	else if (len > 0 && packet.h.type == STATUS_IS)
		printf("STATUS_IS of %u processes to %u\n", packet.status.nr_alive, packet.h.seq);
	else if (len > 0 && packet.h.type == DECLARED)
		printf("DECLARED %u, choice %d\n", packet.declared.event, packet.declared.choice);
	else if (len > 0 && packet.h.type == CALLABLE_IS)
		printf("CALLABLE_IS %#llx, range %u, values %#llx\n",
		       (unsigned long long)packet.callable.addr, packet.callable.range,
		       (unsigned long long)packet.callable.values);
	else if (len > 0)
		printf("type %u\n", packet.h.type);
	else
		printf("the end\n");
}

static void say_bare(int s, int type, int flags)
{
	struct header h = head(type);

	h.flags = flags;
	say(s, &h, sizeof(h));
}

/*
 * This is no attack: messages that the recorder does not know, and questions on the same
 * connection.
 */
static void say_strange(const char *arg)
{
	int s = connect_to();

	say_hello(s, EXEC, getpid());
	say_bare(s, STRANGE, OPTIONAL);
	say_bare(s, STATUS, 0);
	tell_answer(s);
	tell("with a strange message", get_answer(s));
	say_bare(s, STATUS, 0);
	say_bare(s, STATUS, 0);
	tell_answer(s);
	tell_answer(s);
	say_bare(s, STRANGE, 0);
	tell_answer(s);
	tell_answer(s);
}

static void say_declare(int s, const char *texts, size_t len, int has_common)
{
	struct declare m = { .h = head(DECLARE), .has_common = has_common };

	memcpy(m.texts, texts, len);
	say(s, &m, offsetof(struct declare, texts) + len);
}

/* Declares events on a connection of its own. Returns the connection, which stays open. */
static int declare(const char *texts, size_t len, int has_common)
{
	int s = connect_to();

	say_hello(s, EVENTS, getpid());
	say_declare(s, texts, len, has_common);
	return s;
}

/* Declares events of the longest possible names until one is refused. */
static void declare_until_refused(void)
{
	static char texts[8000];
	struct declared answer = { .event = 1 };
	unsigned nr;

	memset(texts, 'A', sizeof(texts) - 2);
	for (nr = 0; answer.event && nr < 2000; nr++) {
		int s;

		snprintf(texts, 16, "%010u", nr);
		texts[10] = 'A';
		s = declare(texts, sizeof(texts), 0);
		if (recv(s, &answer, sizeof(answer), 0) != sizeof(answer))
			die("DECLARED");
		close(s);
	}
	printf("refused at last: %d\n", nr > 1000 && nr < 2000);
}

/* Sends declarations that are malformed, that this process must not send, or that are too many. */
static void say_declares(const char *arg)
{
	int s = connect_to();

	say_declare(s, "A\0%d", 5, 0);
	tell_answer(s);
	tell_answer(declare("A\0%d", 5, 0));
	be_traced();
	s = declare("A B:\n\0%d", 9, 0);
	tell_answer(s);
	say_declare(s, "C\0%d", 5, 0);
	tell_answer(s);
	tell_answer(s);
	tell_answer(declare("A B:\n\0%d", 9, 0));
	tell_answer(declare("A\0%d", 4, 0));
	tell_answer(declare("\0%d", 4, 0));
	tell_answer(declare("A\0%d", 5, 1));
	tell_answer(declare("A\0%d", 5, 2));
	tell_answer(declare("A\0%", 4, 0));
	declare_until_refused();
}

static void say_callable(int s, const char *texts, size_t len, uint32_t nr_args)
{
	struct callable m = { .h = head(CALLABLE), .line = 1, .wants_plan = 1, .nr_args = nr_args };

	memcpy(m.texts, texts, len);
	say(s, &m, offsetof(struct callable, texts) + len);
	tell_answer(s);
}

static int begin_names(void)
{
	int s = connect_to();

	say_hello(s, NAMES, getpid());
	return s;
}

/*
 * Declares functions of Python without being a Python: without a token, with too few or too many
 * texts, with parameters beyond all limits, with names that would be more than one line of a file;
 * then very many.
 */
static void say_callables(const char *arg)
{
	char name[64];
	uint64_t last = 0;
	int s = connect_to();

	say_callable(s, "f\0a.py", 7, 0);
	say_callable(begin_names(), "f\0a.py", 7, 0);
	be_traced();
	say_callable(begin_names(), "f\0a.py", 6, 0);
	say_callable(begin_names(), "\0a.py", 6, 0);
	say_callable(begin_names(), "f\0a.py\0b", 9, 0);
	s = begin_names();
	say_callable(s, "f\0a.py", 7, UINT32_MAX);
	say_callable(s, "f\0a.py", 7, UINT32_MAX);
	say_callable(s, "x\n0000000000000009 T y\0../../z\n", 32, 1);
	for (int i = 0; i < 20000; i++) {
		struct callable m = { .h = head(CALLABLE) };
		struct callable_is is = { .addr = 0 };
		size_t len = snprintf(name, sizeof(name), "many%d", i) + 2;

		memcpy(m.texts, name, len - 1);
		say(s, &m, offsetof(struct callable, texts) + len);
		if (recv(s, &is, sizeof(is), 0) != sizeof(is) || is.addr <= last)
			die("CALLABLE_IS");
		last = is.addr;
	}
	printf("the last is %llu\n", (unsigned long long)last);
}

/* Speaks as probes of another version: an old one, and a future one. */
static void say_version(const char *arg)
{
	struct old_hello old = {
		.magic = 0x7554, .type = HELLO, .version = 5, .pid = getpid(), .kind = EXEC
	};
	struct hello next = { .h = head(HELLO), .pid = getpid(), .kind = EXEC };
	int s = connect_to();

	next.h.version = atoi(arg);
	memcpy(old.secret, secret, 16);
	memcpy(next.secret, secret, 16);
	if (next.h.version == 5)
		send(s, &old, sizeof(old), MSG_NOSIGNAL);
	else
		say(s, &next, sizeof(next));
	tell_answer(s);
	tell_answer(s);
}

static const struct {
	const char *name;
	void (*run)(const char *arg);
} attacks[] = {
	{ "everything", say_everything },
	{ "pid", say_pid },
	{ "token", say_token },
	{ "control", write_control },
	{ "finish", want_finish },
	{ "tid", take_tid },
	{ "lose", lose },
	{ "flood", flood },
	{ "sit", sit },
	{ "module", name_module },
	{ "crash", say_crash },
	{ "many", name_many },
	{ "another", be_another },
	{ "strange", say_strange },
	{ "version", say_version },
	{ "declare", say_declares },
	{ "callable", say_callables },
};

int main(int argc, char **argv)
{
	int recorder = 0;

	if (argc > 1 && strcmp(argv[1], "--as-nobody") == 0) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			die("setuid");
		argc--;
		argv++;
	}
	if (argc > 2 && strcmp(argv[1], "--recorder") == 0) {
		recorder = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	find_recorder(recorder);
	for (size_t i = 0; argc > 1 && i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		if (strcmp(argv[1], attacks[i].name) == 0) {
			attacks[i].run(argc > 2 ? argv[2] : "0");
			return 0;
		}
	}
	fprintf(stderr, "no such attack\n");
	return 2;
}
