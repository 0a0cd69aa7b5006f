/* Reading of data directories that are packed into one file (see archive.h). */
#include "tests/fuzz/archive.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"

static const char mark[] = "==== ";
#define MARK_LEN (sizeof(mark) - 1)

/* The start of the next mark at the beginning of a line; NULL when there is none. */
static const uint8_t *find_mark(const uint8_t *at, const uint8_t *end, const uint8_t *begin)
{
	while (at < end && (at = memmem(at, end - at, mark, MARK_LEN))) {
		if (at == begin || at[-1] == '\n')
			return at;
		at++;
	}
	return NULL;
}

static bool is_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '/' || name[i] == '\0')
			return false;
	}
	return len && len < ARCHIVE_NAME_MAX && strncmp(name, ".", len) != 0 &&
	       strncmp(name, "..", len) != 0;
}

/* Parse "<kind> <name>", the line that begins an entry. */
static bool parse_head(const char *text, size_t len, struct archive_entry *entry)
{
	static const char *const kinds[] = { "file ", "dir ", "fifo ", "link " };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t kind_len = strlen(kinds[i]);

		if (len < kind_len || memcmp(text, kinds[i], kind_len) != 0)
			continue;
		if (!is_name(text + kind_len, len - kind_len))
			return false;
		entry->kind = (enum archive_kind)i;
		memcpy(entry->name, text + kind_len, len - kind_len);
		entry->name[len - kind_len] = '\0';
		return true;
	}
	return false;
}

bool archive_next(const uint8_t *data, size_t size, size_t *at, struct archive_entry *entry)
{
	const uint8_t *end = data + size;
	const uint8_t *head;

	while ((head = find_mark(data + *at, end, data))) {
		const uint8_t *text = head + MARK_LEN;
		const uint8_t *line_end = memchr(text, '\n', end - text);
		const uint8_t *content = line_end ? line_end + 1 : end;
		const uint8_t *next = find_mark(content, end, data);

		*at = next ? (size_t)(next - data) : size;
		if (!parse_head((const char *)text, (line_end ? line_end : end) - text, entry))
			continue;
		entry->content = content;
		/* The newline in front of a mark belongs to the mark. */
		entry->size = (next ? next : end) - content;
		entry->size -= next && next > content;
		return true;
	}
	return false;
}

static void make_file(const char *path, const struct archive_entry *entry)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	fd_write_all(fd, entry->content, entry->size);
	close(fd);
}

/* Makes links to names in the same directory only: an input must not reach what it does not own. */
static void make_link(const char *path, const struct archive_entry *entry)
{
	char target[ARCHIVE_NAME_MAX];

	if (!is_name((const char *)entry->content, entry->size))
		return;
	memcpy(target, entry->content, entry->size);
	target[entry->size] = '\0';
	if (symlink(target, path) < 0)
		return;
}

void archive_unpack(const uint8_t *data, size_t size, const char *dir)
{
	struct archive_entry entry;

	for (size_t at = 0; archive_next(data, size, &at, &entry);) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", dir, entry.name);
		switch (entry.kind) {
		case ARCHIVE_FILE:
			make_file(path, &entry);
			break;
		case ARCHIVE_DIR:
			mkdir(path, 0755);
			break;
		case ARCHIVE_FIFO:
			mkfifo(path, 0644);
			break;
		case ARCHIVE_LINK:
			make_link(path, &entry);
			break;
		}
	}
}
