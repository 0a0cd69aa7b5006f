/* Specifications of arguments and return values: the places and formats of the values. */
#ifndef UTRAIL_SPEC_ARGSPEC_H
#define UTRAIL_SPEC_ARGSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/argblob.h"

/*
 * The kinds of specifications. The syntax of a specification (doc/facts/language.md, "Arguments"):
 *
 * argN | fpargN | retval, then [/FORMAT[BITS]], then [%LOCATION]
 */
enum arg_kind {
	ARG_KIND_INT,	/* argN: in an integer register or on the stack */
	ARG_KIND_FLOAT, /* fpargN, argN/f */
	ARG_KIND_RETVAL,
};

enum arg_place {
	ARG_IN_ORDER,	 /* the calling convention gives the place of arg<N>; @index is N */
	ARG_IN_REGISTER, /* @regs: one register, or several that hold parts of a struct */
	ARG_ON_STACK,	 /* @index: number of the word above the return address, counted from 1 */
};

#define ARG_REGS_MAX  4
#define ARG_INDEX_MAX 100000000U

enum arg_how {
	ARG_HOW_PLAIN,
	ARG_HOW_POINTED, /* a pointer to the struct */
	ARG_HOW_X87,	 /* a struct of one long double, returned in st(0) */
	ARG_HOW_LLVM,	 /* a std::string of LLVM's C++ library */
	ARG_HOW_TEXT,	 /* the printed form of a value; views show this text unchanged */
};

/*
 * @is_exact: the user gave the function's name, and not a pattern that matches the name
 * @regs: numbers of registers, as arguments of isa_reg_name() (arch/isa.h)
 * @name: name of the enum or struct, on the heap, or NULL
 * @fields: key of the struct's definition (utils/spec/args/structdef.h) in debug information, on
 *         the heap, or NULL
 *
 * The members below come from debug information. Only the recorder uses these members, with one
 * exception: argfind_function() sets @how to ARG_HOW_TEXT, and readers use this value.
 *
 * @narrow: the number of valid bytes of the value, with the bits CAPTURE_SIGNED and CAPTURE_WIDE
 *         (utils/format/probe/capture.h); 0: all bytes are valid
 * @how: the kind of content of the register or memory
 * @shape: shape of a container (utils/spec/args/shape.h), on the heap
 * @object_bytes: size of a container; the size in @type is the size of the container's box
 *         (utils/spec/args/shape.h)
 * @elements: the number of elements to record
 */
struct argspec {
	uint8_t kind;  /* enum arg_kind */
	uint8_t place; /* enum arg_place */
	bool is_exact;
	uint8_t nr_regs;
	uint8_t regs[ARG_REGS_MAX];
	uint8_t narrow;
	uint8_t how; /* enum arg_how */
	uint8_t elements;
	uint32_t index;
	uint32_t object_bytes;
	struct arg_type type;
	char *name;
	char *fields;
	char *shape;
};

/*
 * Specifications in the order of recording and display. Starts as { 0 } and ends with
 * argspecs_deinit().
 */
struct argspecs {
	struct argspec *specs;
	size_t nr;
};

void argspecs_deinit(struct argspecs *list);
#define cleanup_argspecs cleanup(argspecs_deinit)

/*
 * True when an item of a trigger begins like an argument or a return value ("arg1", "fparg2/32",
 * "retval").
 */
bool argspec_is_item(const char *text, size_t len);

/*
 * Parse one item. Returns 0, -ENOMEM, or -EINVAL with a text that names the item and the column
 * (counted from 1) of the error.
 *
 * @word_bytes: size of a word of the traced program: 8 or 4
 */
int argspec_parse(const char *text, size_t len, unsigned word_bytes, struct argspec *spec,
		  struct uft_err *err);
void argspec_deinit(struct argspec *spec);

/*
 * True when the value of @spec can be recorded as a text. This is so for every retval, and for an
 * integer argument (argN) without %LOCATION. With argfind.has_texts, argfind_function() drops all
 * other specifications.
 */
static inline bool argspec_is_text(const struct argspec *spec)
{
	return spec->kind == ARG_KIND_RETVAL ||
	       (spec->kind == ARG_KIND_INT && spec->place == ARG_IN_ORDER);
}

/*
 * Add @spec to @list, which owns @spec afterwards. @spec replaces an older specification of the
 * same value. But if the older one has @is_exact and @spec does not, @spec is dropped. Returns 0 or
 * -ENOMEM.
 */
int argspecs_add(struct argspecs *list, struct argspec *spec);

/* Like argspecs_add(), but never replace a specification. */
int argspecs_append(struct argspecs *list, struct argspec *spec);

/* Like argspecs_add(), for a copy of @from. */
int argspecs_add_copy(struct argspecs *list, const struct argspec *from);

/*
 * Parse items separated by ',' ("arg1/s,arg2%rsi"), and add them to @list. Errors are those of
 * argspec_parse(). After an error, @list has the items before the wrong one.
 */
int argspecs_parse(const char *text, size_t len, unsigned word_bytes, struct argspecs *list,
		   struct uft_err *err);

/* Write a specification as a text that argspec_parse() and uftrace can read. */
void argspec_put(const struct argspec *spec, unsigned word_bytes, struct strbuf *out);

#endif
