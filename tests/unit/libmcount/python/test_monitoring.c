/* The probe as a tool of sys.monitoring. The interpreter is simulated. */
#include "libmcount/python/monitoring.h"

#include <stdarg.h>

#include "libmcount/hot/probe.h"
#include "libmcount/program/definition.h"
#include "libmcount/python/calls.h"
#include "libmcount/python/codes.h"
#include "libmcount/python/natives.h"
#include "libmcount/python/threads.h"
#include "tests/unit/lib/unit.h"

struct probe probe;
struct py_api py;
struct py_codes python_codes;
struct python_threads python_threads;
_Atomic(struct native_table *) natives_table;
__thread struct thread *self __attribute__((tls_model("initial-exec")));

/* --- the interpreter --- */

static struct py_type code_type, function_type, method_type, descriptor_type, other_type;
static struct py_type int_type = { .flags = PY_TYPE_OF_INTS };
static struct py_type module_type = { .name = "module" };

static struct object {
	struct py_object base;
	const char *text;
	long number;
} none, missing, disable, name_object, number_object, monitoring = { .base.type = &module_type };

typedef struct py_object *fast_function(struct py_object *self, struct py_object *const *args,
					intptr_t nr);
typedef struct py_object *vectorcall(struct py_object *callable, struct py_object *const *args,
				     size_t nr, struct py_object *names);

#define NR_TOOLS  6
#define NR_EVENTS 17

static struct tool {
	const char *name;
	unsigned long events;
	void **callbacks[NR_EVENTS];
} tools[NR_TOOLS];

static int nr_held;	   /* references that were handed out */
static bool is_raised;	   /* an error is pending */
static unsigned nr_uses;   /* calls of Python's own use_tool_id() */
static const char *absent; /* the name of a function or object that the interpreter lacks */
static int fails_after;	   /* registrations that succeed; -1: all */

static struct py_object *raise_error(void)
{
	is_raised = true;
	return NULL;
}

static struct py_object *hold(struct object *o)
{
	nr_held += o != &none;
	return &o->base;
}

static void sim_let_go(struct py_object *o)
{
	nr_held -= o != &none.base;
}

static void sim_clear(void)
{
	is_raised = false;
}

static const char *sim_text(struct py_object *o)
{
	return ((struct object *)o)->text;
}

static long sim_number(struct py_object *o)
{
	return ((struct object *)o)->number;
}

static struct py_object *sim_new_number(long value)
{
	number_object = (struct object){ .base.type = &int_type, .number = value };
	return hold(&number_object);
}

static struct tool *tool_of(struct py_object *number)
{
	struct object *o = (struct object *)number;

	return o->base.type == &int_type && o->number >= 0 && o->number < NR_TOOLS
		       ? &tools[o->number]
		       : NULL;
}

static struct py_object *own_use(struct py_object *o, struct py_object *const *args, intptr_t nr)
{
	struct tool *tool = nr == 2 ? tool_of(args[0]) : NULL;

	nr_uses++;
	if (!tool || tool->name)
		return raise_error();
	tool->name = sim_text(args[1]);
	return hold(&none);
}

static struct py_object *own_get(struct py_object *o, struct py_object *number)
{
	struct tool *tool = tool_of(number);

	if (!tool)
		return raise_error();
	if (!tool->name)
		return hold(&none);
	name_object = (struct object){ .text = tool->name };
	return hold(&name_object);
}

static struct py_object *own_events(struct py_object *o, struct py_object *number)
{
	struct tool *tool = tool_of(number);

	return tool ? sim_new_number(tool->events) : raise_error();
}

#define METH_FASTCALL 128

static struct py_method_def defs[] = {
	{ "use_tool_id", (py_function *)(void *)own_use, METH_FASTCALL },
	{ "get_tool", own_get, METH_O },
	{ "get_events", own_events, METH_O },
};
static struct py_c_function functions[3];

static struct py_object *sim_attribute(struct py_object *o, const char *name)
{
	if (absent && strcmp(name, absent) == 0)
		return raise_error();
	nr_held++;
	for (unsigned i = 0; i < 3; i++) {
		functions[i].base.type = &function_type;
		functions[i].def = &defs[i];
		if (strcmp(name, defs[i].name) == 0)
			return &functions[i].base;
	}
	return strcmp(name, "MISSING") == 0 ? &missing.base : &disable.base;
}

