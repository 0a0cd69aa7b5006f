/*
 * Chooses the compiler that checks a source, and the compiler's options. The compiler and the
 * options are taken from a command that a stranger may have written.
 */
#ifndef UTRAIL_CMDS_CHECK_COMPILER_H
#define UTRAIL_CMDS_CHECK_COMPILER_H

#include <stdbool.h>

#include "cmds/build/check_db.h"

/*
 * Two commands for an entry of compile_commands.json. @preprocess preprocesses the source of the
 * entry, and writes the result to standard output. @check reads the preprocessed text from standard
 * input, and checks the text.
 *
 * compile_commands.json may come from a stranger. So the commands run without a shell, the compiler
 * must be a known compiler in $PATH, and options are taken only from a fixed list. No listed option
 * writes files or loads code.
 *
 * @is_source: false for assembler and other languages, which are not checked
 */
struct check_compiler {
	struct words preprocess;
	struct words check;
	bool is_source;
};

/*
 * Choose the compiler for @entry. Returns 0, -ENOMEM, or -EINVAL when the compiler is unknown or
 * missing; @err has the reason. @compiler starts as { 0 }.
 */
int check_compiler_choose(const struct check_entry *entry, struct check_compiler *compiler,
			  struct uft_err *err);
void check_compiler_deinit(struct check_compiler *compiler);
#define cleanup_check_compiler cleanup(check_compiler_deinit)

/*
 * Run @argv in @directory with @input as standard input. Append the standard output to @out, and
 * the standard error to @messages. Returns the exit status, 128 after a signal, or a negative
 * errno.
 */
int check_compiler_run(const char *directory, const struct words *argv, const struct strbuf *input,
		       struct strbuf *out, struct strbuf *messages);

#endif
