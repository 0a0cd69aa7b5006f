/* Uses the terminal as a screen, with ncurses (see screen.h). */
#include "cmds/tui/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include <curses.h>
#include <term.h>
/* ncurses defines these macros, but the code below uses their names for other things. */
#undef columns
#undef lines

#include "utils/base/compiler.h"

/*
 * The time that ncurses waits for the rest of a key's escape sequence. If no rest comes, the key
 * was Escape.
 */
#define ESCAPE_MS	 25
/* A signal that has come just before a wait for a key is noticed after at most this time. */
#define LOOK_MS		 500
/*
 * The maximum number of consecutive reads that find no input although the terminal is readable. If
 * there are more such reads, the terminal has disappeared.
 */
#define EMPTY_READS_MAX	 50
#define PAIR_BAR	 8
/* The maximum number of keys that are kept when the user types during a long operation. */
#define TYPED_MAX	 64
#define RESTORE_BYTES	 256
#define SIGNAL_STACK	 (64 * 1024)
#define REPLACEMENT_CHAR '?'

/*
 * The state of the screen. Signal handlers must not call ncurses. To restore the terminal, a
 * handler calls write(2) and tcsetattr(3). The data for these two calls are prepared here.
 */
static struct {
	bool is_open;
	bool has_color;
	bool is_utf8;
	SCREEN *screen;
	struct termios termios;
	char restore[RESTORE_BYTES];
	size_t restore_len;
	size_t clicked_row;
	unsigned empty_reads;
	int typed[TYPED_MAX];
	size_t nr_typed;
	char *stack;
} the;

static volatile sig_atomic_t caught_signal;
static volatile sig_atomic_t was_continued;

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static struct sigaction old_ending[ARRAY_SIZE(ending_signals)];
static struct sigaction old_fatal[ARRAY_SIZE(fatal_signals)];
static struct sigaction old_continue;

static void note_signal(int sig)
{
	caught_signal = sig;
}

static void note_continue(int sig)
{
	was_continued = 1;
}

/* Handles crashes: restores the terminal, so that messages about the crash can be read. */
static void restore_and_die(int sig)
{
	ssize_t ignored = write(STDOUT_FILENO, the.restore, the.restore_len);

	(void)ignored;
	tcsetattr(STDIN_FILENO, TCSANOW, &the.termios);
	for (size_t i = 0; i < ARRAY_SIZE(fatal_signals); i++) {
		if (fatal_signals[i] == sig)
			sigaction(sig, &old_fatal[i], NULL);
	}
	raise(sig);
}

static void catch_signals(void)
{
	const struct sigaction ends = { .sa_handler = note_signal };
	const struct sigaction continues = { .sa_handler = note_continue };
	const struct sigaction dies = {
		.sa_handler = restore_and_die,
		.sa_flags = SA_ONSTACK | SA_NODEFER,
	};

	the.stack = malloc(SIGNAL_STACK);
	if (the.stack)
		sigaltstack(&(stack_t){ .ss_sp = the.stack, .ss_size = SIGNAL_STACK }, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaction(ending_signals[i], &ends, &old_ending[i]);
	for (size_t i = 0; i < ARRAY_SIZE(fatal_signals); i++)
		sigaction(fatal_signals[i], &dies, &old_fatal[i]);
	sigaction(SIGCONT, &continues, &old_continue);
}

static void release_signals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaction(ending_signals[i], &old_ending[i], NULL);
	for (size_t i = 0; i < ARRAY_SIZE(fatal_signals); i++)
		sigaction(fatal_signals[i], &old_fatal[i], NULL);
	sigaction(SIGCONT, &old_continue, NULL);
	if (the.stack)
		sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
	free(the.stack);
	the.stack = NULL;
}

static void add_restore(const char *capability)
{
	const char *text = tigetstr((char *)capability);
	size_t len = text && text != (char *)-1 ? strlen(text) : 0;

	if (len && the.restore_len + len <= RESTORE_BYTES) {
		memcpy(the.restore + the.restore_len, text, len);
		the.restore_len += len;
	}
}

/* Defines the colours of color.h, on the terminal's default background. */
static void begin_colors(bool wanted)
{
	the.has_color = wanted && has_colors() && start_color() == OK;
	if (!the.has_color)
		return;

	short background = use_default_colors() == OK ? -1 : COLOR_BLACK;

	for (short color = COLOR_RED; color <= COLOR_WHITE; color++)
		init_pair(color, color, background);
	init_pair(PAIR_BAR, COLOR_WHITE, COLOR_BLUE);
}

