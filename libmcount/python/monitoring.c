/*
 * Records the calls that sys.monitoring reports (monitoring.h). A tool of sys.monitoring needs no
 * frame objects, and leaves the program's profile functions alone. Python has room for six tools,
 * so the program can have tools of its own.
 */
#include "libmcount/python/monitoring.h"

#include <limits.h>
#include <string.h>

#include "libmcount/hot/probe.h"
#include "libmcount/program/definition.h"
#include "libmcount/python/calls.h"
#include "libmcount/python/calls_fast.h"
#include "libmcount/python/threads.h"
#include "utils/base/compiler.h"

/* --- functions that the interpreter calls --- */

/*
 * Python's None. From Python 3.12 on, None is never freed, so references to None are not counted.
 */
static struct py_object *none;

static const struct py_type *code_type;

typedef struct py_object *py_vectorcall(struct py_object *callable, struct py_object *const *args,
					size_t nr_args, struct py_object *names);

/*
 * True when a callback got the arguments of an event. The program may call a callback with other
 * arguments, because gc.get_objects() shows the callbacks to the program.
 */
static bool is_event(struct py_object *const *args, size_t nr_args, size_t nr)
{
	return (uint32_t)nr_args >= nr && likely(args[0]->type == code_type);
}

/*
 * A callback returns this object to switch its event off at the place in the code where the event
 * has occurred. The event stays off until sys.monitoring is told to restart events.
 */
static struct py_object *disable;

typedef struct py_object *slow_taker(struct py_object *const *args);

NOINLINE static struct py_object *end_guarded(void)
{
	calls_unguard();
	return none;
}

NOINLINE static struct py_object *take_guarded(struct py_object *const *args, slow_taker *slowly)
{
	calls_unguard();
	return slowly(args);
}

/* Completes the work of the fast path for an event. @how: the result of the fast path */
static inline struct py_object *finish(enum fast_call how, struct py_object *const *args,
				       slow_taker *slowly)
{
	switch (how) {
	case FAST_NOT:
	case FAST_OTHER:
		return slowly(args);
	case FAST_GUARDED:
		return take_guarded(args, slowly);
	case FAST_ASIDE:
		return end_guarded();
	case FAST_DONE:
		break;
	}
	return none;
}

NOINLINE static struct py_object *begin_slowly(struct py_object *const *args)
{
	return calls_begin_code(args[0]) ? none : disable;
}

static struct py_object *take_begin(struct py_object *callable, struct py_object *const *args,
				    size_t nr_args, struct py_object *names)
{
	if (unlikely(!is_event(args, nr_args, 1)))
		return none;
	return finish(fast_begin_code(args[0], (uint64_t)args[0]), args, begin_slowly);
}

/* An exception is thrown into a generator. This event, like PY_UNWIND, cannot be disabled. */
static struct py_object *take_throw(struct py_object *callable, struct py_object *const *args,
				    size_t nr_args, struct py_object *names)
{
	if (likely(is_event(args, nr_args, 1)))
		calls_begin_code(args[0]);
	return none;
}

/* A call has ended by an exception. */
static struct py_object *take_unwind(struct py_object *callable, struct py_object *const *args,
				     size_t nr_args, struct py_object *names)
{
	if (likely(is_event(args, nr_args, 1)))
		calls_end_code(args[0], NULL);
	return none;
}

NOINLINE static struct py_object *result_slowly(struct py_object *const *args)
{
	return calls_end_code(args[0], args[2]) ? none : disable;
}

static struct py_object *take_result(struct py_object *callable, struct py_object *const *args,
				     size_t nr_args, struct py_object *names)
{
	if (unlikely(!is_event(args, nr_args, 3)))
		return none;
	return finish(fast_end((uint64_t)args[0]), args, result_slowly);
}

/* sys.setprofile() has events for C functions of these types, and for no other C functions. */
static const struct py_type *function_type, *method_type, *descriptor_type;

/* sys.monitoring.MISSING, which callbacks get if the call has no argument. */
static struct py_object *missing;

