/* The kind of a program on disk, and whether its calls can be recorded (see program.h). */
#include "utils/object/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/object/prepared.h"

/*
 * True for functions that start Python's interpreter. Python defines them; programs that embed
 * Python import them.
 */
static bool is_of_python(const char *name)
{
	static const char *const names[] = {
		"Py_BytesMain",	 "Py_Main",	    "Py_RunMain",
		"Py_Initialize", "Py_InitializeEx", "Py_InitializeFromConfig",
	};

	return strncmp(name, "Py_", 3) == 0 && elf_name_is_one_of(name, names, ARRAY_SIZE(names));
}

static void note_instrumentation(const struct elf_file *file, struct object_program *program)
{
	static const struct {
		const char *name;
		size_t flag;
	} known[] = {
		{ "mcount", offsetof(struct object_program, has_mcount) },
		{ "_mcount", offsetof(struct object_program, has_mcount) },
		{ "__gnu_mcount_nc", offsetof(struct object_program, has_mcount) },
		{ "__fentry__", offsetof(struct object_program, has_fentry) },
		{ "__cyg_profile_func_enter", offsetof(struct object_program, has_cyg_profile) },
		{ "swapcontext", offsetof(struct object_program, switches_stacks) },
		{ "setcontext", offsetof(struct object_program, switches_stacks) },
		{ "jump_fcontext", offsetof(struct object_program, switches_stacks) },
		{ "ontop_fcontext", offsetof(struct object_program, switches_stacks) },
	};
	struct elf_symbols symbols;

	if (!elf_symbols_open(file, SHT_DYNSYM, &symbols))
		return;
	for (size_t i = 1; i < symbols.nr; i++) {
		GElf_Sym sym;
		const char *name;
		size_t len;

		if (!elf_symbol(&symbols, i, &sym, &name, &len))
			continue;
		program->runs_python |= is_of_python(name);
		/*
		 * If a program calls a function that @known lists, the program imports the
		 * function. So skip defined symbols: libc and the probe define some of the listed
		 * functions.
		 */
		if (sym.st_shndx != SHN_UNDEF)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(known); k++) {
			if (strcmp(name, known[k].name) == 0)
				*(bool *)((char *)program + known[k].flag) = true;
		}
	}
}

/*
 * @program: the first line of a script, without "#!". The first @len bytes of @program are the path
 *           of a program
 *
 * If this program is env(1), the name of the script's interpreter stands after the path, or after
 * "-S". Returns the number of bytes before that name, for example the length of "/usr/bin/env " or
 * "/usr/bin/env -S ". Returns 0 if the program is not env(1). Returns 0 if the line has another
 * option, an assignment or no text in the place of the name.
 */
static size_t len_before_command(const char *program, size_t len)
{
	const char *at = program + len;

	if (len < 4 || strncmp(at - 4, "/env", 4) != 0)
		return 0;
	at += strspn(at, " \t");
	if (strncmp(at, "-S", 2) == 0)
		at += 2 + strspn(at + 2, " \t");
	return strchr("-\r\n", *at) || memchr(at, '=', strcspn(at, " \t\r\n")) ? 0 : at - program;
}

static void read_script_line(const char *path, struct object_program *program)
{
	char line[PATH_MAX + 4] = "";
	int fd cleanup_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fd_read_full(fd, line, sizeof(line) - 1) < 2 || strncmp(line, "#!", 2) != 0)
		return;

	const char *start = line + 2 + strspn(line + 2, " \t");
	size_t len = strcspn(start, " \t\r\n");

	start += len_before_command(start, len);
	len = strcspn(start, " \t\r\n");

	if (len == 0 || len >= sizeof(program->interpreter))
		return;
	program->kind = OBJECT_SCRIPT;
	memcpy(program->interpreter, start, len);
	program->interpreter[len] = '\0';
}

int object_check_program(const char *path, struct object_program *program, struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct uft_err reason = { 0 };
	int rc = elf_file_open(&file, path, &reason);

	if (rc == -ENOEXEC) {
		*program = (struct object_program){ .kind = OBJECT_OTHER };
		read_script_line(path, program);
		return 0;
	}
	if (rc < 0)
		return err_set(err, rc, "%s", reason.text);
	*program = (struct object_program){
		.kind = OBJECT_ELF,
		.elf_class = file.head.e_ident[EI_CLASS],
		.endian = file.head.e_ident[EI_DATA],
		.type = file.head.e_type,
		.machine = file.head.e_machine,
		.is_static = !elf_has_segment(&file, PT_INTERP),
	};
	note_instrumentation(&file, program);
	program->is_prepared = object_is_prepared(&file);
	return 0;
}