int screen_check(struct uft_err *err)
{
	const char *term = getenv("TERM");
	int found = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, -ENOTTY,
			       "tui needs a terminal, and standard %s is none: use 'utrail graph' "
			       "or 'utrail report'",
			       isatty(STDIN_FILENO) ? "output" : "input");
	if (!term || !*term || setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return err_set(
			err, -EINVAL,
			"cannot use a terminal of the kind '%s' (TERM): it is not known here",
			term ? term : "");

	bool moves = cursor_address;

	/*
	 * The description of the terminal from setupterm() is not needed any more, because ncurses
	 * makes its own.
	 */
	del_curterm(cur_term);
	if (!moves)
		return err_set(err, -EINVAL,
			       "cannot use a terminal of the kind '%s' (TERM): its cursor does not "
			       "move",
			       term);
	return 0;
}

int screen_open(bool has_color, struct uft_err *err)
{
	setlocale(LC_CTYPE, "");
	the.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	tcgetattr(STDIN_FILENO, &the.termios);
	/*
	 * Signals are caught before ncurses starts, because ncurses sets its own handlers for
	 * signals that have none.
	 */
	catch_signals();
	the.screen = newterm(NULL, stdout, stdin);
	if (!the.screen) {
		release_signals();
		return err_set(err, -EINVAL, "cannot use this terminal: ncurses does not start");
	}
	the.is_open = true;
	add_restore("rmcup");
	add_restore("sgr0");
	add_restore("cnorm");
	add_restore("rmkx");
	begin_colors(has_color);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, true);
	nodelay(stdscr, true);
	set_escdelay(ESCAPE_MS);
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	return 0;
}

void screen_close(void)
{
	if (!the.is_open)
		return;
	the.is_open = false;
	mousemask(0, NULL);
	endwin();
	release_signals();
	delscreen(the.screen);
	the.screen = NULL;
}

void screen_leave(void)
{
	def_prog_mode();
	endwin();
}

void screen_return(void)
{
	reset_prog_mode();
	clearok(curscr, true);
	refresh();
}

bool screen_is_utf8(void)
{
	return the.is_utf8;
}

struct screen_size screen_size(void)
{
	int height;
	int width;

	getmaxyx(stdscr, height, width);
	return (struct screen_size){ MAX(height, 1), MAX(width, 1) };
}

/* --- text --- */

/*
 * Returns the attributes of "\e[<number>m". A bright colour becomes a bold colour, because the
 * terminal may have no bright colours.
 */
static attr_t sgr_attrs(unsigned number, short *pair)
{
	bool is_bright = number >= 90 && number <= 97;
	unsigned color = number - (is_bright ? 90 : 30);

	*pair = 0;
	if (number == 1)
		return A_BOLD;
	if (!the.has_color || color > 7)
		return 0;
	/* bright black is gray */
	if (is_bright && color == 0)
		return A_DIM;
	*pair = color;
	return is_bright ? A_BOLD : 0;
}

/* Reads the escape sequence at @text, which sets a colour (color.h). Returns its length. */
static size_t read_sgr(const char *text, size_t len, attr_t *attrs, short *pair)
{
	unsigned number = 0;
	size_t at = 2;

	for (; at < len && text[at] >= '0' && text[at] <= '9'; at++)
		number = number * 10 + (text[at] - '0');
	*attrs = sgr_attrs(number, pair);
	return at < len ? at + 1 : len;
}

/*
 * Reads the character at @text, and returns its length. The text is in UTF-8. Callers have escaped
 * bytes that are not valid UTF-8.
 */
static size_t read_char(const char *text, size_t len, wchar_t *c)
{
	static const uint8_t firsts[] = { 0x7f, 0x1f, 0x0f, 0x07 };
	uint8_t first = text[0];
	size_t nr = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	*c = first & firsts[nr - 1];
	for (size_t i = 1; i < nr; i++) {
		if (i >= len || ((uint8_t)text[i] & 0xc0) != 0x80) {
			*c = REPLACEMENT_CHAR;
			return i;
		}
		*c = (*c << 6) | (text[i] & 0x3f);
	}
	if (nr > 1 && !the.is_utf8)
		*c = REPLACEMENT_CHAR;
	return nr;
}

static attr_t look_attrs(enum screen_look look, short *pair)
{
	*pair = 0;
	if (look == SCREEN_CURSOR)
		return A_REVERSE;
	if (look != SCREEN_BAR)
		return 0;
	if (!the.has_color)
		return A_REVERSE | A_BOLD;
	*pair = PAIR_BAR;
	return A_BOLD;
}

static void put_char(wchar_t c, attr_t attrs, short pair)
{
	const wchar_t text[2] = { c, 0 };
	cchar_t cell;

	if (setcchar(&cell, text, attrs, pair, NULL) == OK)
		add_wch(&cell);
}

void screen_put(size_t row, size_t column, size_t width, const char *text, size_t len, size_t shift,
		enum screen_look look)
{
	const struct screen_size size = screen_size();
	size_t at = 0; /* number of columns before the next character of @text */
	short base_pair;
	const attr_t base = look_attrs(look, &base_pair);
	attr_t attrs = 0;
	short pair = 0;

