/* Scripts in Python 3. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/script/python_api.h"
#include "utils/script/script.h"

#define SCRIPT_MAX_BYTES (16UL << 20)
#define MODULE_NAME	 "utrail_script"
/* The text that replaces a string that is not UTF-8, as in uftrace. */
#define INVALID		 "<invalid value>"

/* Keys of contexts, the dicts that the script's functions get. */
#define KEYS(X)      \
	X(tid)       \
	X(depth)     \
	X(timestamp) \
	X(address)   \
	X(name)      \
	X(duration)  \
	X(args)      \
	X(retval)    \
	X(record)    \
	X(version)   \
	X(cmds)

enum key {
#define KEY_NUMBER(name) KEY_##name,
	KEYS(KEY_NUMBER)
#undef KEY_NUMBER
	KEY_NR,
};

/* Kinds of contexts. All contexts of a kind have the same keys. */
enum context {
	CONTEXT_ENTRY,
	CONTEXT_ENTRY_ARGS,
	CONTEXT_EXIT,
	CONTEXT_EXIT_RETVAL,
	CONTEXT_NR,
};

/* The number of keys in a context of each kind. */
static const ssize_t context_sizes[CONTEXT_NR] = { 5, 6, 6, 7 };

/*
 * @has_locale: the environment sets a locale, which tells the encoding of text
 * @functions: by enum script_function; NULL: the script lacks the function
 * @contexts: the last context of each kind, reused unless the script has kept it
 * @tid: the tid that the script got last
 * @tid_object: the Python object for @tid
 * @names: a list of functions' names, which the script gets with each batch of calls (batch.h);
 *         NULL before the first name is added
 */
struct runner {
	struct python_api py;
	bool is_running;
	bool has_locale;
	PyObject *functions[SCRIPT_FUNCTIONS];
	PyObject *keys[KEY_NR];
	PyObject *contexts[CONTEXT_NR];
	PyObject *tid_object;
	int tid;
	PyObject *names;
};

static void drop_object(struct runner *run, PyObject *o)
{
	if (o)
		run->py.Py_DecRef(o);
}

/*
 * Put @o into @dict, and release the caller's reference to @o. Returns 0 or -1. A NULL @o is the
 * result of a call that failed and set an exception.
 */
static int put_in_dict(struct runner *run, PyObject *dict, enum key key, PyObject *o)
{
	int ret = o ? run->py.PyDict_SetItem(dict, run->keys[key], o) : -1;

	drop_object(run, o);
	return ret;
}

/* Like put_in_dict(), but the caller keeps the reference to @o. */
static int put_kept(struct runner *run, PyObject *dict, enum key key, PyObject *o)
{
	return o ? run->py.PyDict_SetItem(dict, run->keys[key], o) : -1;
}

/* --- exceptions --- */

/*
 * Returns the exit status for the argument of sys.exit(). If the argument is a string, prints the
 * string on stderr, and returns 1. Python does the same.
 */
static int exit_status(struct script *script, PyObject *value)
{
	struct runner *run = script->runner;
	PyObject *code = value ? run->py.PyObject_GetAttrString(value, "code") : NULL;
	long status = 0;

	if (code && code != run->py.none) {
		status = run->py.PyLong_AsLong(code);
		if (status == -1 && run->py.PyErr_Occurred()) {
			PyObject *text = run->py.PyUnicode_AsUTF8String(code);
			char *bytes;
			ssize_t len;

			run->py.PyErr_Clear();
			if (text && run->py.PyBytes_AsStringAndSize(text, &bytes, &len) == 0)
				script_tell(script, bytes);
			drop_object(run, text);
			status = 1;
		}
	}
	run->py.PyErr_Clear();
	drop_object(run, code);
	return status & 0xff;
}

