/* Names of functions, and the requests for their numbers. Interpreter and recorder are simulated. */
#include "libmcount/python/names.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "libmcount/plan/plans.h"
#include "libmcount/system/channel.h"
#include "libmcount/system/module_lock.h"
#include "libmcount/system/seal.h"
#include "tests/unit/lib/unit.h"

struct probe probe;
struct py_api py;
pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- the interpreter --- */

struct object {
	struct py_object base;
	const char *text; /* NULL: no text */
	long number;
	struct {
		const char *name;
		struct object *value;
	} attributes[8];
};

static struct object objects[512];
static unsigned nr_objects;
static int nr_held;		     /* references that were handed out */
static struct py_object *pending;    /* the error that was raised last */
static struct py_object raised, old; /* errors of the interpreter, and of the program */

static struct {
	struct object *key, *value;
} globals[80];
static unsigned nr_globals;
static struct py_object globals_object;
static bool has_globals;

static struct object *new_object(const char *text, long number)
{
	struct object *o = &objects[nr_objects++];

	assert_true(nr_objects <= sizeof(objects) / sizeof(*objects));
	memset(o, 0, sizeof(*o));
	o->text = text;
	o->number = number;
	return o;
}

static void set(struct object *o, const char *name, struct object *value)
{
	unsigned i = 0;

	while (o->attributes[i].name && strcmp(o->attributes[i].name, name) != 0)
		i++;
	o->attributes[i].name = name;
	o->attributes[i].value = value;
}

/* The interpreter's functions must not be called while an error is pending. */
static struct py_object *sim_attribute(struct py_object *o, const char *name)
{
	struct object *of = (struct object *)o;

	assert_null(pending);
	for (unsigned i = 0; i < 8 && of->attributes[i].name; i++) {
		if (strcmp(of->attributes[i].name, name) == 0 && of->attributes[i].value) {
			nr_held++;
			return &of->attributes[i].value->base;
		}
	}
	pending = &raised;
	return NULL;
}

static const char *sim_text(struct py_object *o)
{
	assert_null(pending);
	if (!((struct object *)o)->text)
		pending = &raised;
	return ((struct object *)o)->text;
}

static long sim_number(struct py_object *o)
{
	return ((struct object *)o)->number;
}

static void sim_let_go(struct py_object *o)
{
	assert_non_null(o);
	nr_held--;
}

static void sim_error_take(struct py_object **type, struct py_object **value,
			   struct py_object **trace)
{
	*type = *value = *trace = pending;
	pending = NULL;
}

static void sim_error_put(struct py_object *type, struct py_object *value, struct py_object *trace)
{
	assert_ptr_equal(type, value);
	assert_ptr_equal(type, trace);
	pending = type;
}

static void sim_error_clear(void)
{
	pending = NULL;
}

static struct py_object *sim_globals(void)
{
	return has_globals ? &globals_object : NULL;
}

static int sim_next_item(struct py_object *dict, intptr_t *at, struct py_object **key,
			 struct py_object **value)
{
	assert_ptr_equal(dict, &globals_object);
	if (*at >= nr_globals)
		return 0;
	*key = &globals[*at].key->base;
	*value = &globals[*at].value->base;
	++*at;
	return 1;
}

static void add_global(const char *name, const char *text)
{
	globals[nr_globals].key = new_object(name, 0);
	globals[nr_globals++].value = new_object(text, 0);
}

static void begin_globals(const char *name, const char *file)
{
	nr_globals = 0;
	has_globals = name || file;
	/* A key that is no text, and another variable. */
	add_global(NULL, "__main__");
	add_global("other", "__main__");
	if (file)
		add_global("__file__", file);
	if (name)
		add_global("__name__", name);
}

/* --- the recorder --- */

static struct request {
	char name[2048], file[4096];
	uint32_t line, nr_args, is_native, wants_plan;
} requests[20];

static unsigned nr_requests, nr_greetings, nr_open;
static unsigned nr_refused; /* requests that get no answer, from the first on */
static bool is_there;
static struct control_callable_is answer;
static uint64_t now_ns, wait_ns;
static unsigned nr_extended;
static int extend_result;

uint64_t clock_kernel_ns(void)
{
	return now_ns;
}

void channel_init(struct channel *ch)
{
	memset(ch, 0, sizeof(*ch));
	ch->fds[0] = 70;
	ch->fds[1] = 71;
	nr_open++;
}

