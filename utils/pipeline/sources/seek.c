/* Finds a time in the records of one task (see seek.h). */
#include "utils/pipeline/sources/seek.h"

#include <unistd.h>

#include "utils/base/clock.h"
#include "utils/base/fd.h"

/*
 * If a signal's handler interrupts the probe, a record may have a slightly earlier time than the
 * previous record in the file. So a few records with the searched time or later times may lie
 * before the found position. Reading therefore begins MARGIN_BYTES before the found position. Files
 * of less than SMALL_BYTES are read whole.
 */
#define MARGIN_BYTES  (128U << 10)
#define SMALL_BYTES   (4 * MARGIN_BYTES)
/*
 * If the bytes from a position on can be read as ROW_RECORDS records, a record begins at this
 * position. A payload has too few bytes to look like ROW_RECORDS records.
 */
#define ROW_RECORDS   (PAYLOAD_MAX_BYTES / sizeof(struct record) + 16)
#define ROW_BUFFER    (16U << 10)
/* When a search finds no beginning of a record, the next search starts STEP_BYTES earlier. */
#define STEP_BYTES    (64U << 10)
#define STEPS	      3
/*
 * The number of samples that check the result of a search. The samples are the times at positions
 * before the found position. The times must be in ascending order.
 */
#define SAMPLES	      64
/*
 * Every recording is assumed to be shorter than LONGEST_NS. When bytes of a payload look like a
 * record, the time in these bytes is rarely within LONGEST_NS after the task's first record.
 */
#define LONGEST_NS    (365ULL * 86400 * 1000000000)
#define READ_AT_ONCE  32
/*
 * A block without calls has no time, so find_block_time() goes back to an earlier block. The
 * function looks at no more than TIMELESS_MOST blocks.
 */
#define TIMELESS_MOST 64

/*
 * The state of a search in @src. @probe reads the file at any offset, and borrows the descriptor of
 * @src.
 */
struct seeker {
	struct src_user *src;
	struct src_user probe;
	uint64_t first_ns;
	uint64_t end;
};

/*
 * An offset at which a record begins. @time_ns: the time of this record or of a record shortly
 * after this record
 */
struct spot {
	uint64_t offset;
	uint64_t time_ns;
};

static bool open_seeker(struct seeker *seeker, struct src_user *src)
{
	const struct src_user_plan plan = { .buffer_bytes = ROW_BUFFER, .keeps_open = true };
	const struct task *task = src->source.task;

	if (src_user_open(&seeker->probe, src->data, src->tid, &plan, NULL) < 0)
		return false;
	seeker->src = src;
	seeker->first_ns = task->first_ns;
	seeker->end = task->data_bytes;
	seeker->probe.reader = src->reader;
	seeker->probe.end_offset = task->data_bytes;
	seeker->probe.beside.may_be = false;
	seeker->probe.fd = src->fd;
	return true;
}

static void close_seeker(struct seeker *seeker)
{
	if (seeker->src->fd >= 0 || seeker->src->keeps_open)
		seeker->src->fd = src_user_take_fd(&seeker->probe);
	src_user_close(&seeker->probe);
}

static void place_probe(struct src_user *probe, uint64_t offset)
{
	src_user_limit(probe, offset, probe->end_offset, 0);
}

/*
 * True when a row of ROW_RECORDS records in the order of time begins at @offset. At the end of the
 * file the row may be shorter. *@time_ns becomes the time of the last record.
 */
static bool is_row(struct seeker *seeker, uint64_t offset, uint64_t *time_ns)
{
	struct src_user *probe = &seeker->probe;
	struct event events[READ_AT_ONCE];
	uint64_t last_ns = seeker->first_ns;
	size_t nr = 0;

	place_probe(probe, offset);
	while (nr < ROW_RECORDS && !probe->at_end) {
		ssize_t got = src_user_read(probe, events, READ_AT_ONCE, UINT64_MAX, NULL);

		if (got < 0)
			return false;
		for (ssize_t i = 0; i < got; i++) {
			if (events[i].time_ns < last_ns ||
			    events[i].time_ns - seeker->first_ns > LONGEST_NS)
				return false;
			last_ns = events[i].time_ns;
		}
		nr += got;
	}
	*time_ns = last_ns;
	return nr > 0;
}

/* True when @bytes may be the record of a call in this recording. */
static bool may_begin(const struct seeker *seeker, const uint8_t *bytes)
{
	struct record rec;

	memcpy(&rec, bytes, sizeof(rec));
	if (seeker->probe.is_swapped) {
		rec.time_ns = __builtin_bswap64(rec.time_ns);
		rec.data = __builtin_bswap64(rec.data);
	}
	return record_magic_is_good(rec.data) && record_type(rec.data) <= RECORD_EXIT &&
	       rec.time_ns >= seeker->first_ns && rec.time_ns - seeker->first_ns <= LONGEST_NS;
}

/*
 * True when the file is open. If the file was not opened before, is_row() reads the beginning of
 * the file, and so opens the file.
 */
