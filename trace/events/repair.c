/*
 * Repairs the lines of writers that were killed. The kernel copies a record page by page, so the
 * line of a killed writer ends at a multiple of the page size, without a newline. The line of the
 * next writer follows at once, and begins with a time. Therefore a line is torn if two conditions
 * hold: a page of the file ends without a newline, and after the page comes the time of another
 * line, or the end of the file. The end of the torn line is replaced by " (torn)\n", or by a
 * newline alone if the line is too short for that text. No byte is moved.
 */
#include "events/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	   4096 /* the smallest page size; others are multiples of it */
#define MARK_LEN   8
#define TIME_LEN   26
/*
 * In a file of more than MOST_BYTES, only the last MOST_BYTES are searched, so that no thread waits
 * long for a disk.
 */
#define MOST_BYTES ((off_t)64 << 20)

bool fst_has_shape(const char *text, const char *shape)
{
	for (int i = 0; shape[i]; i++) {
		if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
			return false;
	}
	return true;
}

static const char mark_text[MARK_LEN + 1] = " (torn)\n";

/*
 * Marks the end of a torn line. If the line is too short for the mark, only a newline is written.
 */
static void mark_fragment(int fd, off_t end, const char *before)
{
	size_t len = memchr(before, '\n', MARK_LEN) ? 1 : MARK_LEN;

	if (pwrite(fd, mark_text + MARK_LEN - len, len, end - len) < 0)
		return; /* the write has failed, and the log is unchanged */
}

/*
 * True when the last line, which has no newline, is torn. The function overwrites the last byte
 * with the same value. The kernel locks a file during each write, so this write waits for a process
 * that is still writing the line. If the file still ends at @end after this write, no process was
 * writing the line.
 */
static bool is_torn_end(int fd, off_t end, const char *last)
{
	struct stat st;

	return pwrite(fd, last, 1, end - 1) == 1 && fstat(fd, &st) == 0 && st.st_size == end;
}

void fst_repair_file(int dir_fd, const char *path)
{
	int fd = fst_keep_away(openat(dir_fd, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		off_t at = st.st_size > MOST_BYTES ? (st.st_size - MOST_BYTES) / PAGE * PAGE : 0;

		while ((at += PAGE) <= st.st_size) {
			char text[MARK_LEN + TIME_LEN + 1];
			ssize_t len = pread(fd, text, sizeof(text), at - MARK_LEN);

			if (len < MARK_LEN || text[MARK_LEN - 1] == '\n')
				continue;
			if (len == sizeof(text)
				    ? fst_has_shape(text + MARK_LEN, "0000-00-00 00:00:00.000000 ")
				    : len == MARK_LEN && is_torn_end(fd, at, text + MARK_LEN - 1))
				mark_fragment(fd, at, text);
		}
	}
	close(fd);
}
