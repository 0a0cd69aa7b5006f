/* Functions that all stores share (see store.h). */
#include "cmds/record/store/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/path.h"
#include "utils/format/sym.h"
#include "utils/format/text.h"

#define CPU_NAME_SIZE 32

void store_limit(struct store *store, uint64_t max_bytes, void (*when_full)(void *arg), void *arg)
{
	store->max_bytes = max_bytes;
	store->when_full = when_full;
	store->when_full_arg = arg;
}

bool store_may_take(struct store *store, size_t len)
{
	uint64_t max = store->max_bytes;
	uint64_t taken = atomic_fetch_add(&store->taken, len) + len;

	if (!max || (taken <= max && !atomic_load(&store->is_full)))
		return true;
	atomic_store(&store->is_full, true);
	store->when_full(store->when_full_arg);
	return false;
}

void store_took(struct store *store, size_t asked, size_t len)
{
	atomic_fetch_sub(&store->taken, (uint64_t)asked - len);
}

void store_note_error(struct store *store, int code)
{
	int none = 0;

	if (code < 0)
		atomic_compare_exchange_strong(&store->error, &none, code);
}

int store_place(struct store *store, struct stat *place)
{
	return store->ops->place ? store->ops->place(store, place) : -EOPNOTSUPP;
}

int store_publish(struct store *store, const char *name, const void *data, size_t len,
		  struct uft_err *err)
{
	const struct iovec part = { (void *)data, len };

	return store->ops->publish(store, name, &part, 1, NULL, err);
}

int store_append_to(struct store *store, const char *name, const struct strbuf *text)
{
	int stream = strbuf_oom(text) ? -ENOMEM : store_open(store, name);
	int ret = stream < 0 ? stream : store_append(store, stream, text->data, text->len);

	if (stream >= 0)
		store_close(store, stream);
	return ret;
}

void store_append_line(struct store *store, int *stream, const char *name,
		       const struct strbuf *text)
{
	if (*stream < 0)
		*stream = store_open(store, name);
	if (*stream < 0)
		store_note_error(store, *stream);
	else if (strbuf_oom(text))
		store_note_error(store, -ENOMEM);
	else if (store_may_take(store, text->len))
		store_note_error(store, store_append(store, *stream, text->data, text->len));
}

/*
 * Returns 1 when the symbol file @name belongs to the module with @path and @build_id, 0 when the
 * file belongs to another module, or a negative errno. -ENOENT: there is no such file.
 */
static int stands_for(struct store *store, const char *name, const char *path, const char *build_id)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = store_read(store, name, PATH_MAX + 511, &text);

	if (ret < 0)
		return ret;

	char line[PATH_MAX + 32];

	snprintf(line, sizeof(line), "# path name: %s\n", path);
	if (!strstr(strbuf_str(&text), line))
		return false;
	snprintf(line, sizeof(line), "# build-id: %s\n", build_id);
	return !build_id[0] || strstr(strbuf_str(&text), line);
}

bool store_choose_name(struct store *store, const char *path, const char *build_id, char *name,
		       size_t size)
{
	/* The text of map files and symbol files contains paths in escaped form. */
	struct strbuf escaped cleanup_strbuf = { 0 };

	text_put_name(&escaped, path, strlen(path));
	path = strbuf_str(&escaped);

	const char *base = path_base(path);

	snprintf(name, size, "%s.sym", base);

	int found = stands_for(store, name, path, build_id);

	if (found == false) {
		uint16_t sum = 0;

		for (const char *c = path; *c; c++)
			sum += (unsigned char)*c;
		if (build_id[0])
			snprintf(name, size, "%s-%.4s.sym", base, build_id);
		else
			snprintf(name, size, "%s-%04x.sym", base, sum);
		found = stands_for(store, name, path, build_id);
	}
	return found == -ENOENT;
}

static void cpu_name(char name[static CPU_NAME_SIZE], const char *prefix, unsigned cpu)
{
	snprintf(name, CPU_NAME_SIZE, "%s%u.dat", prefix, cpu);
}

int store_open_cpu(struct store *store, const char *prefix, unsigned cpu)
{
	char name[CPU_NAME_SIZE];

	cpu_name(name, prefix, cpu);
	return store_open(store, name);
}

int store_publish_cpu(struct store *store, const char *prefix, unsigned cpu,
		      const struct strbuf *content)
{
	char name[CPU_NAME_SIZE];

	cpu_name(name, prefix, cpu);
	return store_publish(store, name, content->data, content->len, NULL);
}

void store_remove_cpus(struct store *store, const char *prefix, unsigned nr)
{
	char name[CPU_NAME_SIZE];

	for (unsigned i = 0; i < nr; i++) {
		cpu_name(name, prefix, i);
		store_remove(store, name);
	}
}
