/*
 * A program without hooks for recordings of processes and files: it makes each system call that is
 * watched, with success and with failures. It works in its current directory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int ended(pid_t pid)
{
	int status;

	return waitpid(pid, &status, __WALL) == pid ? status : -1;
}

/* --- files --- */

static int opens(void)
{
	struct open_how how = { .flags = O_CREAT | O_WRONLY, .mode = 0604 };
	int dir;

	syscall(SYS_openat, AT_FDCWD, "made", O_CREAT | O_RDWR, 0640);
	syscall(SYS_openat, AT_FDCWD, "made", O_RDONLY | O_NOFOLLOW, 0777);
	syscall(SYS_openat, AT_FDCWD, "missing", O_RDONLY, 0);
	syscall(SYS_openat2, AT_FDCWD, "how", &how, sizeof(how));
	mkdir("dir", 0700);
	dir = syscall(SYS_openat, AT_FDCWD, "dir", O_RDONLY | O_DIRECTORY, 0);
	syscall(SYS_openat, dir, "below", O_CREAT | O_WRONLY, 0600);
	syscall(SYS_openat, dir, "../dir/./below", O_RDONLY, 0);
	chdir("dir");
	syscall(SYS_openat, AT_FDCWD, "../made", O_PATH, 0);
	fchdir(dir);
	syscall(SYS_openat, AT_FDCWD, "below", O_RDONLY, 0);
	chdir("..");
#ifdef SYS_open
	syscall(SYS_creat, "created", 0611);
	syscall(SYS_open, "created", O_WRONLY | O_TRUNC, 0);
	syscall(SYS_open, "opened", O_RDWR | O_CREAT, 0622);
#endif
	return dir;
}

static void copies(int fd)
{
	int ends[2];

	syscall(SYS_dup, fd);
	syscall(SYS_dup3, fd, 40, 0);
	syscall(SYS_dup3, fd, 41, O_CLOEXEC);
	syscall(SYS_dup3, fd, fd, 0);
	syscall(SYS_fcntl, fd, F_DUPFD, 42);
	syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 42);
	syscall(SYS_fcntl, fd, F_GETFD);
	syscall(SYS_pipe2, ends, O_CLOEXEC | O_NONBLOCK);
#ifdef SYS_open
	syscall(SYS_dup2, fd, 44);
	syscall(SYS_pipe, ends);
#endif
	syscall(SYS_close, 40);
	syscall(SYS_close, 40);
	syscall(SYS_close_range, 42, 43, 0);
	syscall(SYS_close_range, 44, 50, 4 /* CLOSE_RANGE_CLOEXEC */);
}

static void moves(int dir)
{
	int fd = syscall(SYS_openat, AT_FDCWD, "made", O_PATH, 0);

	syscall(SYS_renameat2, AT_FDCWD, "how", AT_FDCWD, "renamed", 0);
	syscall(SYS_renameat2, AT_FDCWD, "renamed", dir, "renamed", 1 /* RENAME_NOREPLACE */);
	syscall(SYS_renameat2, dir, "renamed", dir, "below", 1);
	syscall(SYS_renameat2, AT_FDCWD, "missing", AT_FDCWD, "other", 0);
	syscall(SYS_renameat2, AT_FDCWD, "missing/../made", dir, "missing/other", 0);
	syscall(SYS_symlinkat, "made", AT_FDCWD, "symlink");
	syscall(SYS_symlinkat, "../nowhere", dir, "dangling");
	syscall(SYS_linkat, AT_FDCWD, "made", dir, "link", 0);
	syscall(SYS_linkat, AT_FDCWD, "symlink", AT_FDCWD, "hard1", AT_SYMLINK_FOLLOW);
	syscall(SYS_linkat, AT_FDCWD, "symlink", AT_FDCWD, "hard2", 0);
	syscall(SYS_linkat, fd, "", AT_FDCWD, "made", AT_EMPTY_PATH);
	syscall(SYS_linkat, AT_FDCWD, "missing", AT_FDCWD, "hard3", 0);
	syscall(SYS_linkat, AT_FDCWD, "dir/dangling", AT_FDCWD, "hard3", AT_SYMLINK_FOLLOW);
#ifdef SYS_open
	syscall(SYS_renameat, AT_FDCWD, "created", dir, "created");
	syscall(SYS_rename, "dir/created", "created");
	syscall(SYS_rename, "dir", "created");
	syscall(SYS_link, "created", "dir/linked");
	syscall(SYS_link, "created", "made");
	syscall(SYS_symlink, "/absolute", "dir/symlink");
	syscall(SYS_unlink, "dir/symlink");
	syscall(SYS_unlink, "dir/linked");
	syscall(SYS_unlink, "symlink");
	syscall(SYS_unlink, "missing");
	mkdir("other", 0700);
	syscall(SYS_rmdir, "other");
	syscall(SYS_rmdir, "dir");
#endif
	mkdir("other", 0700);
	syscall(SYS_unlinkat, AT_FDCWD, "other/", AT_REMOVEDIR);
	syscall(SYS_unlinkat, dir, "dangling", 0);
	syscall(SYS_unlinkat, dir, "../created", 0);
	syscall(SYS_unlinkat, dir, "missing", 0);
}

