/* compile_commands.json: the commands that compiled the sources of a build. */
#ifndef UTRAIL_BUILDDB_COMPDB_H
#define UTRAIL_BUILDDB_COMPDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/sink.h"
#include "utils/base/containers/strmap.h"
#include "utils/base/containers/words.h"
#include "utils/builddb/compiler/responses.h"
#include "utils/pipeline/recording/executions.h"

/*
 * The entries.
 *
 * @entries: JSON objects, on the heap; NULL: removed, or replaced by a later entry
 * @keys: the key of each entry, on the heap: the directory, the file and the output. If the
 *         output is unknown, the arguments take its place. NULL: a later entry has the same key
 * @by_key: for each key, one plus the index of the newest entry
 * @nr: length of @entries and @keys
 * @nr_left: number of entries that are not NULL
 * @nr_not_text: number of entries that are left out because their texts are not valid UTF-8. JSON
 *         has no other encoding
 * @has_assemblers: add entries for commands of assemblers (nasm, yasm, as)
 * @leaves_out_gone: leave out sources that do not exist any longer, or are not regular files. If
 *         @is_build_temporary is false, also leave out sources below /tmp. For example, scripts
 *         named "configure" make sources below /tmp
 * @nr_gone: number of sources that @leaves_out_gone left out
 * @is_build_temporary: the build began below /tmp
 * @responses: response files as they were when their compilers began; NULL: read the files now
 * @nr_unread: number of response files that could not be read
 * @unread, @unread_why: the name of the first response file that could not be read (on the heap;
 *         NULL: none), and the negative errno of reading this file
 * @cost: cost of all commands that were processed, in bytes
 * @is_unlimited: the limit COMPDB_COST_MAX does not apply
 * @nr_beyond: number of commands and sources that are left out because the cost has exceeded its
 *         limit. A command that is left out counts as one, even if the command has several sources
 */
struct compdb {
	char **entries;
	char **keys;
	struct strmap by_key;
	size_t nr;
	size_t nr_left;
	size_t nr_not_text;
	bool has_assemblers;
	bool leaves_out_gone;
	bool is_build_temporary;
	size_t nr_gone;
	const struct responses *responses;
	size_t nr_unread;
	char *unread;
	int unread_why;
	uint64_t cost;
	bool is_unlimited;
	size_t nr_beyond;
};

/*
 * The limit of compdb.cost. The limit is needed because a command may name many sources, and many
 * commands may name the same response file. The cost is the sum of
 * - the bytes of response files and of stored entries,
 * - a fixed amount for each search for a file, and
 * - a fixed amount for each word of a command. The amount counts once for each source of the
 *   command, and once more if the command names response files.
 */
#define COMPDB_COST_MAX (200UL << 20)

void compdb_deinit(struct compdb *db);
#define cleanup_compdb cleanup(compdb_deinit)

/*
 * Add an entry. The entry replaces an earlier entry with the same directory, file and output.
 * Returns 0 or -ENOMEM.
 *
 * @output: NULL: unknown. In the comparison, @argv then takes the place of the output
 */
int compdb_add(struct compdb *db, const char *directory, const char *file, const char *output,
	       const struct words *argv);

/*
 * Add an entry for each source that @executions have compiled: doc/internals/processes.md, "The
 * compilation database". Returns 0 or -ENOMEM.
 */
int compdb_add_executions(struct compdb *db, const struct executions *executions);

/*
 * Remove early entries that late entries replace. Only entries without an output are compared. An
 * entry is early if its index is below @nr_earlier, and late otherwise. An early entry is removed
 * if a late entry has the same directory and file. Returns 0 or -ENOMEM.
 */
int compdb_drop_earlier(struct compdb *db, size_t nr_earlier);

/* Write the whole file. */
void compdb_write(const struct compdb *db, struct sink *sink);

#endif
