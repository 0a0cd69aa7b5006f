/* Starts the program that is to be recorded. */
#ifndef UTRAIL_CMDS_RECORD_RUN_LAUNCH_H
#define UTRAIL_CMDS_RECORD_RUN_LAUNCH_H

#include <linux/filter.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "utils/base/err.h"

/*
 * @path: the program's file, already looked up
 * @argv: the arguments of the program, NULL-terminated
 * @preload: the library to preload; NULL: none
 * @address: the address of the recorder (utils/format/probe/control.h), or NULL if the library
 *           needs none
 * @fixed_addresses: switch off address space randomisation
 * @no_binding: the dynamic linker looks up library functions at each call (ld.so(8), LD_BIND_NOT)
 * @ignores_children: the program ignores SIGCHLD, because utrail was started with SIGCHLD ignored
 * @filter: a filter of system calls for the program and all its descendants (proc/filter.h); NULL:
 *          none
 * @mask: the signal mask with which the program begins
 * @file_size, @file_number: RLIMIT_FSIZE and RLIMIT_NOFILE, with which the program begins
 */
struct launch {
	const char *path;
	char **argv;
	const char *preload;
	const char *address;
	bool fixed_addresses;
	bool no_binding;
	bool ignores_children;
	const struct sock_fprog *filter;
	sigset_t mask;
	struct rlimit file_size;
	struct rlimit file_number;
};

/*
 * A process that is about to become the program. It is a child of the recorder, except with
 * --keep-pid.
 *
 * @go: closing this pipe lets the process go on
 * @report: this pipe ends without a byte when the program was executed. Otherwise it has the errno
 *          of the failure
 */
struct launched {
	pid_t pid;
	int go;
	int report;
};

/* Fork a process, which waits for launch_go(). Returns 0 or a negative errno. */
int launch_prepare(const struct launch *launch, struct launched *child, struct uft_err *err);

/*
 * Let the process execute the program. Returns 0, or a negative errno when the program cannot be
 * executed. After a failure the process has ended, and its status was collected.
 */
int launch_go(const struct launch *launch, struct launched *child, struct uft_err *err);

/*
 * Fork a process that is not a child of the caller. So the caller's wait(2) never reports the new
 * process. Returns 0 in the caller, 1 in the new process, or a negative errno.
 */
int launch_fork_away(void);

/*
 * --keep-pid: fork a process that becomes the recorder, and is not a child of the caller. The
 * function returns 0 in the new process. The caller waits for launch_release(), and then becomes
 * the program. If the recorder ends without launch_release(), the caller ends with CMD_FAILED. On
 * failure the function returns a negative errno in the caller, and nothing has changed.
 *
 * @launch: @launch->address is not used. launch_release() passes the address to the program
 */
int launch_change_places(const struct launch *launch, struct launched *program,
			 struct uft_err *err);

/*
 * Called in the recorder: let the program start, and pass it the string @launch->address. Returns
 * 0, or a negative errno when the program cannot be executed.
 */
int launch_release(const struct launch *launch, struct launched *program, struct uft_err *err);

/*
 * Find the file of @name. A name with a slash is used unchanged. Other names are looked up in the
 * working directory, and then in $PATH. Returns 0, or a negative errno with a text, for example
 * -ENOENT, -EACCES, -EISDIR or -ENAMETOOLONG.
 *
 * @path: gets the path of the file, and has PATH_MAX bytes
 */
int launch_find_program(const char *name, char *path, struct uft_err *err);

/* True when a shell would find the command @name, by its path or in $PATH. */
bool launch_is_command(const char *name);

/*
 * Find the library @name to preload ("libmcount.so"). If @dir is not NULL, look in @dir and in its
 * subdirectory libmcount. Otherwise look in the directory libmcount beside this program, and in the
 * places where the build installs the library. Returns 0, or -ENOENT with a text.
 */
int launch_find_library(const char *dir, const char *name, char *path, struct uft_err *err);

#endif