/* Handle the pending exception: print it or, if it comes from sys.exit(), end the script. */
static void tell_exception(struct script *script)
{
	struct runner *run = script->runner;
	PyObject *type, *value, *traceback;

	if (!run->py.PyErr_ExceptionMatches(*run->py.system_exit)) {
		run->py.PyErr_Print();
		script_failed(script);
		return;
	}
	run->py.PyErr_Fetch(&type, &value, &traceback);
	run->py.PyErr_NormalizeException(&type, &value, &traceback);
	script->is_over = true;
	script->status = exit_status(script, value);
	drop_object(run, type);
	drop_object(run, value);
	drop_object(run, traceback);
}

static void call_function(struct script *script, enum script_function function, PyObject *arg)
{
	struct runner *run = script->runner;
	PyObject *result = run->py.PyObject_CallFunctionObjArgs(run->functions[function], arg,
								NULL);

	if (!result)
		tell_exception(script);
	drop_object(run, result);
}

/*
 * Call a function with the context @dict. If @dict could not be made (@ret is negative), handle the
 * exception instead. @dict is released.
 */
static void call_with(struct script *script, enum script_function function, PyObject *dict, int ret)
{
	if (ret < 0)
		tell_exception(script);
	else
		call_function(script, function, dict);
	drop_object(script->runner, dict);
}

/* --- contexts --- */

/* Make the text of a name. A byte that is not UTF-8 becomes \xNN, as in other views. */
static PyObject *make_name(struct runner *run, const char *text, size_t len)
{
	return run->py.PyUnicode_DecodeUTF8(text, len, "backslashreplace");
}

static PyObject *make_text(struct runner *run, const char *text, size_t len)
{
	PyObject *made = run->py.PyUnicode_DecodeUTF8(text, len, NULL);

	if (made)
		return made;
	run->py.PyErr_Clear();
	return run->py.PyUnicode_DecodeUTF8(INVALID, strlen(INVALID), NULL);
}

static PyObject *make_value(struct runner *run, const struct script_value *value)
{
	switch (value->kind) {
	case SCRIPT_SIGNED:
		return run->py.PyLong_FromLongLong(value->i);
	case SCRIPT_UNSIGNED:
		return run->py.PyLong_FromUnsignedLongLong(value->u);
	case SCRIPT_WIDE:
		return run->py.PyLong_FromString(value->text, NULL, 0);
	case SCRIPT_FLOAT:
		return run->py.PyFloat_FromDouble(value->f);
	default:
		return make_text(run, value->text, value->len);
	}
}

static PyObject *make_args(struct runner *run, const struct script_values *values)
{
	PyObject *tuple = run->py.PyTuple_New(values->nr);

	for (size_t i = 0; tuple && i < values->nr; i++) {
		PyObject *o = make_value(run, &values->values[i]);

		/* PyTuple_SetItem() takes the reference even when it fails. */
		if (!o || run->py.PyTuple_SetItem(tuple, i, o) < 0) {
			drop_object(run, tuple);
			return NULL;
		}
	}
	return tuple;
}

static ssize_t refs_of(const struct runner *run, PyObject *o)
{
	return run->py.refs_of ? run->py.refs_of(o) : o->refs;
}

/*
 * Returns a context for calls of this @kind: the last context, or a new context if the script has
 * kept the last context. The caller must check the size of the returned context, because the script
 * may have added keys.
 */
static PyObject *fresh_context(struct runner *run, enum context kind)
{
	PyObject **slot = &run->contexts[kind];

	if (*slot && refs_of(run, *slot) == 1)
		return *slot;
	drop_object(run, *slot);
	*slot = run->py.PyDict_New();
	return *slot;
}

static PyObject *name_of(struct runner *run, const struct script_call *call)
{
	const struct func *func = call->event->func;

	if (unlikely(!call->func->text))
		call->func->text = make_name(run, func->name, func->name_len);
	return call->func->text;
}

static PyObject *address_of(struct runner *run, const struct script_call *call)
{
	struct script_func *func = call->func;

	if (unlikely(!func->addr_object || func->addr != call->event->addr)) {
		drop_object(run, func->addr_object);
		func->addr = call->event->addr;
		func->addr_object = run->py.PyLong_FromUnsignedLongLong(func->addr);
	}
	return func->addr_object;
}

