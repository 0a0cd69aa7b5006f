/* Answers the requests of a page that gets its recording in parts (see parts.h). */
#include "cmds/show/parts/parts.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cmds/show/parts/answers.h"
#include "cmds/terminal/ask.h"
#include "cmds/terminal/growth.h"
#include "utils/base/clock.h"
#include "utils/base/escape.h"
#include "utils/base/workers.h"

/*
 * The maximum number of calls in a page that contains all calls of the recording. With more calls,
 * the browser would need seconds and much memory.
 */
#define WHOLE_CALLS_MAX 10000000
/* The number of bytes in the two records of a call. */
#define CALL_RECORDS	32
/*
 * A growing recording is read again and again. The time between the beginnings of two readings is
 * at least GROW_S seconds, plus twice the duration of the first of these readings. So reading takes
 * less than half of the time.
 */
#define GROW_S		2

bool parts_are_better(const struct opts *opts, const struct trace_data *data)
{
	uint64_t bytes = 0;

	if (opts->as_whole)
		return false;
	for (size_t i = 0; i < data->nr_tasks; i++)
		bytes += data->tasks[i].data_bytes;
	return opts->in_parts || bytes / CALL_RECORDS > WHOLE_CALLS_MAX ||
	       ask_is_recorded(data->dir);
}

static int open_again(const struct parts *parts, struct trace_data *data, struct uft_err *err)
{
	int ret = data_open(data, parts->dir, parts->opts->demangle, err);

	if (ret == 0)
		data->modules.syms_dir = parts->opts->syms_dir;
	return ret;
}

static void end_reading(struct parts_reading *reading)
{
	if (!reading)
		return;
	index_stop(&reading->index);
	data_close(&reading->data);
	free(reading);
}

static struct parts_reading *begin_reading(const struct parts *parts, struct uft_err *err)
{
	struct parts_reading *reading = calloc(1, sizeof(*reading));
	int ret = reading ? 0 : err_set_errno(err, -ENOMEM, "cannot read '%s'", parts->dir);

	if (ret == 0) {
		reading->stamp = growth_stamp(parts->dir);
		reading->began_s = clock_now_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC;
		ret = open_again(parts, &reading->data, err);
	}
	if (ret == 0) {
		ret = index_start(&reading->index, parts->opts, &reading->data);
		if (ret == 0)
			return reading;
		data_close(&reading->data);
		err_set_errno(err, ret, "cannot read '%s'", parts->dir);
	}
	free(reading);
	return NULL;
}

struct parts *parts_open(const struct opts *opts, const char *dir, struct uft_err *err)
{
	struct parts *parts = calloc(1, sizeof(*parts));

	if (!parts) {
		err_set_errno(err, -ENOMEM, "cannot read '%s'", dir);
		return NULL;
	}
	parts->opts = opts;
	parts->dir = dir;
	parts->generation = 1;
	pthread_rwlock_init(&parts->lock, NULL);
	pthread_mutex_init(&parts->sums_lock, NULL);
	pthread_mutex_init(&parts->stop.lock, NULL);
	parts->now = begin_reading(parts, err);
	if (parts->now)
		return parts;
	parts_close(parts);
	return NULL;
}

void parts_close(struct parts *parts)
{
	if (!parts)
		return;
	end_reading(parts->next);
	end_reading(parts->now);
	if (parts->sums_generation)
		data_close(&parts->sums);
	pthread_rwlock_destroy(&parts->lock);
	pthread_mutex_destroy(&parts->sums_lock);
	pthread_mutex_destroy(&parts->stop.lock);
	free(parts);
}

void parts_stop(struct parts *parts)
{
	sums_stop(&parts->stop, true);
}

/*
 * True when the reading has ended, with success or with an error. @took_s gets the duration of the
 * reading in seconds, or 0 while the reading goes on.
 */
