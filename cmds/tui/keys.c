/* The table of keys (see keys.h). */
#include "cmds/tui/keys.h"

#include "cmds/tui/screen.h"
#include "cmds/tui/view.h"
#include "utils/base/compiler.h"

#define ACT(name) (TUI_ACT + TUI_##name)

/* The keys, in the order of the help. */
const struct tui_key tui_keys[] = {
	{ { SCREEN_UP, 'k' }, "Up, k", "a line up", TUI_UP },
	{ { SCREEN_DOWN, 'j' }, "Down, j", "a line down", TUI_DOWN },
	{ { SCREEN_PAGE_UP }, "PageUp", "a screen up", TUI_PAGE_UP },
	{ { SCREEN_PAGE_DOWN }, "PageDown", "a screen down", TUI_PAGE_DOWN },
	{ { SCREEN_HOME }, "Home", "to the first line", TUI_HOME },
	{ { SCREEN_END }, "End", "to the last line", TUI_END },
	{ { SCREEN_LEFT }, "Left", "show the text to the left of the screen", TUI_LEFT },
	{ { SCREEN_RIGHT }, "Right", "show the text to the right of the screen", TUI_RIGHT },
	{ { 'z' }, "z", "move the line to the middle of the screen", TUI_CENTER },
	{ { SCREEN_ENTER }, "Enter", "fold or unfold a call; choose from a list", ACT(FOLD) },
	{ { 'G' }, "G", "graph of the program", TUI_GRAPH },
	{ { 'g' }, "g", "graph of the line's function", TUI_GRAPH_OF_FUNC },
	{ { 'R' }, "R", "report of all functions", TUI_REPORT },
	{ { 'r' }, "r", "report, at the line's function", TUI_REPORT_AT_FUNC },
	{ { 's' }, "s", "sort the report by the next column", ACT(NEXT_SORT) },
	{ { 'T' }, "T", "all calls, in the order of time", TUI_REPLAY },
	{ { 't' }, "t", "all calls, at the first call of the line's function", TUI_REPLAY_AT_FUNC },
	{ { 'w' }, "w", "to the next call that took four times its average", ACT(NEXT_SLOW) },
	{ { 'I' }, "I", "facts about the recording", TUI_INFO },
	{ { 'S' }, "S", "programs of the recording", TUI_SESSIONS },
	{ { 'O' }, "O", "open the function's source in $EDITOR", TUI_EDITOR },
	{ { 'c' }, "c", "fold the calls made by this one", ACT(FOLD_CHILDREN) },
	{ { 'e' }, "e", "unfold the calls made by this one", ACT(UNFOLD_CHILDREN) },
	{ { 'C' }, "C", "fold all calls below this one", ACT(FOLD_ALL) },
	{ { 'E' }, "E", "unfold all calls below this one", ACT(UNFOLD_ALL) },
	{ { 'n' }, "n", "to the next call of the same caller", ACT(NEXT_SIBLING) },
	{ { 'p' }, "p", "to the previous call of the same caller", ACT(PREV_SIBLING) },
	{ { 'u' }, "u", "to the caller", ACT(PARENT) },
	{ { 'l' }, "l", "to the call within that took longest", ACT(LONGEST_CHILD) },
	{ { '/' }, "/", "search for a part of a name", TUI_SEARCH },
	{ { '<', 'P' }, "<, P", "to the previous match", TUI_PREV_MATCH },
	{ { '>', 'N' }, ">, N", "to the next match", TUI_NEXT_MATCH },
	{ { 'f' }, "f", "choose fields", TUI_FIELDS },
	{ { 'L' }, "L", "read the recording again", TUI_RELOAD },
	{ { 'v' }, "v", "show or hide numbers for debugging", TUI_DEBUG },
	{ { 'h', '?' }, "h, ?", "this help", TUI_HELP },
	{ { 'q' }, "q", "quit", TUI_QUIT },
	{ { SCREEN_WHEEL_UP }, NULL, NULL, TUI_UP },
	{ { SCREEN_WHEEL_DOWN }, NULL, NULL, TUI_DOWN },
	{ { SCREEN_CLICK }, NULL, NULL, TUI_CLICK },
	{ { SCREEN_RESIZED }, NULL, NULL, TUI_REDRAW },
};
const size_t nr_tui_keys = ARRAY_SIZE(tui_keys);

int keys_find(int key)
{
	for (size_t i = 0; key > 0 && i < nr_tui_keys; i++) {
		for (size_t k = 0; k < TUI_KEYS_MAX && tui_keys[i].keys[k]; k++) {
			if (tui_keys[i].keys[k] == key)
				return tui_keys[i].command;
		}
	}
	return -1;
}
