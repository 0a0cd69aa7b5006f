/*
 * Fuzz target: logs of POSIX Trace. The input is the header of a log, two bytes with the length of
 * the log's own file, that file, and the records.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "trace/seam/reader.h"

static int write_log(struct fuzz_input *in)
{
	char path[PATH_MAX];
	size_t header_len, len, cut;
	const uint8_t *header = fuzz_bytes(in, sizeof(struct pxt_log_header), &header_len);
	const uint8_t *records;
	int fd;

	snprintf(path, sizeof(path), "%s/log", fuzz_empty_dir());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cut = fuzz_u16(in);
	records = fuzz_bytes(in, 65536, &len);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(pwrite(fd, header, header_len, 0) == (ssize_t)header_len);
	FUZZ_CHECK(pwrite(fd, "first", 5, PT_LOG_NAMES) == 5);
	FUZZ_CHECK(pwrite(fd, records, len, PT_LOG_DATA) == (ssize_t)len);
	if (cut)
		FUZZ_CHECK(ftruncate(fd, (off_t)(PT_LOG_DATA + len) / 65536 * cut) == 0);
	return fd;
}

/* Reads all events. The loop ends: positions only grow, and no event is told twice. */
static uint64_t read_events(struct pxt_log *log, size_t room)
{
	char data[256], text[PT_NAME_MAX + 1];
	struct pxt_event event;
	uint64_t nr = 0, at = log->at;
	int found;

	memset(data, 0, sizeof(data));
	while ((found = pxt_log_next(log, &event, data, room)) > 0) {
		FUZZ_CHECK(log->at >= at + PT_LOG_RECORD && log->at <= log->header.last);
		FUZZ_CHECK(event.id < PT_NR_IDS);
		FUZZ_CHECK(log->at - at >= PT_LOG_RECORD + (uint64_t)event.len);
		if (pxt_log_name_of(log, event.id, text))
			FUZZ_CHECK(strlen(text) <= PT_NAME_MAX);
		at = log->at;
		nr++;
	}
	FUZZ_CHECK(found < 0 || log->at == log->header.last);
	return nr;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input in = { bytes, size };
	int fd = write_log(&in);
	struct pxt_log log;
	uint64_t nr;

	if (pxt_log_open(&log, fd) == 0) {
		FUZZ_CHECK(strnlen(log.header.attr.name, PT_STREAM_NAME) < PT_STREAM_NAME);
		nr = read_events(&log, 256);
		pxt_log_rewind(&log);
		FUZZ_CHECK(read_events(&log, 1) == nr);
	}
	close(fd);
	return 0;
}
