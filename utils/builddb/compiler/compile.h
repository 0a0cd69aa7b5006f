/* The sources that the command line of a compiler compiles. */
#ifndef UTRAIL_BUILDDB_COMPILE_H
#define UTRAIL_BUILDDB_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/words.h"
#include "utils/builddb/compiler/compiler.h"

/* The step at which the compiler stops. */
enum compile_until {
	COMPILE_LINKED,
	COMPILE_OBJECT,	      /* -c */
	COMPILE_ASSEMBLY,     /* -S */
	COMPILE_CHECKED,      /* -fsyntax-only */
	COMPILE_PREPROCESSED, /* -E, -M, -MM: nothing is compiled */
};

/* The role of a word. */
enum compile_role {
	ROLE_OPTION,
	ROLE_SOURCE,
	ROLE_OUTPUT,   /* -o and its argument */
	ROLE_INPUT,    /* an object, a library, or an unknown file */
	ROLE_LANGUAGE, /* -x and its argument. -x sets the language of the files after -x */
	ROLE_LINKER,   /* an option that only the linker uses */
};

/*
 * @until: enum compile_until: the last step
 * @roles: enum compile_role of each word
 * @nr_names: how many words name the compiler: two for "zig cc"
 * @output: the argument of -o, or NULL
 * @nr_sources: the number of sources, including headers to precompile. If the command compiles
 *              nothing, @nr_sources is 0, even if words have ROLE_SOURCE
 * @nr_headers: the number of headers to precompile
 * @makes_other: the output has an unknown name, as with nvcc's -ptx or with header units
 * @makes_llvm, @makes_ast, @makes_module: -emit-llvm, -emit-ast, --precompile
 * @object_format: the argument of an assembler's -f, or NULL
 */
struct compile {
	enum compiler_kind kind;
	int until;
	unsigned char *roles;
	unsigned int nr_names;
	const char *output;
	size_t nr_sources;
	size_t nr_headers;
	bool makes_other;
	bool makes_llvm;
	bool makes_ast;
	bool makes_module;
	const char *object_format;
};

/*
 * Parse the command line @argv, which begins with the compiler's name. The caller has already
 * replaced response files by their words. @argv must outlive @compile. Returns 0 or -ENOMEM. Call
 * compile_deinit() in any case.
 */
int compile_parse(struct compile *compile, enum compiler_kind kind, const struct words *argv);
void compile_deinit(struct compile *compile);
#define cleanup_compile cleanup(compile_deinit)

/*
 * Append to @out the words of a command that compiles only the source @source (an index of @argv),
 * and does not link. Returns 0 or -ENOMEM.
 */
int compile_of_one(const struct compile *compile, const struct words *argv, size_t source,
		   struct words *out);

/*
 * Append the name of the output file for @source to @out. Returns false when there is no such file,
 * when its name is unknown, or when the compiler also links (the object is then a temporary file).
 */
bool compile_output(const struct compile *compile, const char *source, struct strbuf *out);

#endif
