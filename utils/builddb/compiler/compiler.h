/* Names of programs that are compilers, or that run the compiler named after them. */
#ifndef UTRAIL_BUILDDB_COMPILER_H
#define UTRAIL_BUILDDB_COMPILER_H

#include <stdbool.h>

/*
 * A driver (gcc, clang++-14, arm-linux-gnueabihf-g++) accepts sources and runs all needed steps.
 * The compiler proper (cc1, cc1plus) is run by gcc's drivers for one source, to assembly.
 */
enum compiler_kind {
	COMPILER_NONE,
	COMPILER_DRIVER,
	COMPILER_NVCC, /* a driver with options of its own */
	COMPILER_AS,   /* assemblers: their sources may have any name */
	COMPILER_NASM,
	COMPILER_YASM,
	COMPILER_PROPER,
};

/* True for a compiler that runs other programs for its work. */
static inline bool compiler_is_driver(enum compiler_kind kind)
{
	return kind == COMPILER_DRIVER || kind == COMPILER_NVCC;
}

static inline bool compiler_is_assembler(enum compiler_kind kind)
{
	return kind == COMPILER_AS || kind == COMPILER_NASM || kind == COMPILER_YASM;
}

/* Find the kind of a compiler by the last part of the path @name. */
enum compiler_kind compiler_kind(const char *name);

/*
 * The number of words that name a compiler: 2 for "zig cc", which is a driver, else 1. @second: the
 * word after @name, or NULL.
 */
unsigned int compiler_name_words(const char *name, const char *second);

/*
 * True for ccache, distcc and the like. The compiler is their first argument; they may execute it,
 * another program, or none.
 */
bool compiler_is_launcher(const char *name);

#endif