static bool has_file(struct seeker *seeker)
{
	uint64_t time_ns;

	if (seeker->probe.fd < 0)
		is_row(seeker, 0, &time_ns);
	return seeker->probe.fd >= 0;
}

/* Find the first position at @offset or after it where a record begins. */
static bool find_row(struct seeker *seeker, uint64_t offset, struct spot *spot)
{
	uint8_t bytes[PAYLOAD_MAX_BYTES + 2 * sizeof(struct record)];
	ssize_t got;

	offset -= offset % sizeof(struct record);
	if (!has_file(seeker))
		return false;
	got = fd_pread_full(seeker->probe.fd, bytes, sizeof(bytes), offset);
	for (ssize_t at = 0; at + (ssize_t)sizeof(struct record) <= got; at += 8) {
		if (!may_begin(seeker, bytes + at) || !is_row(seeker, offset + at, &spot->time_ns))
			continue;
		spot->offset = offset + at;
		return true;
	}
	return false;
}

/*
 * Find a position where a record begins. If find_row() finds no position from @offset on, try
 * smaller offsets, but only offsets above @least.
 */
static bool find_row_near(struct seeker *seeker, uint64_t least, uint64_t offset, struct spot *spot)
{
	for (unsigned i = 0; i < STEPS; i++) {
		if (find_row(seeker, offset, spot))
			return true;
		if (offset - least <= STEP_BYTES)
			return false;
		offset -= STEP_BYTES;
	}
	return false;
}

/*
 * Find an offset by bisection. The first record at @time_ns or later is shortly after this offset.
 * The result is 0 if the search finds no such offset, or if the times are out of order.
 */
static uint64_t halve(struct seeker *seeker, uint64_t time_ns)
{
	struct spot low = { 0, seeker->first_ns };
	struct spot high = { seeker->end, UINT64_MAX };

	while (high.offset - low.offset > MARGIN_BYTES) {
		uint64_t middle = low.offset + (high.offset - low.offset) / 2;
		struct spot spot;

		if (!find_row_near(seeker, low.offset, middle, &spot) ||
		    spot.offset <= low.offset || spot.offset >= high.offset ||
		    spot.time_ns < low.time_ns || spot.time_ns > high.time_ns)
			return 0;
		if (spot.time_ns < time_ns)
			low = spot;
		else
			high = spot;
	}
	return low.offset;
}

/*
 * Looks at some of the records before @spot. The number of these records is SAMPLES. True when
 * their times are ascending and at most the time of @spot.
 */
static bool has_order(struct seeker *seeker, const struct spot *spot)
{
	uint64_t last_ns = seeker->first_ns;

	for (uint64_t i = 1; i <= SAMPLES; i++) {
		struct spot sample;

		if (!find_row(seeker, spot->offset / (SAMPLES + 1) * i, &sample) ||
		    sample.time_ns < last_ns || sample.time_ns > spot->time_ns)
			return false;
		last_ns = sample.time_ns;
	}
	return true;
}

static bool seek_plain(struct seeker *seeker, uint64_t time_ns, struct spot *spot)
{
	uint64_t low = halve(seeker, time_ns);

	for (uint64_t margin = MARGIN_BYTES; low > 2 * margin; margin *= 2) {
		if (!find_row_near(seeker, 0, low - margin, spot))
			return false;
		if (spot->time_ns < time_ns)
			return has_order(seeker, spot);
	}
	return false;
}

/* Find the time of block @nr, or of the last block before it that has calls. */
static bool find_block_time(const struct seeker *seeker, size_t nr, uint64_t *time_ns)
{
	struct compact_head head;

	for (size_t i = 0; i < TIMELESS_MOST && i <= nr; i++) {
		if (!compact_file_head(&seeker->src->compact->places[nr - i], seeker->probe.fd,
				       &head))
			return false;
		if (head.first_ns) {
			*time_ns = head.first_ns;
			return true;
		}
	}
	return false;
}

/* True when block @nr begins with the beginning of a record. */
static bool begins_record(const struct seeker *seeker, size_t nr)
{
	struct compact_head head;

	return nr == 0 ||
	       (compact_file_head(&seeker->src->compact->places[nr - 1], seeker->probe.fd, &head) &&
		!head.is_cut);
}

/*
 * Find the index of the last block that begins before @time_ns, by bisection. The result is 0 if
 * there is no such block, or if the time of a block cannot be read or is out of order.
 */
static size_t halve_blocks(struct seeker *seeker, uint64_t time_ns)
{
	uint64_t low_ns = seeker->first_ns;
	uint64_t high_ns = UINT64_MAX;
	size_t low = 0;
	size_t high = seeker->src->compact->nr;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		uint64_t middle_ns;

		if (!find_block_time(seeker, middle, &middle_ns) || middle_ns < low_ns ||
		    middle_ns > high_ns)
			return 0;
		if (middle_ns < time_ns) {
			low = middle;
			low_ns = middle_ns;
		} else {
			high = middle;
			high_ns = middle_ns;
		}
	}
	return low;
}

