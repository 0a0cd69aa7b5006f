/*
 * Requests of other commands to a recorder at work. Valid requests are answered one after the other.
 * Requests that are not valid get no answer.
 */
#include "tests/unit/lib/record/recorder.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "utils/base/unix_name.h"
#include "utils/format/probe/request.h"

struct packet {
	struct request request;
	char text[32];
};

static struct packet asks_for(enum request_type type, const char *text, size_t bytes)
{
	struct packet p = { .request = { REQUEST_MAGIC, REQUEST_VERSION, type, bytes } };

	memcpy(p.text, text, bytes);
	return p;
}

static int connect_to(struct test_recorder *t)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char name[REQUEST_NAME_SIZE];
	struct sockaddr_un addr;
	struct stat dir;

	assert_int_equal(fstat(t->dir_fd, &dir), 0);
	request_name(name, &dir);

	socklen_t len = unix_name_address(&addr, name, strlen(name));

	assert_int_equal(connect(fd, (struct sockaddr *)&addr, len), 0);
	return fd;
}

/* Returns the answer's length; 0 when the recorder has hung up. */
static ssize_t ask(struct test_recorder *t, const struct packet *p, size_t len,
		   struct request_answer *answer)
{
	int fd = connect_to(t);
	ssize_t n = -1;

	assert_int_equal(send(fd, p, len, MSG_NOSIGNAL), len);
	for (int i = 0; n < 0 && i < 10; i++) {
		loop_serve(&t->rec.loop, 0);
		n = recv(fd, answer, sizeof(*answer), 0);
	}
	close(fd);
	return n;
}

static size_t whole(const struct packet *p)
{
	return sizeof(p->request) + p->request.text_bytes;
}

static int has_pid(struct test_recorder *t, pid_t pid)
{
	struct request_answer answer = { 0 };
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", (int)pid);
	struct packet p = asks_for(REQUEST_HAS_PID, text, len + 1);

	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.magic, REQUEST_MAGIC);
	return answer.error;
}

TEST_WITH(one_after_the_other, test_recorder_setup, test_recorder_teardown)
{
	for (int i = 0; i < 3; i++) {
		assert_int_equal(has_pid(*state, getpid()), 0);
		assert_int_equal(has_pid(*state, 1), -ESRCH);
	}
}

static void check_no_request(struct test_recorder *t, const struct packet *p, size_t len)
{
	struct request_answer answer;

	assert_int_equal(ask(t, p, len, &answer), 0);
	/* Other clients still get their answers. */
	assert_int_equal(has_pid(t, getpid()), 0);
}

TEST_WITH(what_is_no_request, test_recorder_setup, test_recorder_teardown)
{
	const struct packet good = asks_for(REQUEST_HAS_PID, "1\0", 2);
	struct packet p = good;

	p.request.magic++;
	check_no_request(*state, &p, whole(&p));
	p = good;
	p.request.version++;
	check_no_request(*state, &p, whole(&p));
	/* Requests whose text is longer or shorter than they state. */
	check_no_request(*state, &good, whole(&good) - 1);
	check_no_request(*state, &good, whole(&good) + 1);
	check_no_request(*state, &good, sizeof(struct request) - 1);
	/* Text without a final NUL. */
	p = asks_for(REQUEST_HAS_PID, "1\0002", 3);
	check_no_request(*state, &p, whole(&p));
}

