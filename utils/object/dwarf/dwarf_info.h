/*
 * Debug information about functions: their source lines, and the types of their arguments and
 * results.
 */
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
	DWARF_STRUCT,	   /* struct, class, union, or what is passed like one */
	DWARF_STD_STRING,  /* std::string of GNU's library */
	DWARF_LLVM_STRING, /* std::string of LLVM's library */
	DWARF_UNKNOWN,	   /* a struct that is only declared: its passing is unknown */
};

/* The way to pass each eight bytes of a struct (psABI x86_64 section 3.2.3). */
enum dwarf_class {
	DWARF_CLASS_NONE,
	DWARF_CLASS_INT,
	DWARF_CLASS_SSE,
	DWARF_CLASS_SSE_UP, /* in the register of the eight bytes before */
	DWARF_CLASS_X87,    /* a long double: in memory, but returned in st(0) */
	DWARF_CLASS_X87_UP,
	DWARF_CLASS_MEMORY,
};

/*
 * A type, with typedefs and qualifiers resolved.
 *
 * @bytes: its size; 0 for an empty struct
 * @is_signed: DWARF_INT, DWARF_ENUM
 * @is_by_reference: DWARF_STRUCT: C++ passes the address of a copy, since copying needs a function
 * @is_vector: DWARF_STRUCT: it is passed in one vector register of any size
 * @alignment: DWARF_STRUCT: alignment of its place on the stack; 0: that of a word
 * @classes: DWARF_STRUCT: classes of its first 16 bytes; the first is DWARF_CLASS_MEMORY when it is
 *           passed in memory
 * @name: DWARF_ENUM, DWARF_STRUCT: its name without template arguments; NULL: it has none
 * @fields: DWARF_STRUCT: the key of its definition among the structs; NULL: its fields are
 *          unknown
 * @shape: DWARF_STRUCT: a container of the C++ library (utils/spec/args/shape.h), which @fields
 *         defines, too; else NULL
 * @is_reference: the value is a reference to this type; only for strings and containers, whose
 *                references are shown like the object
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
 * @reg: DWARF's number of its register at the function's start, -1 when unknown
 */
struct dwarf_param {
	struct dwarf_type type;
	int16_t reg;
};

/* An inlined call. @name: the callee, mangled if the language does that. */
struct dwarf_inline {
	const char *name;
	const char *file; /* in the form of dwarf_func.file; NULL: unknown */
	uint32_t line;	  /* line of the call */
};

/*
 * @addr: relative to the module's map start
 * @file: the source as named to the compiler, relative to the compiler's directory if possible;
 *        NULL: unknown
 */
struct dwarf_func {
	uint64_t addr;
	const char *file;
	uint32_t line;
	uint32_t nr_params;
	struct dwarf_param *params;
	struct dwarf_type result;
	/* In the order of debug information, nested calls after the outer ones */
	struct dwarf_inline *inlined;
	uint32_t nr_inlined;
};

/*
 * Starts as { 0 }, ends with dwarf_info_deinit().
 *
 * @funcs: sorted by address; of several functions at one address, only the first in the debug
 * information
 * @enums: definitions of the enums in use (utils/spec/args/enumdef.h)
 * @structs: definitions of the structs in use (utils/spec/args/structdef.h)
 * @texts: the memory that the strings point into
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
 * Load the debug information of module @path, from itself or its separate debug file, into an empty
 * @info. Without debug information, or in a build without libdw, @info stays empty, which is a
 * success. 0, -ENOMEM, or the result of elf_file_open(). -E2BIG: the debug information is too large
 * and ignored. -ENODATA: a part of it, in separate files (-gsplit-dwarf), is missing; the other
 * parts are in @info.
 */
int object_dwarf_load(const char *path, struct dwarf_info *info, struct uft_err *err);

/* Find the function that begins at @addr, or NULL. */
const struct dwarf_func *dwarf_info_find(const struct dwarf_info *info, uint64_t addr);

#endif
