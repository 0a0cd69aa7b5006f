/* Compilers that check sources (see check_compiler.h). */
#include "cmds/build/check_compiler.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/base/path.h"

extern char **environ;

/* Programs that take the command line of the compiler as their arguments. */
static const char *const wrappers[] = { "ccache", "distcc", "sccache", "icecc" };
static const char *const compilers[] = { "cc", "gcc", "clang", "c++", "g++", "clang++" };

/*
 * Options that are passed on to the compiler.
 *
 * @has_value: the option has a value, in the same word or in the next word
 * @is_prefix: any text may follow @name in the word
 * @is_language: true: both commands of struct check_compiler get the option; false: only the
 *               command @preprocess gets the option
 */
struct option {
	const char *name;
	bool has_value;
	bool is_prefix;
	bool is_language;
};

static const struct option options[] = {
	{ "-I", .has_value = true },
	{ "-D", .has_value = true },
	{ "-U", .has_value = true },
	{ "-isystem", .has_value = true },
	{ "-iquote", .has_value = true },
	{ "-idirafter", .has_value = true },
	{ "-include", .has_value = true },
	{ "-imacros", .has_value = true },
	{ "-isysroot", .has_value = true },
	{ "--sysroot=", .is_prefix = true },
	{ .name = "-nostdinc" },
	{ .name = "-nostdinc++" },
	{ .name = "-pthread" },
	{ "-std=", .is_prefix = true, .is_language = true },
	{ "-stdlib=", .is_prefix = true, .is_language = true },
	{ "--target=", .is_prefix = true, .is_language = true },
	{ "-ansi", .is_language = true },
	{ "-m32", .is_language = true },
	{ "-m64", .is_language = true },
	{ "-mx32", .is_language = true },
	{ "-march=", .is_prefix = true, .is_language = true },
	{ "-mcpu=", .is_prefix = true, .is_language = true },
	{ "-mabi=", .is_prefix = true, .is_language = true },
	{ "-mfpu=", .is_prefix = true, .is_language = true },
	{ "-mfloat-abi=", .is_prefix = true, .is_language = true },
	{ "-fshort-enums", .is_language = true },
	{ "-fshort-wchar", .is_language = true },
	{ "-fsigned-char", .is_language = true },
	{ "-funsigned-char", .is_language = true },
	{ "-fms-extensions", .is_language = true },
	{ "-fpermissive", .is_language = true },
	{ "-fno-exceptions", .is_language = true },
	{ "-fno-rtti", .is_language = true },
	{ "-fcoroutines", .is_language = true },
	{ "-fconcepts", .is_language = true },
	{ "-fopenmp", .is_language = true },
};

static bool is_one_of(const char *word, size_t len, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (strlen(list[i]) == len && memcmp(list[i], word, len) == 0)
			return true;
	}
	return false;
}

/* True for names like "gcc" and "x86_64-linux-gnu-gcc-12". */
static bool is_compiler(const char *name)
{
	size_t len = strlen(name);
	size_t version = len;

	while (version && strchr("0123456789.", name[version - 1]))
		version--;
	if (version && name[version - 1] == '-' && version < len)
		len = version - 1;

	const char *dash = memrchr(name, '-', len);
	const char *base = dash ? dash + 1 : name;

	return is_one_of(base, name + len - base, compilers, ARRAY_SIZE(compilers));
}

/*
 * Finds the program @name in $PATH. Relative directories in $PATH are skipped, because the compiler
 * runs in the directory of the build database's entry, not in the working directory.
 */
static bool find_in_path(const char *name, char out[static PATH_MAX])
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");

		if (*path == '/' && len + strlen(name) + 2 <= PATH_MAX) {
			snprintf(out, PATH_MAX, "%.*s/%s", (int)len, path, name);
			if (access(out, X_OK) == 0)
				return true;
		}
		path += len + (path[len] == ':');
	}
	return false;
}

static int add_word(struct words *words, const char *start, const char *rest)
{
	struct strbuf word cleanup_strbuf = { 0 };

	strbuf_addf(&word, "%s%s", start, rest);
	return strbuf_oom(&word) ? -ENOMEM : words_push(words, strbuf_str(&word));
}

static int add_option(struct check_compiler *compiler, const struct option *option,
		      const char *start, const char *rest)
{
	int ret = add_word(&compiler->preprocess, start, rest);

	return ret == 0 && option->is_language ? add_word(&compiler->check, start, rest) : ret;
}

/*
 * Takes the word at index *@at, if the word is an option of the table options[]. If the option's
 * value is the next word, *@at becomes the index of this next word.
 */
static int take_option(struct check_compiler *compiler, const struct words *argv, size_t *at)
{
	const char *word = argv->words[*at];

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *option = &options[i];
		size_t len = strlen(option->name);

		/* "-include-pch" and "-include" are different options. */
		if (strncmp(word, option->name, len) != 0 || (len > 2 && word[len] == '-'))
			continue;
		if (word[len] ? option->has_value || option->is_prefix : !option->has_value)
			return add_option(compiler, option, word, "");
		/*
		 * The option and its value become one word. The compiler could read a separate
		 * value as an option, or as a response file ("@FILE").
		 */
		if (!word[len] && *at + 1 < argv->nr)
			return add_option(compiler, option, word, argv->words[++*at]);
	}
	return 0;
}