TEST_WITH(what_nobody_knows, test_recorder_setup, test_recorder_teardown)
{
	struct packet p = asks_for(REQUEST_PROVE + 1, "", 0);
	struct request_answer answer = { 0 };

	assert_int_equal(ask(*state, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, -EPROTO);
}

/* Sends words as a request; receives an answer with the text after it. */
static int words(struct test_recorder *t, const char *text, size_t bytes, char out[4096])
{
	struct packet p = asks_for(REQUEST_CONTROL, text, bytes);
	int fd = connect_to(t);
	char packet[8192];
	struct request_answer answer;
	ssize_t n = -1;

	assert_int_equal(send(fd, &p, whole(&p), MSG_NOSIGNAL), whole(&p));
	for (int i = 0; n < 0 && i < 10; i++) {
		loop_serve(&t->rec.loop, 0);
		n = recv(fd, packet, sizeof(packet), 0);
	}
	close(fd);
	assert_true(n >= (ssize_t)sizeof(answer) && n < (ssize_t)(sizeof(answer) + 4096));
	memcpy(&answer, packet, sizeof(answer));
	memcpy(out, packet + sizeof(answer), n - sizeof(answer));
	out[n - sizeof(answer)] = '\0';
	assert_int_equal(answer.magic, REQUEST_MAGIC);
	return answer.error;
}

#define WORDS(text) text, sizeof(text)

TEST_WITH(words_are_obeyed, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	char text[4096];

	t->settings.has_agent = t->settings.is_steerable = true;
	atomic_store(&t->rec.store->taken, 77);
	atomic_store(&t->rec.writers.records_lost, 5);
	assert_int_equal(words(t, WORDS("status"), text), 0);
	assert_non_null(strstr(text, "steerable: yes\n"));
	assert_non_null(strstr(text, "written: 77 bytes of records\nlost: 5 records\n"));
	assert_int_equal(words(t, WORDS("off"), text), 0);
	assert_false(t->rec.steering.is_on);
	assert_string_equal(text, "");
	assert_int_equal(words(t, WORDS("on\0status"), text), 0);
	assert_non_null(strstr(text, "changes: 2\n"));
	assert_true(t->rec.steering.is_on);
}

/* If one of the words is refused, nothing is changed, and the answer tells the reason. */
TEST_WITH(words_are_refused, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	char text[4096];

	assert_int_equal(words(t, WORDS("off"), text), -EOPNOTSUPP);
	assert_non_null(strstr(text, "without --agent (-g)"));
	t->settings.has_agent = t->settings.is_steerable = true;
	assert_int_equal(words(t, WORDS("off\0snapshot"), text), -EOPNOTSUPP);
	assert_string_equal(text, "'snapshot': it is recorded without --flight, so everything is "
				  "saved as it comes");
	assert_true(t->rec.steering.is_on);
	assert_true(words(t, WORDS("off\0nonsense"), text) < 0);
	assert_non_null(strstr(text, "nonsense"));
	assert_true(t->rec.steering.is_on);
}

/* A request saves the rings of a flight recording; other recordings have nothing to save. */
TEST_WITH(saving, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct packet p = asks_for(REQUEST_SAVE, "", 0);
	struct request_answer answer = { 0 };
	unsigned nr_tasks = 99;
	char text[4096];

	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, -EOPNOTSUPP);
	assert_int_equal(service_save(&t->rec.service, &nr_tasks), -EOPNOTSUPP);
	assert_int_equal(nr_tasks, 99);
	t->settings.flight_bytes = RING_PAGE;
	t->settings.has_agent = t->settings.is_steerable = true;
	assert_int_equal(service_save(&t->rec.service, &nr_tasks), 0);
	assert_int_equal(nr_tasks, 0);
	assert_int_equal(words(t, WORDS("snapshot"), text), 0);
	assert_string_equal(text, "saved what 0 tasks did last\n");
	/* A write error is reported. */
	store_note_error(t->rec.store, -ENOSPC);
	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, -ENOSPC);
	t->settings.flight_bytes = 0;
}

/* A source that counts how many times it was saved. */
static struct {
	struct source source;
	unsigned nr_saved;
	int result;
} toy;

static int toy_save(struct source *source)
{
	toy.nr_saved++;
	return toy.result;
}

static int toy_finish(struct source *source)
{
	return 0;
}

/* A reader that follows gets the data of the sources, too. A failure is told at the end. */
TEST_WITH(progress_of_sources, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct packet p = asks_for(REQUEST_PROGRESS, "", 0);
	struct request_answer answer = { 0 };
	unsigned nr_tasks;

	toy.source = (struct source){ toy_save, toy_finish, NULL };
	toy.nr_saved = 0;
	toy.result = 0;
	sources_add(&t->rec.sources, &toy.source);
	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, 0);
	assert_int_equal(toy.nr_saved, 1);
	assert_int_equal(atomic_load(&t->rec.store->error), 0);
	toy.result = -ENOSPC;
	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, 0);
	assert_int_equal(toy.nr_saved, 2);
	assert_int_equal(atomic_load(&t->rec.store->error), -ENOSPC);
	/* A flight recording saves its sources on request only. */
	t->settings.flight_bytes = RING_PAGE;
	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(toy.nr_saved, 2);
	toy.result = -EIO;
	assert_int_equal(service_save(&t->rec.service, &nr_tasks), -EIO);
	assert_int_equal(toy.nr_saved, 3);
	t->settings.flight_bytes = 0;
}

