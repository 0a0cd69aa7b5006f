/*
 * A data directory as one file: an input of the fuzz target "datadir" and of
 * tests/e2e/trust/test_damage.py.
 */
#ifndef UTRAIL_TESTS_FUZZ_ARCHIVE_H
#define UTRAIL_TESTS_FUZZ_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 *   ==== file info
 *   <content>
 *   ==== link task.txt
 *   task.txt
 *
 * An entry begins with a line "==== <kind> <name>" and reaches to the newline in front of the next
 * one, or to the end. There are no lengths, so that a mutated archive remains one. Kinds: file;
 * dir, fifo (without content); link (to its content). Names have no slash. Bytes outside of entries
 * are skipped.
 */
enum archive_kind {
	ARCHIVE_FILE,
	ARCHIVE_DIR,
	ARCHIVE_FIFO,
	ARCHIVE_LINK,
};

#define ARCHIVE_NAME_MAX 64

struct archive_entry {
	enum archive_kind kind;
	char name[ARCHIVE_NAME_MAX];
	const uint8_t *content;
	size_t size;
};

/* Find the next entry at or after @data[*at]. Returns false at the end. */
bool archive_next(const uint8_t *data, size_t size, size_t *at, struct archive_entry *entry);

/*
 * Make the files that the archive describes in the empty directory @dir. A name that is there
 * already keeps its file.
 */
void archive_unpack(const uint8_t *data, size_t size, const char *dir);

#endif
