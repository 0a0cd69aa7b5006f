/* compile_commands.json: the commands that compiled sources, from the executions of a build. */
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
 * @entries: objects of JSON, of the heap; NULL: one that a later one took the place of. @keys:
 * what they are about, of the heap
 * @by_key: of @keys, the index of the entry plus one
 * @nr: of both, @nr_left: how many of them are entries
 * @nr_not_text: commands that are left out since JSON has no way to write them: they are not UTF-8
 * @has_assemblers: commands of as, nasm and yasm have entries, too
 * @leaves_out_gone: sources that are no file (any more), or are below /tmp in a build that is
 * not: as those of configure; @nr_gone: how many that were
 * @is_build_temporary: the build began below /tmp
 * @responses: what was read of response files when compilers began, or NULL: they are read now
 * @nr_unread: response files that could not be read; @unread: the name of the first one, of the
 *             heap, or NULL, and @unread_why, negative errno
 * @cost: of the commands so far, in bytes and words; @is_unlimited: however much that becomes
 * @nr_beyond: commands that are left out, since they would cost more than COMPDB_COST_MAX
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
 * The cost of all commands together has a limit. It counts response files and their bytes, bytes
 * of entries as they are kept, and for each source the words of its command. A command may name
 * many sources, many commands the same file.
 */
#define COMPDB_COST_MAX (200UL << 20)

void compdb_deinit(struct compdb *db);
#define cleanup_compdb cleanup(compdb_deinit)

/*
 * One entry. @output: NULL when none is known. It takes the place of one for the same directory,
 * file and output (or, without one, with the same arguments). 0 or -ENOMEM.
 */
int compdb_add(struct compdb *db, const char *directory, const char *file, const char *output,
	       const struct words *argv);

/*
 * An entry for each source that these have compiled: doc/internals/processes.md, "The compilation
 * database". 0 or -ENOMEM.
 */
int compdb_add_executions(struct compdb *db, const struct executions *executions);

/*
 * Those of the first @nr_earlier entries go that have no output, when there is a later one for
 * the same directory and file that has none either. 0 or -ENOMEM.
 */
int compdb_drop_earlier(struct compdb *db, size_t nr_earlier);

/* The whole file. */
void compdb_write(const struct compdb *db, struct sink *sink);

#endif
