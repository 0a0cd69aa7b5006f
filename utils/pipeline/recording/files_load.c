/* Reads the records of proc.dat that tell how programs used files (see files.h). */
#include "utils/pipeline/recording/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/vec.h"
#include "utils/format/datadir.h"
#include "utils/format/proc_dat.h"
#include "utils/pipeline/recording/descriptors.h"

/*
 * Flags of open(2), renameat2(2) and unlinkat(2), with the numbers of the kernel. A libc may lack
 * some of these flags, or define them with other numbers.
 */
#define ACCESS_MASK   3U
#define OPEN_TRUNC    01000U
#define OPEN_CREAT    0100U
#define OPEN_EXCL     0200U
#define OPEN_PATH     010000000U
#define OPEN_TMPFILE  020000000U
#define RENAME_SWAPS  2U     /* RENAME_EXCHANGE */
#define REMOVES_A_DIR 0x200U /* AT_REMOVEDIR */

struct loading {
	struct executions_listener listener;
	struct files *files;
	struct descriptors descriptors;
	struct strbuf path;
	bool is_big_endian;
	uint64_t now_ns;
};

/*
 * Find the path @text in files->names, or add it. Returns its index. Returns FILES_NONE if the path
 * is empty, or after an error, which is stored in *@ret.
 */
static uint32_t name_of(struct loading *load, const struct text *text, int *ret)
{
	uint32_t name;

	strbuf_reset(&load->path);
	strbuf_add(&load->path, text->at, text_left(text));
	if (!strbuf_oom(&load->path) && !*strbuf_str(&load->path))
		return FILES_NONE;
	name = strbuf_oom(&load->path) ? FILES_NONE
				       : files_name(load->files, strbuf_str(&load->path));
	if (name == FILES_NONE)
		*ret = -ENOMEM;
	return name;
}

static struct file_use *use_of(struct loading *load, size_t at, uint32_t name, uint32_t content)
{
	uint32_t use = content == FILES_NONE
			       ? FILES_NONE
			       : files_use(load->files, at, name, content, load->now_ns);

	return use == FILES_NONE ? NULL : &load->files->uses[use];
}

static void note_access(struct loading *load, struct file_use *use, bool reads, bool writes)
{
	use->close_ns = load->now_ns;
	file_use_note(use, reads, writes, load->now_ns);
}

/*
 * Find or add the struct file_use of execution @at for @name and @content. Set the bits FILE_SHOWN
 * and @what, so that listings of files show this use. The function leaves read_ns and write_ns as
 * they are: the use does not make the execution a reader or a writer of the file.
 */
static int show_use(struct loading *load, size_t at, uint32_t name, uint32_t content, uint32_t what)
{
	struct file_use *use = use_of(load, at, name, content);

	if (!use)
		return -ENOMEM;
	use->close_ns = load->now_ns;
	use->what |= FILE_SHOWN | what;
	return 0;
}

/*
 * Returns the struct file_content of a file that open(2) has opened as @name. If open(2) has
 * truncated or created the file, the result is usually a new struct. Otherwise the result is the
 * existing struct of @name.
 */
static uint32_t opened_content(struct loading *load, uint32_t name, uint32_t flags, bool writes)
{
	struct files *files = load->files;
	uint32_t content = files->names[name].content;
	bool begins = (flags & OPEN_TRUNC && writes) || (flags & OPEN_CREAT && flags & OPEN_EXCL) ||
		      flags & OPEN_TMPFILE;

	if (flags & O_DIRECTORY && !(flags & OPEN_TMPFILE)) {
		content = content == FILES_NONE ? files_new_content(files, name, CONTENT_OTHER)
						: content;
		return content;
	}
	if (content == FILES_NONE)
		content = files_content(files, name);
	if (content == FILES_NONE || files->contents[content].kind != CONTENT_FILE || !begins)
		return content;
	/*
	 * open(2) has made or emptied the file, so the file gets a new struct file_content. But the
	 * existing struct stays if no struct file_use refers to the existing struct. The existing
	 * struct also stays if the file has several names, because these names share one struct.
	 */
	if (files->contents[content].first_use == FILES_NONE ||
	    files->contents[content].nr_names > 1) {
		files->contents[content].is_outside = false;
		return content;
	}
	return files_new_content(files, name, CONTENT_FILE);
}

