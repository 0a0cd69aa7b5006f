/* Events of the etrace text (see etrace_grammar.h). */
#include "utils/builddb/etrace/etrace_grammar.h"

#include <stdbool.h>
#include <string.h>

#include "utils/base/compiler.h"

static const struct etrace_row rows[] = {
	{ "New_proc",
	  ETRACE_EXEC,
	  { "prognameisize", "prognamepsize", "cwdsize", "argsize" },
	  { "PI", "PP", "CW" } },
	{ "SysClone", ETRACE_CLONE, { "flags" } },
	{ "SysCloneFailed", ETRACE_CLONE_FAILED },
	{ "SchedFork", ETRACE_FORK, { "pid" } },
	{ "Exit", ETRACE_EXIT, { "status" } },
	{ "Open",
	  ETRACE_OPEN,
	  { "fnamesize", "forigsize", "flags", "mode", "fd" },
	  { "FN", "FO" } },
	{ "Close", ETRACE_CLOSE, { "fd" } },
	{ "Dup", ETRACE_DUP, { "oldfd", "newfd", "flags" } },
	{ "Pipe", ETRACE_PIPE, { "fd1", "fd2", "flags" } },
	{ "RenameFrom", ETRACE_RENAME_FROM, { "fnamesize" }, { "RF" } },
	{ "Rename2From", ETRACE_RENAME_FROM, { "fnamesize", "flags" }, { "RF" } },
	{ "RenameTo", ETRACE_RENAME_TO, { "fnamesize" }, { "RT" } },
	{ "RenameFailed", ETRACE_RENAME_FAILED },
	{ "LinkFrom", ETRACE_LINK_FROM, { "fnamesize" }, { "LF" } },
	{ "LinkatFrom", ETRACE_LINK_FROM, { "fnamesize", "flags" }, { "LF" } },
	{ "LinkTo", ETRACE_LINK_TO, { "fnamesize" }, { "LT" } },
	{ "LinkFailed", ETRACE_LINK_FAILED },
	{ "Symlink",
	  ETRACE_SYMLINK,
	  { "targetnamesize", "linknamesize", "resolvednamesize" },
	  { "ST", "SL", "SR" },
	  .optional = 4 },
	{ "SymlinkFailed", ETRACE_SYMLINK_FAILED },
	{ "Mount",
	  ETRACE_MOUNT,
	  { "sourcenamesize", "targetnamesize", "typenamesize", "flags" },
	  { "MS", "MT", "MX" },
	  .optional = 5 },
	{ "MountFailed", ETRACE_MOUNT_FAILED },
	{ "Umount", ETRACE_UMOUNT, { "targetnamesize", "flags" }, { "MT" } },
	{ "UmountFailed", ETRACE_UMOUNT_FAILED },
	{ "Comm", ETRACE_COMM, { "size" }, { "CN" } },
};

static bool is_word(struct text text, const char *word)
{
	return word && text_left(&text) == strlen(word) &&
	       memcmp(text.at, word, text_left(&text)) == 0;
}

const struct etrace_row *etrace_row_find(struct text tag)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (is_word(tag, rows[i].tag))
			return &rows[i];
	}
	return NULL;
}

int etrace_row_key(const struct etrace_row *row, struct text name)
{
	for (int i = 0; i < ETRACE_KEYS; i++) {
		if (is_word(name, row->keys[i]))
			return i;
	}
	return -1;
}

int etrace_row_text(const struct etrace_row *row, struct text tag)
{
	for (int i = 0; i < ETRACE_TEXTS; i++) {
		if (is_word(tag, row->texts[i]))
			return i;
	}
	return -1;
}
