/* Debug information about functions: source lines, and types of arguments and results. */
#ifndef UTRAIL_OBJECT_DWARF_INFO_H
#define UTRAIL_OBJECT_DWARF_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

enum dwarf_kind {
	DWARF_VOID,
	DWARF_INT,
	DWARF_CHAR,
	DWARF_FLOAT, /* a float of 4, 8, or 10 bytes (x87) */
	DWARF_POINTER,
	DWARF_STRING, /* a pointer to char */
	DWARF_ENUM,
	DWARF_STRUCT,	   /* a struct, class or union, or a type that is passed like a struct */
	DWARF_STD_STRING,  /* std::string of GNU's library */
	DWARF_LLVM_STRING, /* std::string of LLVM's library */
	DWARF_UNKNOWN,	   /* a struct that is only declared */
};

/* The ways to pass eight bytes of a struct (psABI x86_64 section 3.2.3). */
enum dwarf_class {
	DWARF_CLASS_NONE,
	DWARF_CLASS_INT,
	DWARF_CLASS_SSE,
	DWARF_CLASS_SSE_UP, /* in the same register as the preceding eight bytes */
	DWARF_CLASS_X87,    /* a long double: passed in memory, but returned in st(0) */
	DWARF_CLASS_X87_UP,
	DWARF_CLASS_MEMORY,
};

/*
 * A type, with typedefs and qualifiers resolved.
 *
 * @bytes: size; 0 for an empty struct
 * @is_signed: only for DWARF_INT and DWARF_ENUM: the integer is signed
 * @is_reference: the value is a reference to a string or container. The other members of this
 *         description describe the string or container, which is shown instead of the reference.
 *         References to other types are DWARF_POINTER
 * @name: DWARF_ENUM, DWARF_STRUCT: name without template arguments, or NULL
 *
 * DWARF_STRUCT only:
 *
 * @is_by_reference: copying needs a function, so C++ passes the address of a copy
 * @is_vector: the value is passed in one vector register of any size
 * @alignment: alignment of the value on the stack; 0: the alignment of a word
 * @classes: enum dwarf_class of the first 16 bytes; the first one is DWARF_CLASS_MEMORY when the
 *         value is passed in memory
 * @fields: key of the struct's definition in dwarf_info.structs; NULL: the fields are unknown
 * @shape: shape of a container of the C++ library (utils/spec/args/shape.h), or of a struct with
 *         containers; or NULL
 */
struct dwarf_type {
	uint8_t kind; /* enum dwarf_kind */
	bool is_signed;
	bool is_by_reference;
	bool is_reference;
	bool is_vector;
	uint8_t alignment;
	uint8_t classes[2]; /* enum dwarf_class */
	uint32_t bytes;
	const char *name;
	const char *fields;
	const char *shape;
};

/*
 * @reg: DWARF's number of the register that has the parameter at the start of the function; -1:
 *         the register is unknown
 */
struct dwarf_param {
	struct dwarf_type type;
	int16_t reg;
};

/* An inlined call. @name: the called function, mangled if the language mangles names */
struct dwarf_inline {
	const char *name;
	const char *file; /* in the form of dwarf_func.file; NULL: unknown */
	uint32_t line;	  /* line of the call */
};

/*
 * @addr: relative to the module's map start
 * @file: the source, relative to the compiler's directory if possible; NULL: unknown
 * @inlined: inlined calls in the order of the debug information: an outer call, then the calls
 *         nested within this call
 */
struct dwarf_func {
	uint64_t addr;
	const char *file;
	uint32_t line;
	uint32_t nr_params;
	struct dwarf_param *params;
	struct dwarf_type result;
	struct dwarf_inline *inlined;
	uint32_t nr_inlined;
};

/*
 * Starts as { 0 } and ends with dwarf_info_deinit().
 *
 * @funcs: sorted by address. If several functions have the same address, only one is kept
 * @enums, @structs: definitions of the enums and structs that occur in parameters and results of
 *         @funcs (enumdef.h and structdef.h in utils/spec/args)
 * @texts: memory of all names
 */
struct dwarf_info {
	struct dwarf_func *funcs;
	size_t nr_funcs;
	const char **enums;
	size_t nr_enums;
	const char **structs;
	size_t nr_structs;
	char **texts;
	size_t nr_texts;
};

void dwarf_info_deinit(struct dwarf_info *info);
#define cleanup_dwarf_info cleanup(dwarf_info_deinit)

/*
 * Load the debug information of module @path, or of its separate debug file, into the empty @info.
 * Without debug information or libdw, @info stays empty.
 *
 * Returns 0, -ENOMEM, or errors of elf_file_open(). -E2BIG: the debug information refers to itself
 * over and over, and is ignored. -ENODATA: separate files (-gsplit-dwarf) are missing, or too
 * large; @info has the other parts.
 */
int object_dwarf_load(const char *path, struct dwarf_info *info, struct uft_err *err);

/* Returns the function that begins at @addr, or NULL when there is none. */
const struct dwarf_func *dwarf_info_find(const struct dwarf_info *info, uint64_t addr);

#endif
