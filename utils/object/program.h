/* The kind of a program on disk, and whether its calls can be recorded. */
#ifndef UTRAIL_OBJECT_PROGRAM_H
#define UTRAIL_OBJECT_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"

enum object_kind {
	OBJECT_ELF,
	OBJECT_SCRIPT, /* begins with "#!" */
	OBJECT_OTHER,
};

/*
 * Facts about a program (doc/facts/programs.md, "Checks of a program"). For files that are not ELF
 * files, only @kind and @interpreter are set.
 *
 * @interpreter: the program in the first line of a script. If the line names env(1) and a command,
 *               as in "#!/usr/bin/env perl", @interpreter is the command. The option -S may stand
 *               before the command. If another option or an assignment stands before the command,
 *               @interpreter is env(1)
 * @elf_class, @endian: EI_CLASS and EI_DATA
 * @type, @machine: e_type and e_machine
 * @is_static: the program has no dynamic loader, so nothing can be preloaded
 * @has_mcount, @has_fentry, @has_cyg_profile: the program calls the compiler's hook mcount(),
 *         __fentry__() or __cyg_profile_func_enter()
 * @is_prepared: the functions of the program have room for hooks (prepared.h)
 * @runs_python: the program contains Python's interpreter, or calls the interpreter in libpython
 * @switches_stacks: the program calls functions that switch stacks: swapcontext(3) or Boost.Context
 */
struct object_program {
	enum object_kind kind;
	char interpreter[PATH_MAX];
	uint8_t elf_class;
	uint8_t endian;
	uint16_t type;
	uint16_t machine;
	bool is_static;
	bool has_mcount;
	bool has_fentry;
	bool has_cyg_profile;
	bool is_prepared;
	bool runs_python;
	bool switches_stacks;
};

/* True when the program was compiled so that its calls can be recorded. */
static inline bool object_is_instrumented(const struct object_program *program)
{
	return program->has_mcount || program->has_fentry || program->has_cyg_profile ||
	       program->is_prepared;
}

/*
 * Find facts about the file @path, and store the facts in @program. Returns 0 on success. A file
 * that is not an ELF file is no error: @program->kind is OBJECT_SCRIPT or OBJECT_OTHER. If the file
 * cannot be opened, or is a directory, returns a negative errno with @err. The text in @err names
 * @path.
 */
int object_check_program(const char *path, struct object_program *program, struct uft_err *err);

#endif
