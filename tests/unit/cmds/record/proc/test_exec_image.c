/*
 * The new image of a process: its file, the file named in the call, its directory and its
 * arguments.
 */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/proc/exec_image.h"
#include "utils/format/proc_dat.h"

/* With this argument the program runs no tests. It says that it has begun, and waits. */
#define WAITS "waits-for-ever"

static char top[PATH_MAX], self[PATH_MAX];

static const char *own_file(const char *name)
{
	static char paths[4][PATH_MAX + 64];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s%s", top, name);
	return path;
}

static int begin(void **state)
{
	char template[] = "/tmp/utrail-unit-XXXXXX";
	FILE *script;

	if (!mkdtemp(template) || !realpath(template, top) || !realpath("/proc/self/exe", self))
		return -1;
	script = fopen(own_file("/script"), "w");
	if (!script)
		return -1;
	fprintf(script, "#!%s/program " WAITS "\n", top);
	fclose(script);
	return symlink(self, own_file("/program")) || chmod(own_file("/script"), 0700);
}

static int end(void **state)
{
	unlink(own_file("/script"));
	unlink(own_file("/program"));
	return rmdir(top);
}

/*
 * Start a child in @top that executes @name and waits. If @name is NULL, the child executes this
 * test's own file.
 */
static pid_t run(const char *name, char *const args[])
{
	int pipes[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = name ? -1 : open(self, O_RDONLY | O_CLOEXEC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pipes[1], STDOUT_FILENO);
		if (chdir(top) == 0) {
			if (name)
				execve(name, args, environ);
			else
				fexecve(fd, args, environ);
		}
		_exit(1);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	return pid;
}

static void encode(pid_t pid, pid_t old_tid, struct strbuf *out)
{
	struct exec_image became cleanup_became;

	exec_image_read(pid, &became);
	exec_image_encode(&became, old_tid, out);
}

static void check_text(const struct text *text, const char *wanted, size_t len)
{
	assert_int_equal(text->end - text->at, len);
	assert_memory_equal(text->at, wanted, len);
}

/* @args: NULL when the arguments do not matter */
static void check(pid_t pid, const char *program, const char *args, size_t args_len)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct proc_exec exec;

	encode(pid, 4711, &out);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(proc_exec_decode((const uint8_t *)strbuf_str(&out), out.len,
				     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, &exec));
	assert_int_equal(exec.old_tid, 4711);
	check_text(&exec.interpreter, self, strlen(self));
	check_text(&exec.program, program, strlen(program));
	check_text(&exec.cwd, top, strlen(top));
	check_text(&exec.args, args, args_len);
}

TEST(a_program_is_where_its_links_lead)
{
	static const char args[] = "a name\0" WAITS "\0\0last";

	check(run(own_file("/program"), (char *[]){ "a name", WAITS, "", "last", NULL }), self,
	      args, sizeof(args));
	/* A relative name is resolved from the directory at the time of the call. */
	check(run("./program", (char *[]){ "a name", WAITS, "", "last", NULL }), self, args,
	      sizeof(args));
}

TEST(a_script_is_not_what_runs)
{
	char args[2 * PATH_MAX];
	int len = snprintf(args, sizeof(args), "%s/program%c" WAITS "%c./script%cmore", top, 0, 0,
			   0);

	check(run("./script", (char *[]){ "x", "more", NULL }), own_file("/script"), args, len + 1);
}

TEST(a_program_without_a_name_is_what_runs)
{
	static const char args[] = "x\0" WAITS;

	check(run(NULL, (char *[]){ "x", WAITS, NULL }), self, args, sizeof(args));
}

TEST(of_nobody_nothing_is_known)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct proc_exec exec;

	encode(-1, 5, &out);
	assert_true(proc_exec_decode((const uint8_t *)strbuf_str(&out), out.len,
				     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, &exec));
	assert_int_equal(exec.old_tid, 5);
	check_text(&exec.interpreter, "", 0);
	check_text(&exec.program, "", 0);
	check_text(&exec.cwd, "", 0);
	check_text(&exec.args, "", 0);
}

TEST(nothing_stays_open)
{
	struct strbuf out cleanup_strbuf = { 0 };
	int fd = dup(STDERR_FILENO);

	close(fd);
	encode(getpid(), 5, &out);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
}

TEST_GROUP(begin, end)

int main(int argc, char *argv[])
{
	if (argc > 1 && strcmp(argv[1], WAITS) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(STDOUT_FILENO, "x", 1) == 1)
			for (;;)
				pause();
		return 1;
	}
	return unit_run();
}
