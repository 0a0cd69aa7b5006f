/*
 * Response files of a compiler that has just begun: those that are read, those that are not, and
 * the rights for reading.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/proc/response_files.h"
#include "cmds/record/base/rights.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/base/compiler.h"
#include "utils/base/outfile.h"
#include "utils/format/datadir.h"

#define NOBODY 65534

static char dir[PATH_MAX];

static const char *own_file(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(outfile_put(own_file(name), text, strlen(text), NULL), 0);
}

static int begin(void **state)
{
	char template[] = "/tmp/utrail-unit-XXXXXX";

	return mkdtemp(template) && realpath(template, dir) && chmod(dir, 0755) == 0 ? 0 : -1;
}

static int end(void **state)
{
	static const char *const names[] = { "a", "b", "c", "fifo", "huge", "secret" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(own_file(names[i]));
	return rmdir(dir);
}

/* Put "name=content" or "name!error" of each record into @out, with '|' between them. */
static void list(struct store *store, struct strbuf *out)
{
	struct strbuf file cleanup_strbuf = { 0 };
	struct proc_record rec;
	struct proc_act act;
	size_t wanted;
	ssize_t len;

	assert_int_equal(store_read(store, DATADIR_PROCESSES, SIZE_MAX, &file), 0);
	for (size_t at = 0; at < file.len; at += len) {
		len = proc_record_decode((const uint8_t *)file.data + at, file.len - at,
					 PROC_IS_BIG, &rec, &wanted, NULL);
		assert_true(len > 0);
		assert_int_equal(rec.kind, PROC_RESPONSE);
		assert_true(proc_act_decode(rec.data, rec.len, PROC_IS_BIG, &act));
		strbuf_addf(out, "%s%.*s", out->len ? "|" : "", (int)text_left(&act.texts[0]),
			    act.texts[0].at);
		if (act.numbers[0])
			strbuf_addf(out, "!%s", strerror(act.numbers[0]));
		else
			strbuf_addf(out, "=%.*s", (int)text_left(&act.texts[1]), act.texts[1].at);
	}
}

/*
 * Check the files that are recorded when process @pid executes the words of @line.
 *
 * @user: see response_files_write()
 */
static void check_as(pid_t pid, const struct peer *user, const char *line, const char *right)
{
	struct record_settings settings = { .clock_id = CLOCK_MONOTONIC };
	struct strbuf text cleanup_strbuf = { 0 };
	struct store_memory store;
	struct proc_log log;
	struct view view = { .tid = pid, .dirfd = AT_FDCWD, .base = dir };
	char args[256];

	strcpy(args, line);
	for (char *at = args; *at; at++)
		*at = *at == ' ' ? '\0' : *at;
	store_memory_init(&store);
	assert_int_equal(proc_log_open(&log, &settings, &store.store), 0);
	response_files_write(&log, &view, user,
			     &(struct execution){ .program = "/bin/tool",
						  .interpreter = "/bin/tool",
						  .cwd = dir,
						  .args = args,
						  .args_len = strlen(line) + 1 });
	list(&store.store, &text);
	assert_string_equal(strbuf_str(&text), right);
	proc_log_close(&log);
	store_memory_deinit(&store);
}

static void check_of(pid_t pid, const char *line, const char *right)
{
	check_as(pid, NULL, line, right);
}

static void check(const char *line, const char *right)
{
	check_of(getpid(), line, right);
}

TEST(of_compilers_only)
{
	put("a", "-c x.c");
	check("gcc -DX @a", "a=-c x.c");
	check("ccache clang-14 @a @a", "a=-c x.c");
	check("cc1 @a", "a=-c x.c");
	check("tar @a", "");
	check("@a", "");
	check("gcc @", "");
	check("gcc -c a.c", "");
	check("gcc @none", "none!No such file or directory");
}

TEST(files_within_files)
{
	put("a", "@b '@c'");
	put("b", "@a one");
	put("c", "two @b");
	check("gcc @a", "a=@b '@c'|b=@a one|c=two @b");
}

TEST(regular_files_only)
{
	assert_int_equal(mkfifo(own_file("fifo"), 0600), 0);
	check("gcc @fifo", "fifo!Invalid argument");
	check("gcc @/dev/zero", "/dev/zero!Invalid argument");
	check("gcc @/", "/!Is a directory");
	put("huge", "x");
	assert_int_equal(truncate(own_file("huge"), 1LL << 40), 0);
	check("gcc @huge", "huge!File too large");
}

/*
 * A response file of an ended process is not read here: it may still be there when the database is
 * made.
 */
TEST(a_process_that_has_ended)
{
	pid_t pid = fork();

	put("a", "x");
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	check_of(pid, "gcc @a", "");
}

/* Start a child with other rights. The child waits. */
static pid_t run_as_nobody(void)
{
	int pipes[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0 &&
		    write(pipes[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	return pid;
}

TEST(with_the_rights_of_the_process)
{
	struct rights before;
	pid_t pid;

	if (geteuid() != 0)
		skip_because("only root can have the rights of others");
	put("a", "x");
	put("secret", "word");
	chmod(own_file("a"), 0644);
	chmod(own_file("secret"), 0600);
	pid = run_as_nobody();
	check_of(pid, "gcc @secret @a", "secret!Permission denied|a=x");
	check("gcc @secret", "secret=word");

	/* The peer's rights are in use only while its files are read. */
	assert_int_equal(rights_enter_as(pid, &before), 0);
	assert_int_equal(open(own_file("secret"), O_RDONLY), -1);
	rights_leave(&before);
	assert_int_equal(access(own_file("secret"), R_OK), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(rights_enter_as(pid, &before), -ESRCH);
}

/* The process has executed a setuid program since it has named the files. */
TEST(with_the_rights_that_the_process_had)
{
	const struct peer user = { getpid(), NOBODY, NOBODY };

	if (geteuid() != 0)
		skip_because("only root can have the rights of others");
	put("a", "x");
	put("secret", "word");
	chmod(own_file("a"), 0644);
	chmod(own_file("secret"), 0600);
	check_as(getpid(), &user, "gcc @secret @a", "secret!Permission denied|a=x");
}

TEST_GROUP(begin, end)