/* A method that a type defines in C: PyMethodDescrObject, descrobject.h. */
struct py_method_descriptor {
	struct py_object base;
	void *before_def[3];
	const struct py_method_def *def;
};

/*
 * Returns the definition of a called C function. *@object gets the object whose method is called.
 * Returns NULL when the callable is not a C function, or is a method that is called without an
 * object.
 *
 * @args: the arguments of a callback for an event of a call; args[2] is the callable
 */
static inline const struct py_method_def *find_native(struct py_object *const *args,
						      struct py_object **object)
{
	const struct py_type *type = args[2]->type;

	if (type == function_type || type == method_type) {
		*object = ((struct py_c_function *)args[2])->self;
		return ((struct py_c_function *)args[2])->def;
	}
	if (type != descriptor_type || unlikely(args[3] == missing))
		return NULL;
	*object = args[3];
	return ((struct py_method_descriptor *)args[2])->def;
}

NOINLINE static struct py_object *native_begin_slowly(struct py_object *const *args)
{
	struct py_c_function fn = { .module = NULL };

	fn.def = find_native(args, &fn.self);
	if (args[2]->type != descriptor_type)
		fn.module = ((struct py_c_function *)args[2])->module;
	return calls_begin_native(&fn, args[0]) ? none : disable;
}

static struct py_object *take_native_begin(struct py_object *callable,
					   struct py_object *const *args, size_t nr_args,
					   struct py_object *names)
{
	const struct py_method_def *def;
	struct py_object *object;

	if (unlikely(!is_event(args, nr_args, 4)))
		return none;
	def = find_native(args, &object);
	return def ? finish(fast_begin_native(def), args, native_begin_slowly) : none;
}

NOINLINE static struct py_object *native_end_slowly(struct py_object *const *args)
{
	struct py_object *object;

	calls_end_native(find_native(args, &object), args[0]);
	return none;
}

static struct py_object *take_native_end(struct py_object *callable, struct py_object *const *args,
					 size_t nr_args, struct py_object *names)
{
	const struct py_method_def *def;
	struct py_object *object;

	if (unlikely(!is_event(args, nr_args, 4)))
		return none;
	def = find_native(args, &object);
	return def ? finish(fast_end((uint64_t)def), args, native_end_slowly) : none;
}

/* --- setting --- */

/*
 * Numbers of events: PY_MONITORING_EVENT_..., cpython/monitoring.h. Events of functions in C have
 * @is_native. With --no-libcall, the probe listens only to the events without @is_native. Without
 * --no-libcall, the probe listens to all events in the table.
 */
static const struct {
	unsigned event;
	bool is_native;
	py_vectorcall *take;
} takers[] = {
	{ 0, false, take_begin },	/* PY_START */
	{ 1, false, take_begin },	/* PY_RESUME */
	{ 13, false, take_throw },	/* PY_THROW */
	{ 2, false, take_result },	/* PY_RETURN */
	{ 3, false, take_result },	/* PY_YIELD */
	{ 12, false, take_unwind },	/* PY_UNWIND */
	{ 4, true, take_native_begin }, /* CALL */
	{ 15, true, take_native_end },	/* C_RETURN */
	{ 16, true, take_native_end },	/* C_RAISE */
};

static bool find_types(void)
{
	code_type = (void *)definition_find_data("PyCode_Type");
	function_type = (void *)definition_find_data("PyCFunction_Type");
	method_type = (void *)definition_find_data("PyCMethod_Type");
	descriptor_type = (void *)definition_find_data("PyMethodDescr_Type");
	none = (void *)definition_find_data("_Py_NoneStruct");
	return code_type && function_type && method_type && descriptor_type && none;
}

/* Never called: the interpreter calls the function object of make_taker() by vectorcall. */
static struct py_object *take_nothing(struct py_object *self, struct py_object *arg)
{
	return none;
}

#define VECTORCALL_PLACE 6 /* PyCFunctionObject.vectorcall, in words */

/*
 * Makes a function object whose calls lead directly to @take, because a call of a usual function
 * object may exceed the program's recursion limit. Returns NULL on failure.
 */