static bool ends_in_one_of(const char *name, const char *const *list, size_t nr)
{
	const char *dot = strrchr(name, '.');

	return dot && is_one_of(dot + 1, strlen(dot + 1), list, nr);
}

/* Returns 'c', '+' for C++, or 0 for other languages. */
static char language_of(const struct check_entry *entry, const char *name)
{
	static const char *const cxx[] = { "cc", "cpp", "cxx", "c++", "C", "cp", "CPP" };
	static const char *const c[] = { "c" };
	const struct words *argv = &entry->argv;

	for (size_t i = 1; i + 1 < argv->nr; i++) {
		if (strcmp(argv->words[i], "-x") == 0)
			return strcmp(argv->words[i + 1], "c++") == 0 ? '+'
			       : strcmp(argv->words[i + 1], "c") == 0 ? 'c'
								      : 0;
	}
	if (ends_in_one_of(entry->file, cxx, ARRAY_SIZE(cxx)))
		return '+';
	if (!ends_in_one_of(entry->file, c, ARRAY_SIZE(c)))
		return 0;
	return strstr(name, "++") ? '+' : 'c';
}

static int add_words(struct words *words, const char *const *list)
{
	int ret = 0;

	for (; ret == 0 && *list; list++)
		ret = words_push(words, *list);
	return ret;
}

static int add_rest(const struct check_entry *entry, struct check_compiler *compiler, bool is_cxx)
{
	const char *const preprocess[] = { "-x", is_cxx ? "c++" : "c", "-DFSTRACE_CHECK", "-E",
					   NULL };
	const char *const check[] = { "-x",
				      is_cxx ? "c++-cpp-output" : "cpp-output",
				      "-fsyntax-only",
				      "-fdiagnostics-color=never",
				      "-Wformat",
				      "-Wformat-extra-args",
				      "-",
				      NULL };
	int ret = add_words(&compiler->preprocess, preprocess);

	/*
	 * A relative file name gets "./" at its front. Otherwise the compiler could read a name
	 * that begins with '-' or '@' as an option or a response file.
	 */
	if (ret == 0)
		ret = add_word(&compiler->preprocess, *entry->file == '/' ? "" : "./", entry->file);
	return ret ?: add_words(&compiler->check, check);
}

int check_compiler_choose(const struct check_entry *entry, struct check_compiler *compiler,
			  struct uft_err *err)
{
	const struct words *argv = &entry->argv;
	const char *name = path_base(argv->words[0]);
	char path[PATH_MAX];
	size_t at = 1;

	if (argv->nr > 1 && is_one_of(name, strlen(name), wrappers, ARRAY_SIZE(wrappers)))
		name = path_base(argv->words[at++]);

	char language = language_of(entry, name);

	if (!language)
		return 0;
	if (!is_compiler(name))
		return err_set(err, -EINVAL, "'%s' is no compiler that utrail knows", name);
	if (!find_in_path(name, path))
		return err_set(err, -EINVAL, "the compiler '%s' is not in $PATH", name);

	int ret = words_push(&compiler->preprocess, path);

	if (ret == 0)
		ret = words_push(&compiler->check, path);
	for (; ret == 0 && at < argv->nr; at++)
		ret = take_option(compiler, argv, &at);
	if (ret == 0)
		ret = add_rest(entry, compiler, language == '+');
	compiler->is_source = true;
	return ret < 0 ? err_set_errno(err, ret, "cannot check '%s'", entry->file) : 0;
}

void check_compiler_deinit(struct check_compiler *compiler)
{
	words_deinit(&compiler->preprocess);
	words_deinit(&compiler->check);
}

/*
 * Runs the command @argv in @directory. @fds become the standard descriptors of the command. @fds
 * are files in memory, because utrail reads the output only after the command has ended. If @fds
 * were pipes, a compiler would wait forever when it fills a pipe.
 */
static int run_with(const char *directory, const struct words *argv, const int fds[3])
{
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;
	int ret;

	posix_spawn_file_actions_init(&actions);
	ret = posix_spawn_file_actions_addchdir_np(&actions, directory);
	for (int i = 0; ret == 0 && i < 3; i++)
		ret = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	if (ret == 0)
		ret = posix_spawn(&pid, argv->words[0], &actions, NULL, argv->words, environ);
	posix_spawn_file_actions_destroy(&actions);
	while (ret == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return ret ? -ret : WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int read_all(int fd, struct strbuf *out)
{
	char buffer[16384];
	ssize_t len;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((len = read(fd, buffer, sizeof(buffer))) > 0)
		strbuf_add(out, buffer, len);
	return len < 0 ? -errno : strbuf_oom(out) ? -ENOMEM : 0;
}

static int write_all(int fd, const struct strbuf *text)
{
	int ret = fd_write_all(fd, text->data, text->len);

	return ret ?: lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

int check_compiler_run(const char *directory, const struct words *argv, const struct strbuf *input,
		       struct strbuf *out, struct strbuf *messages)
{
	int in cleanup_fd = memfd_create("in", MFD_CLOEXEC);
	int output cleanup_fd = memfd_create("out", MFD_CLOEXEC);
	int errors cleanup_fd = memfd_create("err", MFD_CLOEXEC);

	if (in < 0 || output < 0 || errors < 0)
		return -errno;

	int ret = write_all(in, input);
	int status = ret ?: run_with(directory, argv, (int[]){ in, output, errors });

	if (status < 0)
		return status;
	ret = read_all(output, out) ?: read_all(errors, messages);
	return ret ?: status;
}