static bool is_complete(struct parts_reading *reading, time_t *took_s)
{
	struct index *index = &reading->index;
	bool is_done;

	index_lock(index);
	is_done = index->is_done;
	*took_s = is_done ? (time_t)(index->ended_ns / NSEC_PER_SEC) - reading->began_s : 0;
	index_unlock(index);
	return is_done;
}

/*
 * If the recording has grown, begins a new reading. When the new reading has ended, replaces the
 * former reading by the new one. The caller must hold parts->lock for writing.
 */
static void look_at_files(struct parts *parts)
{
	struct parts_reading *now = parts->now, *next = parts->next;
	const time_t now_s = clock_now_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC;
	struct uft_err unsaid = { 0 };
	time_t took_s;

	if (next && is_complete(next, &took_s)) {
		parts->now = next;
		parts->next = NULL;
		parts->generation++;
		end_reading(now);
	} else if (!next && is_complete(now, &took_s) &&
		   now_s - now->began_s >= GROW_S + 2 * took_s &&
		   growth_stamp(parts->dir) != now->stamp) {
		parts->next = begin_reading(parts, &unsaid);
	}
}

static void reply_error(struct server_reply *reply, unsigned status, const char *text)
{
	strbuf_reset(&reply->body);
	reply->status = status;
	reply->type = "text/plain; charset=utf-8";
	escape_addstr(&reply->body, MEDIUM_TERMINAL, text);
	strbuf_addch(&reply->body, '\n');
}

static void reply_state(struct parts *parts, const struct server_query *query,
			struct server_reply *reply)
{
	/* The files are not checked while other requests are being answered. */
	if (pthread_rwlock_trywrlock(&parts->lock) == 0) {
		look_at_files(parts);
		pthread_rwlock_unlock(&parts->lock);
	}
	pthread_rwlock_rdlock(&parts->lock);
	/*
	 * The page gets the functions from number @known on. Each reading of the recording gives
	 * new numbers to functions. If the page has the numbers of an earlier reading, @known is 0,
	 * so the page gets all functions.
	 */
	uint64_t known = server_query_number(query, "generation", 0) == parts->generation
				 ? server_query_number(query, "known", 0)
				 : 0;

	answer_state(&parts->now->index, parts->generation, known, &reply->body);
	pthread_rwlock_unlock(&parts->lock);
}

static struct part_range range_of(const struct server_query *query)
{
	struct part_range range = {
		.from_ns = server_query_number(query, "from", UINT64_MAX),
		.to_ns = server_query_number(query, "to", UINT64_MAX),
	};

	/*
	 * Later, the start time of the recording is added to both ends of the range. The results
	 * must not overflow.
	 */
	range.is_set = range.from_ns <= range.to_ns && range.to_ns <= INT64_MAX;
	return range;
}

static void reply_calls(struct parts *parts, const struct server_query *query,
			struct server_reply *reply)
{
	const struct part_range range = range_of(query);
	const char *tasks = server_query_word(query, "tasks");
	int ret;

	if (!range.is_set || !tasks) {
		reply_error(reply, 400, "from, to and tasks are needed");
		return;
	}
	pthread_rwlock_rdlock(&parts->lock);
	ret = answer_calls(&parts->now->index, &range, server_query_number(query, "width", 1000),
			   tasks, &reply->body);
	pthread_rwlock_unlock(&parts->lock);
	if (ret < 0)
		reply_error(reply, 500, strerror(-ret));
}

static void reply_search(struct parts *parts, const struct server_query *query,
			 struct server_reply *reply)
{
	const bool is_backwards = server_query_number(query, "back", 0);
	const struct part_search search = {
		.functions = server_query_word(query, "functions"),
		.kinds = server_query_word(query, "kinds"),
		.is_backwards = is_backwards,
		/*
		 * If the request names no place, a forward search starts at the beginning of the
		 * recording, and a backward search starts at the end.
		 */
		.task = server_query_number(query, "task", is_backwards ? UINT64_MAX : 0),
		.at_ns = server_query_number(query, "at", is_backwards ? UINT64_MAX : 0),
		.depth = (int)MIN(server_query_number(query, "depth", 0), (uint64_t)UINT16_MAX) -
			 !server_query_word(query, "depth"),
	};
	int ret = -EINVAL;

