/* Takes the place of lua.c in a build without LuaJIT: no script in Lua can run. */
#include <errno.h>

#include "utils/script/script.h"

static int open_lua(struct script *script, struct uft_err *err)
{
	return err_set(err, -ENOSYS, "cannot run '%s': utrail was built without LuaJIT",
		       script->config->path);
}

static void close_lua(struct script *script)
{
}

const struct script_lang script_lua = {
	.ending = ".lua",
	.comment = "--",
	.open = open_lua,
	.close = close_lua,
};