/*
 * Looks at some of the blocks before block @nr, which begins at @until_ns. The number of these
 * blocks is SAMPLES. True when their times are ascending and at most @until_ns.
 */
static bool have_blocks_order(struct seeker *seeker, size_t nr, uint64_t until_ns)
{
	uint64_t last_ns = seeker->first_ns;

	for (size_t i = 1; i <= SAMPLES; i++) {
		uint64_t time_ns;

		if (!find_block_time(seeker, nr * i / (SAMPLES + 1), &time_ns) ||
		    time_ns < last_ns || time_ns > until_ns)
			return false;
		last_ns = time_ns;
	}
	return true;
}

static bool seek_block(struct seeker *seeker, uint64_t time_ns, struct spot *spot)
{
	const struct compact_place *places = seeker->src->compact->places;
	size_t low = has_file(seeker) ? halve_blocks(seeker, time_ns) : 0;
	size_t nr = low;

	for (; nr > 0; nr--) {
		if (places[low].raw - places[nr].raw < MARGIN_BYTES || !begins_record(seeker, nr))
			continue;
		if (!find_block_time(seeker, nr, &spot->time_ns))
			return false;
		if (spot->time_ns < time_ns)
			break;
	}
	spot->offset = places[nr].raw;
	return nr > 0 && have_blocks_order(seeker, nr, spot->time_ns);
}

bool seek_time(struct src_user *src, uint64_t time_ns)
{
	const struct task *task = src->source.task;
	struct seeker seeker;
	struct spot spot;
	bool is_found;

	/* Times of day are not searched: the samples may miss that the clock was set back. */
	if (!task || !task->first_ns || clock_is_time_of_day(task->first_ns) ||
	    time_ns <= task->first_ns || task->data_bytes < SMALL_BYTES ||
	    !open_seeker(&seeker, src))
		return false;
	is_found = src->compact ? seek_block(&seeker, time_ns, &spot)
				: seek_plain(&seeker, time_ns, &spot);
	close_seeker(&seeker);
	/*
	 * src_user_limit() needs the time of the record before @spot. The search does not find this
	 * time, so the time of the task's first record is passed instead.
	 */
	if (is_found)
		src_user_limit(src, spot.offset, src->end_offset, task->first_ns);
	return is_found;
}

/*
 * Returns the position of a record near the end. If no such record is found, returns 0, the
 * position of the first record.
 */
static uint64_t near_end(struct seeker *seeker)
{
	const struct compact_file *compact = seeker->src->compact;
	struct spot spot;
	size_t nr = compact ? compact->nr : 0;

	if (!compact)
		return seeker->end > SMALL_BYTES &&
				       find_row_near(seeker, 0, seeker->end - STEP_BYTES, &spot)
			       ? spot.offset
			       : 0;
	if (!has_file(seeker))
		return 0;
	for (; nr-- > 1;) {
		struct compact_head head;

		if (begins_record(seeker, nr) &&
		    compact_file_head(&compact->places[nr], seeker->probe.fd, &head) &&
		    head.first_ns)
			return compact->places[nr].raw;
	}
	return 0;
}

/*
 * Read the records from @offset to the end of the file. Returns their latest time, or 0 if there is
 * no record. If the file is damaged, returns 0 for an @offset above 0. If the file is damaged and
 * @offset is 0, returns the latest time before the damage.
 */
static uint64_t read_to_end(struct src_user *src, uint64_t offset)
{
	struct event events[READ_AT_ONCE];
	uint64_t last_ns = 0;

	place_probe(src, offset);
	while (!src->at_end) {
		ssize_t got = src_user_read(src, events, READ_AT_ONCE, UINT64_MAX, NULL);

		/*
		 * lane.c reads a damaged file from its start to the damage. If this function has
		 * read from the start, @last_ns is the latest time of the records that lane.c
		 * reads.
		 */
		if (got < 0)
			return offset ? 0 : last_ns;
		for (ssize_t i = 0; i < got; i++)
			last_ns = MAX(last_ns, events[i].time_ns);
	}
	return last_ns;
}

uint64_t seek_last_ns(struct trace_data *data, const struct task *task)
{
	const struct src_user_plan plan = { .buffer_bytes = SRC_USER_MAX_BUFFER,
					    .keeps_open = true };
	struct src_user src;
	struct seeker seeker;
	uint64_t offset = 0;
	uint64_t last_ns;

	if (src_user_open(&src, data, task->tid, &plan, NULL) < 0)
		return 0;
	src.end_offset = task->data_bytes;
	src.beside.may_be = false;
	if (open_seeker(&seeker, &src)) {
		offset = near_end(&seeker);
		close_seeker(&seeker);
	}
	last_ns = read_to_end(&src, offset);
	if (!last_ns && offset)
		last_ns = read_to_end(&src, 0);
	src_user_close(&src);
	return last_ns;
}
