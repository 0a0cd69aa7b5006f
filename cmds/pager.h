/* The pager: it shows long output when stdout is a terminal. */
#ifndef UTRAIL_CMDS_PAGER_H
#define UTRAIL_CMDS_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct opts;

/* @pid: the pager's process, 0 while there is none. Starts as { 0 }. */
struct pager {
	pid_t pid;
};

/*
 * Lead stdout into $PAGER, /usr/bin/pager or less. Leaves stdout as it is when stdout is no
 * terminal, with --no-pager, or without a pager.
 */
void pager_open(struct pager *pager, const struct opts *opts);

/* True when a pager uses the terminal, or waits for the first output. */
bool pager_is_open(void);

/* Flush stdout, close it, and wait until the user has left the pager. */
void pager_close(struct pager *pager);

/* True when the pager would print the escape sequences of colours as garbage. */
bool pager_is_plain(void);

#endif
