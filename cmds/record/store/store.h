/*
 * A store is the destination of a recording. A store keeps the recording as named files. In the
 * recorder, the functions of stores open these files, and no other code does.
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_STORE_H
#define UTRAIL_CMDS_RECORD_STORE_STORE_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

struct store;

/*
 * The functions of a store. Any thread may call these functions. Two threads must not use the same
 * stream at the same time, and must not replace the same file at the same time. If a function
 * fails, the function returns a negative errno, and does not change the file.
 *
 * @open: begin to append to the file @name, and make the file if it does not exist. Returns a
 *        stream (0 or more)
 * @append: append all @nr parts, or nothing
 * @may_stay_open: true when this stream can stay open between appends. False when the
 *         recorder may run out of descriptors. NULL: always true
 * @publish: write the whole file @name, from @nr parts. Other programs see either the former file
 *           or the complete new one. If @stream is not NULL, *@stream is a stream of the former
 *           file. On success this stream is closed, and *@stream becomes a stream of the new
 *           file, perhaps with the same number
 * @overwrite_end: overwrite the last @len bytes of the file @name, even on a full disk. NULL:
 *         impossible
 * @read: append the content of the file to @out, at most @max bytes
 * @remove: remove the file. A missing file is not an error
 * @place: get the fstat(2) data of the recording's directory. Other processes identify the
 *         recording by these data. NULL: the recording has no directory
 */
struct store_ops {
	int (*open)(struct store *store, const char *name);
	int (*append)(struct store *store, int stream, const struct iovec *parts, int nr);
	void (*close)(struct store *store, int stream);
	bool (*may_stay_open)(struct store *store, int stream);
	int (*publish)(struct store *store, const char *name, const struct iovec *parts, int nr,
		       int *stream, struct uft_err *err);
	int (*overwrite_end)(struct store *store, const char *name, const void *data, size_t len);
	int (*read)(struct store *store, const char *name, size_t max, struct strbuf *out);
	void (*remove)(struct store *store, const char *name);
	int (*place)(struct store *store, struct stat *place);
};

/*
 * The data that all stores have. The struct of each kind of store has a struct store as a member.
 *
 * @error: the negative errno of the first failed write
 * @max_bytes: the total number of bytes that store_may_take() allows; 0: no limit
 * @taken: the total number of bytes that store_may_take() and store_took() have counted
 * @is_full: the limit was exceeded
 * @when_full: called each time store_may_take() returns false, in the caller's thread
 */
struct store {
	const struct store_ops *ops;
	_Atomic int error;
	_Atomic bool is_full;
	_Atomic uint64_t taken;
	uint64_t max_bytes;
	void (*when_full)(void *arg);
	void *when_full_arg;
};

/* Limit the recording to @max_bytes bytes (0: no limit). Call this before the store is used. */
void store_limit(struct store *store, uint64_t max_bytes, void (*when_full)(void *arg), void *arg);

/*
 * Any thread. Count @len bytes that are about to be appended. Returns false when all counted bytes
 * together exceed the limit of store_limit(). Once store_may_take() has returned false, all later
 * calls return false.
 */
bool store_may_take(struct store *store, size_t len);

/*
 * Any thread. Correct the count of bytes: store_may_take() has counted @asked bytes, but @len were
 * written.
 */
void store_took(struct store *store, size_t asked, size_t len);

/*
 * Any thread. Note @code, the negative errno of a failed write. The call does nothing if @code is
 * not negative, or if an error was noted before.
 */
void store_note_error(struct store *store, int code);

/* Returns the sum of the lengths of @nr parts. */
static inline size_t iovec_bytes(const struct iovec *parts, int nr)
{
	size_t len = 0;

	for (int i = 0; i < nr; i++)
		len += parts[i].iov_len;
	return len;
}

/* The operations of struct store_ops. */
static inline int store_open(struct store *store, const char *name)
{
	return store->ops->open(store, name);
}

static inline int store_append_parts(struct store *store, int stream, const struct iovec *parts,
				     int nr)
{
	return store->ops->append(store, stream, parts, nr);
}

static inline int store_append(struct store *store, int stream, const void *data, size_t len)
{
	const struct iovec whole = { (void *)data, len };

	return store_append_parts(store, stream, &whole, 1);
}

static inline void store_close(struct store *store, int stream)
{
	store->ops->close(store, stream);
}

static inline bool store_may_stay_open(struct store *store, int stream)
{
	return !store->ops->may_stay_open || store->ops->may_stay_open(store, stream);
}

static inline int store_publish_parts(struct store *store, const char *name,
				      const struct iovec *parts, int nr, int *stream)
{
	return store->ops->publish(store, name, parts, nr, stream, NULL);
}

static inline int store_read(struct store *store, const char *name, size_t max, struct strbuf *out)
{
	return store->ops->read(store, name, max, out);
}

static inline int store_overwrite_end(struct store *store, const char *name, const void *data,
				      size_t len)
{
	return store->ops->overwrite_end ? store->ops->overwrite_end(store, name, data, len)
					 : -EOPNOTSUPP;
}

static inline void store_remove(struct store *store, const char *name)
{
	store->ops->remove(store, name);
}

/*
 * Get the fstat(2) data of the recording's directory (store_ops.place). Returns 0, -EOPNOTSUPP when
 * the recording has no directory, or another negative errno.
 */
int store_place(struct store *store, struct stat *place);

/* Make or replace the file @name (store_ops.publish). Its content is the @len bytes at @data. */
int store_publish(struct store *store, const char *name, const void *data, size_t len,
		  struct uft_err *err);

/*
 * Open the file @name, append @text, and close the file. Returns 0 or a negative errno. If there
 * was not enough memory for @text, returns -ENOMEM, and does not open the file.
 */
int store_append_to(struct store *store, const char *name, const struct strbuf *text);

/*
 * Append @text to *@stream. If *@stream is negative, it is first replaced by a new stream of the
 * file @name. The store counts the bytes of @text (store_may_take()), and notes errors. If there
 * was not enough memory for @text, nothing is written, and the error is -ENOMEM.
 */
void store_append_line(struct store *store, int *stream, const char *name,
		       const struct strbuf *text);

/*
 * Choose the name of a module's symbol file (doc/formats/symbols.md, "Names of the files"). Returns
 * false when the symbols of the module are saved already, when both possible names belong to files
 * of other modules, or when a file with a possible name cannot be read.
 */
bool store_choose_name(struct store *store, const char *path, const char *build_id, char *name,
		       size_t size);

/*
 * Open, write, or remove the files of CPUs, "<prefix><cpu>.dat". store_open_cpu() returns a stream
 * or a negative errno. store_remove_cpus() removes the files of the first @nr CPUs.
 */
int store_open_cpu(struct store *store, const char *prefix, unsigned cpu);
int store_publish_cpu(struct store *store, const char *prefix, unsigned cpu,
		      const struct strbuf *content);
void store_remove_cpus(struct store *store, const char *prefix, unsigned nr);

#endif
