/* Refuses to show screens, in builds without ncurses (see tui.h). */
#include <errno.h>

#include "cmds/tui/tui.h"

int tui_check(const struct opts *opts, struct uft_err *err)
{
	return 0;
}

int tui_check_terminal(struct uft_err *err)
{
	return err_set(err, -ENOSYS,
		       "cannot show screens: utrail was built without ncurses; 'utrail graph' and "
		       "'utrail report' show the same as text");
}

int tui_run(const struct opts *opts, struct uft_err *err)
{
	return tui_check_terminal(err);
}
