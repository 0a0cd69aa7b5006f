/* task.txt: the lines of tasks, and the removal of lines in a long flight recording. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

/* Threads do not have such high numbers, so none of these threads exists. */
#define PARENT 4200000
#define CHILD  4200001
#define GRAND  4200002
#define THREAD 4200003

struct family {
	struct pair pair;
	struct image *session;
	struct process parent, child, grandchild;
};

static void begin(struct family *f)
{
	*f = (struct family){ 0 };
	pair_init(&f->pair);
	pair_open(&f->pair);
	f->session = image_create(&f->pair.rec.sessions, PARENT, "/bin/a \"b\"");
	assert_non_null(f->session);
	strcpy(f->session->sid, "0123456789abcdef");
	f->session->time_ns = 1000000001;
	f->parent = (struct process){
		.pid = PARENT, .os_pid = PARENT, .ppid = 1, .session = f->session
	};
	f->child = (struct process){
		.pid = CHILD,
		.os_pid = CHILD,
		.ppid = PARENT,
		.time_ns = 2000000002,
		.is_fork = true,
		.session = f->session,
		.parent = &f->parent,
	};
	f->grandchild = f->child;
	f->grandchild.pid = GRAND;
	f->grandchild.os_pid = GRAND;
	f->grandchild.ppid = CHILD;
	f->grandchild.time_ns = 3000000003;
	f->grandchild.parent = &f->child;
}

static void end(struct family *f)
{
	assert_int_equal(f->pair.rec.store->error, 0);
	pair_stop(&f->pair);
	pair_close(&f->pair);
}

static void check(struct family *f, const char *expected)
{
	struct strbuf text cleanup_strbuf = pair_file(&f->pair, "task.txt");

	assert_string_equal(strbuf_str(&text), expected);
}

#define SESSION                                                                                  \
	"SESS timestamp=1.000000001 pid=4200000 sid=0123456789abcdef exename=\"/bin/a \"b\"\"\n" \
	"TASK timestamp=1.000000001 tid=4200000 pid=4200000\n"
#define FORK_CHILD  "FORK timestamp=2.000000002 pid=4200001 ppid=4200000\n"
#define FORK_GRAND  "FORK timestamp=3.000000003 pid=4200002 ppid=4200001\n"
#define TASK_THREAD "TASK timestamp=4.000000000 tid=4200003 pid=4200001\n"

/* The line of a process comes after the lines of all its ancestors. Each line is written once. */
TEST(test_announced_once_and_in_order)
{
	struct family f;

	begin(&f);
	check(&f, "");
	tasks_announce(&f.pair.rec.tasks, &f.grandchild, GRAND, 9);
	check(&f, SESSION FORK_CHILD FORK_GRAND);
	tasks_announce(&f.pair.rec.tasks, &f.child, THREAD, 4000000000);
	check(&f, SESSION FORK_CHILD FORK_GRAND TASK_THREAD);
	tasks_announce(&f.pair.rec.tasks, &f.child, CHILD, 5000000000);
	tasks_announce(&f.pair.rec.tasks, &f.parent, PARENT, 6000000000);
	check(&f, SESSION FORK_CHILD FORK_GRAND TASK_THREAD);
	assert_int_equal(f.pair.rec.tasks.nr_tids, 4);
	assert_int_equal(f.pair.rec.tasks.tids[0], GRAND);
	assert_int_equal(f.pair.rec.tasks.tids[1], THREAD);
	assert_int_equal(f.pair.rec.tasks.tids[2], CHILD);
	assert_int_equal(f.pair.rec.tasks.tids[3], PARENT);
	end(&f);
}

/* A child without a probe of its own has a line and a file, like a task. */
TEST(test_child_without_a_probe)
{
	struct family f;

	begin(&f);
	tasks_announce_child(&f.pair.rec.tasks, &f.parent, CHILD, 2000000002);
	check(&f, SESSION FORK_CHILD);
	assert_int_equal(f.pair.rec.tasks.nr_tids, 1);
	assert_int_equal(f.pair.rec.tasks.tids[0], CHILD);
	end(&f);
}

