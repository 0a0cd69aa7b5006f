/* Asks the recorder which number a Python function has (see names.h). */
#include "libmcount/python/names.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include "libmcount/hot/probe.h"
#include "libmcount/plan/plans.h"
#include "libmcount/system/channel.h"
#include "libmcount/system/module_lock.h"
#include "libmcount/system/seal.h"
#include "utils/format/callables.h"

#define NAME_BYTES 2048
#define FILE_BYTES 4096

/* The description of a function, for the recorder. */
struct description {
	char name[NAME_BYTES];
	char file[FILE_BYTES];
	uint32_t line;
	uint32_t nr_args;
	bool is_native;
};

/* --- the conversation --- */

/*
 * A bit for each range of function addresses (control_callable_is.range). The bit is set when the
 * plan contains the entries of this range. A forked child inherits the bits and the plan.
 */
#define RANGES_MAX 65536U

static _Atomic uint64_t planned_ranges[RANGES_MAX / 64];

static bool is_range_planned(uint32_t range)
{
	return range < RANGES_MAX &&
	       (atomic_load(&planned_ranges[range / 64]) & 1ULL << range % 64) != 0;
}

/*
 * Set when the probe could not begin a conversation with the recorder, or when a conversation
 * failed after more than SLOW_NS. From then on the probe asks the recorder no more questions
 * about functions, because each question may take seconds.
 */
static _Atomic bool is_alone;

union packet {
	struct control_callable m;
	char bytes[sizeof(struct control_callable) + NAME_BYTES + FILE_BYTES];
};

static bool talk_about(struct channel *ch, const struct description *d, bool wants_plan,
		       struct control_callable_is *answer)
{
	union packet packet = {
		.m = { .line = d->line,
		       .nr_args = d->nr_args,
		       .is_native = d->is_native,
		       .wants_plan = wants_plan },
	};
	char *end = stpcpy(packet.m.texts, d->name) + 1;

	end = stpcpy(end, d->file) + 1;
	return channel_send(ch, CONTROL_CALLABLE, &packet, end - packet.bytes) &&
	       channel_wait(ch, CONTROL_CALLABLE_IS, answer, sizeof(*answer));
}

/*
 * Asks the recorder for the plan entries of the address range @answer->range, and adds the entries
 * to the plan. Returns false on failure. If another thread has added the entries meanwhile, the
 * result is true.
 */
static bool add_range(struct channel *ch, const struct description *d,
		      struct control_callable_is *answer)
{
	if (answer->range >= RANGES_MAX || !talk_about(ch, d, true, answer))
		return false;
	pthread_mutex_lock(&module_lock);

	bool has_plan = is_range_planned(answer->range) || plans_extend(ch->fds[0]) == 0;

	pthread_mutex_unlock(&module_lock);
	if (has_plan)
		atomic_fetch_or(&planned_ranges[answer->range / 64], 1ULL << answer->range % 64);
	return has_plan;
}

/* The number of attempts to ask the recorder, which refuses some requests when it gets many. */
#define ATTEMPTS 8
#define SLOW_NS	 1000000000ULL

/*
 * Asks the recorder for the address that represents a function in records, and for the values to
 * record at each call of the function. If the function is recorded, stores in @told the address,
 * and a bit for each of these values. Returns false when there is no answer.
 */
static bool ask_once(const struct description *d, name_facts *told)
{
	struct channel ch cleanup(channel_close);
	struct control_callable_is answer = { .addr = 0 };
	uint64_t begin_ns = clock_kernel_ns();
	bool is_there;

	channel_init(&ch);
	is_there = channel_greet(&ch, CONTROL_NAMES);
	if (is_there && talk_about(&ch, d, false, &answer)) {
		if (!answer.range || is_range_planned(answer.range) || add_range(&ch, d, &answer))
			*told = answer.addr << NAME_SHIFT | answer.values << NAME_VALUES_SHIFT;
		return true;
	}
	if (!is_there || clock_kernel_ns() - begin_ns > SLOW_NS)
		atomic_store(&is_alone, true);
	return false;
}

/* Calls ask_once(), several times if necessary. Returns 0 if the recorder does not answer. */
static name_facts ask_recorder(const struct description *d)
{
	name_facts told = 0;

	for (int i = 0; i < ATTEMPTS && !atomic_load(&is_alone) && seal_may_talk(); i++) {
		if (ask_once(d, &told))
			break;
		sched_yield();
	}
	return told;
}

/* --- descriptions --- */