	if (search.functions || search.kinds) {
		pthread_rwlock_rdlock(&parts->lock);
		ret = answer_search(&parts->now->index, &search, &reply->body);
		pthread_rwlock_unlock(&parts->lock);
	}
	if (ret < 0)
		reply_error(reply, ret == -EINVAL ? 400 : 500, strerror(-ret));
}

static void reply_texts(struct parts *parts, const struct server_query *query,
			struct server_reply *reply)
{
	const char *numbers = server_query_word(query, "of");
	int ret = -EINVAL;

	if (numbers) {
		pthread_rwlock_rdlock(&parts->lock);
		/*
		 * Each reading of the recording gives new numbers to texts. If the request has the
		 * numbers of an earlier reading, the reply has no texts. When the page learns of
		 * the new reading, the page requests texts by their new numbers.
		 */
		if (server_query_number(query, "generation", 0) != parts->generation)
			numbers = "";
		ret = answer_texts(&parts->now->index, numbers, &reply->body);
		pthread_rwlock_unlock(&parts->lock);
	}
	if (ret < 0)
		reply_error(reply, ret == -EINVAL ? 400 : 500, strerror(-ret));
}

/* Sends an answer that does not depend on a range of time. */
static void reply_whole(struct parts *parts, void (*answer)(struct index *, struct strbuf *),
			struct server_reply *reply)
{
	pthread_rwlock_rdlock(&parts->lock);
	answer(&parts->now->index, &reply->body);
	pthread_rwlock_unlock(&parts->lock);
}

/*
 * Opens the recording a second time, as @parts->sums, for make_sums(). Does nothing if @parts->sums
 * was opened for the reading with the number @generation. The caller must hold @sums_lock.
 */
static int open_sums(struct parts *parts, unsigned generation, struct uft_err *err)
{
	if (parts->sums_generation == generation)
		return 0;
	if (parts->sums_generation)
		data_close(&parts->sums);
	parts->sums_generation = 0;

	int ret = open_again(parts, &parts->sums, err);

	if (ret == 0)
		parts->sums_generation = generation;
	return ret;
}

/*
 * A thread that watches the connection to the browser while make_sums() adds up calls. When the
 * browser closes the connection, the thread stops the work of make_sums().
 *
 * @over: an eventfd(2) that becomes readable when the work of make_sums() is over
 */
struct watch {
	const struct server_query *query;
	struct sums_stop *stop;
	int over;
	pthread_t thread;
	bool is_on;
};

/*
 * The time between two checks of the connection, in ms. After the browser has closed the
 * connection, make_sums() continues for at most about this time.
 */
#define WATCH_MS 50

static void *run_watch(void *self)
{
	const struct watch *watch = self;
	struct pollfd poll_fd = { .fd = watch->over, .events = POLLIN };

	while (poll(&poll_fd, 1, WATCH_MS) <= 0) {
		if (server_is_gone(watch->query)) {
			sums_stop(watch->stop, false);
			break;
		}
	}
	return NULL;
}

/*
 * Begins to watch the connection. If watching fails, make_sums() adds up all calls, even if the
 * browser closes the connection meanwhile.
 */
static void begin_watch(struct watch *watch)
{
	watch->over = eventfd(0, EFD_CLOEXEC);
	if (watch->over < 0)
		return;
	watch->is_on = workers_start_thread(&watch->thread, NULL, run_watch, watch) == 0;
}

static void end_watch(struct watch *watch)
{
	if (watch->is_on) {
		eventfd_write(watch->over, 1);
		pthread_join(watch->thread, NULL);
	}
	if (watch->over >= 0)
		close(watch->over);
}

