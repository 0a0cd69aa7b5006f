/* Scripts in Lua, run by LuaJIT. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/script/lua_api.h"
#include "utils/script/script.h"

/*
 * Indexes in Lua's registry. The script gets each call or batch as a table. The code at
 * PLACE_MAKE_ENTRY, PLACE_MAKE_EXIT and PLACE_MAKE_BATCH makes these tables. The code is in Lua,
 * and is much faster than calls of Lua's interface for C.
 */
enum place {
	PLACE_FUNCTIONS = 1,
	PLACE_HANDLER = PLACE_FUNCTIONS + SCRIPT_FUNCTIONS,
	PLACE_MAKE_ENTRY,
	PLACE_MAKE_EXIT,
	PLACE_MAKE_BATCH,
	PLACE_NAMES,
};

#define MAKE_CONTEXT(last)                                                                  \
	"local f, tid, depth, timestamp, duration, address, name, " last " = ...\n"         \
	"return f({ tid = tid, depth = depth, timestamp = timestamp, duration = duration, " \
	"address = address, name = name, " last " = " last " })"

/*
 * Lua code that returns a function. The function passes a batch to the script. Columns are C
 * arrays, which the script may keep. Columns and names begin with element 0.
 */
#define MAKE_BATCH                                                                          \
	"local ffi = require('ffi')\n"                                                      \
	"local function column(type, nr, from)\n"                                           \
	"  local to = ffi.new(type .. '[?]', nr)\n"                                         \
	"  ffi.copy(to, from, ffi.sizeof(to))\n"                                            \
	"  return to\n"                                                                     \
	"end\n"                                                                             \
	"return function(f, nr, names, func, timestamp, duration, depth, tid)\n"            \
	"  return f({ nr = nr, names = names, ['function'] = column('uint32_t', nr, func)," \
	"    timestamp = column('uint64_t', nr, timestamp),"                                \
	"    duration = column('uint64_t', nr, duration),"                                  \
	"    depth = column('uint16_t', nr, depth), tid = column('int32_t', nr, tid) })\n"  \
	"end"

/* @nr_names: number of names in PLACE_NAMES */
struct runner {
	struct lua_api lua;
	lua_State *L;
	int nr_names;
};

/* --- contexts --- */

static void set_number(struct runner *run, const char *key, double v)
{
	run->lua.lua_pushnumber(run->L, v);
	run->lua.lua_setfield(run->L, -2, key);
}

static void set_text(struct runner *run, const char *key, const char *text, size_t len)
{
	run->lua.lua_pushlstring(run->L, text, len);
	run->lua.lua_setfield(run->L, -2, key);
}

static void push_value(struct runner *run, const struct script_value *value)
{
	switch (value->kind) {
	case SCRIPT_SIGNED:
		run->lua.lua_pushnumber(run->L, value->i);
		break;
	case SCRIPT_UNSIGNED:
		run->lua.lua_pushnumber(run->L, value->u);
		break;
	case SCRIPT_FLOAT:
		run->lua.lua_pushnumber(run->L, value->f);
		break;
	/* Numbers of 128 bits become strings, since a Lua number cannot hold them. */
	default:
		run->lua.lua_pushlstring(run->L, value->text, value->len);
		break;
	}
}

static void push_values(struct runner *run, const struct script_call *call)
{
	const struct script_values *values = call->values;

	if (call->event->type == EVENT_EXIT) {
		push_value(run, &values->values[0]);
		return;
	}
	run->lua.lua_createtable(run->L, values->nr, 0);
	for (size_t i = 0; i < values->nr; i++) {
		push_value(run, &values->values[i]);
		run->lua.lua_rawseti(run->L, -2, i + 1);
	}
}