/* Appends @text, or as much of it as fits. */
static void add_text(char *out, size_t size, const char *text)
{
	size_t len = strlen(out);
	size_t more = strnlen(text, size - 1 - len);

	memcpy(out + len, text, more);
	out[len + more] = '\0';
}

/* Appends the text of @o and releases @o, which may be NULL. Returns false when @o has no text. */
static bool add_string(char *out, size_t size, struct py_object *o)
{
	const char *text = o ? py.text(o) : NULL;

	if (text)
		add_text(out, size, text);
	else
		py.error_clear();
	if (o)
		py.let_go(o);
	return text;
}

static struct py_object *attribute_of(struct py_object *o, const char *name)
{
	struct py_object *value = py.attribute(o, name);

	if (!value)
		py.error_clear();
	return value;
}

/* True for files of Python's own library, and of packages that were installed beside it. */
static bool is_of_library(const char *file)
{
	static const char *const places[] = { "/lib/python3", "/site-packages/",
					      "/dist-packages/" };

	if (strncmp(file, "<frozen", 7) == 0)
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (strstr(file, places[i]))
			return true;
	}
	return false;
}

/* The program's folder, with a slash; "" until it is known. */
static char program_folder[FILE_BYTES];

static void note_program(const char *file)
{
	const char *slash = strrchr(file, '/');

	if (slash && !*program_folder) {
		memcpy(program_folder, file, slash + 1 - file);
		program_folder[slash + 1 - file] = '\0';
	}
}

/* The dictionary of a module may be long, but the module's name is among the first items. */
#define GLOBALS_LOOKED_AT 64

/*
 * Returns the value of the key @wanted, or NULL. A lookup in the dictionary would compare @wanted
 * with the program's keys, and the comparison could run code of the program. So this function
 * looks at one item after the other.
 */
static struct py_object *global_of(struct py_object *globals, const char *wanted)
{
	struct py_object *key, *value;
	intptr_t at = 0;

	for (int i = 0; i < GLOBALS_LOOKED_AT && py.next_item(globals, &at, &key, &value); i++) {
		const char *text = py.text(key);

		if (text && strcmp(text, wanted) == 0)
			return value;
		if (!text)
			py.error_clear();
	}
	return NULL;
}

/*
 * Returns the text of the running module's variable @wanted. The variable owns the text. Returns
 * NULL when the module has no such variable, or when the variable is not a text.
 */
static const char *module_text(const char *wanted)
{
	struct py_object *globals = py.globals();
	struct py_object *value = globals ? global_of(globals, wanted) : NULL;
	const char *text = value ? py.text(value) : NULL;

	if (!text)
		py.error_clear();
	return text;
}

static bool is_path_own(const char *file)
{
	return !is_of_library(file) ||
	       (*program_folder && strncmp(file, program_folder, strlen(program_folder)) == 0);
}

/*
 * True when a library has made the running code from a string: the code's globals are those of a
 * library's module (dataclasses), or namedtuple() has made the code.
 */
static bool is_made_by_library(const char *file)
{
	static const char tuple[] = "namedtuple_";
	const char *of = *file == '<' ? module_text("__file__") : NULL;
	const char *module;

	if (*file != '<' || of)
		return of && !is_path_own(of);
	module = module_text("__name__");
	return module && strncmp(module, tuple, sizeof(tuple) - 1) == 0;
}

/* With --nest-libcall all functions are recorded like the program's own. */
static bool is_own(const char *file)
{
	return (probe.plan.flags & PLAN_NEST_LIBCALLS) ||
	       (is_path_own(file) && !is_made_by_library(file));
}

bool names_have_main;

/* True when the running @code is the main module's own code, and not that of a function. */
static bool is_main(struct py_object *code)
{
	const char *module = module_text("__name__");
	char name[sizeof("<module>") + 1] = "";

	return module && strcmp(module, "__main__") == 0 &&
	       add_string(name, sizeof(name), attribute_of(code, "co_name")) &&
	       strcmp(name, "<module>") == 0;
}

/* Writes "module.qualified.name". For functions of __main__ the module is left out. */
static void name_code(struct description *d, struct py_object *code)
{
	const char *text = module_text("__name__");
	char own[NAME_BYTES] = "";

	/* In Python 3.11 and later, code objects have co_qualname. */
	if (!add_string(own, sizeof(own), attribute_of(code, "co_qualname")) &&
	    !add_string(own, sizeof(own), attribute_of(code, "co_name")))
		add_text(own, sizeof(own), "?");
	if (text && (strcmp(text, "__main__") != 0 || strcmp(own, "<module>") == 0)) {
		add_text(d->name, sizeof(d->name), text);
		add_text(d->name, sizeof(d->name), ".");
	}
	add_text(d->name, sizeof(d->name), own);
}

