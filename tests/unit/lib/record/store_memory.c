/* A store in memory (see store_memory.h). */
#include "tests/unit/lib/record/store_memory.h"

#include <errno.h>
#include <string.h>

#include "utils/base/compiler.h"

static struct store_memory *enter(struct store *store)
{
	struct store_memory *memory = container_of(store, struct store_memory, store);

	pthread_mutex_lock(&memory->lock);
	return memory;
}

static int leave(struct store_memory *memory, int result)
{
	pthread_mutex_unlock(&memory->lock);
	return result;
}

static int find(struct store_memory *memory, const char *name)
{
	for (int i = 0; i < STORE_MEMORY_FILES; i++) {
		if (strcmp(memory->files[i].name, name) == 0)
			return i;
	}
	return -ENOENT;
}

static int memory_open(struct store *store, const char *name)
{
	struct store_memory *memory = enter(store);
	int i = find(memory, name);

	if (i < 0 && (i = find(memory, "")) >= 0)
		strcpy(memory->files[i].name, name);
	return leave(memory, i < 0 ? -ENOSPC : i);
}

static int memory_append(struct store *store, int stream, const struct iovec *parts, int nr)
{
	struct store_memory *memory = enter(store);
	struct strbuf *content = &memory->files[stream].content;

	for (int i = 0; i < nr; i++)
		strbuf_add(content, parts[i].iov_base, parts[i].iov_len);
	return leave(memory, strbuf_oom(content) ? -ENOMEM : 0);
}

static void memory_close(struct store *store, int stream)
{
}

static int memory_publish(struct store *store, const char *name, const struct iovec *parts, int nr,
			  int *stream, struct uft_err *err)
{
	int i = memory_open(store, name);

	if (i < 0)
		return err_set_errno(err, i, "cannot keep '%s'", name);
	strbuf_reset(&container_of(store, struct store_memory, store)->files[i].content);
	return memory_append(store, i, parts, nr);
}

static int memory_read(struct store *store, const char *name, size_t max, struct strbuf *out)
{
	struct store_memory *memory = enter(store);
	int i = find(memory, name);
	const struct strbuf *content = i < 0 ? NULL : &memory->files[i].content;

	if (content)
		strbuf_add(out, content->data, MIN(content->len, max));
	return leave(memory, MIN(i, 0));
}

static void memory_remove(struct store *store, const char *name)
{
	struct store_memory *memory = enter(store);
	int i = find(memory, name);

	if (i >= 0) {
		strbuf_deinit(&memory->files[i].content);
		memory->files[i] = (struct store_memory_file){ 0 };
	}
	leave(memory, 0);
}

void store_memory_init(struct store_memory *memory)
{
	static const struct store_ops ops = {
		.open = memory_open,
		.append = memory_append,
		.close = memory_close,
		.publish = memory_publish,
		.read = memory_read,
		.remove = memory_remove,
	};

	*memory = (struct store_memory){ .store.ops = &ops };
	pthread_mutex_init(&memory->lock, NULL);
}

void store_memory_deinit(struct store_memory *memory)
{
	for (int i = 0; i < STORE_MEMORY_FILES; i++)
		strbuf_deinit(&memory->files[i].content);
	pthread_mutex_destroy(&memory->lock);
}