static struct py_object *make_taker(py_vectorcall *take)
{
	static const struct py_method_def def = { "utrail", take_nothing, METH_O, NULL };
	struct py_object *made = py.new_function(&def, NULL, NULL);
	void **place = made ? (void **)made + VECTORCALL_PLACE : NULL;

	if (made && py.vectorcall_of(made) == *place) {
		*place = (void *)take;
		if (py.vectorcall_of(made) == (void *)take)
			return made;
	}
	if (made)
		py.let_go(made);
	return NULL;
}

/* Returns false when the call with this result has failed. Releases the result, if there is one. */
static bool has_worked(struct py_object *result)
{
	if (!result) {
		py.error_clear();
		return false;
	}
	py.let_go(result);
	return true;
}

#define TOOL_NAME "utrail"

/* Set while the probe calls get_tool(). Only then does get_tool() return the probe's own tool. */
static __thread bool sees_ours __attribute__((tls_model("initial-exec")));

static bool is_our_name(struct py_object *name)
{
	const char *text = name && name != none ? py.text(name) : NULL;
	bool is = text && strcmp(text, TOOL_NAME) == 0;

	if (!text)
		py.error_clear();
	return is;
}

/* True when the tool with number @tool is the probe's. */
static bool is_ours(struct py_object *monitoring, int tool)
{
	struct py_object *name;
	bool is;

	sees_ours = true;
	name = py.call_method(monitoring, "get_tool", "i", tool);
	sees_ours = false;
	is = is_our_name(name);
	py.error_clear();
	if (name)
		py.let_go(name);
	return is;
}

static bool register_takers(struct py_object *monitoring, int tool)
{
	bool has_natives = !(probe.plan.flags & PLAN_NO_LIBCALLS);
	int events = 0;

	for (size_t i = 0; i < ARRAY_SIZE(takers); i++) {
		int event = 1 << takers[i].event;
		struct py_object *taker;
		bool is_set;

		if (takers[i].is_native && !has_natives)
			continue;
		taker = make_taker(takers[i].take);
		if (!taker)
			return false;
		is_set = has_worked(
			py.call_method(monitoring, "register_callback", "iiO", tool, event, taker));
		py.let_go(taker);
		if (!is_set)
			return false;
		events |= event;
	}
	return has_worked(py.call_method(monitoring, "set_events", "ii", tool, events));
}

/*
 * Gives the number @tool back to Python. Removes the callbacks only if the program has no audit
 * hooks, since Python tells audit hooks of each removal. Callbacks that stay registered are not
 * called any more.
 */
static void leave_tool(struct py_object *monitoring, int tool)
{
	has_worked(py.call_method(monitoring, "set_events", "ii", tool, 0));
	for (size_t i = 0; i < ARRAY_SIZE(takers) && !python_threads.has_hooks; i++) {
		struct py_object *taker = py.call_method(monitoring, "register_callback", "iiO",
							 tool, 1 << takers[i].event, none);

		has_worked(taker);
	}
	has_worked(py.call_method(monitoring, "free_tool_id", "i", tool));
}

/*
 * The tool ids of sys.monitoring, in the order in which the probe tries them. The documentation of
 * Python names no use for 4 and 3.
 */
static const int tools[] = { 4, 3, 5, 1, 0, 2 };
#define NR_FREE_TOOLS 2

/*
 * Takes one of the first @nr numbers in tools[], except @ours. A request for @ours would lead back
 * to yield_tool(), again and again.
 *
 * @ours: the number of the probe's present tool; -1: the probe has no tool
 */
static bool take_tool(struct py_object *monitoring, size_t nr, int ours)
{
	for (size_t i = 0; i < nr; i++) {
		if (tools[i] == ours || !has_worked(py.call_method(monitoring, "use_tool_id", "is",
								   tools[i], TOOL_NAME)))
			continue;
		if (register_takers(monitoring, tools[i]))
			return true;
		leave_tool(monitoring, tools[i]);
		return false;
	}
	return false;
}

/* --- the program's own tools --- */

typedef struct py_object *py_fast_function(struct py_object *self, struct py_object *const *args,
					   intptr_t nr);

static py_fast_function *own_use;
static py_function *own_get, *own_events;

