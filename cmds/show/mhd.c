/* libmicrohttpd at run time (see mhd.h). */
#include "cmds/show/mhd.h"

#include <errno.h>
#include <stddef.h>

#include "utils/base/compiler.h"
#include "utils/base/library.h"

/* The version of the library's binary interface. The build needs at least release 0.9.71. */
#define SONAME "libmicrohttpd.so.12"

static const struct library_function functions[] = {
	{ "MHD_start_daemon", offsetof(struct mhd, start_daemon) },
	{ "MHD_stop_daemon", offsetof(struct mhd, stop_daemon) },
	{ "MHD_get_connection_info", offsetof(struct mhd, get_connection_info) },
	{ "MHD_get_connection_values", offsetof(struct mhd, get_connection_values) },
	{ "MHD_lookup_connection_value", offsetof(struct mhd, lookup_connection_value) },
	{ "MHD_create_response_from_buffer", offsetof(struct mhd, create_response_from_buffer) },
	{ "MHD_create_response_from_fd64", offsetof(struct mhd, create_response_from_fd64) },
	{ "MHD_add_response_header", offsetof(struct mhd, add_response_header) },
	{ "MHD_queue_response", offsetof(struct mhd, queue_response) },
	{ "MHD_destroy_response", offsetof(struct mhd, destroy_response) },
};

struct mhd mhd;

int mhd_load(struct uft_err *err)
{
	const char *why_not = library_load(SONAME, functions, ARRAY_SIZE(functions), &mhd);

	if (why_not)
		return err_set(err, -ENOSYS,
			       "cannot load libmicrohttpd, which serves pages: %s; install it "
			       "(Debian: libmicrohttpd12), or write the page into a file: 'utrail "
			       "dump --format=html > page.html'",
			       why_not);
	return 0;
}