static struct py_object *set_callback(struct tool *tool, int event, struct py_object *callback)
{
	assert_int_equal(event & (event - 1), 0);
	assert_true(event && event < 1 << NR_EVENTS);
	if (fails_after == 0)
		return raise_error();
	fails_after--;
	tool->callbacks[__builtin_ctz(event)] = callback == &none.base ? NULL : (void **)callback;
	return hold(&none);
}

static struct py_object *sim_call(struct py_object *o, const char *name, const char *format, ...)
{
	struct object number = { .base.type = &int_type };
	struct object text = { .text = NULL };
	struct py_object *args[] = { &number.base, &text.base };
	struct py_object *ret = &none.base;
	struct tool *tool;
	va_list ap;

	assert_ptr_equal(o, &monitoring);
	va_start(ap, format);
	number.number = va_arg(ap, int);
	tool = tool_of(&number.base);
	if (strcmp(name, "get_tool") == 0) {
		ret = defs[1].function(o, &number.base);
	} else if (strcmp(name, "use_tool_id") == 0) {
		text.text = va_arg(ap, const char *);
		ret = ((fast_function *)(void *)defs[0].function)(o, args, 2);
	} else if (strcmp(name, "set_events") == 0) {
		tool->events = va_arg(ap, int);
		ret = absent && strcmp(absent, name) == 0 ? raise_error() : ret;
	} else if (strcmp(name, "register_callback") == 0) {
		int event = va_arg(ap, int);

		ret = set_callback(tool, event, va_arg(ap, struct py_object *));
	} else {
		assert_string_equal(name, "free_tool_id");
		tool->name = NULL;
	}
	va_end(ap);
	return ret;
}

/* Function objects of the probe. Their word 6 points to the code that a call of them runs. */
static void *takers[200][8];
static unsigned nr_takers;
static void *const usual_call = &takers;

static struct py_object *sim_new_function(const struct py_method_def *def, struct py_object *o,
					  struct py_object *module)
{
	assert_true(nr_takers < 200);
	takers[nr_takers][6] = usual_call;
	nr_held++;
	return (struct py_object *)takers[nr_takers++];
}

static void *sim_vectorcall_of(struct py_object *callable)
{
	void *place = ((void **)callable)[6];

	if (absent && strcmp(absent, place == usual_call ? "place" : "change") == 0)
		return &absent;
	return place;
}

static struct py_object *sim_sys_object(const char *name)
{
	assert_string_equal(name, "monitoring");
	return absent && strcmp(name, absent) == 0 ? NULL : &monitoring.base;
}

uint64_t definition_find_data(const char *name)
{
	static const struct {
		const char *name;
		const void *address;
	} all[] = {
		{ "PyCode_Type", &code_type },	    { "PyCFunction_Type", &function_type },
		{ "PyCMethod_Type", &method_type }, { "PyMethodDescr_Type", &descriptor_type },
		{ "_Py_NoneStruct", &none },
	};

	for (unsigned i = 0; i < 5; i++) {
		if (strcmp(all[i].name, name) == 0)
			return absent && strcmp(name, absent) == 0 ? 0 : (uint64_t)all[i].address;
	}
	fail();
	return 0;
}

/* --- the rest of the probe --- */

static struct {
	const char *name;
	const void *code, *other, *self, *module;
} called;

static bool may_go_on; /* the result of the next call */

bool calls_begin_code(struct py_object *code)
{
	called.name = "begin";
	called.code = code;
	return may_go_on;
}

bool calls_end_code(struct py_object *code, struct py_object *result)
{
	called.name = "end";
	called.code = code;
	called.other = result;
	return may_go_on;
}

bool calls_begin_native(const struct py_c_function *fn, struct py_object *code)
{
	called.name = "begin native";
	called.code = code;
	called.other = fn->def;
	called.self = fn->self;
	called.module = fn->module;
	return may_go_on;
}

void calls_end_native(const struct py_method_def *def, struct py_object *code)
{
	called.name = "end native";
	called.code = code;
	called.other = def;
}

