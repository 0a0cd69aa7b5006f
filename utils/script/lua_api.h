/*
 * The functions of LuaJIT (Lua 5.1) that utrail calls to run scripts. LuaJIT is loaded on demand.
 * The functions are declared here, so the build does not need LuaJIT's headers.
 */
#ifndef UTRAIL_SCRIPT_LUA_API_H
#define UTRAIL_SCRIPT_LUA_API_H

#include <stddef.h>

#include "utils/base/err.h"

typedef struct lua_State lua_State;

#define LUA_SONAME	  "libluajit-5.1.so.2"
#define LUA_REGISTRYINDEX (-10000)
#define LUA_GLOBALSINDEX  (-10002)
#define LUA_TNIL	  0
#define LUA_TSTRING	  4
#define LUA_TTABLE	  5
#define LUA_TFUNCTION	  6

/* X(result, name, arguments), as lua.org/manual/5.1 has them. */
#define LUA_FUNCTIONS(X)                                                             \
	X(lua_State *, luaL_newstate, (void))                                        \
	X(void, luaL_openlibs, (lua_State * L))                                      \
	X(int, luaL_loadstring, (lua_State * L, const char *text))                   \
	X(int, luaL_loadfile, (lua_State * L, const char *path))                     \
	X(void, lua_close, (lua_State * L))                                          \
	X(int, lua_pcall, (lua_State * L, int nr_args, int nr_results, int handler)) \
	X(void, lua_settop, (lua_State * L, int top))                                \
	X(int, lua_type, (lua_State * L, int at))                                    \
	X(const char *, lua_tolstring, (lua_State * L, int at, size_t *len))         \
	X(size_t, lua_objlen, (lua_State * L, int at))                               \
	X(void, lua_pushnumber, (lua_State * L, double v))                           \
	X(void, lua_pushboolean, (lua_State * L, int v))                             \
	X(void, lua_pushlstring, (lua_State * L, const char *text, size_t len))      \
	X(void, lua_pushlightuserdata, (lua_State * L, void *p))                     \
	X(void, lua_pushvalue, (lua_State * L, int at))                              \
	X(void, lua_createtable, (lua_State * L, int nr_list, int nr_keys))          \
	X(void, lua_getfield, (lua_State * L, int table, const char *key))           \
	X(void, lua_setfield, (lua_State * L, int table, const char *key))           \
	X(void, lua_rawget, (lua_State * L, int table))                              \
	X(void, lua_rawset, (lua_State * L, int table))                              \
	X(void, lua_rawgeti, (lua_State * L, int table, int at))                     \
	X(void, lua_rawseti, (lua_State * L, int table, int at))

struct lua_api {
#define LUA_MEMBER(result, name, args) result(*name) args;
	LUA_FUNCTIONS(LUA_MEMBER)
#undef LUA_MEMBER
};

/*
 * Load LuaJIT, which stays loaded. Returns 0, or -ENOENT with @err if LuaJIT is missing or lacks
 * one of the functions.
 */
int lua_load(struct lua_api *lua, struct uft_err *err);

#endif