static PyObject *tid_of(struct runner *run, int tid)
{
	if (unlikely(!run->tid_object || run->tid != tid)) {
		drop_object(run, run->tid_object);
		run->tid = tid;
		run->tid_object = run->py.PyLong_FromLong(tid);
	}
	return run->tid_object;
}

static int fill_call(struct runner *run, PyObject *dict, const struct script_call *call)
{
	const struct event *event = call->event;
	struct python_api *py = &run->py;
	int ret = 0;

	ret |= put_kept(run, dict, KEY_tid, tid_of(run, call->tid));
	ret |= put_in_dict(run, dict, KEY_depth, py->PyLong_FromLong(event->indent));
	ret |= put_in_dict(run, dict, KEY_timestamp,
			   py->PyLong_FromUnsignedLongLong(event->time_ns));
	ret |= put_kept(run, dict, KEY_address, address_of(run, call));
	ret |= put_kept(run, dict, KEY_name, name_of(run, call));
	if (event->type == EVENT_EXIT)
		ret |= put_in_dict(run, dict, KEY_duration,
				   py->PyLong_FromUnsignedLongLong(time_abs(event->total_ns)));
	if (likely(!call->values))
		return ret;
	if (event->type == EVENT_ENTRY)
		ret |= put_in_dict(run, dict, KEY_args, make_args(run, call->values));
	else if (call->values->nr)
		ret |= put_in_dict(run, dict, KEY_retval,
				   make_value(run, &call->values->values[0]));
	return ret;
}

static enum context kind_of(const struct script_call *call)
{
	if (call->event->type == EVENT_ENTRY)
		return call->values ? CONTEXT_ENTRY_ARGS : CONTEXT_ENTRY;
	return call->values && call->values->nr ? CONTEXT_EXIT_RETVAL : CONTEXT_EXIT;
}

static bool has_only_ours(struct runner *run, enum context kind, PyObject *dict)
{
	return run->py.PyDict_Size(dict) == context_sizes[kind];
}

static void give_python_call(struct script *script, const struct script_call *call)
{
	struct runner *run = script->runner;
	enum context kind = kind_of(call);
	PyObject *dict = fresh_context(run, kind);
	int ret = dict ? fill_call(run, dict, call) : -1;

	if (unlikely(ret == 0 && !has_only_ours(run, kind, dict))) {
		drop_object(run, dict);
		dict = run->contexts[kind] = run->py.PyDict_New();
		ret = dict ? fill_call(run, dict, call) : -1;
	}
	if (unlikely(ret < 0)) {
		tell_exception(script);
		return;
	}
	call_function(script, call->event->type == EVENT_ENTRY ? SCRIPT_ENTRY : SCRIPT_EXIT, dict);
}

static void give_python_point(struct script *script, const struct script_point *point)
{
	struct runner *run = script->runner;
	struct python_api *py = &run->py;
	PyObject *dict = py->PyDict_New();
	int ret = dict ? 0 : -1;

	if (dict) {
		ret |= put_kept(run, dict, KEY_tid, tid_of(run, point->tid));
		ret |= put_in_dict(run, dict, KEY_depth, py->PyLong_FromLong(0));
		ret |= put_in_dict(run, dict, KEY_timestamp,
				   py->PyLong_FromUnsignedLongLong(point->event->time_ns));
		ret |= put_in_dict(run, dict, KEY_address,
				   py->PyLong_FromUnsignedLongLong(point->event->id));
		ret |= put_in_dict(run, dict, KEY_name,
				   make_name(run, strbuf_str(point->name), point->name->len));
		ret |= put_in_dict(run, dict, KEY_args,
				   make_name(run, strbuf_str(point->data), point->data->len));
	}
	call_with(script, SCRIPT_EVENT, dict, ret);
}

