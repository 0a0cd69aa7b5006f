/*
 * Shows a command's progress in a line on the terminal of stderr. The process has one such line. It
 * is rewritten in place, and is never longer than the terminal is wide.
 *
 * Any thread may call the functions below. They do not wait for a stopped terminal (Ctrl-S), and
 * writing from the background does not stop the process.
 */
#ifndef UTRAIL_CMDS_STATUSLINE_H
#define UTRAIL_CMDS_STATUSLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time after which a command shows its progress. */
#define STATUSLINE_FIRST_MS 1000

/*
 * Begin to use the line. Returns false when stderr is not a terminal. In this case there is no
 * line, and the functions below do nothing. Ends with statusline_close().
 */
bool statusline_open(void);

/* Remove the line for good. */
void statusline_close(void);

/*
 * Show @text in place of the present line, cut to the width of the terminal. @text must have no
 * control characters.
 */
void statusline_show(const char *text);
void statusline_hide(void);

/*
 * Between statusline_hold() and statusline_release(), the caller may write another line to stderr,
 * in place of the status line.
 */
void statusline_hold(void);
void statusline_release(void);

/*
 * Remove the line for good if stdout is a terminal, or a pager shows the output (@is_paged). Call
 * it before output goes to stdout.
 */
void statusline_before_output(bool is_paged);

/*
 * Get the number of the terminal's device (st_rdev), to find other processes that print to it.
 * Returns false when there is no terminal, or its number is unknown.
 */
bool statusline_terminal(uint64_t *device);

/*
 * Returns the number of bytes of @text that take at most @columns. A character outside of ASCII
 * counts as two columns.
 */
size_t statusline_cut(const char *text, size_t columns);

#endif
