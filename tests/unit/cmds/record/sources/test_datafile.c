/*
 * Data files: a disk that is full and has room again, --max-size, and the counts of LOST records.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/sources/datafile.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/datadir.h"

#define TID 4999999

struct room {
	struct pair pair;
	struct ring *r;
	struct ring_sink *sink;
};

static void begin(struct room *room, uint64_t max_bytes)
{
	pair_init(&room->pair);
	room->pair.settings.max_bytes = max_bytes;
	pair_open(&room->pair);
	room->r = pair_thread()->ring;
	room->r->tid = TID;
	room->sink = &room->pair.proc->sinks[0];
}

static void end(struct room *room)
{
	pair_stop(&room->pair);
	pair_close(&room->pair);
}

static void append(struct room *room, const void *data, size_t len)
{
	const struct iovec part = { (void *)data, len };

	sink_append(&room->pair.rec.writers, room->pair.proc, room->r, room->sink, &part, 1);
}

static void finish(struct room *room)
{
	sink_finish(&room->pair.rec.writers, room->pair.proc, room->r, room->sink);
}

static struct record entry(uint64_t time_ns)
{
	return (struct record){ time_ns, record_data(RECORD_ENTRY, 1, 0x1000) };
}

static struct record lost(uint64_t nr)
{
	return (struct record){ 0, record_data(RECORD_LOST, 0, nr) };
}

static void check(struct room *room, const struct record *expected, size_t nr)
{
	struct strbuf found cleanup_strbuf = pair_data(&room->pair, TID);

	assert_int_equal(found.len, nr * sizeof(*expected));
	assert_memory_equal(strbuf_str(&found), expected, found.len);
}

/* Simulate a full disk: no file may be longer than @bytes. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_return_code(setrlimit(RLIMIT_FSIZE, &limit), errno);
}

TEST(test_full_and_free_again)
{
	const struct record first[] = { entry(1), entry(2) };
	const struct record second[] = { entry(3), lost(5), entry(4), entry(5) };
	const struct record third[] = { entry(6) };
	const struct record expected[] = { entry(1), entry(2), lost(8), entry(6) };
	struct room room;

	mode_t mask = umask(0);
	struct stat st;

	begin(&room, 0);
	append(&room, first, sizeof(first));
	umask(mask);
	assert_return_code(fstat(room.sink->records.stream, &st), errno);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(room.sink->tid, TID);
	assert_true(room.sink->records.is_open);
	check(&room, expected, 2);

	/*
	 * The file has room for one and a half of these records, so none of them is written. Three
	 * calls are counted as lost. The five records of the LOST record are not counted again.
	 */
	limit_files(sizeof(first) + 24);
	append(&room, second, sizeof(second));
	check(&room, expected, 2);
	assert_int_equal(room.sink->untold, 3 + 5);
	assert_int_equal(room.pair.rec.writers.records_lost, 3);
	assert_int_equal(room.pair.rec.store->error, -EFBIG);

	limit_files(RLIM_INFINITY);
	append(&room, third, sizeof(third));
	assert_int_equal(room.sink->untold, 0);
	check(&room, expected, 4);
	finish(&room);
	assert_int_equal(room.sink->tid, 0);
	assert_false(room.sink->records.is_open);
	check(&room, expected, 4);
	assert_int_equal(room.pair.rec.writers.records_lost, 3);
	end(&room);
}

/*
 * There is room for the LOST record, but not for the records after it. The next LOST record counts
 * only losses that the first one does not count.
 */
TEST(test_room_for_lost_only)
{
	const struct record first[] = { entry(1) };
	const struct record second[] = { entry(2), entry(3) };
	const struct record expected[] = { entry(1), lost(2), lost(2), entry(2), entry(3) };
	struct room room;

	begin(&room, 0);
	append(&room, first, sizeof(first));
	limit_files(sizeof(first) + 8);
	append(&room, second, sizeof(second));
	assert_int_equal(room.sink->untold, 2);
	limit_files(sizeof(first) + 16 + 8);
	append(&room, second, sizeof(second));
	assert_int_equal(room.sink->untold, 2);
	check(&room, expected, 2);
	limit_files(RLIM_INFINITY);
	append(&room, second, sizeof(second));
	check(&room, expected, 5);
	assert_int_equal(room.pair.rec.writers.records_lost, 4);
	end(&room);
}