/* Makes a Python string from @text, which is a path or a word of the command line. */
static PyObject *make_word(struct runner *run, const char *text)
{
	return run->has_locale
		       ? run->py.PyUnicode_DecodeFSDefault(text)
		       : run->py.PyUnicode_DecodeUTF8(text, strlen(text), "surrogateescape");
}

static PyObject *make_cmds(struct runner *run, const struct script_config *config)
{
	PyObject *tuple = run->py.PyTuple_New(config->nr_args);

	for (int i = 0; tuple && i < config->nr_args; i++) {
		PyObject *word = make_word(run, config->args[i]);

		if (!word || run->py.PyTuple_SetItem(tuple, i, word) < 0) {
			drop_object(run, tuple);
			return NULL;
		}
	}
	return tuple;
}

static void begin_python(struct script *script)
{
	struct runner *run = script->runner;
	const char *version = script->config->version;
	PyObject *dict = run->py.PyDict_New();
	int ret = dict ? 0 : -1;

	if (dict) {
		ret |= put_in_dict(run, dict, KEY_record,
				   run->py.PyBool_FromLong(script->config->is_recording));
		ret |= put_in_dict(run, dict, KEY_version,
				   make_name(run, version, strlen(version)));
		ret |= put_in_dict(run, dict, KEY_cmds, make_cmds(run, script->config));
	}
	call_with(script, SCRIPT_BEGIN, dict, ret);
}

/* --- batches --- */

static int number_python_func(struct script *script, const struct func *func,
			      struct script_func *known)
{
	struct runner *run = script->runner;

	if (!run->names)
		run->names = run->py.PyList_New(0);
	if (!known->text)
		known->text = make_name(run, func->name, func->name_len);
	if (run->names && known->text && run->py.PyList_Append(run->names, known->text) == 0)
		return 0;
	run->py.PyErr_Clear();
	return -ENOMEM;
}

/*
 * Add a column: a read-only view of a copy of @column. The script may keep the view.
 *
 * @format: type of an element, in the notation of Python's module struct
 */
static int put_column(struct runner *run, PyObject *dict, const char *name, const char *format,
		      const void *column, size_t bytes)
{
	PyObject *copy = run->py.PyBytes_FromStringAndSize(column, bytes);
	PyObject *view = copy ? run->py.PyMemoryView_FromObject(copy) : NULL;
	PyObject *cast = view ? run->py.PyObject_CallMethod(view, "cast", "s", format) : NULL;
	int ret = cast ? run->py.PyDict_SetItemString(dict, name, cast) : -1;

	drop_object(run, copy);
	drop_object(run, view);
	drop_object(run, cast);
	return ret;
}

static void hand_python_batch(struct script *script)
{
	struct runner *run = script->runner;
	const struct script_batch *b = script->batch;
	PyObject *dict = run->py.PyDict_New();
	int ret = dict ? run->py.PyDict_SetItemString(dict, "names", run->names) : -1;

	if (ret == 0) {
		ret |= put_column(run, dict, "function", "I", b->function, b->nr * 4);
		ret |= put_column(run, dict, "timestamp", "Q", b->timestamp, b->nr * 8);
		ret |= put_column(run, dict, "duration", "Q", b->duration, b->nr * 8);
		ret |= put_column(run, dict, "depth", "H", b->depth, b->nr * 2);
		ret |= put_column(run, dict, "tid", "i", b->tid, b->nr * 4);
	}
	call_with(script, SCRIPT_BATCH, dict, ret);
}

static void end_python(struct script *script)
{
	call_function(script, SCRIPT_END, NULL);
}

/* --- loading --- */

static void make_keys(struct runner *run)
{
#define KEY_MAKE(name) run->keys[KEY_##name] = run->py.PyUnicode_InternFromString(#name);
	KEYS(KEY_MAKE)
#undef KEY_MAKE
}

/*
 * Set sys.argv to the same words that the program python3 would set. Let `import` find modules
 * beside the script.
 */
