/* Reports of modules after dlopen(3). The test plays the recorder. */
#include "libmcount/system/modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "tests/unit/lib/own_name.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/unix_name.h"

/* A module as it was reported, with its path. */
union reported {
	char bytes[sizeof(struct control_module) + 1024];
	struct control_module m;
};

/* The recorder's side of one conversation. */
struct talk {
	int listener;
	bool answers;
	bool has_come;
	int nr_modules;
	union reported modules[100];
};

static struct pair pair;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	return 0;
}

static int teardown(void **state)
{
	modules_drop();
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

/* Counts the modules of a conversation, and answers its end or closes the connection. */
static void *serve(void *arg)
{
	struct talk *talk = arg;
	int fd = accept(talk->listener, NULL, NULL);
	union {
		struct control_header h;
		struct control_module m;
		char bytes[CONTROL_MSG_MAX];
	} packet = { 0 };
	struct control_plan answer = { 0 };

	talk->has_come = fd >= 0;
	while (talk->has_come && recv(fd, &packet, sizeof(packet), 0) > 0 &&
	       packet.h.type != CONTROL_READY) {
		if (packet.h.type != CONTROL_MODULE || talk->nr_modules == 100)
			continue;

		union reported *module = &talk->modules[talk->nr_modules++];

		memcpy(module->bytes, packet.bytes, sizeof(module->bytes) - 1);
	}
	control_stamp(&answer, CONTROL_PLAN, CONTROL_ANSWER, sizeof(answer), packet.h.seq);
	if (talk->has_come && talk->answers)
		send(fd, &answer, sizeof(answer), MSG_NOSIGNAL);
	if (talk->has_come)
		close(fd);
	return NULL;
}

static struct talk talk;

/* Returns the number of modules that are reported after a dlopen(3), or -1 without a report. */
static int report(bool answers)
{
	struct sockaddr_un addr;
	int len = own_name(probe.address, sizeof(probe.address));
	socklen_t addr_len = unix_name_address(&addr, probe.address, len);
	pthread_t recorder;

	talk = (struct talk){ .answers = answers };
	talk.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_return_code(bind(talk.listener, (struct sockaddr *)&addr, addr_len), errno);
	assert_return_code(listen(talk.listener, 1), errno);
	strcat(probe.address, ":0");
	assert_int_equal(pthread_create(&recorder, NULL, serve, &talk), 0);
	errno = 4711;
	modules_after_dlopen(77);
	assert_int_equal(errno, 4711);
	/* This ends accept(2). */
	shutdown(talk.listener, SHUT_RDWR);
	pthread_join(recorder, NULL);
	close(talk.listener);
	return talk.has_come ? talk.nr_modules : -1;
}

/* Loads a library without the probe's dlopen(3), which would report it. */
static void *load(const char *name)
{
	void *(*next)(const char *, int);
	void *handle;

	*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	handle = next(name, RTLD_NOW);
	if (!handle)
		skip_because("there is no %s", name);
	return handle;
}

/* A library comes and goes, so that there may be modules to report. */
static void load_anew(void)
{
	int (*next)(void *);

	*(void **)&next = dlsym(RTLD_NEXT, "dlclose");
	assert_int_equal(next(load("libanl.so.1")), 0);
}

/* A recorder that gives no plan may not know the modules, so they are reported again. */
TEST_WITH(a_failed_report_is_repeated, setup, teardown)
{
	int nr = report(false);

	assert_in_range(nr, 2, 100);
	assert_int_equal(report(true), -1);
	pair_pass(11000000000);
	assert_int_equal(report(false), nr);
	pair_pass(11000000000);
	assert_int_equal(report(false), -1);
	pair_pass(10000000000);
	assert_int_equal(report(true), nr);
	pair_pass(11000000000);
	assert_int_equal(report(true), -1);
}

/*
 * Returns the first or the last address that /proc/self/maps has for a file, or 0 when the file is
 * not mapped.
 */
static uint64_t mapped(const char *path, bool is_end)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];
	uint64_t found = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start = strtoull(line, NULL, 16);
		uint64_t end = strtoull(strchr(line, '-') + 1, NULL, 16);
		char *name = strchr(line, '/');

		if (!name)
			continue;
		name[strcspn(name, "\n")] = '\0';
		if (strcmp(name, path) == 0)
			found = is_end ? end : found ? found : start;
	}
	fclose(maps);
	return found;
}

static const union reported *reported(const char *path)
{
	for (int i = 0; i < talk.nr_modules; i++) {
		if (strcmp(talk.modules[i].m.path, path) == 0)
			return &talk.modules[i];
	}
	return NULL;
}

TEST_WITH(a_report_is_what_the_kernel_has_mapped, setup, teardown)
{
	char exe[PATH_MAX];
	const union reported *program;

	load_anew();
	assert_in_range(report(true), 2, 100);
	assert_non_null(realpath("/proc/self/exe", exe));
	program = reported(exe);
	assert_non_null(program);
	assert_ptr_equal(program, &talk.modules[0]);
	/* Some compilers make programs that are always at the same place. */
	if (program->m.load_bias)
		assert_int_equal(program->m.load_bias, mapped(exe, false));
	for (int i = 0; i < talk.nr_modules; i++) {
		const struct control_module *m = &talk.modules[i].m;
		char path[PATH_MAX];

		/* Each module has a file, because the vDSO is not reported. */
		assert_int_equal(talk.modules[i].m.path[0], '/');
		assert_non_null(realpath(talk.modules[i].m.path, path));
		assert_int_equal(m->start, mapped(path, false));
		/* The last pages may have no file, like those of .bss. */
		assert_true(m->end >= mapped(path, true));
		assert_int_equal(m->start % 4096 + m->end % 4096, 0);
		assert_true(m->load_bias <= m->start);
		assert_int_equal(m->has_text, 1);
		assert_int_equal(m->time_ns, 77);
		assert_int_equal(m->tid, getpid());
		for (int k = 0; k < i; k++)
			assert_string_not_equal(talk.modules[k].m.path, talk.modules[i].m.path);
	}
}

/* The modules that were reported are known until they are dropped. */
TEST_WITH(only_new_modules_are_reported, setup, teardown)
{
	void *handle;
	int nr;

	load_anew();
	nr = report(true);
	assert_in_range(nr, 2, 100);
	handle = load("libutil.so.1");
	assert_int_equal(report(true), 1);
	assert_non_null(strstr(talk.modules[0].m.path, "/libutil"));
	assert_int_equal(report(true), -1);
	/* A failed report does not make a module known. */
	handle = load("libBrokenLocale.so.1");
	assert_int_equal(report(false), 1);
	pair_pass(11000000000);
	assert_int_equal(report(true), 1);
	assert_non_null(strstr(talk.modules[0].m.path, "/libBrokenLocale"));
	modules_drop();
	load_anew();
	assert_int_equal(report(true), nr + 2);
	assert_non_null(handle);
}

/* The path of an attached probe is one that only this process may see. */
TEST_WITH(an_attached_probe_is_not_reported, setup, teardown)
{
	char exe[PATH_MAX];
	int nr;

	assert_non_null(realpath("/proc/self/exe", exe));
	load_anew();
	nr = report(true);
	assert_non_null(reported(exe));
	if (!reported(exe)->m.load_bias)
		skip_because("this program is not position-independent, as the probe is");
	modules_drop();
	load_anew();
	probe.is_attached = true;
	/* In this test the program plays the probe. */
	assert_int_equal(report(true), nr - 1);
	assert_null(reported(exe));
	probe.is_attached = false;
}
