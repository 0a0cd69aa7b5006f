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
 * @argv: its arguments, NULL-terminated
 * @preload: the library to preload; NULL: none
 * @address: the recorder's (utils/format/probe/control.h), or NULL for a library that needs none
 * @fixed_addresses: without address space randomisation
 * @no_binding: the dynamic linker looks library functions up for each call (ld.so(8), LD_BIND_NOT)
 * @ignores_children: the program ignores SIGCHLD, as the recorder did when it started
 * @filter: of system calls, for the program and all its descendants (proc/filter.h); NULL: none
 * @mask: the signal mask that the program begins with
 * @file_size, @file_number: the limits on files that the program begins with
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
 * A process that is about to become the program. It is a child, except with --keep-pid.
 *
 * @go: closing it lets the process go on
 * @report: gives end of file when the program runs, or the errno when it does not
 */
struct launched {
	pid_t pid;
	int go;
	int report;
};

/* Fork the process, which waits. Returns 0 or negative errno. */
int launch_prepare(const struct launch *launch, struct launched *child, struct uft_err *err);

/* Let the process execute the program. After a negative errno, the process is gone. */
int launch_go(const struct launch *launch, struct launched *child, struct uft_err *err);

/*
 * Fork a process that is no child of the caller, whose wait(2) must not see it. Returns 0 in the
 * caller, 1 in the new process, or negative errno.
 */
int launch_fork_away(void);

/*
 * --keep-pid: a new process, which is no child of the caller, becomes the recorder; the function
 * returns 0 in it. The caller waits for launch_release(), then becomes the program. If the recorder
 * ends first, the caller ends with CMD_FAILED. Returns negative errno in the caller when nothing
 * has changed.
 *
 * @launch: needs no address yet
 */
int launch_change_places(const struct launch *launch, struct launched *program,
			 struct uft_err *err);

/*
 * In the recorder: release the program, which gets the address of @launch. Returns 0, or negative
 * errno when the program cannot be executed.
 */
int launch_release(const struct launch *launch, struct launched *program, struct uft_err *err);

/*
 * Find the file of @name. A name with a slash stays unchanged; other names are looked up in the
 * working directory, then in $PATH. Returns 0, or -ENOENT, -EACCES or -EISDIR with a text.
 *
 * @path: gets the file's path, and has PATH_MAX bytes
 */
int launch_find_program(const char *name, char *path, struct uft_err *err);

/* True when a shell would find the command @name: by its path, or in $PATH. */
bool launch_is_command(const char *name);

/*
 * Find the library @name to preload ("libmcount.so"). If @dir is NULL, look beside this program,
 * and where the build has installed the library; otherwise look in @dir and its subdirectory
 * libmcount.
 */
int launch_find_library(const char *dir, const char *name, char *path, struct uft_err *err);

#endif
