/* Loading LuaJIT (see lua_api.h). */
#include "utils/script/lua_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

int lua_load(struct lua_api *lua, struct uft_err *err)
{
	void *library = dlopen(LUA_SONAME, RTLD_NOW | RTLD_GLOBAL);
	bool is_whole = true;

	if (!library)
		return err_set(err, -ENOENT,
			       "LuaJIT is not installed (Debian has it in libluajit-5.1-2)");
#define LUA_FIND(result, name, args)                              \
	lua->name = (__typeof__(lua->name))dlsym(library, #name); \
	is_whole &= lua->name != NULL;
	LUA_FUNCTIONS(LUA_FIND)
#undef LUA_FIND
	return is_whole ? 0 : err_set(err, -ENOENT, "the LuaJIT that is installed lacks functions");
}
