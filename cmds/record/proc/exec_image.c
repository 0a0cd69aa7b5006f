/* Reads facts about a program that a process has executed (see exec_image.h). */
#include "cmds/record/proc/exec_image.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cmds/record/proc/paths.h"
#include "cmds/record/proc/named_files.h"
#include "utils/base/fd.h"
#include "utils/format/proc_dat.h"

#define AUXV_WORDS_MAX 512
/*
 * The largest type in an auxiliary vector. The types that the kernel uses are below 100. If a type
 * seems to be larger than AUXV_TYPE_MAX, the vector was read with the wrong word size.
 */
#define AUXV_TYPE_MAX  4096

static void read_args(pid_t pid, struct strbuf *out)
{
	char path[64];

	/* Limit the size, because a process can make its arguments longer after execve(2). */
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (file_read_all(path, PROC_TEXT_MAX, out, NULL) < 0)
		strbuf_reset(out);
}

/* Returns the number in word @i of @auxv. @is_wide: a word has 64 bits; otherwise it has 32 bits */
static uint64_t word_at(const void *auxv, bool is_wide, size_t i)
{
	return is_wide ? ((const uint64_t *)auxv)[i] : ((const uint32_t *)auxv)[i];
}

/*
 * Returns the address at AT_EXECFN in the auxiliary vector. Returns 0 when the vector has no such
 * entry, or has words of another size.
 */
static uint64_t find_execfn(const void *auxv, size_t len, bool is_wide)
{
	size_t nr = len / (is_wide ? 8 : 4);
	uint64_t found = 0;

	for (size_t i = 0; i + 1 < nr; i += 2) {
		uint64_t type = word_at(auxv, is_wide, i);

		if (type > AUXV_TYPE_MAX)
			return 0;
		if (type == AT_NULL)
			return found;
		if (type == AT_EXECFN)
			found = word_at(auxv, is_wide, i + 1);
	}
	return 0;
}

/*
 * Read the file name that was passed to execve(2). The kernel has put the name above the stack of
 * the new program. Returns false when the name cannot be read.
 */
static bool read_given_name(pid_t pid, char name[PATH_MAX])
{
	uint64_t auxv[AUXV_WORDS_MAX];
	int file cleanup_fd = paths_open_of(pid, "auxv", O_RDONLY);
	ssize_t len = file < 0 ? -1 : fd_read_full(file, auxv, sizeof(auxv));
	uint64_t addr = 0;

	if (len > 0)
		addr = find_execfn(auxv, len, /* is_wide= */ true);
	if (len > 0 && !addr)
		addr = find_execfn(auxv, len, /* is_wide= */ false);
	if (!addr)
		return false;
	int memory cleanup_fd = paths_open_of(pid, "mem", O_RDONLY);

	/* The name is close to the end of the stack's mapping, and pread() stops at that end. */
	len = memory < 0 ? -1 : pread(memory, name, PATH_MAX, addr);
	return len > 0 && memchr(name, '\0', len);
}

/*
 * Finds the file, for example a script, that was passed to execve(2). @runs is the running file:
 * for a script, the interpreter. If the file name begins with /dev/fd/, the name is not used,
 * because the descriptor may be closed by now. Without a usable name, @out gets @runs.
 */
static void read_program(pid_t pid, const struct strbuf *runs, const struct strbuf *cwd,
			 struct strbuf *out)
{
	char name[PATH_MAX];

	if (read_given_name(pid, name) && strncmp(name, "/dev/fd/", 8) != 0)
		named_files_target(
			&(struct view){ .tid = pid, .dirfd = AT_FDCWD, .base = strbuf_str(cwd) },
			name, out);
	if (!out->len)
		strbuf_add(out, strbuf_str(runs), runs->len);
}

void exec_image_read(pid_t pid, struct exec_image *became)
{
	*became = (struct exec_image){ 0 };
	paths_link(pid, "exe", &became->interpreter);
	paths_link(pid, "cwd", &became->cwd);
	read_program(pid, &became->interpreter, &became->cwd, &became->program);
	read_args(pid, &became->args);
}

void exec_image_deinit(struct exec_image *became)
{
	strbuf_deinit(&became->interpreter);
	strbuf_deinit(&became->program);
	strbuf_deinit(&became->cwd);
	strbuf_deinit(&became->args);
}

void exec_image_encode(const struct exec_image *became, pid_t old_tid, struct strbuf *out)
{
	proc_exec_encode(
		&(struct proc_exec){
			.old_tid = old_tid,
			.interpreter = text_of_buf(&became->interpreter),
			.program = text_of_buf(&became->program),
			.cwd = text_of_buf(&became->cwd),
			.args = text_of_buf(&became->args),
		},
		out);
}

struct execution exec_image_execution(const struct exec_image *became)
{
	return (struct execution){
		.program = strbuf_str(&became->program),
		.interpreter = strbuf_str(&became->interpreter),
		.cwd = strbuf_str(&became->cwd),
		.args = strbuf_str(&became->args),
		.args_len = became->args.len,
	};
}