/* Push the arguments of MAKE_CONTEXT(), and return their number. */
static int push_call(struct runner *run, const struct script_call *call)
{
	const struct event *event = call->event;
	bool is_exit = event->type == EVENT_EXIT;

	run->lua.lua_rawgeti(run->L, LUA_REGISTRYINDEX,
			     PLACE_FUNCTIONS + (is_exit ? SCRIPT_EXIT : SCRIPT_ENTRY));
	run->lua.lua_pushnumber(run->L, call->tid);
	run->lua.lua_pushnumber(run->L, event->indent);
	run->lua.lua_pushnumber(run->L, event->time_ns);
	run->lua.lua_pushnumber(run->L, is_exit ? time_abs(event->total_ns) : 0);
	run->lua.lua_pushnumber(run->L, event->addr);
	run->lua.lua_pushlstring(run->L, event->func->name, event->func->name_len);
	if (!call->values || (is_exit && !call->values->nr))
		return 7;
	push_values(run, call);
	return 8;
}

static void push_point(struct runner *run, const struct script_point *point)
{
	run->lua.lua_createtable(run->L, 0, 8);
	set_number(run, "tid", point->tid);
	set_number(run, "depth", 0);
	set_number(run, "timestamp", point->event->time_ns);
	set_number(run, "duration", 0);
	set_number(run, "address", point->event->id);
	set_text(run, "name", strbuf_str(point->name), point->name->len);
	if (point->data->len)
		set_text(run, "args", strbuf_str(point->data), point->data->len);
}

static void push_begin(struct runner *run, const struct script_config *config)
{
	run->lua.lua_createtable(run->L, 0, 3);
	run->lua.lua_pushboolean(run->L, config->is_recording);
	run->lua.lua_setfield(run->L, -2, "record");
	set_text(run, "version", config->version, strlen(config->version));
	run->lua.lua_createtable(run->L, config->nr_args, 0);
	for (int i = 0; i < config->nr_args; i++) {
		run->lua.lua_pushlstring(run->L, config->args[i], strlen(config->args[i]));
		run->lua.lua_rawseti(run->L, -2, i + 1);
	}
	run->lua.lua_setfield(run->L, -2, "cmds");
}

/* --- calls --- */

static void pop_values(struct runner *run, int nr)
{
	run->lua.lua_settop(run->L, -nr - 1);
}

/* Print the error on top of the stack, and pop it. */
static void tell_error(struct script *script)
{
	struct runner *run = script->runner;
	const char *text = run->lua.lua_tolstring(run->L, -1, NULL);

	script_tell(script, text ? text : "an error that is no text");
	pop_values(run, 1);
}

/* Push a function for call_function(). The caller then pushes the function's arguments. */
static void push_function(struct runner *run, enum place place)
{
	run->lua.lua_rawgeti(run->L, LUA_REGISTRYINDEX, PLACE_HANDLER);
	run->lua.lua_rawgeti(run->L, LUA_REGISTRYINDEX, place);
}

static void call_function(struct script *script, int nr_args)
{
	struct runner *run = script->runner;

	if (run->lua.lua_pcall(run->L, nr_args, 0, -nr_args - 2) != 0) {
		tell_error(script);
		script_failed(script);
	}
	pop_values(run, 1);
}

static void give_lua_call(struct script *script, const struct script_call *call)
{
	push_function(script->runner,
		      call->event->type == EVENT_ENTRY ? PLACE_MAKE_ENTRY : PLACE_MAKE_EXIT);
	call_function(script, push_call(script->runner, call));
}

static void give_lua_point(struct script *script, const struct script_point *point)
{
	push_function(script->runner, PLACE_FUNCTIONS + SCRIPT_EVENT);
	push_point(script->runner, point);
	call_function(script, 1);
}

static void begin_lua(struct script *script)
{
	push_function(script->runner, PLACE_FUNCTIONS + SCRIPT_BEGIN);
	push_begin(script->runner, script->config);
	call_function(script, 1);
}

static void end_lua(struct script *script)
{
	push_function(script->runner, PLACE_FUNCTIONS + SCRIPT_END);
	call_function(script, 0);
}

/* --- batches --- */

static int number_lua_func(struct script *script, const struct func *func,
			   struct script_func *known)
{
	struct runner *run = script->runner;