static int take_open(struct loading *load, struct descriptors_of *of, const struct proc_act *act)
{
	uint32_t flags = act->numbers[1];
	bool reads = (flags & ACCESS_MASK) != O_WRONLY && !(flags & OPEN_PATH);
	bool writes = flags & (O_WRONLY | O_RDWR) && !(flags & OPEN_PATH);
	int ret = 0;
	uint32_t name = name_of(load, &act->texts[0], &ret);
	uint32_t content;
	struct file_use *use;

	if (name == FILES_NONE)
		return ret;
	content = opened_content(load, name, flags, writes);
	use = use_of(load, of->execution, name, content);
	if (!use)
		return -ENOMEM;
	note_access(load, use, reads, writes);
	use->what |= FILE_SHOWN | (reads ? FILE_SHOWN_READ : 0) | (writes ? FILE_SHOWN_WRITTEN : 0);
	if (text_left(&act->texts[1]) && !use->given)
		use->given = text_dup(&act->texts[1]);
	use->nr_open++;
	return descriptors_put(load->files, of,
			       &(struct descriptor){ .fd = act->numbers[0],
						     .content = content,
						     .use = use - load->files->uses,
						     .reads = reads,
						     .writes = writes },
			       load->now_ns);
}

static int take_names(struct loading *load, struct descriptors_of *of, uint32_t kind,
		      const struct proc_act *act)
{
	struct files *files = load->files;
	int ret = 0;
	uint32_t from = name_of(load, &act->texts[0], &ret);
	uint32_t to = name_of(load, &act->texts[1], &ret);
	uint32_t content;

	if (from == FILES_NONE || to == FILES_NONE)
		return ret;
	if (kind == PROC_LINK)
		ret = files_link(files, from, to);
	else if (act->numbers[0] & RENAME_SWAPS)
		ret = files_exchange(files, from, to);
	else
		ret = files_rename(files, from, to);
	/* For example, a directory that was never opened has no struct file_content. */
	content = files->names[to].content;
	if (ret == 0 && content == FILES_NONE)
		content = files_new_content(files, to, CONTENT_OTHER);
	if (ret == 0)
		ret = show_use(load, of->execution, from, content, FILE_SHOWN_READ);
	return ret < 0 ? ret : show_use(load, of->execution, to, content, FILE_SHOWN_WRITTEN);
}

/*
 * Process the record of a symlink(2). Listings show the link as a written file, and the link's
 * target as a file that was read.
 */
static int take_symlink(struct loading *load, struct descriptors_of *of, const struct proc_act *act)
{
	struct files *files = load->files;
	int ret = 0;
	uint32_t name = name_of(load, &act->texts[1], &ret);
	uint32_t target = ret == 0 ? name_of(load, &act->texts[2], &ret) : FILES_NONE;

	if (name != FILES_NONE && ret == 0)
		ret = show_use(load, of->execution, name,
			       files_new_content(files, name, CONTENT_OTHER), FILE_SHOWN_WRITTEN);
	if (target != FILES_NONE && ret == 0)
		ret = show_use(load, of->execution, target, files_content(files, target),
			       FILE_SHOWN_READ);
	return ret;
}

static int take_unlink(struct loading *load, const struct proc_act *act)
{
	int ret = 0;
	uint32_t name = name_of(load, &act->texts[0], &ret);

	if (name != FILES_NONE && !(act->numbers[0] & REMOVES_A_DIR))
		files_unlink(load->files, name);
	return ret;
}

/*
 * Process the record of a descriptor that is open when a program begins. The record names the
 * file. If this name has a struct file_content, the descriptor gets this struct. Otherwise the
 * descriptor keeps the struct from before the execve(2). A descriptor that had no struct gets
 * a new struct.
 */