static int set_surroundings(struct runner *run, const struct script_config *config)
{
	const char *slash = strrchr(config->path, '/');
	char *dir cleanup_free = slash ? strndup(config->path, MAX(slash - config->path, 1))
				       : strdup(".");
	PyObject *path = run->py.PySys_GetObject("path");
	PyObject *argv = run->py.PyList_New(0);
	PyObject *o = dir ? run->py.PyUnicode_DecodeFSDefault(dir) : NULL;
	int ret = path && o ? run->py.PyList_Insert(path, 0, o) : -1;

	drop_object(run, o);
	for (int i = -1; ret == 0 && argv && i < config->nr_args; i++) {
		o = make_word(run, i < 0 ? config->path : config->args[i]);
		ret = o ? run->py.PyList_Append(argv, o) : -1;
		drop_object(run, o);
	}
	if (ret == 0)
		ret = argv ? run->py.PySys_SetObject("argv", argv) : -1;
	drop_object(run, argv);
	return ret;
}

/*
 * Import the script, and run the part of its code that is outside of functions. Returns NULL when
 * an exception is pending.
 */
static PyObject *import_script(struct runner *run, const char *path, const char *text)
{
	PyObject *code = run->py.Py_CompileString(text, path, PYTHON_FILE_INPUT);
	PyObject *module = code ? run->py.PyImport_ExecCodeModuleEx(MODULE_NAME, code, path) : NULL;

	drop_object(run, code);
	return module;
}

/* Returns an attribute, or NULL if there is none. Clears Python's exception in that case. */
static PyObject *find_attribute(struct runner *run, PyObject *module, const char *name)
{
	PyObject *o = run->py.PyObject_GetAttrString(module, name);

	if (!o)
		run->py.PyErr_Clear();
	return o;
}

static int want(struct script *script, PyObject *item, struct uft_err *err)
{
	struct runner *run = script->runner;
	PyObject *text = run->py.PyUnicode_AsUTF8String(item);
	char *bytes;
	ssize_t len;
	int ret;

	if (!text || run->py.PyBytes_AsStringAndSize(text, &bytes, &len) < 0) {
		run->py.PyErr_Clear();
		ret = script_no_list(script, err);
	} else {
		ret = script_want(script, bytes, len, err);
	}
	drop_object(run, text);
	return ret;
}

static int take_wanted(struct script *script, PyObject *module, struct uft_err *err)
{
	struct runner *run = script->runner;
	PyObject *wanted = find_attribute(run, module, SCRIPT_WANTED);
	/* Try a string first. As a sequence, a string would give a name for each letter. */
	PyObject *text = wanted ? run->py.PyUnicode_AsUTF8String(wanted) : NULL;
	PyObject *list = NULL;
	int ret = 0;

	if (wanted && !text) {
		run->py.PyErr_Clear();
		list = run->py.PySequence_List(wanted);
	}
	if (wanted && !list) {
		run->py.PyErr_Clear();
		ret = script_no_list(script, err);
	}
	for (ssize_t i = 0; ret == 0 && list && i < run->py.PyList_Size(list); i++)
		ret = want(script, run->py.PyList_GetItem(list, i), err);
	drop_object(run, list);
	drop_object(run, text);
	drop_object(run, wanted);
	return ret;
}

static void take_functions(struct script *script, PyObject *module)
{
	struct runner *run = script->runner;

	for (size_t i = 0; i < SCRIPT_FUNCTIONS; i++) {
		PyObject *o = find_attribute(run, module, script_function_names[i]);

		script->has[i] = o && run->py.PyCallable_Check(o);
		if (o && !script->has[i] && o != run->py.none)
			script_tell_not_callable(script, i);
		if (script->has[i])
			run->functions[i] = o;
		else
			drop_object(run, o);
	}
}