void channel_close(struct channel *ch)
{
	nr_open--;
}

bool channel_greet(struct channel *ch, enum control_hello_kind kind)
{
	assert_int_equal(kind, CONTROL_NAMES);
	nr_greetings++;
	return is_there;
}

bool channel_send(struct channel *ch, enum control_type type, void *message, size_t len)
{
	const struct control_callable *m = message;
	struct request *r = &requests[nr_requests++];
	size_t name_len = strlen(m->texts);

	assert_int_equal(type, CONTROL_CALLABLE);
	assert_true(nr_requests <= 20);
	strcpy(r->name, m->texts);
	strcpy(r->file, m->texts + name_len + 1);
	assert_int_equal(len, sizeof(*m) + name_len + 1 + strlen(r->file) + 1);
	r->line = m->line;
	r->nr_args = m->nr_args;
	r->is_native = m->is_native;
	r->wants_plan = m->wants_plan;
	now_ns += wait_ns;
	return nr_requests > nr_refused;
}

bool channel_wait(struct channel *ch, enum control_type type, void *to, size_t len)
{
	assert_int_equal(type, CONTROL_CALLABLE_IS);
	assert_int_equal(len, sizeof(answer));
	memcpy(to, &answer, len);
	return true;
}

int plans_extend(int fd)
{
	assert_int_equal(fd, 70);
	assert_int_not_equal(pthread_mutex_trylock(&module_lock), 0);
	nr_extended++;
	return extend_result;
}

static void expect_unlocked(void)
{
	assert_int_equal(pthread_mutex_trylock(&module_lock), 0);
	pthread_mutex_unlock(&module_lock);
}

static void begin_recorder(void)
{
	nr_requests = nr_greetings = nr_refused = nr_extended = 0;
	is_there = true;
	seal.is_on = false;
	answer = (struct control_callable_is){ .addr = 5, .values = 3 };
	extend_result = 0;
	wait_ns = 0;
}

static int setup(void **state)
{
	py = (struct py_api){
		.attribute = sim_attribute,
		.text = sim_text,
		.number = sim_number,
		.let_go = sim_let_go,
		.error_take = sim_error_take,
		.error_put = sim_error_put,
		.error_clear = sim_error_clear,
		.globals = sim_globals,
		.next_item = sim_next_item,
	};
	probe.plan.flags = 0;
	nr_objects = 0;
	nr_held = 0;
	pending = &old;
	begin_globals("mod", NULL);
	begin_recorder();
	return 0;
}

/* The program's error is pending as before, and no reference is kept. */
static int teardown(void **state)
{
	assert_ptr_equal(pending, &old);
	assert_int_equal(nr_held, 0);
	assert_int_equal(nr_open, 0);
	return 0;
}

/* --- tests --- */

static name_facts look(const char *file)
{
	struct object *code = new_object(NULL, 0);

	set(code, "co_filename", file ? new_object(file, 0) : NULL);
	set(code, "co_name", new_object("<module>", 0));
	return names_look(&code->base);
}