	run->lua.lua_rawgeti(run->L, LUA_REGISTRYINDEX, PLACE_NAMES);
	run->lua.lua_pushlstring(run->L, func->name, func->name_len);
	run->lua.lua_rawseti(run->L, -2, run->nr_names++);
	pop_values(run, 1);
	return 0;
}

static void hand_lua_batch(struct script *script)
{
	struct runner *run = script->runner;
	struct script_batch *b = script->batch;
	void *columns[] = { b->function, b->timestamp, b->duration, b->depth, b->tid };

	push_function(run, PLACE_MAKE_BATCH);
	run->lua.lua_rawgeti(run->L, LUA_REGISTRYINDEX, PLACE_FUNCTIONS + SCRIPT_BATCH);
	run->lua.lua_pushnumber(run->L, b->nr);
	run->lua.lua_rawgeti(run->L, LUA_REGISTRYINDEX, PLACE_NAMES);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		run->lua.lua_pushlightuserdata(run->L, columns[i]);
	call_function(script, 3 + ARRAY_SIZE(columns));
}

/* --- loading --- */

/* Let `require` find modules beside the script: put "DIR/?.lua;" before package.path. */
static int set_path(struct runner *run, const struct script_config *config)
{
	struct strbuf path cleanup_strbuf = { 0 };
	const char *slash = strrchr(config->path, '/');
	const char *known;

	strbuf_add(&path, config->path, slash ? slash - config->path : 0);
	strbuf_addstr(&path, slash ? "/?.lua;" : "./?.lua;");
	run->lua.lua_getfield(run->L, LUA_GLOBALSINDEX, "package");
	run->lua.lua_getfield(run->L, -1, "path");
	known = run->lua.lua_tolstring(run->L, -1, NULL);
	strbuf_addstr(&path, known ? known : "");
	pop_values(run, 1);
	set_text(run, "path", strbuf_str(&path), path.len);
	pop_values(run, 1);
	return strbuf_oom(&path) ? -ENOMEM : 0;
}

/*
 * Set the global table `arg` as luajit(1) does: element 0 is the script's path, and config->args
 * begins at element 1. Also set the elements of Lua's registry from PLACE_HANDLER to PLACE_NAMES.
 * take_functions() sets the elements before PLACE_HANDLER, which hold the script's functions.
 */
static int set_surroundings(struct runner *run, const struct script_config *config,
			    struct uft_err *err)
{
	run->lua.lua_createtable(run->L, config->nr_args, 1);
	for (int i = -1; i < config->nr_args; i++) {
		const char *word = i < 0 ? config->path : config->args[i];

		run->lua.lua_pushlstring(run->L, word, strlen(word));
		run->lua.lua_rawseti(run->L, -2, i + 1);
	}
	run->lua.lua_setfield(run->L, LUA_GLOBALSINDEX, "arg");
	run->lua.lua_getfield(run->L, LUA_GLOBALSINDEX, "debug");
	run->lua.lua_getfield(run->L, -1, "traceback");
	run->lua.lua_rawseti(run->L, LUA_REGISTRYINDEX, PLACE_HANDLER);
	pop_values(run, 1);
	run->lua.luaL_loadstring(run->L, MAKE_CONTEXT("args"));
	run->lua.lua_rawseti(run->L, LUA_REGISTRYINDEX, PLACE_MAKE_ENTRY);
	run->lua.luaL_loadstring(run->L, MAKE_CONTEXT("retval"));
	run->lua.lua_rawseti(run->L, LUA_REGISTRYINDEX, PLACE_MAKE_EXIT);
	run->lua.lua_createtable(run->L, 0, 0);
	run->lua.lua_rawseti(run->L, LUA_REGISTRYINDEX, PLACE_NAMES);
	run->lua.luaL_loadstring(run->L, MAKE_BATCH);
	if (run->lua.lua_pcall(run->L, 0, 1, 0) != 0)
		return err_set(err, -EINVAL, "this LuaJIT has no module ffi");
	run->lua.lua_rawseti(run->L, LUA_REGISTRYINDEX, PLACE_MAKE_BATCH);
	return 0;
}