void calls_unguard(void)
{
	fail();
}

static int setup(void **state)
{
	py = (struct py_api){
		.attribute = sim_attribute,
		.text = sim_text,
		.number = sim_number,
		.let_go = sim_let_go,
		.error_clear = sim_clear,
		.call_method = sim_call,
		.new_function = sim_new_function,
		.new_number = sim_new_number,
		.vectorcall_of = sim_vectorcall_of,
		.sys_object = sim_sys_object,
	};
	memset(tools, 0, sizeof(tools));
	memset(&probe, 0, sizeof(probe));
	memset(&python_threads, 0, sizeof(python_threads));
	nr_held = 0;
	nr_takers = nr_uses = 0;
	absent = NULL;
	fails_after = -1;
	is_raised = false;
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(nr_held, 0);
	return 0;
}

/* --- tests --- */

#define EVENTS	   0x300fUL /* PY_START, PY_RESUME, PY_RETURN, PY_YIELD, PY_UNWIND, PY_THROW */
#define ALL_EVENTS (EVENTS | 0x18010UL) /* CALL, C_RETURN, C_RAISE */

/* Check that the probe has tool @number and no other tool, and listens to @events. */
static void expect_tool(int number, unsigned long events)
{
	for (int i = 0; i < NR_TOOLS; i++) {
		bool is_ours = tools[i].name && strcmp(tools[i].name, "utrail") == 0;
		unsigned long listened = 0;

		for (int k = 0; k < NR_EVENTS; k++)
			listened |= tools[i].callbacks[k] ? 1UL << k : 0;
		assert_int_equal(is_ours, i == number);
		assert_int_equal(tools[i].events, is_ours ? events : 0);
		assert_int_equal(listened, is_ours ? events : 0);
	}
	assert_false(is_raised);
}

/* Call use_tool_id() for tool @number, as the program does. True on success. */
static bool use(int number)
{
	struct object n = { .base.type = &int_type, .number = number };
	struct object text = { .text = "own" };
	struct py_object *args[] = { &n.base, &text.base };

	nr_uses = 0;
	return ((fast_function *)(void *)defs[0].function)(&monitoring.base, args, 2);
}

TEST_WITH(an_interpreter_that_lacks_a_part, setup, teardown)
{
	static const char *const parts[] = { "monitoring",
					     "PyCode_Type",
					     "PyCFunction_Type",
					     "PyCMethod_Type",
					     "PyMethodDescr_Type",
					     "_Py_NoneStruct",
					     "MISSING",
					     "DISABLE",
					     "place",
					     "change",
					     "set_events" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		absent = parts[i];
		assert_false(monitoring_join());
		expect_tool(-1, 0);
	}
	absent = NULL;
	for (int i = 0; i < 9; i++) {
		fails_after = i;
		assert_false(monitoring_join());
		assert_null(tools[4].name);
		memset(tools, 0, sizeof(tools));
	}
	fails_after = -1;
	py.vectorcall_of = NULL;
	assert_false(monitoring_join());
	py.vectorcall_of = sim_vectorcall_of;
	module_type.name = "Module";
	assert_false(monitoring_join());
	module_type.name = "module";
	expect_tool(-1, 0);
	assert_ptr_equal(defs[1].function, own_get);
}

/* The interpreter's functions are of other kinds, or missing: they are left alone. */
TEST_WITH(functions_that_are_not_as_known, setup, teardown)
{
	for (unsigned i = 0; i < 6; i++) {
		struct py_method_def *def = &defs[i / 2];
		int flags = def->flags;

		if (i % 2)
			absent = def->name;
		else
			def->flags = flags | 1;
		assert_true(monitoring_join());
		expect_tool(4, ALL_EVENTS);
		def->flags = flags;
		absent = NULL;
		assert_ptr_equal(defs[0].function, (py_function *)(void *)own_use);
		assert_ptr_equal(defs[1].function, own_get);
		assert_ptr_equal(defs[2].function, own_events);
		memset(tools, 0, sizeof(tools));
	}
}

/*
 * Python names no use for the tool numbers 4 and 3. At the beginning the probe takes one of these,
 * or none.
 */
