/* Takes the place of exp_sqlite.c in a build without libsqlite3. */
#include <errno.h>

#include "utils/export/export.h"

static int refuse_sqlite(struct export *ex, struct tree *tree, struct uft_err *err)
{
	return err_set(err, -ENOSYS,
		       "cannot write sqlite: this utrail was built without libsqlite3");
}

const struct exporter exp_sqlite = {
	.name = "sqlite",
	.medium = MEDIUM_BINARY,
	.is_binary = true,
	.show = refuse_sqlite,
	.drops_points = "there is no libsqlite3",
};
