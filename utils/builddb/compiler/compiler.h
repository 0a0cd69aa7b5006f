/* Names of compilers, and of launchers, which run a compiler. */
#ifndef UTRAIL_BUILDDB_COMPILER_H
#define UTRAIL_BUILDDB_COMPILER_H

#include <stdbool.h>

/*
 * A driver (gcc, clang++-14, arm-linux-gnueabihf-g++) takes sources and runs all steps. For each
 * source, gcc's drivers run a compiler proper (cc1, cc1plus), which makes assembly.
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

static inline bool compiler_is_driver(enum compiler_kind kind)
{
	return kind == COMPILER_DRIVER || kind == COMPILER_NVCC;
}

static inline bool compiler_is_assembler(enum compiler_kind kind)
{
	return kind == COMPILER_AS || kind == COMPILER_NASM || kind == COMPILER_YASM;
}

/* Returns the kind of the compiler with the path @name. Only the last part of the path counts. */
enum compiler_kind compiler_kind(const char *name);

/*
 * Returns the number of words that name a compiler: 2 for "zig cc", which is a driver, or else 1.
 * @second is the word after @name, or NULL.
 */
unsigned int compiler_name_words(const char *name, const char *second);

/*
 * True for launchers: ccache, distcc and the like. The first argument of a launcher is usually a
 * compiler. A launcher may run this compiler, another program, or no program.
 */
bool compiler_is_launcher(const char *name);

#endif