TEST_WITH(numbers_of_the_tool, setup, teardown)
{
	assert_true(monitoring_join());
	expect_tool(4, ALL_EVENTS);
	assert_int_equal(nr_uses, 1);
	assert_true(monitoring_join());
	expect_tool(4, ALL_EVENTS);
	assert_int_equal(nr_uses, 1);

	setup(NULL);
	tools[4].name = "own";
	probe.plan.flags = PLAN_NO_LIBCALLS;
	assert_true(monitoring_join());
	expect_tool(3, EVENTS);

	setup(NULL);
	tools[4].name = tools[3].name = "own";
	assert_false(monitoring_join());
	expect_tool(-1, 0);
}

/* The probe takes another number, and asks for each only once. */
TEST_WITH(the_program_gets_each_number, setup, teardown)
{
	static const struct {
		int wanted, ours;
		unsigned nr_uses;
	} cases[] = {
		{ 4, 3, 2 }, { 3, 5, 3 }, { 5, 1, 4 }, { 1, 0, 5 }, { 0, 2, 6 }, { 2, -1, 6 }
	};
	struct py_object no_number = { .type = &other_type };

	assert_true(monitoring_join());
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		python_threads.is_setting = i % 2;
		assert_true(use(cases[i].wanted));
		assert_int_equal(nr_uses, cases[i].nr_uses);
		assert_string_equal(tools[cases[i].wanted].name, "own");
		assert_int_equal(python_threads.is_setting, i % 2);
		is_raised = false;
		expect_tool(cases[i].ours, ALL_EVENTS);
		/* An object that is no number is no tool's. */
		assert_null(defs[2].function(&monitoring.base, &no_number));
		is_raised = false;
	}
}

static struct py_object *take(int event, size_t nr, struct py_object *first,
			      struct py_object *third, struct py_object *fourth)
{
	struct py_object *args[] = { first, &number_object.base, third, fourth };
	void **taker = tools[4].callbacks[event];

	memset(&called, 0, sizeof(called));
	return ((vectorcall *)taker[6])((struct py_object *)taker, args, 1ULL << 63 | nr, NULL);
}

static void expect_call(const char *name, const void *code, const void *other)
{
	if (name)
		assert_string_equal(called.name, name);
	else
		assert_null(called.name);
	assert_ptr_equal(called.code, code);
	assert_ptr_equal(called.other, other);
}

/* The events of code. The last column: a refused event is not reported again. */
TEST_WITH(events_of_code, setup, teardown)
{
	static const struct {
		int event;
		size_t nr;
		const char *name;
		bool has_result, is_disabled;
	} cases[] = {
		{ 0, 1, "begin", false, true }, { 1, 2, "begin", false, true },
		{ 0, 0, NULL, false, false },	{ 13, 1, "begin", false, false },
		{ 13, 0, NULL, false, false },	{ 12, 1, "end", false, false },
		{ 12, 0, NULL, false, false },	{ 2, 3, "end", true, true },
		{ 3, 3, "end", true, true },	{ 2, 2, NULL, false, false },
	};
	struct py_object code = { .type = &code_type };
	struct py_object result = { .type = &int_type };

	assert_true(monitoring_join());
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (unsigned k = 0; k < 2; k++) {
			may_go_on = k;
			assert_ptr_equal(take(cases[i].event, cases[i].nr, &code, &result, NULL),
					 cases[i].is_disabled && !k ? &disable : &none);
			expect_call(cases[i].name, cases[i].name ? &code : NULL,
				    cases[i].has_result ? &result : NULL);
		}
		/* A call by the program itself, with other arguments, is not recorded. */
		take(cases[i].event, 4, &result, &result, &result);
		expect_call(NULL, NULL, NULL);
	}
}

