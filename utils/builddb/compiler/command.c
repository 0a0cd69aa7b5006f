/* Commands of compilers (see command.h). */
#include "utils/builddb/compiler/command.h"

#include <string.h>

#include "utils/base/path.h"
#include "utils/builddb/compiler/arguments.h"

/*
 * When execve(2) starts a script, the kernel inserts words at the beginning of argv: the
 * interpreter, and the interpreter's argument if the first line of the script has an argument.
 * Returns the number of inserted words.
 */
static size_t words_of_interpreter(const struct execution *execution, const struct words *argv)
{
	const char *script = path_base(execution->program);

	if (!*script || !*execution->interpreter ||
	    strcmp(execution->program, execution->interpreter) == 0)
		return 0;
	for (size_t i = 1; i < argv->nr && i <= 2; i++) {
		if (strcmp(path_base(argv->words[i]), script) == 0)
			return i;
	}
	/*
	 * The script was started through a symbolic link, so argv has the name of the link. The
	 * name of the script is not in argv. Assume that the kernel has inserted only the
	 * interpreter.
	 */
	return argv->nr > 1 ? 1 : 0;
}

/* Append to @argv the words with which the program was called. */
static int command_of(const struct execution *execution, struct words *argv)
{
	int ret = 0;

	for (const char *arg = NULL;
	     ret == 0 && (arg = execution_next_arg(execution, arg)) != NULL;)
		ret = arguments_add(argv, arg, strlen(arg));
	if (ret == 0 && argv->nr)
		arguments_drop(argv, words_of_interpreter(execution, argv));
	return ret;
}

/* Remove launchers (ccache and the like) and their own arguments (NAME=VALUE). */
static void drop_launchers(struct words *argv)
{
	while (argv->nr > 1 && compiler_is_launcher(argv->words[0])) {
		size_t next = 1;

		while (next + 1 < argv->nr && strchr(argv->words[next], '='))
			next++;
		if (!compiler_is_launcher(argv->words[next]) &&
		    !compiler_is_driver(compiler_kind(argv->words[next])))
			return;
		arguments_drop(argv, next);
	}
}

/* Finds the kind of compiler by argv[0], or else by the name of the program's file. */
static enum compiler_kind kind_of(const struct execution *execution, const struct words *argv)
{
	if (argv->nr > 1 && compiler_name_words(argv->words[0], argv->words[1]) > 1)
		return COMPILER_DRIVER;

	enum compiler_kind kind = argv->nr ? compiler_kind(argv->words[0]) : COMPILER_NONE;

	return kind == COMPILER_NONE ? compiler_kind(execution->program) : kind;
}

int compiler_command(const struct execution *execution, struct words *argv,
		     enum compiler_kind *kind)
{
	int ret = command_of(execution, argv);

	*kind = COMPILER_NONE;
	if (ret < 0 || !argv->nr)
		return ret;
	drop_launchers(argv);
	*kind = kind_of(execution, argv);
	return 0;
}
