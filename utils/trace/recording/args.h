/*
 * Specifications for the payloads of a recording: the arguments and the return value that calls of
 * each function carry.
 */
#ifndef UTRAIL_TRACE_ARGS_H
#define UTRAIL_TRACE_ARGS_H

#include "utils/base/containers/strmap.h"
#include "utils/spec/args/argrules.h"
#include "utils/spec/args/enumdef.h"
#include "utils/trace/recording/module.h"

struct trace_data;

/*
 * @retval: at most one counts, the first
 * @is_known: the arguments are those of the table of library functions, in its order:
 *            autoargs_count() goes for them
 */
struct func_args {
	struct argspecs args;
	struct argspecs retval;
	bool is_known;
};

/*
 * The rules of doc/formats/info.md, "Argument specifications": those that the user asked for, then
 * those that the recorder found by itself, from debug information (.dbg) or else from tables of
 * library functions.
 *
 * @args_auto, @retval_auto: specifications by the name of the function, texts within @tables
 * @args_alike, @retval_alike: the same by demangled name, of those that are mangled; names of the
 * heap
 * @enums: those of the tables; the others are in the modules
 * @funcs: by id of the function: NULL: nobody asked yet; &no_args: nothing is known
 */
struct arg_book {
	struct module_set *modules;
	unsigned word_bytes;
	bool is_auto;
	struct argrules rules;
	struct strmap args_auto;
	struct strmap retval_auto;
	struct strmap args_alike;
	struct strmap retval_alike;
	char *tables[2];
	struct enum_defs enums;
	const struct func_args **funcs;
	size_t nr_funcs;
};

/* @data has its header and info. Rules that cannot be read are left out. 0 or -ENOMEM. */
int arg_book_open(struct arg_book *book, struct trace_data *data, struct uft_err *err);
void arg_book_close(struct arg_book *book);

/*
 * The values that a function's records carry; NULL when nothing is known of it. Lives as long as
 * the book. Loads the module's debug information with its first function.
 */
const struct func_args *arg_book_find(struct arg_book *book, const struct func *func);

/*
 * The length, without padding, of the payload of a call (@is_exit: of a return) that carries the
 * values of @known. It begins at @payload and ends before @payload + @left; 0: it is not all there,
 * or carries nothing. @big: byte order of the recording.
 */
size_t func_args_length(const struct func_args *known, bool is_exit, const uint8_t *payload,
			size_t left, bool big);

/*
 * The definition of the struct of @spec as @func's module knows it; NULL without one of that size,
 * or of a container.
 */
const struct struct_def *arg_book_struct(const struct func *func, const struct argspec *spec);

/* The definition of enum @name as @func's module knows it; or NULL. */
const struct enum_def *arg_book_enum(const struct arg_book *book, const struct func *func,
				     const char *name);

#endif
