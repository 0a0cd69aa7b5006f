/* The store that writes records in compact blocks (see compact.h). */
#include "cmds/record/store/compact.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/calls/compact.h"
#include "utils/format/datadir.h"

/*
 * @inner: the stream of the inner store; -1: this entry is free
 * @tid: the task whose records are written to the stream; 0: the stream is not for records
 */
struct compact_stream {
	int inner;
	int32_t tid;
};

/* The buffers that one thread needs for encoding. @out has room for @cap bytes. */
struct compact_work {
	struct compact_work *next;
	struct compact_coder *coder;
	uint8_t *out;
	size_t cap;
};

static struct store_compact *of(struct store *store)
{
	return container_of(store, struct store_compact, store);
}

/*
 * Returns the name under which the inner store (store_compact.inner) keeps the file @name.
 *
 * @tid: gets the task whose records the file @name has; 0: the file @name is not for records
 */
static const char *inner_name(const char *name, int32_t *tid, char *buf, size_t size)
{
	*tid = datadir_records_tid(name);
	if (!*tid)
		return name;
	snprintf(buf, size, "%d" DATADIR_COMPACT_SUFFIX, *tid);
	return buf;
}

static void work_destroy(struct compact_work *work)
{
	if (!work)
		return;
	compact_coder_destroy(work->coder);
	free(work->out);
	free(work);
}

/* Returns a free or a new struct compact_work, or NULL when memory is short. */
static struct compact_work *work_take(struct store_compact *compact)
{
	pthread_mutex_lock(&compact->lock);

	struct compact_work *work = compact->works;

	if (work)
		compact->works = work->next;
	pthread_mutex_unlock(&compact->lock);
	if (work)
		return work;
	work = calloc(1, sizeof(*work));
	if (work)
		work->coder = compact_coder_create();
	if (work && !work->coder) {
		work_destroy(work);
		work = NULL;
	}
	return work;
}

static void work_give(struct store_compact *compact, struct compact_work *work)
{
	pthread_mutex_lock(&compact->lock);
	work->next = compact->works;
	compact->works = work;
	pthread_mutex_unlock(&compact->lock);
}

/*
 * Make room for one more block after the @len bytes of @work->out. Returns false when memory is
 * short.
 */
static bool work_grow(struct compact_work *work, size_t len)
{
	size_t cap = len + compact_bound(COMPACT_RAW_MAX);
	uint8_t *out = cap <= work->cap ? work->out : realloc(work->out, cap);

	if (!out)
		return false;
	work->out = out;
	work->cap = MAX(work->cap, cap);
	return true;
}

/*
 * Encode @part as blocks, and append them to the @out_len bytes of @work->out. Returns the new
 * number of bytes in @work->out, or -ENOMEM.
 */
static ssize_t encode(struct compact_work *work, int32_t tid, const struct iovec *part,
		      size_t out_len)
{
	const uint8_t *data = part->iov_base;

	for (size_t done = 0; done < part->iov_len;) {
		size_t block_len;

		if (!work_grow(work, out_len))
			return -ENOMEM;
		done += compact_encode(work->coder, tid, data + done, part->iov_len - done, false,
				       work->out + out_len, &block_len);
		out_len += block_len;
	}
	return out_len;
}

static ssize_t encode_parts(struct compact_work *work, int32_t tid, const struct iovec *parts,
			    int nr)
{
	ssize_t out_len = work ? 0 : -ENOMEM;

	for (int i = 0; i < nr && out_len >= 0; i++)
		out_len = encode(work, tid, &parts[i], out_len);
	return out_len;
}

static int find_free(struct store_compact *compact)
{
	for (int i = 0; i < compact->nr_streams; i++) {
		if (compact->streams[i].inner < 0)
			return i;
	}

	int nr = compact->nr_streams ? compact->nr_streams * 2 : 16;
	struct compact_stream *streams = reallocarray(compact->streams, nr, sizeof(*streams));

	if (!streams)
		return -ENOMEM;
	for (int i = compact->nr_streams; i < nr; i++)
		streams[i].inner = -1;
	compact->streams = streams;

	int found = compact->nr_streams;

	compact->nr_streams = nr;
	return found;
}

static int compact_open(struct store *store, const char *name)
{
	struct store_compact *compact = of(store);
	char buf[NAME_MAX];
	int32_t tid;
	int inner = store_open(compact->inner, inner_name(name, &tid, buf, sizeof(buf)));

	if (inner < 0)
		return inner;
	pthread_mutex_lock(&compact->lock);

	int stream = find_free(compact);

	if (stream >= 0)
		compact->streams[stream] = (struct compact_stream){ inner, tid };
	pthread_mutex_unlock(&compact->lock);
	if (stream < 0)
		store_close(compact->inner, inner);
	return stream;
}

/* Returns a copy of streams[stream], because another thread may reallocate the array streams. */
static struct compact_stream stream_of(struct store_compact *compact, int stream)
{
	pthread_mutex_lock(&compact->lock);

