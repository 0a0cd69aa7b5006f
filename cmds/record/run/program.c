/* Finds the program of `record` (see program.h). */
#include "cmds/record/run/program.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "cmds/record/run/launch.h"
#include "utils/format/callables.h"

/* True when calls of the program can be recorded. */
static bool has_hooks(const struct object_program *facts, const struct opts *opts)
{
	return object_is_instrumented(facts) || facts->runs_python || opts->rec.force ||
	       opts->rec.proc_way || opts->rec.nest_libcalls ||
	       patch_rules_have(opts->rec.patches, /* takes_out= */ false);
}

static int check_elf(const char *name, const struct object_program *facts, const struct opts *opts,
		     struct uft_err *err)
{
	if (facts->kind != OBJECT_ELF)
		return err_set(err, -ENOEXEC, "cannot trace '%s': not a program for Linux (ELF)",
			       name);
	if (facts->type != ET_EXEC && facts->type != ET_DYN)
		return err_set(err, -ENOEXEC, "cannot trace '%s': ELF type %u is not a program",
			       name, facts->type);
	/* --proc records processes that have no probe. */
	if (opts->rec.proc_way)
		return 0;
	if (facts->machine != arch_elf_machine || facts->elf_class != arch_elf_class)
		return err_set(err, -ENOEXEC,
			       "cannot trace '%s': it is for machine %u with %u-bit words, this "
			       "utrail is for machine %u with %u-bit words",
			       name, facts->machine, 32 * facts->elf_class, arch_elf_machine,
			       32 * arch_elf_class);
	if (facts->is_static)
		return err_set(err, -ENOEXEC,
			       "cannot trace '%s': it is statically linked, so the probe cannot be "
			       "preloaded; link it dynamically",
			       name);
	if (!has_hooks(facts, opts))
		return err_set(
			err, -ENOEXEC,
			"cannot trace '%s': it has no calls of 'mcount'; compile it with -pg, "
			"-pg -mfentry, -fpatchable-function-entry=5 or -finstrument-functions, use "
			"-P . to patch its functions as they are, or use --force if a library "
			"or a child of it has such calls",
			name);
	return 0;
}

/*
 * The maximum length of a chain of scripts. Each script in the chain is the interpreter of the
 * previous script. The kernel has the same limit (fs/exec.c).
 */
#define SCRIPTS_MAX 5

/*
 * Replace the facts of the script by those of its interpreter. The interpreter may itself be a
 * script. program->path is not changed.
 *
 * @is_python: set when one of the interpreters is named Python
 */
static int use_interpreter(struct record_program *program, bool *is_python, struct uft_err *err)
{
	char path[PATH_MAX];

	for (int i = 0; program->facts.kind == OBJECT_SCRIPT; i++) {
		if (i == SCRIPTS_MAX)
			return err_set(err, -ELOOP,
				       "cannot trace '%s': its interpreter is a script, whose "
				       "interpreter is one, too, and so on",
				       program->path);
		*is_python |= python_is_name(program->facts.interpreter);

		int ret = launch_find_program(program->facts.interpreter, path, err);

		if (ret == 0)
			ret = object_check_program(path, &program->facts, err);
		if (ret < 0)
			return ret;
	}
	*is_python |= program->facts.runs_python;
	/*
	 * An interpreter named Python may be a script that starts the real Python as a child. So
	 * every interpreter with this name counts as Python.
	 */
	program->facts.runs_python = *is_python;
	return 0;
}

int record_program_find(struct record_program *program, const struct opts *opts,
			struct uft_err *err)
{
	const char *name = opts->args[0];
	int ret = launch_find_program(name, program->path, err);

	if (ret == 0)
		ret = object_check_program(program->path, &program->facts, err);
	if (ret == 0 && program->facts.kind == OBJECT_SCRIPT) {
		bool is_python = false;

		ret = use_interpreter(program, &is_python, err);
		if (ret == 0 && !is_python && !opts->rec.force && !opts->rec.proc_way)
			return err_set(
				err, -ENOEXEC,
				"cannot trace '%s': it is a script; use --force to trace the "
				"programs that it starts",
				name);
	}
	if (ret == 0)
		ret = check_elf(name, &program->facts, opts, err);
	if (ret < 0)
		return ret;
	/*
	 * Only --proc records programs for another machine or word size. Such a program has no
	 * probe, but its children may be programs for this machine, and have a probe. So the
	 * recording gets the format of this machine.
	 */
	if (program->facts.machine != arch_elf_machine ||
	    program->facts.elf_class != arch_elf_class) {
		program->facts.elf_class = arch_elf_class;
		program->facts.endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB
									       : ELFDATA2LSB;
	}

	program->argv = calloc(opts->nr_args + 1, sizeof(*program->argv));
	if (!program->argv)
		return err_set_errno(err, -ENOMEM, "cannot trace '%s'", name);
	memcpy(program->argv, opts->args, opts->nr_args * sizeof(*program->argv));
	return 0;
}

void record_program_deinit(struct record_program **program)
{
	free((*program)->argv);
	(*program)->argv = NULL;
}