	if (row >= size.rows || column >= size.columns || move(row, column) != OK)
		return;
	width = MIN(width, size.columns - column);

	const size_t end = shift + width;

	for (size_t i = 0; i < len && at <= end;) {
		wchar_t c;

		if (text[i] == '\033') {
			i += read_sgr(text + i, len - i, &attrs, &pair);
			continue;
		}
		i += read_char(text + i, len - i, &c);

		int cells = c < 0x80 ? 1 : wcwidth(c);

		if (cells < 0) {
			c = REPLACEMENT_CHAR;
			cells = 1;
		}
		if (at + cells > end)
			break;
		if (at >= shift)
			put_char(c, base | attrs, look == SCREEN_BAR || !pair ? base_pair : pair);
		else if (at + cells > shift)
			put_char(' ', base, base_pair);
		at += cells;
	}
	for (at = MAX(at, shift); at < end; at++)
		put_char(' ', base, base_pair);
}

void screen_show(void)
{
	refresh();
}

/* --- keys --- */

static int mouse_key(void)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return SCREEN_OTHER;
	the.clicked_row = MAX(event.y, 0);
	if (event.bstate & BUTTON4_PRESSED)
		return SCREEN_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return SCREEN_WHEEL_DOWN;
	return event.bstate & BUTTON1_PRESSED ? SCREEN_CLICK : SCREEN_OTHER;
}

static int function_key(wint_t code)
{
	static const struct {
		wint_t code;
		int key;
	} keys[] = {
		{ KEY_UP, SCREEN_UP },		{ KEY_DOWN, SCREEN_DOWN },
		{ KEY_LEFT, SCREEN_LEFT },	{ KEY_RIGHT, SCREEN_RIGHT },
		{ KEY_PPAGE, SCREEN_PAGE_UP },	{ KEY_NPAGE, SCREEN_PAGE_DOWN },
		{ KEY_HOME, SCREEN_HOME },	{ KEY_END, SCREEN_END },
		{ KEY_ENTER, SCREEN_ENTER },	{ KEY_BACKSPACE, SCREEN_BACKSPACE },
		{ KEY_RESIZE, SCREEN_RESIZED },
	};

	if (code == KEY_MOUSE)
		return mouse_key();
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].code == code)
			return keys[i].key;
	}
	return SCREEN_OTHER;
}

static int read_key(void)
{
	wint_t c;
	int kind = get_wch(&c);

	if (kind == ERR)
		return SCREEN_NO_KEY;
	the.empty_reads = 0;
	if (kind == KEY_CODE_YES)
		return function_key(c);
	switch (c) {
	case '\r':
	case '\n':
		return SCREEN_ENTER;
	case '\b':
	case 0x7f:
		return SCREEN_BACKSPACE;
	case 0x1b:
		return SCREEN_ESCAPE;
	default:
		return c;
	}
}

/*
 * Draws everything again after the process was stopped and continued, because other programs have
 * used the terminal.
 */
static int redraw_all(void)
{
	was_continued = 0;
	reset_prog_mode();
	clearok(curscr, true);
	return SCREEN_RESIZED;
}

/*
 * True when the terminal has disappeared. In this case the terminal is always readable for poll(2),
 * but no read finds input.
 */
static bool has_gone(const struct pollfd *input)
{
	if (input->revents & (POLLHUP | POLLERR | POLLNVAL))
		return true;
	return input->revents & POLLIN && ++the.empty_reads > EMPTY_READS_MAX;
}

bool screen_is_interrupted(void)
{
	int key;

	while (the.nr_typed < TYPED_MAX && (key = read_key()) != SCREEN_NO_KEY)
		the.typed[the.nr_typed++] = key;
	for (size_t i = 0; i < the.nr_typed; i++) {
		if (the.typed[i] == 'q' || the.typed[i] == SCREEN_ESCAPE)
			return true;
	}
	return caught_signal;
}

/* Returns a key that was kept during a long operation, or a key that is available now. */
static int next_key(void)
{
	int key = the.typed[0];

	if (the.nr_typed == 0)
		return read_key();
	memmove(the.typed, the.typed + 1, --the.nr_typed * sizeof(the.typed[0]));
	return key;
}

int screen_key(int timeout_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int key = next_key();

	while (key == SCREEN_NO_KEY && !caught_signal) {
		if (was_continued)
			return redraw_all();

		int part = timeout_ms < 0 ? LOOK_MS : MIN(timeout_ms, LOOK_MS);
		int ready = poll(&input, 1, part);

		key = read_key();
		if (key == SCREEN_NO_KEY && ready > 0 && has_gone(&input))
			caught_signal = SIGHUP;
		if (timeout_ms >= 0 && (timeout_ms -= part) <= 0)
			break;
	}
	return caught_signal ? SCREEN_NO_KEY : key;
}

size_t screen_clicked_row(void)
{
	return the.clicked_row;
}

int screen_signal(void)
{
	return caught_signal;
}
