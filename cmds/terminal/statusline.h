/*
 * Shows a command's progress in a line on the terminal of stderr. The process has one such line.
 * Each new text replaces the old text. The line is never wider than the terminal.
 *
 * Any thread may call the functions below. The functions do not wait for a stopped terminal
 * (Ctrl-S). A write from the background does not stop the process.
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
 * line, and the functions below do nothing. The use of the line ends with statusline_close().
 */
bool statusline_open(void);

/* Remove the line for good. */
void statusline_close(void);

/*
 * Show @text in place of the present line. If @text is wider than the terminal, the end of
 * @text is cut off. @text must have no control characters.
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
 * If stdout is a terminal, or if a pager shows the output (@is_paged), remove the line for good.
 * Call this function before output goes to stdout.
 */
void statusline_before_output(bool is_paged);

/*
 * Get the number of the terminal's device (st_rdev). With this number, the caller finds other
 * processes that print to the terminal. Returns false when there is no terminal, or when the number
 * is unknown.
 */
bool statusline_terminal(uint64_t *device);

/*
 * Returns the length, in bytes, of the longest beginning of @text that fits into @columns columns.
 * A character outside of ASCII counts as two columns.
 */
size_t statusline_cut(const char *text, size_t columns);

#endif
