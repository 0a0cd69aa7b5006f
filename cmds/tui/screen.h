/*
 * The terminal as a screen. Only screen.c uses ncurses. There is one screen, and it belongs to the
 * main thread.
 */
#ifndef UTRAIL_CMDS_TUI_SCREEN_H
#define UTRAIL_CMDS_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"

/*
 * Numbers of keys. A key that is not a character has a number above the codes of all characters. A
 * negative number means that no key was read.
 */
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
	SCREEN_CLICK, /* a click on screen_clicked_row() */
	/* the size has changed, or the process was continued, so everything must be drawn again */
	SCREEN_RESIZED,
	SCREEN_OTHER,
};

enum screen_look {
	SCREEN_PLAIN,
	SCREEN_CURSOR, /* reverse video */
	SCREEN_BAR,    /* the first and the last line of the screen */
};

/*
 * Check that there is a usable terminal. Returns 0. Returns -ENOTTY without a terminal, or -EINVAL
 * for an unknown kind of terminal, both with @err.
 */
int screen_check(struct uft_err *err);

/*
 * Begin to use the terminal as a screen. Call screen_check() before, and screen_close() at the end.
 * If the process crashes, the terminal is restored before the process ends. Signals that would end
 * the process, such as SIGINT, are noted (screen_signal()). Returns 0, or -EINVAL with @err.
 *
 * @has_color: use colours, if the terminal has them
 */
int screen_open(bool has_color, struct uft_err *err);
void screen_close(void);

/* screen_leave(): give the terminal to another program. screen_return(): take it back. */
void screen_leave(void);
void screen_return(void);

/* True when the locale's characters are UTF-8. */
bool screen_is_utf8(void);

struct screen_size {
	size_t rows;
	size_t columns;
};
struct screen_size screen_size(void);

/*
 * Put text in line @row, from @column on. The text is cut to @width columns, or padded with blanks.
 * Escape sequences in the text (color.h) set colours.
 *
 * @shift: the first @shift columns of the text are not shown
 */
void screen_put(size_t row, size_t column, size_t width, const char *text, size_t len, size_t shift,
		enum screen_look look);

/* Show the text that calls of screen_put() have put. */
void screen_show(void);

/*
 * Returns a character, an enum screen_key, or SCREEN_NO_KEY after @timeout_ms. If @timeout_ms is
 * -1, waits without a limit.
 */
int screen_key(int timeout_ms);
size_t screen_clicked_row(void);

/*
 * Check for keys while something takes long. Returns true when the user has typed q or Escape, or
 * when a signal that must end the program has come (screen_signal()). All keys, including q and
 * Escape, are kept for screen_key().
 */
bool screen_is_interrupted(void);

/*
 * Returns the signal with which the program must end itself, or 0. Returns SIGHUP when the terminal
 * has disappeared.
 */
int screen_signal(void);

#endif