static int load_script(struct script *script, const char *text, struct uft_err *err)
{
	struct runner *run = script->runner;
	const char *path = script->config->path;
	PyObject *module = NULL;

	make_keys(run);
	if (set_surroundings(run, script->config) == 0)
		module = import_script(run, path, text);
	if (!module) {
		tell_exception(script);
		return script->is_over ? -ECANCELED
				       : err_set(err, -EINVAL, "'%s' cannot be imported", path);
	}

	int ret = take_wanted(script, module, err);

	take_functions(script, module);
	drop_object(run, module);
	return ret;
}

static void put_word(struct runner *run, PyObject *dict, const char *key, const char *text)
{
	PyObject *k = run->py.PyUnicode_InternFromString(key);
	PyObject *o = run->py.PyUnicode_InternFromString(text);

	if (k && o)
		run->py.PyDict_SetItem(dict, k, o);
	drop_object(run, k);
	drop_object(run, o);
}

/*
 * Make the embedded Python write UTF-8. Call this if no locale is set. Without a locale, the
 * program python3 writes UTF-8 by itself (PEP 540), but an embedded Python does not.
 */
static void write_utf8(struct runner *run)
{
	PyObject *out = run->py.PySys_GetObject("stdout");
	PyObject *set = out ? run->py.PyObject_GetAttrString(out, "reconfigure") : NULL;
	PyObject *args = run->py.PyTuple_New(0);
	PyObject *words = run->py.PyDict_New();
	PyObject *result = NULL;

	if (set && args && words) {
		put_word(run, words, "encoding", "utf-8");
		put_word(run, words, "errors", "surrogateescape");
		result = run->py.PyObject_Call(set, args, words);
	}
	run->py.PyErr_Clear();
	drop_object(run, result);
	drop_object(run, words);
	drop_object(run, args);
	drop_object(run, set);
}

/* Start Python. Py_InitializeEx(0) installs no signal handlers, so the handlers of utrail stay. */
static void start_python(struct runner *run)
{
	const char *locale = setlocale(LC_CTYPE, "");

	run->has_locale = locale && strcmp(locale, "C") != 0 && strcmp(locale, "POSIX") != 0;
	run->py.Py_InitializeEx(0);
	run->is_running = true;
	if (!run->has_locale)
		write_utf8(run);
}

static int open_python(struct script *script, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct runner *run = calloc(1, sizeof(*run));
	const char *path = script->config->path;
	int ret = file_read_all(path, SCRIPT_MAX_BYTES, &text, err);

	script->runner = run;
	if (ret < 0)
		return ret;
	if (!run)
		return err_set_errno(err, -ENOMEM, "cannot run '%s'", path);
	ret = python_load(&run->py, err);
	if (ret < 0) {
		err_prefix(err, "cannot run '%s'", path);
		return ret;
	}
	start_python(run);
	return load_script(script, strbuf_str(&text), err);
}

static void drop_func(struct script *script, struct script_func *func)
{
	drop_object(script->runner, func->text);
	drop_object(script->runner, func->addr_object);
}

/*
 * End Python. Py_FinalizeEx() flushes the script's output, and fails when the output is a pipe
 * without a reader. A missing reader is no failure of the script, so the result is ignored.
 */
static void close_python(struct script *script)
{
	struct runner *run = script->runner;

	if (!run)
		return;
	if (run->is_running) {
		for (size_t i = 0; i < SCRIPT_FUNCTIONS; i++)
			drop_object(run, run->functions[i]);
		for (size_t i = 0; i < KEY_NR; i++)
			drop_object(run, run->keys[i]);
		for (size_t i = 0; i < CONTEXT_NR; i++)
			drop_object(run, run->contexts[i]);
		drop_object(run, run->tid_object);
		drop_object(run, run->names);
		run->py.Py_FinalizeEx();
	}
	free(run);
}

const struct script_lang script_python = {
	.ending = ".py",
	.comment = "#",
	.open = open_python,
	.close = close_python,
	.drop_func = drop_func,
	.begin = begin_python,
	.call = give_python_call,
	.point = give_python_point,
	.end = end_python,
	.number = number_python_func,
	.batch = hand_python_batch,
};