/* An error that the program has raised. The probe puts the error aside during its own work. */
struct error {
	struct py_object *type, *value, *trace;
};

static void hold_error(struct error *e)
{
	py.error_take(&e->type, &e->value, &e->trace);
}

static void release_error(struct error *e)
{
	py.error_clear();
	py.error_put(e->type, e->value, e->trace);
}

name_facts names_look(struct py_object *code)
{
	char file[FILE_BYTES] = "";
	struct error error;
	name_facts facts;

	hold_error(&error);
	add_string(file, sizeof(file), attribute_of(code, "co_filename"));
	if (!names_have_main && is_main(code)) {
		names_have_main = true;
		note_program(file);
	}
	facts = (is_own(file) ? NAME_OWN : 0) | NAME_KNOWN;
	release_error(&error);
	return facts;
}

static uint32_t number_of(struct py_object *code, const char *name)
{
	struct py_object *value = attribute_of(code, name);
	long nr = value ? py.number(value) : 0;

	if (value)
		py.let_go(value);
	return nr > 0 ? nr : 0;
}

#define CODE_VARARGS 0x04 /* CO_VARARGS, code.h: the function has a parameter *args */
#define CODE_VARKEYS 0x08 /* CO_VARKEYWORDS, code.h: the function has a parameter **kwargs */

static uint32_t nr_args_of(struct py_object *code)
{
	uint32_t flags = number_of(code, "co_flags");

	return number_of(code, "co_argcount") + number_of(code, "co_kwonlyargcount") +
	       ((flags & CODE_VARARGS) != 0) + ((flags & CODE_VARKEYS) != 0);
}

name_facts names_ask_code(struct py_object *code, name_facts facts)
{
	struct description d = { .name = "" };
	struct error error;

	hold_error(&error);
	name_code(&d, code);
	add_string(d.file, sizeof(d.file), attribute_of(code, "co_filename"));
	d.line = number_of(code, "co_firstlineno");
	d.nr_args = nr_args_of(code);
	release_error(&error);
	return ask_recorder(&d) | facts | NAME_ASKED;
}

/* Returns the type among @type and its parents that itself defines @def, or NULL. */
static const struct py_type *definer_of(const struct py_type *type, const struct py_method_def *def)
{
	for (; type; type = type->parent) {
		const struct py_method_def *m = type->methods;

		while (m && m->name && m != def)
			m++;
		if (m == def)
			return type;
	}
	return NULL;
}

/*
 * Names a method after the type that defines the method. If no such type is found, names the method
 * after the type of fn->self or, if fn->self is a class, after this class. The function reads no
 * attributes, because reading an attribute can run code of the program's metaclasses or
 * descriptors.
 */
static void name_method(struct description *d, const struct py_c_function *fn)
{
	const struct py_type *type = fn->self->type;
	const struct py_type *definer = definer_of(type, fn->def);
	const char *dot;

	/* If the method is a class method or a static method, fn->self is the class. */
	if (!definer && (type->flags & PY_TYPE_OF_TYPES)) {
		type = (const struct py_type *)fn->self;
		definer = definer_of(type, fn->def);
	}
	if (definer)
		type = definer;
	dot = strrchr(type->name, '.');
	if (strcmp(type->name, "module") != 0) {
		add_text(d->name, sizeof(d->name), dot ? dot + 1 : type->name);
		add_text(d->name, sizeof(d->name), ".");
	}
	add_text(d->name, sizeof(d->name), fn->def->name);
}

name_facts names_ask_native(const struct py_c_function *fn)
{
	struct description d = { .is_native = true };
	struct error error;
	const char *module;

	hold_error(&error);
	/* Functions of a module have the module's name in fn->module. Methods have NULL there. */
	module = fn->module ? py.text(fn->module) : NULL;
	if (module) {
		add_text(d.name, sizeof(d.name), module);
		add_text(d.name, sizeof(d.name), ".");
	} else {
		py.error_clear();
	}
	release_error(&error);
	if (module || !fn->self)
		add_text(d.name, sizeof(d.name), fn->def->name);
	else
		name_method(&d, fn);
	return ask_recorder(&d) | NAME_KNOWN | NAME_ASKED;
}