TEST(test_many_tids)
{
	struct family f;

	begin(&f);
	for (int i = 0; i < 1000; i++)
		tasks_announce(&f.pair.rec.tasks, &f.parent, 4300000 + i, i);
	assert_int_equal(f.pair.rec.tasks.nr_tids, 1000);
	assert_true(f.pair.rec.tasks.cap_tids >= 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(f.pair.rec.tasks.tids[i], 4300000 + i);
	end(&f);
}

/* A library that was loaded before the first record announces its session, too. */
TEST(test_dlopen)
{
	struct family f;
	union {
		struct control_module module;
		char bytes[sizeof(struct control_module) + 16];
	} m = { .module = { .start = 0x7f0000, .time_ns = 1500000000, .tid = THREAD } };

	begin(&f);
	strcpy(m.module.path, "/lib/x.so");
	tasks_dlopen(&f.pair.rec.tasks, &f.parent, &m.module);
	check(&f, SESSION "DLOP timestamp=1.500000000 tid=4200003 sid=0123456789abcdef base=7f0000 "
			  "libname=\"/lib/x.so\"\n");
	end(&f);
}

static bool has_map(const struct family *f)
{
	char name[64];

	snprintf(name, sizeof(name), "sid-%s.map", f->session->sid);
	return faccessat(f->pair.dir_fd, name, F_OK, 0) == 0;
}

/* A process without records has no map: a build has thousands of these processes. */
TEST(the_map_comes_with_the_first_record)
{
	struct family f;

	begin(&f);
	assert_false(has_map(&f));
	tasks_announce(&f.pair.rec.tasks, &f.child, CHILD, 9);
	assert_true(has_map(&f));
	assert_string_equal(f.session->stack.path, "[stack]");
	tasks_announce(&f.pair.rec.tasks, &f.parent, PARENT, 9);
	assert_int_equal(f.pair.rec.tasks.map_error.code, 0);
	end(&f);
}

static int refuse(struct store *store, const char *name, const struct iovec *parts, int nr,
		  int *stream, struct uft_err *err)
{
	static unsigned nr_refused;

	return err_set(err, nr_refused++ ? -EIO : -ENOSPC, "no room for a file");
}

TEST(a_map_that_cannot_be_written_is_noted)
{
	struct family f;

	begin(&f);

	struct store *store = f.pair.rec.tasks.store;
	const struct store_ops *before = store->ops;
	struct store_ops ops = *before;

	ops.publish = refuse;
	store->ops = &ops;
	tasks_announce(&f.pair.rec.tasks, &f.child, CHILD, 9);
	f.session->announced = false;
	tasks_announce(&f.pair.rec.tasks, &f.grandchild, GRAND, 9);
	store->ops = before;
	assert_int_equal(f.pair.rec.tasks.map_error.code, -ENOSPC);
	assert_string_equal(f.pair.rec.tasks.map_error.text, "no room for a file");
	end(&f);
}

static void write_log(struct family *f, const char *text)
{
	int fd = openat(f->pair.dir_fd, "task.txt", O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

#define LINE_THREAD(tid)     "TASK timestamp=4.000000000 tid=" #tid " pid=4200000\n"
#define LINE_FORK(pid, ppid) "FORK timestamp=4.000000000 pid=" #pid " ppid=" #ppid "\n"

/*
 * Lines of ended threads and children are removed, unless they have a file, or a child of theirs
 * does.
 */
TEST(test_clear)
{
	int32_t kept[] = { 4200013, 4200011 }; /* tasks_clear() sorts it */
	char alive[64];
	char before[2048];
	char after[2048];
	struct family f;

	begin(&f);
	snprintf(alive, sizeof(alive), "TASK timestamp=5.000000000 tid=%d pid=4200000\n", getpid());
	snprintf(before, sizeof(before), "%s%s%s",
		 SESSION LINE_THREAD(4200010) LINE_THREAD(4200011), alive,
		 LINE_FORK(4200012, 4200000) LINE_FORK(4200013, 4200012) LINE_FORK(4200014, 4200013)
			 LINE_FORK(4200015, 4200014) "DLOP timestamp=1.500000000 tid=4200010 "
						     "sid=0123456789abcdef base=7f0000 "
						     "libname=\"/lib/x.so\"\n");
	snprintf(after, sizeof(after), "%s%s%s", SESSION LINE_THREAD(4200011), alive,
		 LINE_FORK(4200012, 4200000)
			 LINE_FORK(4200013, 4200012) "DLOP timestamp=1.500000000 tid=4200010 "
						     "sid=0123456789abcdef base=7f0000 "
						     "libname=\"/lib/x.so\"\n");
	write_log(&f, before);

	int32_t tids[] = { 4200010, 4200011, getpid(), 4200013, 4200014 };

	for (size_t i = 0; i < ARRAY_SIZE(tids); i++)
		tasks_announce(&f.pair.rec.tasks, f.pair.proc, tids[i], 0);
	write_log(&f, before);
	tasks_clear(&f.pair.rec.tasks, kept, ARRAY_SIZE(kept));
	check(&f, after);
	assert_int_equal(f.pair.rec.tasks.nr_tids, 3);
	assert_int_equal(f.pair.rec.tasks.tids[0], 4200011);
	assert_int_equal(f.pair.rec.tasks.tids[1], getpid());
	assert_int_equal(f.pair.rec.tasks.tids[2], 4200013);

	/* Later lines go into the new file, and no temporary file is left. */
	f.parent.announced = f.session->announced = true;
	tasks_announce(&f.pair.rec.tasks, &f.parent, THREAD, 4000000000);
	strcat(after, "TASK timestamp=4.000000000 tid=4200003 pid=4200000\n");
	check(&f, after);
	assert_int_equal(faccessat(f.pair.dir_fd, ".task.txt.tmp", F_OK, 0), -1);
	end(&f);
}

/* A parent's line stays if only a thread of its child has a file. */
TEST(test_clear_keeps_parents_of_threads)
{
	static const char text[] = SESSION LINE_FORK(4200012, 4200000)
		LINE_FORK(4200013, 4200012) "TASK timestamp=4.000000000 tid=4200020 pid=4200013\n";
	int32_t kept[] = { 4200020 };
	struct family f;

	begin(&f);
	write_log(&f, text);
	tasks_clear(&f.pair.rec.tasks, kept, ARRAY_SIZE(kept));
	check(&f, text);
	end(&f);
}

/* The lines are more than the first allocation has room for. */
TEST(test_clear_many)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int32_t kept[] = { 4200000 + 2999 };
	struct family f;

	begin(&f);
	strbuf_addstr(&text, SESSION);
	for (int i = 1; i < 3000; i++)
		strbuf_addf(&text, "TASK timestamp=4.000000000 tid=%d pid=4200000\n", 4200000 + i);
	write_log(&f, strbuf_str(&text));
	tasks_clear(&f.pair.rec.tasks, kept, ARRAY_SIZE(kept));
	check(&f, SESSION "TASK timestamp=4.000000000 tid=4202999 pid=4200000\n");
	end(&f);
}

/* If no new log can be made, the old one stays and the error is noted. */
TEST(test_clear_fails)
{
	int32_t kept[] = { 1 };
	struct family f;

	begin(&f);
	write_log(&f, SESSION LINE_THREAD(4200010));
	mkdirat(f.pair.dir_fd, ".task.txt.tmp", 0700);
	tasks_clear(&f.pair.rec.tasks, kept, ARRAY_SIZE(kept));
	check(&f, SESSION LINE_THREAD(4200010));
	assert_int_equal(f.pair.rec.store->error, -EISDIR);
	unlinkat(f.pair.dir_fd, ".task.txt.tmp", AT_REMOVEDIR);
	f.pair.rec.store->error = 0;

	unlinkat(f.pair.dir_fd, "task.txt", 0);
	tasks_clear(&f.pair.rec.tasks, kept, ARRAY_SIZE(kept));
	assert_int_equal(f.pair.rec.store->error, -ENOENT);
	f.pair.rec.store->error = 0;
	end(&f);
}