static void append_parts(struct room *room, const struct record *records, size_t nr)
{
	struct iovec parts[8];

	assert_true(nr <= ARRAY_SIZE(parts));
	for (size_t i = 0; i < nr; i++)
		parts[i] = (struct iovec){ (void *)&records[i], sizeof(*records) };
	sink_append(&room->pair.rec.writers, room->pair.proc, room->r, room->sink, parts, nr);
}

/* A disk takes as many parts as fit; the next LOST record counts the others. */
TEST(test_room_for_some_parts)
{
	const struct record first[] = { entry(1), entry(2), entry(3), lost(4) };
	const struct record second[] = { entry(5), entry(6) };
	const struct record expected[] = { entry(1), entry(2), lost(1 + 4), entry(5), entry(6) };
	struct room room;

	begin(&room, 0);
	limit_files(2 * sizeof(*first) + 8);
	append_parts(&room, first, 4);
	assert_int_equal(room.sink->untold, 1 + 4);
	assert_int_equal(room.pair.rec.store->error, -EFBIG);
	check(&room, expected, 2);
	limit_files(RLIM_INFINITY);
	append_parts(&room, second, 2);
	check(&room, expected, 5);
	assert_int_equal(room.pair.rec.writers.records_lost, 1);
	end(&room);
}

/* Payloads are not counted as records, though their length is not stated. */
TEST(test_counting_payloads)
{
	struct record data[8] = { entry(2000), entry(2001) };
	struct room room;

	data[0].data |= RECORD_MORE;
	data[1].data |= RECORD_MORE;
	/*
	 * If these words of a payload were taken for records, their times would be too early or too
	 * late, or they would have no magic.
	 */
	data[2] = (struct record){ 2000, record_data(RECORD_ENTRY, 1, 7) };
	data[3] = (struct record){ 2002, 0 };
	data[4] = (struct record){ 2001 + (1ULL << 42), record_data(RECORD_ENTRY, 1, 7) };
	data[5] = entry(2001);
	data[6] = entry(2000 + (1ULL << 42));
	data[7] = (struct record){ 5, record_data(RECORD_EXIT, 1, 7) };

	begin(&room, 0);
	limit_files(8);
	append(&room, data, sizeof(data));
	limit_files(RLIM_INFINITY);
	assert_int_equal(room.pair.rec.writers.records_lost, 5);
	assert_int_equal(room.sink->untold, 5);
	end(&room);
}

/* Check how many records are counted in @nr pieces of 16 bytes, none of which can be written. */
static void check_count(const struct record *data, size_t nr, uint64_t expected)
{
	struct room room;

	begin(&room, 0);
	limit_files(8);
	append(&room, data, nr * sizeof(*data));
	limit_files(RLIM_INFINITY);
	assert_int_equal(room.pair.rec.writers.records_lost, expected);
	end(&room);
}

TEST(test_counting_at_the_end)
{
	const struct record more = { 2000, record_data(RECORD_ENTRY, 1, 7) | RECORD_MORE };
	const struct record no_record = { 2001, 0 };
	const struct record later[] = { more, entry(2000) };
	const struct record payload[] = { more, no_record };
	const struct record payloads[] = { more, no_record, no_record, entry(2001) };
	const struct record last[] = { entry(1), more };

	check_count(later, ARRAY_SIZE(later), 2);
	check_count(payload, ARRAY_SIZE(payload), 1);
	check_count(payloads, ARRAY_SIZE(payloads), 2);
	check_count(last, ARRAY_SIZE(last), 2);
}

TEST(test_finish_tells)
{
	const struct record expected[] = { lost(7) };
	struct room room;

	begin(&room, 0);
	room.r->lost = 10;
	room.r->lost_told = 3;
	room.r->lost_inside = 4;
	finish(&room);
	check(&room, expected, 1);
	assert_int_equal(room.pair.rec.writers.records_lost, 10);
	assert_int_equal(room.pair.rec.writers.records_lost_inside, 4);
	assert_int_equal(room.pair.rec.tasks.nr_tids, 1);

	/* The program has written impossible numbers. */
	room.r->lost = 3;
	room.r->lost_told = 10;
	room.r->lost_inside = 1ULL << 60;
	finish(&room);
	check(&room, expected, 1);
	assert_int_equal(room.pair.rec.tasks.nr_tids, 1);
	assert_int_equal(room.pair.rec.writers.records_lost, 13);
	assert_int_equal(room.pair.rec.writers.records_lost_inside, 7);
	room.r->lost = room.r->lost_told = room.r->lost_inside = 0;
	end(&room);
}

