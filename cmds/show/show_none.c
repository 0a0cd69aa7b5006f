/* utrail show in a build without the server (see show.h). */
#include <errno.h>

#include "cmds/show/show.h"

int show_check(const struct opts *opts, struct uft_err *err)
{
	return 0;
}

int show_run(const struct opts *opts, struct uft_err *err)
{
	return err_set(err, -ENOSYS,
		       "cannot serve pages: utrail was built without libmicrohttpd; 'utrail dump "
		       "--format=html > page.html' writes the page into a file");
}