/* If the Python object @o is the id of the probe's tool, returns this id. Otherwise returns -1. */
static int find_ours(struct py_object *monitoring, struct py_object *o)
{
	long tool = o->type->flags & PY_TYPE_OF_INTS ? py.number(o) : -1;

	py.error_clear();
	return tool >= 0 && tool < INT_MAX && is_ours(monitoring, tool) ? tool : -1;
}

/*
 * Called when the program requests the tool number @number. If the probe's tool has this number,
 * the probe changes to another number. If no other number is free, or if the program has audit
 * hooks, the probe has no tool afterwards.
 */
static void yield_tool(struct py_object *monitoring, struct py_object *number)
{
	int tool = find_ours(monitoring, number);
	bool was_setting = python_threads.is_setting;

	if (tool < 0)
		return;
	python_threads.is_setting = true;
	if (!python_threads.has_hooks)
		take_tool(monitoring, ARRAY_SIZE(tools), tool);
	leave_tool(monitoring, tool);
	python_threads.is_setting = was_setting;
}

static struct py_object *use_tool(struct py_object *self, struct py_object *const *args,
				  intptr_t nr)
{
	if (nr == 2)
		yield_tool(self, args[0]);
	return own_use(self, args, nr);
}

static struct py_object *tell_tool(struct py_object *self, struct py_object *number)
{
	struct py_object *name = own_get(self, number);

	if (!name || sees_ours || !is_our_name(name))
		return name;
	py.let_go(name);
	return none;
}

static struct py_object *tell_events(struct py_object *self, struct py_object *number)
{
	return find_ours(self, number) < 0 ? own_events(self, number) : py.new_number(0);
}

#define METH_FASTCALL 128

/*
 * Returns the definition of function @name of sys.monitoring. Returns NULL when @name is not a
 * function written in C, or when the function's METH_... flags are not @flags.
 */
static struct py_method_def *find_definition(struct py_object *monitoring, const char *name,
					     int flags)
{
	struct py_object *o = py.attribute(monitoring, name);
	struct py_method_def *def = NULL;

	if (o && o->type == function_type)
		def = (struct py_method_def *)((struct py_c_function *)o)->def;
	if (def && (def->flags != flags || strcmp(def->name, name) != 0))
		def = NULL;
	has_worked(o);
	return def;
}

/*
 * Some functions of sys.monitoring could show the probe's tool to the program. This function
 * changes the definitions of such functions, so that Python calls functions of the probe instead.
 * All interpreters share the definitions. If an earlier call has changed the definitions, this
 * function does nothing.
 */
static void stand_before_tools(struct py_object *monitoring)
{
	struct py_method_def *use = find_definition(monitoring, "use_tool_id", METH_FASTCALL);
	struct py_method_def *get = find_definition(monitoring, "get_tool", METH_O);
	struct py_method_def *events = find_definition(monitoring, "get_events", METH_O);

	if (own_use || !use || !get || !events)
		return;
	own_events = events->function;
	events->function = tell_events;
	own_use = (py_fast_function *)(void *)use->function;
	own_get = get->function;
	get->function = tell_tool;
	use->function = (py_function *)(void *)use_tool;
}

/*
 * Finds the constant @name of sys.monitoring. *@found stays valid, because Python never frees these
 * constants. Returns false when there is no such constant.
 */
static bool find_constant(struct py_object *monitoring, const char *name, struct py_object **found)
{
	struct py_object *value = py.attribute(monitoring, name);

	*found = value;
	return has_worked(value);
}

bool monitoring_join(void)
{
	struct py_object *monitoring = py.sys_object("monitoring");

	if (!monitoring || !py.vectorcall_of || strcmp(monitoring->type->name, "module") != 0 ||
	    !find_types())
		return false;
	if (!find_constant(monitoring, "MISSING", &missing) ||
	    !find_constant(monitoring, "DISABLE", &disable))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		if (is_ours(monitoring, tools[i]))
			return true;
	}
	if (!take_tool(monitoring, NR_FREE_TOOLS, -1))
		return false;
	stand_before_tools(monitoring);
	return true;
}
