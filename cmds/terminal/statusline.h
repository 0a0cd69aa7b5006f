/*
 * One line on the terminal of stderr that shows a command's progress. It is rewritten in place and
 * never longer than the terminal is wide.
 *
 * There is one for the whole program, since there is one stderr. Any thread may call the functions
 * below. They do not wait for a stopped terminal (Ctrl-S), and a write from the background does not
 * stop the process.
 */
#ifndef UTRAIL_CMDS_STATUSLINE_H
#define UTRAIL_CMDS_STATUSLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A command that takes longer says how far it is. */
#define STATUSLINE_FIRST_MS 1000

/*
 * Returns false when stderr is no terminal: then there is no line, and the functions below do
 * nothing. Ends with statusline_close().
 */
bool statusline_open(void);

/* The line is removed, and there is none any more. */
void statusline_close(void);

/*
 * Show @text in place of the present line, from its beginning on, as far as there is room; it has
 * no control characters.
 */
void statusline_show(const char *text);
void statusline_hide(void);

/* Between these two another line may be written to stderr, in place of the status line. */
void statusline_hold(void);
void statusline_release(void);

/*
 * Output is about to go to stdout. When that is a terminal, too, or leads to one through a pager,
 * the line is removed for good.
 */
void statusline_before_output(bool is_paged);

/*
 * The number of the terminal's device (st_rdev), to find other processes that print there. False
 * when there is none, or it is unknown.
 */
bool statusline_terminal(uint64_t *device);

/*
 * Returns the number of bytes of @text that take at most @columns. A character outside of ASCII
 * counts as two columns.
 */
size_t statusline_cut(const char *text, size_t columns);

#endif
