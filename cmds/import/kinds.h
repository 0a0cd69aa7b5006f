/* A table of the imported events, with the id, the name and the keys of each event. */
#ifndef UTRAIL_CMDS_IMPORT_KINDS_H
#define UTRAIL_CMDS_IMPORT_KINDS_H

#include "utils/base/containers/strbuf.h"
#include "utils/base/containers/strmap.h"
#include "utils/format/fstrace/line.h"

/*
 * An event that was imported.
 *
 * @format: the format of the event's values; NULL: lines of the event have values in the form
 *         "KEY=value"
 * @keys: the keys of an event without a format, in the order of their first appearance
 */
struct import_kind {
	uint32_t id;
	char *name;
	const char *format;
	char **keys;
	size_t nr_keys;
};

/*
 * Starts as { .next_id = ... }, ends with import_kinds_deinit().
 *
 * @bytes: an upper bound for the size that events.txt and events.def each have after the import.
 *         The bound includes the lines that were in the files before the import
 * @last: the last result of import_kinds_get() or import_kinds_name()
 */
struct import_kinds {
	uint32_t next_id;
	size_t bytes;
	struct import_kind **all;
	size_t nr;
	struct strmap by_name;
	struct import_kind *last;
	struct strbuf name;
};

/*
 * Returns the event of @line, and adds the keys in @line to the event. Returns NULL on failure.
 *
 * @is_full: after a failure, true if there are too many events, or if the names and keys of all
 *           events are too long in total. False if there is not enough memory
 */
struct import_kind *import_kinds_get(struct import_kinds *kinds, const struct fst_line *line,
				     bool *is_full);
/*
 * Returns the event @name, whose values have the format @format. Returns NULL in the same cases as
 * import_kinds_get(), with the same values of @is_full.
 */
struct import_kind *import_kinds_name(struct import_kinds *kinds, const char *name,
				      const char *format, bool *is_full);
void import_kinds_deinit(struct import_kinds *kinds);

/*
 * import_kinds_put_names() appends the lines of events.txt to @out. import_kinds_put_definitions()
 * appends the lines of events.def.
 */
void import_kinds_put_names(const struct import_kinds *kinds, struct strbuf *out);
void import_kinds_put_definitions(const struct import_kinds *kinds, struct strbuf *out);

#endif