TEST_WITH(functions_of_the_program_and_of_libraries, setup, teardown)
{
	static const struct {
		const char *code_file, *module, *module_file;
		bool is_own;
	} cases[] = {
		{ "/mine/a.py", "mod", NULL, true },
		{ "/usr/lib/python3.11/json.py", "mod", NULL, false },
		{ "/usr/lib/python2/json.py", "mod", NULL, true },
		{ "/opt/site-packages/a.py", "mod", NULL, false },
		{ "/opt/dist-packages/a.py", "mod", NULL, false },
		{ "<frozen os>", "mod", NULL, false },
		{ "<frozer os>", "mod", NULL, true },
		{ "<froze", "mod", NULL, true },
		{ NULL, "mod", NULL, true },
		{ "<string>", "mod", "/mine/a.py", true },
		{ "<string>", "mod", "/usr/lib/python3/a.py", false },
		{ "/mine/a.py", "mod", "/usr/lib/python3/a.py", true },
		{ "/mine/a.py", "namedtuple_P", NULL, true },
		{ "<string>", "namedtuple_P", NULL, false },
		{ "<string>", "namedtuple_P", "/mine/a.py", true },
		{ "<string>", "namedtuple", NULL, true },
		{ "<string>", "namedtuple.P", NULL, true },
		{ "<string>", NULL, NULL, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		nr_objects = 0;
		begin_globals(cases[i].module, cases[i].module_file);
		probe.plan.flags = 0;
		if (look(cases[i].code_file) != (NAME_KNOWN | (cases[i].is_own ? NAME_OWN : 0)))
			fail_msg("%s %s", cases[i].code_file, cases[i].module);
		probe.plan.flags = PLAN_NEST_LIBCALLS;
		assert_int_equal(look(cases[i].code_file), NAME_KNOWN | NAME_OWN);
	}
	assert_false(names_have_main);
}

/* 64 variables are looked at. */
TEST_WITH(the_name_of_a_module_with_many_variables, setup, teardown)
{
	for (unsigned place = 62; place <= 64; place++) {
		nr_objects = nr_globals = 0;
		while (nr_globals < place)
			add_global("other", "/mine/a.py");
		add_global("__file__", "/usr/lib/python3/a.py");
		assert_int_equal(look("<string>"), NAME_KNOWN | (place < 64 ? 0 : NAME_OWN));
	}
	/* The variable __file__ is no text. */
	begin_globals("mod", NULL);
	add_global("__file__", NULL);
	assert_int_equal(look("<string>"), NAME_KNOWN | NAME_OWN);
}

/* Make a code object with these attributes. NULL: it has no such attribute. */
static struct object *new_code(const char *qualname, const char *name)
{
	struct object *code = new_object(NULL, 0);

	set(code, "co_filename", new_object("/mine/a.py", 0));
	set(code, "co_qualname", qualname ? new_object(qualname, 0) : NULL);
	set(code, "co_name", name ? new_object(name, 0) : NULL);
	return code;
}

static void expect_request(unsigned i, const char *name, uint32_t wants_plan)
{
	assert_true(i < nr_requests);
	assert_string_equal(requests[i].name, name);
	assert_int_equal(requests[i].wants_plan, wants_plan);
}

TEST_WITH(names_of_code, setup, teardown)
{
	static char long_name[3000], longest[2048];
	static const struct {
		const char *module, *qualname, *name, *told;
	} cases[] = {
		{ "mod", "C.f", "f", "mod.C.f" },
		{ "mod", NULL, "f", "mod.f" },
		{ "mod", NULL, NULL, "mod.?" },
		{ "mod", "<module>", NULL, "mod.<module>" },
		{ "__main__", "f", NULL, "f" },
		{ "__main__", "<module>", NULL, "__main__.<module>" },
		{ NULL, "f", NULL, "f" },
		{ "mod", long_name, "f", longest },
		{ long_name, "f", NULL, long_name },
	};
	struct object *code;

	memset(long_name, 'n', sizeof(long_name) - 1);
	memset(longest, 'n', sizeof(longest) - 1);
	memcpy(longest, "mod.", 4);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		nr_objects = nr_requests = 0;
		begin_globals(cases[i].module, NULL);
		names_ask_code(&new_code(cases[i].qualname, cases[i].name)->base, 0);
		if (cases[i].told == long_name)
			long_name[2047] = '\0';
		expect_request(0, cases[i].told, 0);
		assert_int_equal(nr_requests, 1);
	}
	/* A qualified name that is no text. */
	nr_requests = 0;
	begin_globals("mod", NULL);
	code = new_code(NULL, "f");
	set(code, "co_qualname", new_object(NULL, 1));
	names_ask_code(&code->base, 0);
	expect_request(0, "mod.f", 0);
}

