/* Tests of cmds/tui/keys.c: each key has one meaning, and the help describes it. */
#include "tests/unit/lib/unit.h"

#include "cmds/tui/keys.h"
#include "cmds/tui/screen.h"

TEST(each_key_stands_once)
{
	for (size_t i = 0; i < nr_tui_keys; i++) {
		for (size_t k = 0; k < TUI_KEYS_MAX && tui_keys[i].keys[k]; k++)
			assert_int_equal(keys_find(tui_keys[i].keys[k]), tui_keys[i].command);
		assert_int_equal(!tui_keys[i].name, !tui_keys[i].help);
	}
}

TEST(other_keys_mean_nothing)
{
	assert_int_equal(keys_find(SCREEN_NO_KEY), -1);
	assert_int_equal(keys_find(SCREEN_OTHER), -1);
	assert_int_equal(keys_find(0), -1);
	assert_int_equal(keys_find('!'), -1);
}
