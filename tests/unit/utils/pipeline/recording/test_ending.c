/* The missing parts of a recording, as text: by the recorder's own words, or by its files. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/recording/ending.h"

static struct recording rec;
static struct trace_data data;

static int setup(void **state)
{
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_add_task(&rec, 101, "a{}", 1000);
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	data_close(&data);
	recording_deinit(&rec);
	return 0;
}

/* Check the text. NULL: nothing is missing. */
static void check(const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(data_describe_end(&data, &out), expected != NULL);
	assert_string_equal(strbuf_str(&out), expected ? expected : "");
}

#define KILLED                                                                               \
	"incomplete: its recorder was killed, or had no room to say how it ended; the last " \
	"records are lost"

/* A recorder that is alive holds a lock on the folder. */
TEST_WITH(a_recorder_that_runs, setup, teardown)
{
	int fd = open(rec.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *dir = data.dir;

	assert_true(fd >= 0);
	data.info.state = INFO_STATE_RUNNING;
	check(KILLED);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	check(NULL);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	check(KILLED);
	close(fd);
	/* The folder is gone. */
	data.dir = (char *)"/nonexistent";
	check(NULL);
	data.dir = dir;
	/* Readers of a growing recording know that it goes on. */
	data.growth = (struct data_growth *)&rec;
	check(NULL);
	data.growth = NULL;
}

TEST_WITH(words_of_the_recorder, setup, teardown)
{
	static const struct {
		uint64_t records_lost;
		int32_t write_error;
		const char *cut_events;
		const char *expected;
	} cases[] = {
		{ 0, 0, NULL, NULL },
		{ 1, 0, NULL, "incomplete: 1 record was lost" },
		{ 2, 0, NULL, "incomplete: 2 records were lost" },
		{ UINT64_MAX, 0, NULL, "incomplete: 18446744073709551615 records were lost" },
		{ 0, ENOSPC, NULL,
		  "incomplete: something could not be written, and is lost (No space left on "
		  "device)" },
		{ 3, ENOSPC, NULL, "incomplete: 3 records were lost (No space left on device)" },
		{ 0, 0, "7 events were cut", "incomplete: 7 events were cut" },
		{ 1, 0, "7 events were cut", "incomplete: 7 events were cut; 1 record was lost" },
		{ 0, EIO, "7 events were cut",
		  "incomplete: 7 events were cut; something could not be written, and is lost "
		  "(Input/output error)" },
	};
	static const enum info_state states[] = { INFO_STATE_UNKNOWN, INFO_STATE_ENDED };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		data.info.records_lost = cases[i].records_lost;
		data.info.write_error = cases[i].write_error;
		data.info.cut_events = (char *)cases[i].cut_events;
		for (size_t k = 0; k < ARRAY_SIZE(states); k++) {
			data.info.state = states[k];
			check(cases[i].expected);
		}
		data.info.cut_events = NULL;
	}
}

/*
 * A file is cut if its size is not a multiple of 8 bytes. This is reported only if the recorder has
 * written how it ended, and if the recording does not grow.
 */
TEST_WITH(files_that_are_cut, setup, teardown)
{
	data.info.state = INFO_STATE_ENDED;
	check(NULL);
	for (unsigned bytes = 25; bytes < 32; bytes++) {
		data.tasks[1].data_bytes = bytes;
		check("incomplete: '101.dat' ends within a record; later ones are lost");
	}
	data.info.state = INFO_STATE_UNKNOWN;
	check(NULL);
	data.info.state = INFO_STATE_ENDED;
	data.growth = (struct data_growth *)&rec;
	check(NULL);
	data.growth = NULL;
	data.tasks[1].data_bytes = 24;
	check(NULL);
	data.tasks[0].data_bytes = 4;
	check("incomplete: '100.dat' ends within a record; later ones are lost");
	data.info.records_lost = 1;
	check("incomplete: 1 record was lost");
}

/* Only the blocks of a compact file, and not its length, show that the file was cut. */
TEST(compact_files_that_are_cut)
{
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{}b{}b{}}", 1000);
	recording_pack(&rec, 100, 64);
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	data.info.state = INFO_STATE_ENDED;
	assert_non_null(data.tasks[0].compact);
	check(NULL);
	data.tasks[0].data_bytes++;
	check(NULL);
	data.tasks[0].compact->is_torn = true;
	check("incomplete: '100.cdat' ends within a record; later ones are lost");
	teardown(NULL);
}