TEST_WITH(progress, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct packet p = asks_for(REQUEST_PROGRESS, "", 0);
	struct request_answer answer = { 0 };

	t->settings.flight_bytes = RING_PAGE;
	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, -EOPNOTSUPP);
	assert_false(atomic_load(&t->rec.writers.is_followed));
	t->settings.flight_bytes = 0;
	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, 0);
	assert_int_equal(answer.holds_back, 0);
	assert_true(atomic_load(&t->rec.writers.is_followed));
	t->rec.steering.now.threshold_ns = 1;
	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.holds_back, 1);
}

/*
 * The request is answered while the program runs. After the program's end, the client waits until
 * the recorder ends.
 */
TEST_WITH(whether_it_runs, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct packet p = asks_for(REQUEST_IS_RUNNING, "", 0);
	struct request_answer answer = { 0 };
	int ends[2];
	int before = t->rec.program_fd;
	int fd;

	/* The pipe stands for a pidfd: it becomes readable at the program's end. */
	assert_int_equal(pipe(ends), 0);
	t->rec.program_fd = ends[0];
	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	fd = connect_to(t);
	assert_int_equal(send(fd, &p, whole(&p), MSG_NOSIGNAL), whole(&p));
	for (int i = 0; i < 10; i++)
		loop_serve(&t->rec.loop, 0);
	assert_int_equal(recv(fd, &answer, sizeof(answer), 0), -1);
	assert_int_equal(errno, EAGAIN);
	/* Meanwhile other clients get their answers. */
	assert_int_equal(has_pid(t, getpid()), 0);
	service_close(&t->rec.service);
	assert_int_equal(recv(fd, &answer, sizeof(answer), 0), 0);
	close(fd);
	close(ends[0]);
	close(ends[1]);
	t->rec.program_fd = before;
}

TEST_WITH(who_is_recorded, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct process one = { .os_pid = 4200001 };
	struct process other = { .os_pid = 4200002, .next_live = &one };

	t->rec.processes.live = &other;
	assert_int_equal(has_pid(t, 4200001), 0);
	assert_int_equal(has_pid(t, 4200002), 0);
	assert_int_equal(has_pid(t, 4200003), -ESRCH);
	t->rec.processes.live = NULL;
}

/* While one client changes the recording, others wait. They get their answers afterwards. */
TEST_WITH(one_at_a_time, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct packet p = asks_for(REQUEST_PROGRESS, "", 0);
	struct request_answer answer;
	int fd = connect_to(t);

	assert_true(service_hold(&t->rec.service));
	assert_false(service_hold(&t->rec.service));
	assert_int_equal(send(fd, &p, whole(&p), MSG_NOSIGNAL), whole(&p));
	for (int i = 0; i < 10; i++)
		loop_serve(&t->rec.loop, 0);
	assert_int_equal(recv(fd, &answer, sizeof(answer), 0), -1);
	/* Requests that change nothing are answered at once. */
	assert_int_equal(has_pid(t, getpid()), 0);

	const struct packet proof = asks_for(REQUEST_PROVE, "", 0);

	assert_int_equal(ask(t, &proof, whole(&proof), &answer), sizeof(answer));
	assert_int_equal(answer.error, -ENOENT);
	assert_int_equal(recv(fd, &answer, sizeof(answer), 0), -1);
	service_release(&t->rec.service);
	for (int i = 0; i < 10; i++)
		loop_serve(&t->rec.loop, 0);
	assert_int_equal(recv(fd, &answer, sizeof(answer), 0), sizeof(answer));
	assert_true(service_hold(&t->rec.service));
	service_release(&t->rec.service);
	close(fd);
}

