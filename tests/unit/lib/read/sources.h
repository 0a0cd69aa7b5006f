/*
 * Reads sources of all tasks without a pipeline: those of a recording made of strings, event by
 * event.
 */
#ifndef UTRAIL_TESTS_SOURCES_H
#define UTRAIL_TESTS_SOURCES_H

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/sources/source.h"

/*
 * @rec: has task 100; files are added between sources_begin() and sources_open()
 * @context: all of its pointers are set; it may be changed before sources_open()
 */
struct sources {
	struct recording rec;
	struct trace_data data;
	struct uft_err broken;
	struct kernel_losses losses;
	struct task_list newcomers;
	struct source_context context;
	struct source_list list;
};

void sources_begin(struct sources *s);
/* Open the recording, and its sources of @kind. Returns their number, or the error of open(). */
int sources_open(struct sources *s, const struct source_kind *kind, struct uft_err *err);
/* Open the recording. @grows: as one that grows, with the tasks that it has so far. */
void sources_open_data(struct sources *s, bool grows);
/* Close only the sources. */
void sources_close(struct sources *s);
void sources_end(struct sources *s);

/*
 * Read once and write "TID/OTHER[!]: EVENTS": the source's tid and other_tid, then its events in
 * the words of events_put(). "!": the recording has no such task. The first event must not be
 * earlier than next_ns() was before.
 */
void sources_read(struct source *src, size_t max, uint64_t until_ns, struct strbuf *out);

/* Read up to @max events at a time until there are no more. "; " separates the reads. */
void sources_check(struct source *src, size_t max, uint64_t until_ns, const char *expected);

#endif