static void mounts(void)
{
	mount("nothing", "missing", "tmpfs", MS_NOSUID, NULL);
	umount2("missing", MNT_DETACH);
	umount2("missing", 8 /* UMOUNT_NOFOLLOW */);
}

/* --- processes --- */

static void *names_itself(void *arg)
{
	prctl(PR_SET_NAME, "a name that is too long");
	prctl(PR_GET_DUMPABLE);
	return arg;
}

static void ends_by(int sig, int status)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (sig)
			raise(sig);
		_exit(status);
	}
	if (sig == SIGSTOP && waitpid(pid, NULL, WUNTRACED) == pid)
		kill(pid, SIGCONT);
	ended(pid);
}

static void untraced(void)
{
	struct clone_args args = { .flags = CLONE_UNTRACED, .exit_signal = SIGCHLD };
	pid_t pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(21);
	ended(pid);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(22);
	ended(pid);
	args.flags = CLONE_UNTRACED | CLONE_FILES;
	pid = syscall(SYS_clone3, &args, CLONE_ARGS_SIZE_VER0);
	if (pid == 0)
		_exit(23);
	ended(pid);
	/* A thread needs the flags CLONE_SIGHAND and CLONE_VM. */
	syscall(SYS_clone, CLONE_THREAD | CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
	args.flags = CLONE_THREAD;
	syscall(SYS_clone3, &args, sizeof(args));
	syscall(SYS_clone3, &args, 8);
}

static void processes(void)
{
	pthread_t thread;

	ends_by(0, 0);
	ends_by(0, 3);
	ends_by(SIGKILL, 0);
	ends_by(SIGTERM, 0);
	ends_by(SIGSTOP, 4);
	ends_by(SIGWINCH, 5);
	untraced();
	if (pthread_create(&thread, NULL, names_itself, NULL) == 0)
		pthread_join(thread, NULL);
}

/* --- programs --- */

static void executes(const char *program, char *const argv[])
{
	static char *const environment[] = { "ONE=1", "TWO= 2", NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		execve(program, argv, environment);
		_exit(9);
	}
	ended(pid);
}

/* A command of a compiler has names of files with more arguments. */
static void compiles(void)
{
	int fd = open("list", O_CREAT | O_WRONLY, 0600);
	char path[4096];
	ssize_t len;

	if (write(fd, "-DONE \"@other list\" @list", 25) != 25)
		_exit(1);
	close(fd);
	fd = open("other list", O_CREAT | O_WRONLY, 0600);
	if (write(fd, "-c source.c", 11) != 11)
		_exit(1);
	close(fd);
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = '\0';
	symlink(path, "gcc");
	executes("./gcc", (char *[]){ "gcc", "@list", "@missing", "@", "-O2", NULL });
	executes("./gcc", (char *[]){ "other", "@list", NULL });
}

static void *executes_here(void *arg)
{
	execve("/proc/self/exe", (char *[]){ "last", "ends", NULL }, (char *[]){ NULL });
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	const char *act = argc > 1 ? argv[1] : "";

	if (strcmp(act, "files") == 0) {
		int dir = opens();

		copies(dir);
		moves(dir);
		mounts();
	} else if (strcmp(act, "processes") == 0) {
		processes();
	} else if (strcmp(act, "programs") == 0) {
		syscall(SYS_openat, AT_FDCWD, "kept", O_CREAT | O_WRONLY, 0600);
		syscall(SYS_openat, AT_FDCWD, "closed", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
		executes("/proc/self/exe", (char *[]){ "a name", "with \"quotes\"", "", NULL });
		executes("./missing", (char *[]){ "missing", NULL });
		compiles();
		if (pthread_create(&thread, NULL, executes_here, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return argc > 1 ? 0 : 6;
}