TEST_WITH(events_of_functions_in_c, setup, teardown)
{
	static const struct py_method_def def = { "f" };
	struct py_object code = { .type = &code_type };
	struct py_object object = { .type = &int_type };
	struct py_c_function function = { { .type = &function_type }, &def, &code, &object };
	struct py_c_function method = { { .type = &method_type }, &def, &object, NULL };
	/* PyMethodDescrObject: its definition is the word with number 5. */
	const void *descriptor[6] = { NULL, &descriptor_type, NULL, NULL, NULL, &def };
	struct py_object *other = (struct py_object *)&descriptor;
	const struct {
		struct py_object *callable, *first;
		const void *def, *self, *module;
	} cases[] = {
		{ &function.base, &object, &def, &code, &object },
		{ &function.base, other, &def, &code, &object },
		{ &method.base, &missing.base, &def, &object, NULL },
		{ other, &object, &def, &object, NULL },
		{ other, &missing.base, NULL, NULL, NULL },
		{ &object, &object, NULL, NULL, NULL },
	};

	assert_true(monitoring_join());
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct py_object *f = cases[i].callable, *first = cases[i].first;
		const void *told = cases[i].def ? &code : NULL;

		for (unsigned k = 0; k < 2; k++) {
			may_go_on = k;
			assert_ptr_equal(take(4, 4, &code, f, first),
					 told && !k ? &disable : &none);
			expect_call(told ? "begin native" : NULL, told, cases[i].def);
			assert_ptr_equal(called.self, cases[i].self);
			assert_ptr_equal(called.module, cases[i].module);
			assert_ptr_equal(take(15 + k, 4, &code, f, first), &none);
			expect_call(told ? "end native" : NULL, told, cases[i].def);
		}
		take(4, 3, &code, f, first);
		expect_call(NULL, NULL, NULL);
		take(15, 3, &code, f, first);
		expect_call(NULL, NULL, NULL);
	}
}

/*
 * The program does not see the probe's tool. If there are audit hooks, the program gets the number
 * of this tool, and the probe's callbacks stay.
 */
TEST_WITH(the_program_sees_its_own_tools, setup, teardown)
{
	struct object n = { .base.type = &int_type, .number = 4 };
	struct object text = { .base.type = &other_type, .number = 4 };
	struct py_object *o;

	assert_true(monitoring_join());
	tools[0] = (struct tool){ .name = "own", .events = 5 };
	assert_ptr_equal(defs[1].function(&monitoring.base, &n.base), &none);
	o = defs[2].function(&monitoring.base, &n.base);
	assert_int_equal(sim_number(o), 0);
	py.let_go(o);
	assert_null(defs[2].function(&monitoring.base, &text.base));
	assert_null(defs[1].function(&monitoring.base, &text.base));
	n.number = 0;
	o = defs[1].function(&monitoring.base, &n.base);
	assert_string_equal(sim_text(o), "own");
	py.let_go(o);
	o = defs[2].function(&monitoring.base, &n.base);
	assert_int_equal(sim_number(o), 5);
	py.let_go(o);

	python_threads.has_hooks = true;
	assert_true(use(4));
	assert_int_equal(nr_uses, 1);
	assert_int_equal(tools[4].events, 0);
	assert_non_null(tools[4].callbacks[0]);
	assert_null(tools[3].name);
}

/* Calls of a library's code need no more than a note in the list of open calls. */
TEST_WITH(events_that_are_done_at_once, setup, teardown)
{
	static uint64_t extra[] = { 1, NAME_KNOWN }; /* struct py_code_extra */
	static uint64_t open[4];
	static struct thread thread;
	struct {
		struct py_object base;
		void *extra;
	} code = { { .type = &code_type }, extra };

	assert_true(monitoring_join());
	python_codes = (struct py_codes){
		.layout.code_extra = 2,
		.reads_extra = true,
		.inherited = NAME_OWN,
	};
	memset(&probe, 1, sizeof(uint32_t));
	thread.python_calls = open + 1;
	thread.nr_python_calls = 1;
	self = &thread;
	assert_ptr_equal(take(0, 2, &code.base, NULL, NULL), &none);
	assert_int_equal(thread.nr_python_calls, 2);
	assert_int_equal(open[2], (uint64_t)&code);
	assert_ptr_equal(take(2, 3, &code.base, &none.base, NULL), &none);
	assert_int_equal(thread.nr_python_calls, 1);
	expect_call(NULL, NULL, NULL);
	self = NULL;
	memset(&python_codes, 0, sizeof(python_codes));
}