static int take_inherit(struct loading *load, const struct execution *execution,
			struct descriptors_of *of, const struct proc_act *act)
{
	struct files *files = load->files;
	int ret = 0;
	uint32_t fd = act->numbers[0];
	uint32_t name = name_of(load, &act->texts[0], &ret);
	uint32_t before = descriptors_before(of, fd);
	uint32_t content;

	if (name == FILES_NONE)
		return ret;
	content = files->names[name].content;
	if (content == FILES_NONE && before != FILES_NONE) {
		content = before;
		/*
		 * Make the recorded name lead to the pipe, because the records of other processes
		 * use this name for the pipe.
		 */
		if (files->contents[before].kind == CONTENT_PIPE)
			files->names[name].content = before;
	}
	/*
	 * The first program inherits its output descriptors. The files of these descriptors are not
	 * results of the program.
	 */
	if (content == FILES_NONE && execution->parent == EXECUTION_NONE && (fd == 1 || fd == 2))
		content = files_new_content(files, name, CONTENT_OTHER);
	else if (content == FILES_NONE)
		content = files_content(files, name);
	if (content == FILES_NONE)
		return -ENOMEM;
	/*
	 * Standard descriptors are often opened for reading and writing. The number 0, 1 or 2 tells
	 * their real use.
	 */
	return descriptors_add(files, of,
			       &(struct descriptor){
				       .fd = fd,
				       .content = content,
				       .use = FILES_NONE,
				       .reads = (act->numbers[1] & ACCESS_MASK) != O_WRONLY &&
						!(act->numbers[1] & OPEN_PATH) && fd != 1 &&
						fd != 2,
				       .writes = act->numbers[1] & (O_WRONLY | O_RDWR) && fd != 0,
			       },
			       name, load->now_ns);
}

static int take_act(struct loading *load, const struct execution *execution,
		    struct descriptors_of *of, const struct proc_record *rec)
{
	struct proc_act act;

	if (!proc_act_decode(rec->data, rec->len, load->is_big_endian, &act))
		return 0;
	load->files->has_events |= rec->kind != PROC_ENV && rec->kind != PROC_NAME;
	switch (rec->kind) {
	case PROC_OPEN:
		return take_open(load, of, &act);
	case PROC_CLOSE:
		return descriptors_close(load->files, of, act.numbers[0], act.numbers[1],
					 load->now_ns);
	case PROC_DUP:
		return descriptors_dup(load->files, of, act.numbers[0], act.numbers[1],
				       load->now_ns);
	case PROC_PIPE:
		return descriptors_pipe(load->files, of, act.numbers[0], act.numbers[1],
					load->now_ns);
	case PROC_RENAME:
	case PROC_LINK:
		return take_names(load, of, rec->kind, &act);
	case PROC_SYMLINK:
		return take_symlink(load, of, &act);
	case PROC_UNLINK:
		return take_unlink(load, &act);
	case PROC_INHERIT:
		return take_inherit(load, execution, of, &act);
	default:
		return 0;
	}
}

/*
 * Store the fact that execution @at has read @path, the file of the execution's program or
 * interpreter.
 */
static int take_program(struct loading *load, size_t at, const char *path)
{
	struct text text = text_of(path, strlen(path));
	int ret = 0;
	uint32_t name = name_of(load, &text, &ret);
	struct file_use *use;

	if (name == FILES_NONE)
		return ret;
	use = use_of(load, at, name, files_content(load->files, name));
	if (!use)
		return -ENOMEM;
	note_access(load, use, true, false);
	use->what |= FILE_RUN;
	return 0;
}

static int take_exec(struct loading *load, struct descriptors_of *of,
		     const struct execution *execution, size_t at)
{
	int ret = take_program(load, at, execution->program);

	descriptors_exec(of, at, load->now_ns);
	return ret < 0 ? ret : take_program(load, at, execution->interpreter);
}

