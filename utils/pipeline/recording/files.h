/* The files that each execution has used, and the times at which it read and wrote them. */
#ifndef UTRAIL_PIPELINE_FILES_H
#define UTRAIL_PIPELINE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strmap.h"
#include "utils/pipeline/recording/executions.h"

#define FILES_NONE UINT32_MAX

/*
 * These constants limit and count the steps for reading proc.dat and for finding dependencies. The
 * limit is files.cost_max. A step is the work on one element of a list. Stored bytes count as steps
 * too, so one inherited file costs a few thousand steps.
 */
#define FILES_COST_MIN	 (1ULL << 31) /* the smallest limit */
#define FILES_COST_TIMES 256	      /* the steps allowed for each byte of proc.dat */
#define FILES_HELD_COST	 16	      /* each stored byte counts as this many steps */

/*
 * A name of a file: its path. The names form a tree, in which the children of a directory are the
 * names in this directory. When a directory is renamed, the tree shows which other names change.
 *
 * @content: the content that this name has after the last record that was read; FILES_NONE:
 *           unknown or removed
 * @was_removed: a recorded process has removed or moved a file with this name. Any later file with
 *               this name counts as made by a recorded process
 * @is_hidden: views of dependencies do not show the file
 */
struct file_name {
	char *path;
	uint32_t content;
	uint32_t directory;
	uint32_t first_child;
	uint32_t next_child;
	bool was_removed;
	bool is_hidden;
};

enum content_kind {
	CONTENT_FILE,
	CONTENT_PIPE,
	CONTENT_OTHER, /* directory, device, socket, symbolic link: never a dependency */
};

/*
 * The data of a file are a "content". The content ends when the file is removed or truncated
 * (O_TRUNC). A truncated file usually gets a new content. All names of a file (hard links) share
 * one content.
 *
 * @name: the name that was given last
 * @nr_names: the number of present names; 0: the file is gone
 * @first_use: the first struct file_use of this content. In each struct file_use of the
 *             content, next_of_content leads to the content's next struct file_use
 * @is_outside: the content existed before any recorded process wrote to the file
 */
struct file_content {
	uint32_t name;
	uint32_t nr_names;
	uint32_t first_use;
	uint32_t last_use;
	enum content_kind kind;
	bool is_outside;
};

/*
 * Bits of file_use.what, for listings of opened files. A listing shows each use that has the bit
 * FILE_SHOWN. If FILE_SHOWN_READ is set, the listing shows the file as read. If FILE_SHOWN_WRITTEN
 * is set, the listing shows the file as written.
 */
enum {
	FILE_SHOWN = 1,
	FILE_SHOWN_READ = 2,
	FILE_SHOWN_WRITTEN = 4,
	FILE_RUN = 8, /* the file is the executed program, or its interpreter */
};

/*
 * The use of one content (struct file_content) by one execution, under one name of the content.
 * Several opens count as one use.
 *
 * @open_ns, @close_ns: the first and the last time of use
 * @read_ns: the time from which the execution may have read the content; UINT64_MAX: never
 * @write_ns: the time from which the execution may have written the content; UINT64_MAX: never
 * @given: the name that the program gave, if that name differs from @name; on the heap
 * @nr_open: number of open descriptors, while records are read
 */
struct file_use {
	uint64_t open_ns;
	uint64_t close_ns;
	uint64_t read_ns;
	uint64_t write_ns;
	char *given;
	uint32_t execution;
	uint32_t content;
	uint32_t name;
	uint32_t next_of_execution;
	uint32_t next_of_content;
	uint32_t nr_open;
	uint32_t what; /* FILE_... */
};

/* An execution's list of file uses. Both members are indexes in files->uses. */
struct files_of_execution {
	uint32_t first_use;
	uint32_t last_use;
};

