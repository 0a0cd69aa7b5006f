/*
 * A view that passes every call and event to functions of a user's script
 * (doc/man/utrail-script.1.in). Names and values are not escaped, and may come from a recording of
 * another user.
 */
#ifndef UTRAIL_SCRIPT_SCRIPT_H
#define UTRAIL_SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/spec/regex/pattern.h"
#include "utils/pipeline/pipeline.h"
#include "utils/script/batch.h"
#include "utils/script/values.h"
#include "utils/view/values/eventtext.h"

/* Functions of a script; each may be missing. */
enum script_function {
	SCRIPT_BEGIN,
	SCRIPT_ENTRY,
	SCRIPT_EXIT,
	SCRIPT_EVENT,
	SCRIPT_END,
	SCRIPT_BATCH,
	SCRIPT_FUNCTIONS,
};

/* By enum script_function: "uftrace_begin", ... */
extern const char *const script_function_names[SCRIPT_FUNCTIONS];

/*
 * A script sets this variable to a list of names or patterns. The script then gets only the calls
 * of matching functions.
 */
#define SCRIPT_WANTED "UFTRACE_FUNCS"

/*
 * @version: the tool's version, for the script
 * @path: the path of the script
 * @args, @nr_args: if a program is recorded, the words of the program's command line. Otherwise,
 *         the script's arguments
 * @is_recording: `utrail record` or `utrail live` runs the script. In this case the script gets no
 *         events
 * @tell: escapes a line and prints it on stderr; gets @self
 */
struct script_config {
	const char *version;
	const char *path;
	char *const *args;
	int nr_args;
	int match; /* enum pattern_match */
	bool shows_args;
	bool is_recording;
	void (*tell)(void *self, const char *line);
	void *self;
};

/*
 * The facts about a function.
 *
 * @text: the function's name as an object of the script's language; NULL: not made yet
 * @addr: the function's address in its last event
 * @addr_object: @addr as an object of the script's language; NULL: not made yet
 * @wanted: 1: calls are passed to the script; -1: calls are not passed; 0: not checked yet
 * @number: the function's index in the batches' table of names, counted from 1; 0: none
 */
struct script_func {
	void *text;
	void *addr_object;
	uint64_t addr;
	int wanted;
	uint32_t number;
};

/*
 * @values: for an ENTRY, the arguments; for an EXIT, the return value. NULL: the script gets none
 * @func: the facts about @event->func
 */
struct script_call {
	const struct event *event;
	int tid;
	struct script_func *func;
	const struct script_values *values;
};

/* An event. @name, @data: texts with any bytes */
struct script_point {
	const struct event *event;
	int tid;
	const struct strbuf *name;
	const struct strbuf *data;
};

/*
 * @runner: the data that @lang keeps for this script (struct runner of python.c or lua.c)
 * @has: true for each enum script_function that the script has
 * @wanted: patterns of SCRIPT_WANTED; NULL: all calls are wanted
 * @nr_failed: how many times a function of the script ended with an exception
 * @batch: NULL unless the script takes batches
 * @nr_numbers: number of functions in the batches' table of names
 * @is_over, @status: the script has ended itself, with @status
 */
struct script {
	const struct script_config *config;
	const struct script_lang *lang;
	void *runner;
	bool has[SCRIPT_FUNCTIONS];
	struct pattern *wanted;
	size_t nr_wanted;
	struct script_func *funcs;
	size_t nr_funcs;
	struct trace_data *data;
	struct event_texts texts;
	struct script_values values;
	struct strbuf name;
	struct strbuf text;
	uint64_t nr_failed;
	struct script_batch *batch;
	uint32_t nr_numbers;
	bool is_over;
	int status;
};

/*
 * A language. Exceptions in the script's functions are printed to stderr and counted
 * (script_failed()).
 *
 * @open: load the language's library and the script, and run the script's code that is outside of
 *        functions
 * @close: end the language. Each @open is followed by @close, even if @open has failed
 * @number: append a function's name to the list of names that each batch gives to the script;
 *         returns a negative number when memory is short
 * @batch: pass script->batch to the script
 * @drop_func: release the language's objects in @func
 */
struct script_lang {
	const char *ending;
	const char *comment;
	int (*open)(struct script *script, struct uft_err *err);
	void (*close)(struct script *script);
	void (*drop_func)(struct script *script, struct script_func *func);
	void (*begin)(struct script *script);
	void (*call)(struct script *script, const struct script_call *call);
	void (*point)(struct script *script, const struct script_point *point);
	void (*end)(struct script *script);
	int (*number)(struct script *script, const struct func *func, struct script_func *known);
	void (*batch)(struct script *script);
};

extern const struct script_lang script_python;
extern const struct script_lang script_lua;

/* Check that @path is a script that utrail can run. Returns 0, or a negative error with @err. */
int script_check(const char *path, struct uft_err *err);

/*
 * Load the script, and run its code that is outside of functions. Returns 0, or a negative error
 * with @err. Call script_close() even after a failure. @config and @data must outlive @script.
 *
 * @data: NULL when no recording is read
 */
int script_open(struct script *script, const struct script_config *config, struct trace_data *data,
		struct uft_err *err);
void script_close(struct script *script);
#define cleanup_script cleanup(script_close)

/*
 * Append to @out the options in the comments at the script's beginning. A blank separates the
 * options of two comments. Returns 0, or a negative error with @err.
 */
int script_options(const char *path, struct strbuf *out, struct uft_err *err);

/*
 * Call the script's function SCRIPT_BEGIN before the first event, and SCRIPT_END after the last
 * one.
 */
void script_begin(struct script *script);
void script_end(struct script *script);

/*
 * The functions of struct view; @self is the script. They return -ECANCELED, without a text in
 * @err, when the script has ended itself.
 */
int script_events(void *self, const struct event_span *span, struct uft_err *err);
int script_mixed(void *self, const struct task_event *events, size_t nr, struct uft_err *err);

/* --- functions that languages call --- */

/* Add a name or pattern of SCRIPT_WANTED. Returns 0, or a negative error with @err. */
int script_want(struct script *script, const char *text, size_t len, struct uft_err *err);

/* Report in @err: SCRIPT_WANTED is not a list of strings. Returns the code of this error. */
int script_no_list(const struct script *script, struct uft_err *err);

/* Print a text of any number of lines on stderr. Tabs become blanks. */
void script_tell(const struct script *script, const char *text);

/*
 * Print on stderr that the script uses the name of @function (enum script_function) for something
 * that is not a function.
 */
void script_tell_not_callable(const struct script *script, int function);

/*
 * Count one failure: a function of the script has ended with an exception. The caller of
 * script_failed() has printed the exception.
 */
void script_failed(struct script *script);

#endif