/* Runs answer_functions() or answer_tree(), as @path requests. The caller must hold @sums_lock. */
static int make_sums(const struct sums_source *from, const char *path,
		     const struct part_range *range, const struct server_query *query,
		     struct server_reply *reply, struct uft_err *err)
{
	struct watch watch = { .query = query, .stop = from->stop };
	const char *name = server_query_word(query, "name");
	int ret;

	sums_begin(from->stop);
	begin_watch(&watch);
	ret = strcmp(path, "/functions") == 0 ? answer_functions(from, range, &reply->body, err)
					      : answer_tree(from, range, name, &reply->body, err);
	end_watch(&watch);
	return ret;
}

/* Sends the progress of make_sums(), which may be serving the request of another page. */
static void reply_progress(struct parts *parts, struct server_reply *reply)
{
	strbuf_addf(&reply->body, "{\"part\":%.3f}\n", sums_progress(&parts->stop));
}

static void reply_sums(struct parts *parts, const char *path, const struct server_query *query,
		       struct server_reply *reply)
{
	const struct part_range range = range_of(query);
	struct uft_err err = { 0 };

	/*
	 * A request without "from" and "to" means the whole recording. An invalid range is an
	 * error.
	 */
	if (!range.is_set && (server_query_word(query, "from") || server_query_word(query, "to"))) {
		reply_error(reply, 400, "to is a time that is not before from");
		return;
	}

	struct sums_source from = {
		.opts = parts->opts,
		.data = &parts->sums,
		.stop = &parts->stop,
	};

	pthread_rwlock_rdlock(&parts->lock);
	index_lock(&parts->now->index);
	from.base_ns = parts->now->index.base_ns;
	index_unlock(&parts->now->index);

	unsigned generation = parts->generation;

	pthread_rwlock_unlock(&parts->lock);

	pthread_mutex_lock(&parts->sums_lock);
	/*
	 * While a request waits for sums_lock, the user may zoom again. After a new zoom, the page
	 * gives up the waiting request.
	 */
	int ret = server_is_gone(query) ? err_set(&err, -ECANCELED, "the page has left")
					: open_sums(parts, generation, &err);

	if (ret == 0)
		ret = make_sums(&from, path, &range, query, reply, &err);
	pthread_mutex_unlock(&parts->sums_lock);
	if (ret < 0)
		reply_error(reply, ret == -ECANCELED ? 503 : 500, err.text);
}

void parts_answer(struct parts *parts, const char *path, const struct server_query *query,
		  struct server_reply *reply)
{
	reply->status = 200;
	reply->type = "application/json";
	if (strcmp(path, "/") == 0) {
		reply->type = "text/html; charset=utf-8";
		pthread_rwlock_rdlock(&parts->lock);
		answer_page(&parts->now->index, &reply->body);
		pthread_rwlock_unlock(&parts->lock);
	} else if (strcmp(path, "/state") == 0) {
		reply_state(parts, query, reply);
	} else if (strcmp(path, "/calls") == 0) {
		reply->type = "application/octet-stream";
		reply_calls(parts, query, reply);
	} else if (strcmp(path, "/search") == 0) {
		reply_search(parts, query, reply);
	} else if (strcmp(path, "/texts") == 0) {
		reply_texts(parts, query, reply);
	} else if (strcmp(path, "/progress") == 0) {
		reply_progress(parts, reply);
	} else if (strcmp(path, "/processes") == 0) {
		reply_whole(parts, answer_processes, reply);
	} else if (strcmp(path, "/sources") == 0) {
		reply_whole(parts, answer_sources, reply);
	} else if (strcmp(path, "/functions") == 0 || strcmp(path, "/tree") == 0) {
		reply_sums(parts, path, query, reply);
	} else {
		reply->status = 0;
	}
}
