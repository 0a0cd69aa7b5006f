/* The keys of the screen program: their actions and their help texts, in one table. */
#ifndef UTRAIL_CMDS_TUI_KEYS_H
#define UTRAIL_CMDS_TUI_KEYS_H

#include <stddef.h>

/* The actions of keys, except for actions within a view (enum tui_act). */
enum tui_command {
	TUI_UP,
	TUI_DOWN,
	TUI_LEFT,
	TUI_RIGHT,
	TUI_PAGE_UP,
	TUI_PAGE_DOWN,
	TUI_HOME,
	TUI_END,
	TUI_CENTER,
	TUI_GRAPH,
	TUI_GRAPH_OF_FUNC,
	TUI_REPORT,
	TUI_REPORT_AT_FUNC,
	TUI_REPLAY,
	TUI_REPLAY_AT_FUNC,
	TUI_INFO,
	TUI_SESSIONS,
	TUI_EDITOR,
	TUI_SEARCH,
	TUI_NEXT_MATCH,
	TUI_PREV_MATCH,
	TUI_FIELDS,
	TUI_DEBUG,
	TUI_RELOAD,
	TUI_HELP,
	TUI_QUIT,
	TUI_CLICK,
	TUI_REDRAW,
	TUI_FIRST, /* goes to the view that is shown first; has no key */
	TUI_ACT,   /* actions within a view: this number plus an enum tui_act */
};

#define TUI_KEYS_MAX 4

/*
 * @keys: characters, or enum screen_key; 0 ends the list
 * @name: the name in the help; NULL: not in the help
 * @help: a phrase
 */
struct tui_key {
	int keys[TUI_KEYS_MAX];
	const char *name;
	const char *help;
	int command;
};

extern const struct tui_key tui_keys[];
extern const size_t nr_tui_keys;

/* Returns the command of @key, or -1. */
int keys_find(int key);

#endif
