/* Takes the place of python.c in a build without Python: no script in Python can run. */
#include <errno.h>

#include "utils/script/script.h"

static int open_python(struct script *script, struct uft_err *err)
{
	return err_set(err, -ENOSYS, "cannot run '%s': utrail was built without Python",
		       script->config->path);
}

static void close_python(struct script *script)
{
}

const struct script_lang script_python = {
	.ending = ".py",
	.comment = "#",
	.open = open_python,
	.close = close_python,
};
