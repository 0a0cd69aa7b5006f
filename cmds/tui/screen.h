/*
 * The terminal as a screen: only this file talks to ncurses. There is one screen; it belongs to the
 * main thread.
 */
#ifndef UTRAIL_CMDS_TUI_SCREEN_H
#define UTRAIL_CMDS_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"

/* Keys other than characters, with larger numbers; and other reasons to wake the reader. */
enum screen_key {
	SCREEN_NO_KEY = -1, /* the time is over, or a signal came */
	SCREEN_UP = 0x200000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_ENTER,
	SCREEN_BACKSPACE,
	SCREEN_ESCAPE,
	SCREEN_WHEEL_UP,
	SCREEN_WHEEL_DOWN,
	SCREEN_CLICK,	/* on screen_clicked_row() */
	SCREEN_RESIZED, /* or continued: all is to be drawn again */
	SCREEN_OTHER,
};

enum screen_look {
	SCREEN_PLAIN,
	SCREEN_CURSOR, /* reverse video */
	SCREEN_BAR,    /* the first and the last line of the screen */
};

/*
 * Check that there is a usable terminal. Returns 0; -ENOTTY, or -EINVAL for an unknown kind of
 * terminal, with @err.
 */
int screen_check(struct uft_err *err);

/*
 * Take the terminal, until screen_close(), which may be called at any time. Signals of a crash
 * restore it first; signals that other processes send are noted, see screen_signal(). To be called
 * after screen_check(). Returns 0, or -EINVAL with @err.
 *
 * @has_color: use colours, if the terminal has them
 */
int screen_open(bool has_color, struct uft_err *err);
void screen_close(void);

/* Give the terminal to another program, and take it back. */
void screen_leave(void);
void screen_return(void);

/* True when the terminal shows UTF-8, by the locale. */
bool screen_is_utf8(void);

void screen_size(size_t *rows, size_t *columns);

/*
 * Put a line's text at @row from @column on, in the colours of its escape sequences (color.h),
 * padded with blanks to @width columns. The first @shift columns of the text are skipped, and a
 * longer text is cut.
 */
void screen_put(size_t row, size_t column, size_t width, const char *text, size_t len, size_t shift,
		enum screen_look look);

/* Show the lines that were put. */
void screen_show(void);

/*
 * Returns a character, an enum screen_key, or SCREEN_NO_KEY after @timeout_ms; -1: wait for ever.
 */
int screen_key(int timeout_ms);
size_t screen_clicked_row(void);

/*
 * While something takes long: true when the user has typed q or Escape, or a signal ends the
 * program. Keys are kept for screen_key().
 */
bool screen_is_interrupted(void);

/* The signal by which the program has to end, or 0. SIGHUP when the terminal has gone. */
int screen_signal(void);

#endif