TEST(test_nothing_makes_no_file)
{
	struct room room;
	struct stat st;

	begin(&room, 0);
	append(&room, "", 0);
	finish(&room);
	assert_int_equal(fstatat(room.pair.dir_fd, "4999999.dat", &st, 0), -1);
	assert_int_equal(room.pair.rec.tasks.nr_tids, 0);
	end(&room);
}

TEST(test_max_size)
{
	const struct record two[] = { entry(1), entry(2) };
	const struct record expected[] = { entry(1), entry(2), entry(1), entry(2) };
	struct room room;

	begin(&room, 4 * sizeof(struct record));
	append(&room, two, sizeof(two));
	append(&room, two, sizeof(two));
	assert_false(room.pair.rec.store->is_full);
	assert_int_equal(room.pair.rec.control->finished, 0);
	append(&room, two, sizeof(two[0]));
	assert_true(room.pair.rec.store->is_full);
	assert_int_equal(room.pair.rec.control->finished, 1);
	check(&room, expected, 4);
	end(&room);
}

/*
 * If a record does not fit into the rest of the limit, the file is full, even for shorter records:
 * these would come after a gap.
 */
TEST(test_max_size_stays_full)
{
	const struct record four[] = { entry(1), entry(2), entry(3), entry(4) };
	struct room room;

	begin(&room, 3 * sizeof(struct record));
	assert_true(store_may_take(room.pair.rec.store, sizeof(four[0])));
	assert_false(store_may_take(room.pair.rec.store, sizeof(four)));
	atomic_store(&room.pair.rec.store->taken, 0);
	assert_false(store_may_take(room.pair.rec.store, 1));
	end(&room);
}

TEST(test_flight_has_no_such_limit)
{
	struct pair pair;

	for (int is_flight = 0; is_flight < 2; is_flight++) {
		pair_init(&pair);
		pair.settings.max_bytes = is_flight ? 10 : 0;
		pair.settings.flight_bytes = is_flight ? FLIGHT_BYTES_MIN : 0;
		pair_open(&pair);
		assert_true(store_may_take(&pair.store.store, 1000));
		assert_int_equal(pair.store.store.taken, 1000);
		assert_false(pair.store.store.is_full);
		pair_stop(&pair);
		pair_close(&pair);
	}
}

/* If few descriptors are left, a file is opened for each write. */
TEST(test_few_descriptors)
{
	const struct record expected[] = { entry(1), entry(2) };
	struct rlimit before;
	struct room room;

	begin(&room, 0);
	getrlimit(RLIMIT_NOFILE, &before);

	/* The limit allows two more descriptors, whose numbers are not below half of the limit. */
	int next = dup(room.pair.dir_fd);
	struct rlimit limit = { next + 2, before.rlim_max };

	close(next);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), errno);
	for (int i = 0; i < 2; i++) {
		append(&room, &expected[i], sizeof(expected[i]));
		assert_false(room.sink->records.is_open);
	}
	check(&room, expected, 2);
	assert_int_equal(room.pair.rec.store->error, 0);
	next = dup(room.pair.dir_fd);
	assert_int_equal(next + 2, limit.rlim_cur); /* no descriptor has stayed open */
	close(next);
	setrlimit(RLIMIT_NOFILE, &before);
	append(&room, &expected[0], sizeof(expected[0]));
	assert_true(room.sink->records.is_open);
	end(&room);
}

static void check_calls(struct room *room, uint64_t calls)
{
	assert_int_equal(room->pair.rec.writers.calls, calls);
}

/* Calls are counted if counting is wanted and if their records are in the file. */
TEST(test_counting_calls)
{
	const struct record records[] = {
		entry(1), entry(2), { 3, record_data(RECORD_EXIT, 1, 0x1000) }, lost(9)
	};
	struct room room;

	begin(&room, 0);
	append(&room, records, sizeof(records));
	check_calls(&room, 0);
	room.pair.rec.writers.counts_calls = true;
	append(&room, records, sizeof(records));
	check_calls(&room, 2);
	append_parts(&room, records, 4);
	check_calls(&room, 4);
	limit_files(8);
	append(&room, records, sizeof(records));
	limit_files(RLIM_INFINITY);
	check_calls(&room, 4);
	assert_int_equal(room.pair.rec.writers.records_lost, 3);
	assert_int_equal(room.sink->untold, 3 + 9);
	end(&room);
}