static int see(struct executions_listener *listener, const struct executions *executions,
	       const struct proc_record *rec, size_t at)
{
	struct loading *load = container_of(listener, struct loading, listener);
	struct descriptors_of *of = at == EXECUTION_NONE
					    ? NULL
					    : descriptors_get(&load->descriptors, rec->pid, at);
	int ret = 0;

	/* PROC_RESPONSE is no act of the task: the recorder, not the task, reads response files. */
	if (at == EXECUTION_NONE || rec->kind == PROC_RESPONSE)
		return 0;
	if (!of)
		return -ENOMEM;
	load->now_ns = MAX(load->now_ns, rec->time_ns);
	/* The descriptors in @of may belong to an earlier process with the pid of @rec. */
	if (rec->kind != PROC_EXEC && of->execution != at)
		descriptors_exec(of, at, load->now_ns);
	if (rec->kind != PROC_INHERIT && rec->kind != PROC_ENV)
		ret = descriptors_settle(load->files, of);
	if (ret < 0)
		return ret;
	if (rec->kind == PROC_FORK) {
		const struct execution *child = &executions->all[executions->nr - 1];

		/*
		 * A record of a new thread adds no execution. In this case @child is an older
		 * execution.
		 */
		if (child->parent != at || child->index || child->start_ns != load->now_ns)
			return 0;
		return descriptors_fork(load->files, &load->descriptors, of, child->pid,
					executions->nr - 1, load->now_ns);
	}
	if (rec->kind == PROC_EXEC)
		return take_exec(load, of, &executions->all[at], at);
	if (rec->kind == PROC_EXIT)
		return 0;
	return take_act(load, &executions->all[at], of, rec);
}

/*
 * Set close_ns of each use that lasts until the end of the execution. In such a use, the execution
 * has not closed the file, or the file is the execution's program or interpreter (FILE_RUN).
 */
static void close_all(struct files *files, const struct executions *executions)
{
	for (size_t i = 0; i < files->nr_uses; i++) {
		struct file_use *use = &files->uses[i];

		if (use->nr_open || use->what & FILE_RUN)
			use->close_ns = executions->all[use->execution].end_ns;
	}
}

/*
 * Set files->cost_max, the limit of files->cost. The number of steps for reading proc.dat may grow
 * with the square of the number of records, because children inherit all descriptors.
 */
static void set_limit(struct files *files, const char *dir)
{
	struct strbuf path cleanup_strbuf = { 0 };
	struct stat status = { 0 };
	uint64_t bytes;

	strbuf_addf(&path, "%s/" DATADIR_PROCESSES, dir);
	bytes = stat(strbuf_str(&path), &status) == 0 ? status.st_size : 0;
	files->cost_max = files->is_unlimited ? 0 : MAX(FILES_COST_MIN, bytes * FILES_COST_TIMES);
}

int files_load(struct files *files, struct executions *executions, const char *dir,
	       bool is_big_endian, struct uft_err *broken, struct uft_err *err)
{
	struct loading load = {
		.listener = { see },
		.files = files,
		.is_big_endian = is_big_endian,
	};
	int ret;

	set_limit(files, dir);
	ret = executions_load_heard(executions, dir, is_big_endian, &load.listener, broken, err);
	if (ret == 0) {
		ret = descriptors_settle_all(files, &load.descriptors);
		if (ret < 0)
			err_set_errno(err, ret, "cannot read '%s'", dir);
	}
	if (ret < 0 && files_is_beyond(files)) {
		struct strbuf what cleanup_strbuf = { 0 };

		err_clear(err);
		strbuf_addf(&what,
			    "cannot read '%s/" DATADIR_PROCESSES
			    "': what processes do to files there, and what their children are "
			    "given,",
			    dir);
		ret = files_tell_limit(files, strbuf_str(&what), err);
	}
	close_all(files, executions);
	descriptors_deinit(&load.descriptors);
	strbuf_deinit(&load.path);
	intmap_deinit(&files->by_place);
	return ret;
}
