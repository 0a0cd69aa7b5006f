/* Specifications of the arguments and return values that payloads contain. */
#ifndef UTRAIL_PIPELINE_ARGS_H
#define UTRAIL_PIPELINE_ARGS_H

#include "utils/base/containers/strmap.h"
#include "utils/spec/args/argrules.h"
#include "utils/spec/args/enumdef.h"
#include "utils/pipeline/recording/module.h"

struct trace_data;

/*
 * The specifications of one function.
 *
 * @retval: readers use only the first element
 * @is_known: @args is from the tables of library functions. A call may have fewer arguments than
 *            @args: see autoargs_count()
 */
struct func_args {
	struct argspecs args;
	struct argspecs retval;
	bool is_known;
};

/*
 * Finds the specifications of functions (struct func_args), as doc/formats/info.md, "Argument
 * specifications", defines. The user's specifications have priority. Debug information (.dbg) comes
 * second, and the tables of library functions come last.
 *
 * @is_auto: specifications are looked up for all functions
 * @has_specs: @is_auto is set, or @rules is not empty. If @has_specs is false, the recording has no
 *             values of arguments or results. In this case arg_book_find() changes nothing, so
 *             several threads may call arg_book_find() at the same time
 * @args_auto, @retval_auto: maps from a function's name to its specification in the tables. Names
 *                           and specifications are texts in @tables
 * @args_alike, @retval_alike: maps from a demangled name, which is on the heap, to a specification
 *                             in the tables
 * @enums: enums of the tables; enums of debug information are in the modules
 * @funcs: one element for each function; the index is func->id. An element is NULL if the function
 *         was not looked up yet, and &no_args if the function has no values
 */
struct arg_book {
	struct module_set *modules;
	unsigned word_bytes;
	bool is_auto;
	bool has_specs;
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
 * Make @book from @data, whose header and info were read. The info has rules about arguments and
 * return values. Invalid rules are skipped. Returns 0 or -ENOMEM.
 */
int arg_book_open(struct arg_book *book, struct trace_data *data, struct uft_err *err);
void arg_book_close(struct arg_book *book);

/*
 * Find the specification of the values in a function's records. Returns NULL if there is none. The
 * result is valid until arg_book_close(). The first call of arg_book_find() for a module loads the
 * debug information of the module.
 */
const struct func_args *arg_book_find(struct arg_book *book, const struct func *func);

/*
 * Returns the length of a payload without padding. @is_exit: the payload belongs to the EXIT of a
 * call, else to the ENTRY.
 *
 * @known: the specification of the values
 * @left: number of readable bytes at @payload
 * @big: the recording is big-endian
 *
 * The result is 0 when the payload is empty or longer than @left.
 */
size_t func_args_length(const struct func_args *known, bool is_exit, const uint8_t *payload,
			size_t left, bool big);

/*
 * Find the definition of @spec's struct or container in @func's module. Returns NULL if there is no
 * definition, or if the size of a struct is not the size in @spec.
 */
const struct struct_def *arg_book_struct(const struct func *func, const struct argspec *spec);

/* Find the definition of enum @name in @func's module. Returns NULL if there is none. */
const struct enum_def *arg_book_enum(const struct arg_book *book, const struct func *func,
				     const char *name);

#endif
