/* The pager: what long output is shown in when stdout is a terminal. */
#ifndef UTRAIL_CMDS_PAGER_H
#define UTRAIL_CMDS_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct opts;

/* @pid: 0 while there is none. Starts as { 0 }. */
struct pager {
	pid_t pid;
};

/*
 * Lead stdout into $PAGER, /usr/bin/pager or less, unless stdout is no terminal, --no-pager was
 * given or there is none. Without one, output goes straight to stdout: never an error.
 */
void pager_open(struct pager *pager, const struct opts *opts);

/* Does a pager have the terminal, or wait for the first output to put there? */
bool pager_is_open(void);

/* Flush stdout, close it, and wait until the user has left the pager. */
void pager_close(struct pager *pager);

/* Is the pager that would be used one that shows escape sequences as garbage? */
bool pager_is_plain(void);

#endif
