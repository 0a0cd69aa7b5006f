/* The pager: it shows long output when stdout is a terminal. */
#ifndef UTRAIL_CMDS_PAGER_H
#define UTRAIL_CMDS_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct opts;

/* The struct starts as { 0 }. @pid: the process of the pager, or 0 when there is none */
struct pager {
	pid_t pid;
};

/*
 * Redirect stdout to $PAGER, or else to /usr/bin/pager or /usr/bin/less. Does nothing if stdout is
 * not a terminal, if --no-pager is given, if $PAGER is empty or `cat`, or if there is no pager. If
 * the command in $PAGER does not exist, prints a warning and leaves stdout as it is.
 */
void pager_open(struct pager *pager, const struct opts *opts);

/* True when a pager uses the terminal, or will use it from the first output on. */
bool pager_is_open(void);

/* Flush stdout, close it, and wait until the user has left the pager. */
void pager_close(struct pager *pager);

/* True when the pager would print the escape sequences of colours as garbage. */
bool pager_is_plain(void);

#endif
