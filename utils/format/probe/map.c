/* `sid-<id>.map`: the modules of a session, and their addresses (see map.h). */
#include "utils/format/probe/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/format/text.h"

static const char build_id_tag[] = " build-id:";

void module_map_deinit(struct module_map *map)
{
	for (size_t i = 0; i < map->nr; i++)
		free(map->entries[i].path);
	free(map->entries);
	*map = (struct module_map){ 0 };
}

/* Append @entry, and take ownership of its path. After a failure, the path is freed. */
static int map_take(struct module_map *map, struct map_entry *entry)
{
	if (!entry->path)
		return -ENOMEM;

	struct map_entry *entries = vec_grow(map->entries, map->nr, sizeof(*entries));

	if (!entries) {
		free(entry->path);
		return -ENOMEM;
	}
	map->entries = entries;
	map->entries[map->nr++] = *entry;
	return 0;
}

int module_map_add(struct module_map *map, const struct map_entry *entry)
{
	struct map_entry copy = *entry;

	copy.path = strdup(entry->path);
	return map_take(map, &copy);
}

void module_map_encode(const struct module_map *map, struct strbuf *out)
{
	for (size_t i = 0; i < map->nr; i++) {
		const struct map_entry *e = &map->entries[i];

		strbuf_addf(out, "%llx-%llx %.4s %08x %02x:%02x %-26u ",
			    (unsigned long long)e->start, (unsigned long long)e->end, e->prot, 0, 0,
			    0, 0);
		text_put_name(out, e->path, strlen(e->path));
		if (e->build_id[0]) {
			strbuf_addstr(out, build_id_tag);
			strbuf_addstr(out, e->build_id);
		}
		strbuf_addch(out, '\n');
	}
}

/* Remove " build-id:<hex>" from the end of @path, if it is there. */
static void take_build_id(struct text *path, char build_id[static MAP_BUILD_ID_MAX + 1])
{
	size_t tag_len = sizeof(build_id_tag) - 1;
	const char *p = path->end;

	while (p > path->at && memchr("0123456789abcdef", p[-1], 16))
		p--;

	size_t hex_len = path->end - p;

	if (!hex_len || hex_len > MAP_BUILD_ID_MAX || (size_t)(p - path->at) < tag_len ||
	    memcmp(p - tag_len, build_id_tag, tag_len) != 0)
		return;
	memcpy(build_id, p, hex_len);
	build_id[hex_len] = '\0';
	path->end = p - tag_len;
}

static void skip_blanks(struct text *in)
{
	while (in->at < in->end && (*in->at == ' ' || *in->at == '\t'))
		in->at++;
}

/* Parse four letters of protection, as in /proc/PID/maps. */
static bool get_prot(struct text *in, char prot[static 5])
{
	if (text_left(in) < 4)
		return false;
	for (size_t i = 0; i < 4; i++) {
		if (!memchr("rwxps-", in->at[i], 6))
			return false;
	}
	memcpy(prot, in->at, 4);
	in->at += 4;
	return true;
}

static bool line_decode(struct text in, struct map_entry *entry, struct text *path)
{
	uint64_t offset;
	uint64_t major;
	uint64_t minor;
	uint64_t inode;

	if (!text_hex(&in, &entry->start) || !text_word(&in, "-") || !text_hex(&in, &entry->end) ||
	    entry->end < entry->start || !text_word(&in, " ") || !get_prot(&in, entry->prot) ||
	    !text_word(&in, " "))
		return false;
	if (!text_hex(&in, &offset) || !text_word(&in, " ") || !text_hex(&in, &major) ||
	    !text_word(&in, ":") || !text_hex(&in, &minor) || !text_word(&in, " ") ||
	    !text_dec(&in, &inode))
		return false;
	skip_blanks(&in);
	take_build_id(&in, entry->build_id);
	*path = in;
	return true;
}

static bool extends_last(const struct module_map *map, const struct text *path)
{
	if (!map->nr)
		return false;

	const char *last = map->entries[map->nr - 1].path;

	return strlen(last) == text_left(path) && memcmp(last, path->at, text_left(path)) == 0;
}

static int lines_decode(struct text in, struct module_map *map, struct uft_err *err)
{
	struct text line;
	bool whole;

	for (size_t nr = 1; text_line(&in, &line, &whole); nr++) {
		struct map_entry entry = { 0 };
		struct text path;

		if (line.at == line.end)
			continue;
		if (!line_decode(line, &entry, &path))
			return err_set(err, -EINVAL,
				       "line %zu: expected '<start>-<end> <prot> <offset> <dev> "
				       "<inode> <path>'",
				       nr);
		if (path.at == path.end)
			continue;
		if (extends_last(map, &path)) {
			struct map_entry *last = &map->entries[map->nr - 1];

			last->end = MAX(last->end, entry.end);
			if (entry.prot[2] == 'x')
				memcpy(last->prot, entry.prot, sizeof(last->prot));
			continue;
		}
		entry.path = text_dup(&path);

		int ret = map_take(map, &entry);

		if (ret < 0)
			return err_set_errno(err, ret, "line %zu", nr);
	}
	return 0;
}

int module_map_decode(const char *text, size_t len, struct module_map *map, struct uft_err *err)
{
	int ret = lines_decode(text_of(text, len), map, err);

	if (ret < 0)
		module_map_deinit(map);
	return ret;
}