/*
 * Starts as { 0 }, ends with files_deinit().
 *
 * @of: for each of the first @nr_of executions, the list of the execution's uses
 * @has_events: the recording has records of operations on files (PROC_OPEN, PROC_UNLINK, ...).
 *         False: only the executed programs are known
 * @by_path: maps from a path to 1 + the index in @names
 * @by_place: maps from an execution and a name to 1 + the index in @uses
 * @is_unlimited: the caller sets this member before files_load(). true: @cost has no limit
 * @cost_max: the limit of @cost; 0: there is no limit. files_load() sets @cost_max
 * @cost: the sum of the steps that files_spend() has added. Without a limit, files_spend() adds
 *        no steps
 */
struct files {
	struct file_name *names;
	size_t nr_names;
	struct file_content *contents;
	size_t nr_contents;
	struct file_use *uses;
	size_t nr_uses;
	struct files_of_execution *of;
	size_t nr_of;
	bool has_events;
	struct strmap by_path;
	struct intmap by_place;
	bool is_unlimited;
	uint64_t cost_max;
	uint64_t cost;
};

/*
 * Read @executions, and the acts of these executions on files. If the acts take more than
 * files->cost_max steps, returns -EDQUOT, and @err names this limit. Otherwise, returns the same
 * results as executions_load().
 */
int files_load(struct files *files, struct executions *executions, const char *dir,
	       bool is_big_endian, struct uft_err *broken, struct uft_err *err);
void files_deinit(struct files *files);
#define cleanup_files cleanup(files_deinit)

/* Find the first file use by an execution. Returns FILES_NONE if the execution used no files. */
uint32_t files_first_use(const struct files *files, size_t execution);

/*
 * Find the content that is named @path at the end of the recording. Returns FILES_NONE if there is
 * none.
 */
uint32_t files_find(const struct files *files, const char *path);

/*
 * True when the content is a file, not a directory, and still has a name at the end of the
 * recording.
 */
bool files_is_left(const struct files *files, uint32_t content);

/* True when files_is_left() is true and the content is not hidden. */
bool files_is_shown(const struct files *files, uint32_t content);

/*
 * The functions below are for code that reads records. A function fails when memory is short, or
 * when files->cost exceeds files->cost_max. After a failure, a function that returns an index
 * returns FILES_NONE, and a function that returns an errno returns -EDQUOT or -ENOMEM.
 *
 * -EDQUOT means that the limit is exceeded. FILES_NONE and -ENOMEM can have either cause. In these
 * cases, files_is_beyond() is true if the limit is exceeded, and false if memory is short.
 */

/* Add @steps to files->cost. Returns 0, or -EDQUOT when files->cost exceeds files->cost_max. */
int files_spend(struct files *files, uint64_t steps);
bool files_is_beyond(const struct files *files);

/* Set the error about the limit: "@what takes more than ...". Returns -EDQUOT. */
int files_tell_limit(const struct files *files, const char *what, struct uft_err *err);

/* Find the name @path, or add it. */
uint32_t files_name(struct files *files, const char *path);

/*
 * Find the content of a name. If the name has no content, add a struct file_content, whose member
 * is_outside is the opposite of the name's member was_removed.
 */
uint32_t files_content(struct files *files, uint32_t name);

/*
 * Add a struct file_content with the name @name. If an older content has this name, the older
 * content loses the name. If @name is FILES_NONE, the new content has no name.
 */
uint32_t files_new_content(struct files *files, uint32_t name, enum content_kind kind);

/*
 * Find the use of @content by @execution under @name. If there is none, add a use that begins at
 * @now_ns.
 */
uint32_t files_use(struct files *files, size_t execution, uint32_t name, uint32_t content,
		   uint64_t now_ns);

/*
 * If @reads is true and read_ns is later than @now_ns, set read_ns to @now_ns. Likewise for @writes
 * and write_ns.
 */
void file_use_note(struct file_use *use, bool reads, bool writes, uint64_t now_ns);

/* Apply a link(2): @to becomes another name of the file that @from names. */
int files_link(struct files *files, uint32_t from, uint32_t to);
int files_rename(struct files *files, uint32_t from, uint32_t to);
void files_unlink(struct files *files, uint32_t name);
int files_exchange(struct files *files, uint32_t one, uint32_t other);

#endif