/* Records of a ring whose task has an impossible number are lost. */
TEST(test_a_ring_without_a_task)
{
	const struct record two[] = { entry(1), entry(2) };
	const struct iovec part = { (void *)two, sizeof(two) };
	struct room room;

	begin(&room, 0);
	room.r->tid = 0;
	append(&room, two, sizeof(two));
	assert_int_equal(room.sink->tid, 0);
	assert_int_equal(room.sink->untold, 2);
	assert_int_equal(room.pair.rec.writers.records_lost, 2);
	assert_int_equal(room.pair.rec.tasks.nr_tids, 0);
	sink_append_payloads(&room.pair.rec.writers, room.pair.proc, room.r, room.sink, &part, 1);
	assert_false(room.sink->payloads.is_open);
	assert_int_equal(room.pair.rec.writers.records_lost, 2);

	/* Now the ring has a possible number of a task. */
	const struct record expected[] = { lost(2), entry(1), entry(2) };

	room.r->tid = TID;
	append(&room, two, sizeof(two));
	check(&room, expected, 3);
	assert_int_equal(room.pair.rec.tasks.nr_tids, 1);
	end(&room);
}

static void append_payloads(struct room *room, const char *const *texts, int nr)
{
	struct iovec parts[4];

	for (int i = 0; i < nr; i++)
		parts[i] = (struct iovec){ (void *)texts[i], strlen(texts[i]) };
	sink_append_payloads(&room->pair.rec.writers, room->pair.proc, room->r, room->sink, parts,
			     nr);
}

static void check_payloads(struct room *room, const char *expected)
{
	char name[64], text[256] = "";
	int fd;

	snprintf(name, sizeof(name), "%d" DATADIR_EVENT_DATA_SUFFIX, TID);
	fd = openat(room->pair.dir_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		assert_true(read(fd, text, sizeof(text) - 1) >= 0);
		close(fd);
	}
	assert_string_equal(text, expected);
}

/* Payloads have a file of their own. If not all parts fit, those that fit are written. */
TEST(test_payloads)
{
	static const char *const texts[] = { "first", "", "second", "3" };
	struct room room;

	begin(&room, 0);
	append_payloads(&room, texts, 0);
	append_payloads(&room, &texts[1], 1);
	assert_int_equal(room.pair.rec.tasks.nr_tids, 0);
	append_payloads(&room, texts, 3);
	assert_true(room.sink->payloads.is_open);
	assert_false(room.sink->records.is_open);
	assert_int_equal(room.sink->tid, TID);
	assert_int_equal(room.pair.rec.store->taken, 11);
	check_payloads(&room, "firstsecond");
	limit_files(11 + 6);
	append_payloads(&room, texts, 4);
	assert_int_equal(room.pair.rec.store->error, -EFBIG);
	check_payloads(&room, "firstsecondfirst3");
	append_payloads(&room, texts, 1);
	check_payloads(&room, "firstsecondfirst3");
	limit_files(RLIM_INFINITY);
	append_payloads(&room, &texts[3], 1);
	check_payloads(&room, "firstsecondfirst33");
	finish(&room);
	assert_false(room.sink->payloads.is_open);
	assert_int_equal(room.pair.rec.writers.records_lost, 0);
	end(&room);
}

TEST(test_payloads_count_for_max_size)
{
	static const char *const texts[] = { "0123456789", "abcdef" };
	struct room room;

	begin(&room, 16);
	append_payloads(&room, texts, 2);
	assert_false(room.pair.rec.store->is_full);
	append_payloads(&room, &texts[1], 1);
	assert_true(room.pair.rec.store->is_full);
	check_payloads(&room, "0123456789abcdef");
	end(&room);
}

/* Calls that were too deep are noted for their task. */
TEST(test_too_deep)
{
	struct room room;

	begin(&room, 0);
	finish(&room);
	assert_int_equal(room.pair.rec.tasks.nr_too_deep, 0);
	room.r->too_deep = 5;
	finish(&room);
	assert_int_equal(room.pair.rec.tasks.nr_too_deep, 5);
	assert_int_equal(room.pair.rec.tasks.nr_deep_tasks, 1);
	assert_int_equal(room.pair.rec.tasks.too_deep[0].tid, TID);
	assert_int_equal(room.pair.rec.tasks.too_deep[0].nr, 5);
	room.r->tid = 0;
	finish(&room);
	assert_int_equal(room.pair.rec.tasks.nr_too_deep, 5);
	room.r->too_deep = 0;
	end(&room);
}