	struct compact_stream found = compact->streams[stream];

	pthread_mutex_unlock(&compact->lock);
	return found;
}

static int compact_append(struct store *store, int number, const struct iovec *parts, int nr)
{
	struct store_compact *compact = of(store);
	struct compact_stream stream = stream_of(compact, number);
	size_t len = iovec_bytes(parts, nr);

	if (!stream.tid || !len)
		return store_append_parts(compact->inner, stream.inner, parts, nr);

	struct compact_work *work = work_take(compact);
	ssize_t out_len = encode_parts(work, stream.tid, parts, nr);
	int ret = out_len < 0 ? (int)out_len
			      : store_append(compact->inner, stream.inner, work->out, out_len);

	if (work)
		work_give(compact, work);
	if (ret == 0)
		store_took(store, len, out_len);
	return ret;
}

static void compact_close(struct store *store, int number)
{
	struct store_compact *compact = of(store);

	store_close(compact->inner, stream_of(compact, number).inner);
	pthread_mutex_lock(&compact->lock);
	compact->streams[number].inner = -1;
	pthread_mutex_unlock(&compact->lock);
}

static bool compact_may_stay_open(struct store *store, int number)
{
	struct store_compact *compact = of(store);

	return store_may_stay_open(compact->inner, stream_of(compact, number).inner);
}

/* Encodes all parts of the file as one part, because a record may extend over two parts. */
static int publish_records(struct store_compact *compact, const char *name, int32_t tid,
			   const struct iovec *parts, int nr, struct uft_err *err)
{
	struct strbuf all cleanup_strbuf = { 0 };

	for (int i = 0; i < nr; i++)
		strbuf_add(&all, parts[i].iov_base, parts[i].iov_len);

	struct compact_work *work = strbuf_oom(&all) ? NULL : work_take(compact);
	const struct iovec whole = { all.data, all.len };
	ssize_t len = encode_parts(work, tid, &whole, 1);
	int ret = len < 0 ? err_set_errno(err, len, "cannot write '%s'", name)
			  : store_publish(compact->inner, name, work->out, len, err);

	if (work)
		work_give(compact, work);
	return ret;
}

static int compact_publish(struct store *store, const char *name, const struct iovec *parts, int nr,
			   int *number, struct uft_err *err)
{
	struct store_compact *compact = of(store);
	const struct store_ops *ops = compact->inner->ops;
	char buf[NAME_MAX];
	int32_t tid;
	const char *inner = inner_name(name, &tid, buf, sizeof(buf));

	if (tid && !number)
		return publish_records(compact, inner, tid, parts, nr, err);
	/*
	 * If @number is not NULL, the caller wants a stream for appending to the published file.
	 * For a file of records, this function provides no such stream, and fails.
	 */
	if (tid)
		return err_set_errno(err, -EINVAL, "cannot write '%s'", name);
	if (!number)
		return ops->publish(compact->inner, name, parts, nr, NULL, err);

	int stream = stream_of(compact, *number).inner;
	int ret = ops->publish(compact->inner, name, parts, nr, &stream, err);

	pthread_mutex_lock(&compact->lock);
	compact->streams[*number].inner = stream;
	pthread_mutex_unlock(&compact->lock);
	return ret;
}

static int compact_read(struct store *store, const char *name, size_t max, struct strbuf *out)
{
	/* The recorder never reads files of records, so the store need not decode records. */
	return datadir_records_tid(name) ? -EINVAL : store_read(of(store)->inner, name, max, out);
}

/* Files of records are compressed, so their end cannot be overwritten. */
static int compact_overwrite_end(struct store *store, const char *name, const void *data,
				 size_t len)
{
	return datadir_records_tid(name) ? -EINVAL
					 : store_overwrite_end(of(store)->inner, name, data, len);
}

static void compact_remove(struct store *store, const char *name)
{
	char buf[NAME_MAX];
	int32_t tid;

	store_remove(of(store)->inner, inner_name(name, &tid, buf, sizeof(buf)));
}

static int compact_place(struct store *store, struct stat *place)
{
	return store_place(of(store)->inner, place);
}

void store_compact_init(struct store_compact *compact, struct store *inner)
{
	static const struct store_ops ops = {
		.open = compact_open,
		.append = compact_append,
		.close = compact_close,
		.may_stay_open = compact_may_stay_open,
		.publish = compact_publish,
		.overwrite_end = compact_overwrite_end,
		.read = compact_read,
		.remove = compact_remove,
		.place = compact_place,
	};

	*compact = (struct store_compact){ .store.ops = &ops, .inner = inner };
	pthread_mutex_init(&compact->lock, NULL);
}

void store_compact_deinit(struct store_compact *compact)
{
	while (compact->works) {
		struct compact_work *work = compact->works;

		compact->works = work->next;
		work_destroy(work);
	}
	free(compact->streams);
	if (compact->inner)
		pthread_mutex_destroy(&compact->lock);
	*compact = (struct store_compact){ 0 };
}
