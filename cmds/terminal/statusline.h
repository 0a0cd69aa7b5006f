/*
 * One line on the terminal that stderr is: how far a command is. It is rewritten in place and never
 * longer than the terminal is wide.
 *
 * There is one for the whole program, since there is one stderr. Any thread may call the functions
 * below; nobody waits for a terminal that stands still (Ctrl-S), and nobody is stopped for writing
 * to one from the background.
 */
#ifndef UTRAIL_CMDS_STATUSLINE_H
#define UTRAIL_CMDS_STATUSLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A command that takes longer says how far it is. */
#define STATUSLINE_FIRST_MS 1000

/*
 * False when stderr is no terminal: then there is no line, and the functions below do nothing. Ends
 * with statusline_close().
 */
bool statusline_open(void);

/* The line is removed, and there is none any more. */
void statusline_close(void);

/*
 * @text takes the place of what stands there. It is shown from its beginning on, as far as there is
 * room; it has no control characters.
 */
void statusline_show(const char *text);
void statusline_hide(void);

/* Somebody writes a line to stderr between these two, which comes where the status was. */
void statusline_hold(void);
void statusline_release(void);

/*
 * Output is about to go to stdout. When that is a terminal, too, or leads to one through a pager,
 * the line is removed for good.
 */
void statusline_before_output(bool is_paged);

/*
 * The number of the terminal's device (st_rdev), to find other processes that print there. False
 * when there is none, or nobody can say.
 */
bool statusline_terminal(uint64_t *device);

/*
 * The number of bytes of @text that take at most @columns. A character that is not ASCII is taken
 * for one of two columns.
 */
size_t statusline_cut(const char *text, size_t columns);

#endif
