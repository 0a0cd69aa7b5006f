/*
 * Requests of other utrail commands to a running recorder, over a Unix SOCK_SEQPACKET socket of its
 * own.
 */
#ifndef UTRAIL_FORMAT_REQUEST_H
#define UTRAIL_FORMAT_REQUEST_H

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/*
 * The socket's name, in the abstract name space (unix(7)), is made of the data directory's device
 * and inode number. So a process that knows the directory finds its recorder, and no file remains.
 * Same machine, same user (or root).
 */
#define REQUEST_NAME_SIZE   64
#define REQUEST_NAME_PREFIX "utrail-dir-"

/*
 * If another process has that name, the recorder takes one with random digits after it. It keeps
 * this file in the data directory while it records: two lines, the name and a secret of
 * REQUEST_SECRET_CHARS hexadecimal digits. Mode 0600.
 */
#define REQUEST_DOOR_NAME    ".control"
#define REQUEST_SECRET_CHARS 32

static inline void request_name(char name[static REQUEST_NAME_SIZE], const struct stat *dir)
{
	snprintf(name, REQUEST_NAME_SIZE, REQUEST_NAME_PREFIX "%llx-%llx",
		 (unsigned long long)dir->st_dev, (unsigned long long)dir->st_ino);
}

#define REQUEST_MAGIC	0x71557472U
#define REQUEST_VERSION 2

enum request_type {
	REQUEST_SAVE = 1, /* flight recording: save the content of the rings to the directory */
	/* Answered while the program runs; afterwards the recorder just ends */
	REQUEST_IS_RUNNING = 2,
	/* The time up to which the files are complete; from now on they are flushed often */
	REQUEST_PROGRESS = 3,
	REQUEST_CONTROL = 4, /* words of utils/spec/steer.h: obey them */
	/*
	 * Check that the process with the number in the text is recorded, or is a recorder: @error
	 * is 0, else -ESRCH. Answered at once, also while another answer is pending
	 */
	REQUEST_HAS_PID = 5,
	/* The answer's text is the secret of REQUEST_DOOR_NAME; -ENOENT: there is none */
	REQUEST_PROVE = 6,
};

/* Bytes of text after a request, and after an answer. */
#define REQUEST_TEXT_MAX 65536

/*
 * @text_bytes: after this struct, up to the end of the packet: CONTROL: words, each with its
 *              NUL; HAS_PID: a number with its NUL; else none
 */
struct request {
	uint32_t magic;
	uint32_t version;
	uint32_t type; /* enum request_type */
	uint32_t text_bytes;
};

/*
 * A text without NUL follows, up to the end of the packet: the answer to CONTROL; with @error, the
 * reason of the failure.
 *
 * @error: negative errno; -EOPNOTSUPP when this recording has nothing to save, or, for PROGRESS,
 *         keeps its records in memory
 * @nr_tasks: saved
 * @complete_ns: PROGRESS: all records up to that time of the recording's clock are in the files,
 *               and so are their lines of task.txt, maps and symbols. 0: not known yet
 * @holds_back: PROGRESS: nevertheless, the entry of a call may be recorded later than it happened,
 *              once the call has taken long enough, or has made another one
 */
struct request_answer {
	uint32_t magic;
	int32_t error;
	uint32_t nr_tasks;
	uint32_t holds_back;
	uint64_t complete_ns;
};

#endif
