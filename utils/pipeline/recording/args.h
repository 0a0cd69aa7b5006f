/*
 * Specifications for the payloads of a recording: the arguments and the return value of each
 * function's calls.
 */
#ifndef UTRAIL_PIPELINE_ARGS_H
#define UTRAIL_PIPELINE_ARGS_H

#include "utils/base/containers/strmap.h"
#include "utils/spec/args/argrules.h"
#include "utils/spec/args/enumdef.h"
#include "utils/pipeline/recording/module.h"

struct trace_data;

/*
 * @retval: only the first one counts
 * @is_known: the arguments are from the table of library functions, in its order:
 *            autoargs_count() applies to them
 */
struct func_args {
	struct argspecs args;
	struct argspecs retval;
	bool is_known;
};

/*
 * Specifications by the rules of doc/formats/info.md, "Argument specifications": the user's come
 * first, and then those that the recorder has found, in debug information (.dbg) or else in tables
 * of library functions.
 *
 * @args_auto, @retval_auto: specifications by the name of the function; texts within @tables
 * @args_alike, @retval_alike: specifications of mangled names, by the demangled name; these names
 *                              are on the heap
 * @enums: enums of the tables; the others are in the modules
 * @funcs: by func->id: NULL: not looked up yet; &no_args: no values
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

/*
 * Open the book of @data, whose header and info were read. Invalid rules are left out. 0 or
 * -ENOMEM.
 */
int arg_book_open(struct arg_book *book, struct trace_data *data, struct uft_err *err);
void arg_book_close(struct arg_book *book);

/*
 * Find the values in a function's records; NULL when they are unknown. Lives as long as the book.
 * Loads the module's debug information for its first function.
 */
const struct func_args *arg_book_find(struct arg_book *book, const struct func *func);

/*
 * Returns the length, without padding, of the payload of a call (@is_exit: of a return) with the
 * values of @known. It begins at @payload and ends before @payload + @left; 0: it is incomplete, or
 * empty. @big: byte order of the recording.
 */
size_t func_args_length(const struct func_args *known, bool is_exit, const uint8_t *payload,
			size_t left, bool big);

/*
 * Find the definition of the struct of @spec in @func's module; NULL when there is none of that
 * size, and for containers.
 */
const struct struct_def *arg_book_struct(const struct func *func, const struct argspec *spec);

/* Find the definition of enum @name in @func's module, or NULL. */
const struct enum_def *arg_book_enum(const struct arg_book *book, const struct func *func,
				     const char *name);

#endif