/*
 * Push a global variable and return the variable's type. A script may contain code that makes each
 * read of an undefined variable fail. This function does not run such code.
 */
static int push_global(struct runner *run, const char *name)
{
	run->lua.lua_pushvalue(run->L, LUA_GLOBALSINDEX);
	run->lua.lua_pushlstring(run->L, name, strlen(name));
	run->lua.lua_rawget(run->L, -2);
	return run->lua.lua_type(run->L, -1);
}

static int take_wanted(struct script *script, struct uft_err *err)
{
	struct runner *run = script->runner;
	int type = push_global(run, SCRIPT_WANTED);
	size_t nr = type == LUA_TTABLE ? run->lua.lua_objlen(run->L, -1) : 0;
	int ret = type == LUA_TTABLE || type == LUA_TNIL ? 0 : script_no_list(script, err);

	for (size_t i = 1; ret == 0 && i <= nr; i++) {
		size_t len;
		const char *text;

		run->lua.lua_rawgeti(run->L, -1, i);
		text = run->lua.lua_tolstring(run->L, -1, &len);
		ret = text ? script_want(script, text, len, err) : script_no_list(script, err);
		pop_values(run, 1);
	}
	pop_values(run, 2);
	return ret;
}

static void take_functions(struct script *script)
{
	struct runner *run = script->runner;

	for (int i = 0; i < SCRIPT_FUNCTIONS; i++) {
		int type = push_global(run, script_function_names[i]);

		script->has[i] = type == LUA_TFUNCTION;
		if (!script->has[i] && type != LUA_TNIL)
			script_tell_not_callable(script, i);
		run->lua.lua_rawseti(run->L, LUA_REGISTRYINDEX, PLACE_FUNCTIONS + i);
		pop_values(run, 1);
	}
}

/* Load the script, and run the part of its code that is outside of functions. */
static int load_script(struct script *script, struct uft_err *err)
{
	struct runner *run = script->runner;
	const char *path = script->config->path;

	run->lua.lua_rawgeti(run->L, LUA_REGISTRYINDEX, PLACE_HANDLER);
	if (run->lua.luaL_loadfile(run->L, path) != 0 ||
	    run->lua.lua_pcall(run->L, 0, 0, -2) != 0) {
		tell_error(script);
		return err_set(err, -EINVAL, "'%s' cannot be imported", path);
	}
	pop_values(run, 1);

	int ret = take_wanted(script, err);

	take_functions(script);
	return ret;
}

static int open_lua(struct script *script, struct uft_err *err)
{
	struct runner *run = calloc(1, sizeof(*run));
	const char *path = script->config->path;

	script->runner = run;
	if (!run)
		return err_set_errno(err, -ENOMEM, "cannot run '%s'", path);

	int ret = lua_load(&run->lua, err);

	if (ret < 0) {
		err_prefix(err, "cannot run '%s'", path);
		return ret;
	}
	run->L = run->lua.luaL_newstate();
	if (!run->L)
		return err_set_errno(err, -ENOMEM, "cannot run '%s'", path);
	run->lua.luaL_openlibs(run->L);
	ret = set_surroundings(run, script->config, err);
	if (ret < 0) {
		err_prefix(err, "cannot run '%s'", path);
		return ret;
	}
	ret = set_path(run, script->config);
	return ret < 0 ? err_set_errno(err, ret, "cannot run '%s'", path)
		       : load_script(script, err);
}

static void drop_func(struct script *script, struct script_func *func)
{
}

static void close_lua(struct script *script)
{
	struct runner *run = script->runner;

	if (run && run->L)
		run->lua.lua_close(run->L);
	free(run);
}

const struct script_lang script_lua = {
	.ending = ".lua",
	.comment = "--",
	.open = open_lua,
	.close = close_lua,
	.drop_func = drop_func,
	.begin = begin_lua,
	.call = give_lua_call,
	.point = give_lua_point,
	.end = end_lua,
	.number = number_lua_func,
	.batch = hand_lua_batch,
};