TEST_WITH(facts_of_code, setup, teardown)
{
	static const struct {
		long line, flags, args, keywords;
		uint32_t told_line, nr_args;
	} cases[] = {
		{ 12, 0, 0, 0, 12, 0 },	  { 1, 0x03, 2, 0, 1, 2 }, { 0, 0x04, 2, 3, 0, 6 },
		{ -1, 0x08, 1, 1, 0, 3 }, { 2, 0x0c, 0, 0, 2, 2 }, { 3, 0xf3, -1, 4, 3, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct object *code = new_code("f", NULL);
		name_facts facts;

		nr_requests = 0;
		set(code, "co_firstlineno", new_object(NULL, cases[i].line));
		set(code, "co_flags", new_object(NULL, cases[i].flags));
		set(code, "co_argcount", new_object(NULL, cases[i].args));
		set(code, "co_kwonlyargcount", new_object(NULL, cases[i].keywords));
		facts = names_ask_code(&code->base, i % 2 ? NAME_KNOWN : NAME_KNOWN | NAME_OWN);
		expect_request(0, "mod.f", 0);
		assert_string_equal(requests[0].file, "/mine/a.py");
		assert_int_equal(requests[0].line, cases[i].told_line);
		assert_int_equal(requests[0].nr_args, cases[i].nr_args);
		assert_int_equal(requests[0].is_native, 0);
		assert_int_equal(name_address(facts), 5);
		assert_int_equal(name_values(facts), 3);
		assert_int_equal(facts & 7, NAME_ASKED | NAME_KNOWN | (i % 2 ? 0 : NAME_OWN));
	}
	/* This code object lacks the attributes that were set above. */
	nr_requests = 0;
	names_ask_code(&new_code("f", NULL)->base, 0);
	assert_int_equal(requests[0].line + requests[0].nr_args, 0);
}

TEST_WITH(names_of_functions_in_c, setup, teardown)
{
	static const struct py_method_def list_methods[] = { { "append" }, { "pop" }, { NULL } };
	static const struct py_method_def other = { "append" };
	static const struct py_type list = { .name = "list", .methods = list_methods };
	static const struct py_type sub = { .name = "app.inner.Sub", .parent = &list };
	static const struct py_type module = { .name = "module" };
	static const struct py_type metaclass = { .name = "type", .flags = PY_TYPE_OF_TYPES };
	static const struct py_type plain_meta = { .name = "meta", .flags = ~PY_TYPE_OF_TYPES };
	struct py_type class_of_list = { .base.type = (struct py_type *)&metaclass,
					 .name = "Class",
					 .parent = &list };
	struct py_type class_of_other = { .base.type = (struct py_type *)&metaclass,
					  .name = "a.Class" };
	struct py_type no_class = { .base.type = (struct py_type *)&plain_meta,
				    .name = "Class",
				    .parent = &list };
	struct py_object a_list = { .type = (struct py_type *)&list };
	struct py_object a_sub = { .type = (struct py_type *)&sub };
	struct py_object a_module = { .type = (struct py_type *)&module };
	struct object *text = new_object("math", 0);
	struct object *number = new_object(NULL, 1);
	const struct {
		const struct py_method_def *def;
		struct py_object *self;
		struct object *module;
		const char *told;
	} cases[] = {
		{ &other, NULL, text, "math.append" },
		{ &other, &a_list, text, "math.append" },
		{ &other, NULL, NULL, "append" },
		{ &other, NULL, number, "append" },
		{ &list_methods[1], &a_list, NULL, "list.pop" },
		{ &list_methods[0], &a_list, number, "list.append" },
		{ &list_methods[0], &a_sub, NULL, "list.append" },
		{ &other, &a_sub, NULL, "Sub.append" },
		{ &other, &a_list, NULL, "list.append" },
		{ &other, &a_module, NULL, "append" },
		{ &list_methods[1], &class_of_list.base, NULL, "list.pop" },
		{ &list_methods[1], &class_of_other.base, NULL, "Class.pop" },
		{ &list_methods[1], &no_class.base, NULL, "meta.pop" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct py_c_function fn = {
			.def = cases[i].def,
			.self = cases[i].self,
			.module = (struct py_object *)cases[i].module,
		};
		name_facts facts;

		nr_requests = 0;
		facts = names_ask_native(&fn);
		expect_request(0, cases[i].told, 0);
		assert_string_equal(requests[0].file, "");
		assert_int_equal(requests[0].is_native, 1);
		assert_int_equal(requests[0].line + requests[0].nr_args, 0);
		assert_int_equal(name_address(facts), 5);
		assert_int_equal(facts & 7, NAME_KNOWN | NAME_ASKED);
	}
}

static name_facts ask(void)
{
	static const struct py_method_def def = { "f" };
	struct py_c_function fn = { .def = &def };

	nr_requests = nr_greetings = nr_extended = 0;
	return names_ask_native(&fn);
}

/* The recorder is asked once for the rule of each range of numbers. */
TEST_WITH(rules_for_ranges_of_numbers, setup, teardown)
{
	static const struct {
		uint32_t range;
		unsigned nr_extended;
		bool is_recorded;
	} cases[] = {
		{ 0, 0, true },	    { 7, 1, true },	 { 7, 0, true },      { 71, 1, true },
		{ 7, 0, true },	    { 71, 0, true },	 { 6, 1, true },      { 65535, 1, true },
		{ 65535, 0, true }, { 65536, 0, false }, { 65543, 0, false }, { 40, 1, true },
		{ 8, 1, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		answer.range = cases[i].range;
		assert_int_equal(name_address(ask()), cases[i].is_recorded ? 5 : 0);
		assert_int_equal(nr_extended, cases[i].nr_extended);
		assert_int_equal(nr_greetings, 1);
		assert_int_equal(nr_requests, 1 + cases[i].nr_extended);
		if (cases[i].nr_extended)
			expect_request(1, "f", 1);
		expect_unlocked();
	}
}

TEST_WITH(a_rule_that_cannot_be_had, setup, teardown)
{
	answer.range = 100;
	extend_result = -1;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ask(), NAME_KNOWN | NAME_ASKED);
		assert_int_equal(nr_extended, 1);
		assert_int_equal(nr_greetings, 1);
		expect_unlocked();
	}
	extend_result = 0;
	assert_int_equal(name_address(ask()), 5);
	assert_int_equal(nr_extended, 1);
}

TEST_WITH(a_recorder_that_refuses_is_asked_again, setup, teardown)
{
	static const struct {
		unsigned nr_refused, nr_greetings;
	} cases[] = { { 0, 1 }, { 1, 2 }, { 7, 8 }, { 8, 8 }, { 20, 8 } };

	wait_ns = 1000000000;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		nr_refused = cases[i].nr_refused;
		assert_int_equal(name_address(ask()), nr_refused < 8 ? 5 : 0);
		assert_int_equal(nr_greetings, cases[i].nr_greetings);
	}
	nr_refused = 0;
	seal.is_on = true;
	assert_int_equal(ask(), NAME_KNOWN | NAME_ASKED);
	assert_int_equal(nr_greetings, 0);
	seal.may_talk = true;
	assert_int_equal(name_address(ask()), 5);
}