/* Without a free descriptor, the loop does not serve the waiting client again and again. */
TEST_WITH(no_descriptor_is_free, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	int fd = connect_to(t);
	int next = dup(fd);
	struct rlimit before, none;
	int nr_served = 0;

	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ next, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int k = 0; k < 1000; k++)
		nr_served += loop_serve(&t->rec.loop, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(nr_served > 0 && nr_served < 1000);
	assert_null(t->rec.service.clients);
	/* The pause ends, and the client that has waited is accepted. */
	for (int k = 0; k < 100 && !t->rec.service.clients; k++)
		loop_serve(&t->rec.loop, 100);
	assert_non_null(t->rec.service.clients);
	assert_int_equal(has_pid(t, getpid()), 0);
	close(fd);
}

/*
 * Another process has the name at which clients look. The recorder takes a name that cannot be
 * guessed, and writes it to a file with a secret.
 */
TEST_WITH(where_another_listens, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct packet p = asks_for(REQUEST_PROVE, "", 0);
	struct service svc = t->rec.service;
	char name[REQUEST_NAME_SIZE];
	char packet[256] = "";
	struct sockaddr_un addr;
	struct stat dir;
	ssize_t n = -1;
	char *door, *end;
	int fd;

	svc.clients = NULL;
	svc.service_fd = svc.pause_fd = -1;
	service_listen(&svc);
	assert_true(svc.service_fd >= 0);
	assert_string_equal(svc.trouble.text,
			    "another process listens where control, snapshot and --follow look "
			    "for this recorder; they find it by '.control' in the data directory");
	assert_int_equal(svc.trouble.code, -EADDRINUSE);
	assert_int_equal(strlen(svc.secret), 32);
	assert_int_equal(strspn(svc.secret, "0123456789abcdef"), 32);

	assert_int_equal(fstat(t->dir_fd, &dir), 0);
	request_name(name, &dir);
	door = test_recorder_file(t, ".control");
	end = strchr(door, '\n');
	assert_non_null(end);
	*end = '\0';
	assert_memory_equal(door, name, strlen(name));
	assert_int_equal(door[strlen(name)], '-');
	assert_int_equal(strlen(door), strlen(name) + 17);
	assert_memory_equal(end + 1, svc.secret, 32);
	assert_string_equal(end + 33, "\n");

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	socklen_t len = unix_name_address(&addr, door, strlen(door));

	assert_int_equal(connect(fd, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(send(fd, &p, whole(&p), MSG_NOSIGNAL), whole(&p));
	for (int i = 0; n < 0 && i < 10; i++) {
		loop_serve(&t->rec.loop, 0);
		n = recv(fd, packet, sizeof(packet), 0);
	}
	assert_int_equal(n, sizeof(struct request_answer) + 32);
	assert_memory_equal(packet + sizeof(struct request_answer), svc.secret, 32);
	close(fd);
	free(door);
	/* The file goes with the service. */
	service_close(&svc);
	assert_int_equal(faccessat(t->dir_fd, ".control", F_OK, 0), -1);
	assert_string_equal(svc.secret, "");
	assert_null(svc.clients);
	assert_int_equal(svc.pause_fd, -1);
	loop_close_fd(&t->rec.loop, &svc.service_fd, &svc.served);
	/* The service of the recorder has had no trouble, so it has made no file. */
	assert_string_equal(t->rec.service.trouble.text, "");
	assert_string_equal(t->rec.service.secret, "");
}

/* Too many connections are refused. When one closes, another one is accepted. */
TEST_WITH(so_many, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct request_answer answer;
	int fds[65];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = connect_to(t);
		for (int k = 0; k < 3; k++)
			loop_serve(&t->rec.loop, 0);
	}
	assert_int_equal(recv(fds[63], &answer, sizeof(answer), 0), -1);
	assert_int_equal(recv(fds[64], &answer, sizeof(answer), 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	for (int k = 0; k < 10; k++)
		loop_serve(&t->rec.loop, 0);
	assert_int_equal(has_pid(t, getpid()), 0);
}