/*
 * Ask for two functions, in a child, since this changes the whole process. Returns ten times the
 * number of attempts for the first function, plus the number of those for the second.
 */
static unsigned attempts_of_two(void)
{
	pid_t pid = fork();
	unsigned nr;
	int status;

	if (pid == 0) {
		ask();
		nr = nr_greetings;
		is_there = true;
		nr_refused = 0;
		ask();
		_exit(10 * nr + nr_greetings);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST_WITH(a_recorder_that_is_gone_is_not_asked_again, setup, teardown)
{
	is_there = false;
	assert_int_equal(attempts_of_two(), 10);
	is_there = true;
	nr_refused = 20;
	assert_int_equal(attempts_of_two(), 81);
	wait_ns = 1000000001;
	assert_int_equal(attempts_of_two(), 10);
	/* An answer counts, even if it is slow. */
	nr_refused = 0;
	assert_int_equal(attempts_of_two(), 11);
}

/* After this test the program's folder is known. */
TEST_WITH(files_beside_the_program_are_its_own, setup, teardown)
{
	static const char program[] = "/x/lib/python3/prog/main.py";
	static const char beside[] = "/x/lib/python3/prog/a.py";
	static const struct {
		const char *module, *name;
	} others[] = {
		{ "__main__", "<module>x" }, { "__main__", "f" },  { "__main__", NULL },
		{ "__main_", "<module>" },   { NULL, "<module>" },
	};
	struct object *code = new_code(NULL, NULL);

	set(code, "co_filename", new_object(program, 0));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		begin_globals(others[i].module, NULL);
		set(code, "co_name", others[i].name ? new_object(others[i].name, 0) : NULL);
		assert_int_equal(names_look(&code->base), NAME_KNOWN);
		assert_false(names_have_main);
	}
	begin_globals("__main__", NULL);
	assert_int_equal(look(program), NAME_KNOWN | NAME_OWN);
	assert_true(names_have_main);
	/* The first one is the program. */
	assert_int_equal(look("/usr/lib/python3/main.py"), NAME_KNOWN);
	assert_int_equal(look(beside), NAME_KNOWN | NAME_OWN);
	assert_int_equal(look("/x/lib/python3/progs.py"), NAME_KNOWN);
}
