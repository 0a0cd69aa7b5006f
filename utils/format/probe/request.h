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
 * Requests are accepted from the recorder's user, from root, and from the owner of the recording.
 */
#define REQUEST_NAME_SIZE   64
#define REQUEST_NAME_PREFIX "utrail-dir-"

/*
 * If another process has that name, the recorder appends random digits to the name. While it
 * records, this file is in the data directory, with mode 0600. It has two lines: the name, and a
 * secret of REQUEST_SECRET_CHARS hexadecimal digits.
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
	/* Gets an answer while the program runs; afterwards the recorder ends without one */
	REQUEST_IS_RUNNING = 2,
	/*
	 * Asks for the time up to which the files are complete; from now on they are flushed often
	 */
	REQUEST_PROGRESS = 3,
	REQUEST_CONTROL = 4, /* obey the words of utils/spec/steer.h */
	/*
	 * Check that the process with the number in the text is recorded, or is a recorder: @error
	 * is 0, else -ESRCH. The answer comes at once, also while another one is pending
	 */
	REQUEST_HAS_PID = 5,
	/* The answer's text is the secret of REQUEST_DOOR_NAME; -ENOENT: there is none */
	REQUEST_PROVE = 6,
};

/* The most bytes of text after a request, or after an answer. */
#define REQUEST_TEXT_MAX 65536

/*
 * A request. Text follows it, up to the end of the packet.
 *
 * @text_bytes: bytes of the text. CONTROL: words, each with its NUL; HAS_PID: a number with its
 *              NUL; other types have no text
 */
struct request {
	uint32_t magic;
	uint32_t version;
	uint32_t type; /* enum request_type */
	uint32_t text_bytes;
};

/*
 * An answer. A text without NUL follows it, up to the end of the packet: the answer to CONTROL, or
 * with @error the reason of the failure.
 *
 * @error: negative errno; -EOPNOTSUPP when this recording has nothing to save, or, for PROGRESS,
 *         keeps its records in memory
 * @nr_tasks: number of saved tasks
 * @complete_ns: PROGRESS: all records up to that time of the recording's clock are in the files,
 *               with their lines of task.txt, maps and symbols. 0: not known yet
 * @holds_back: PROGRESS: entries of calls may still be missing before @complete_ns. They are
 *              recorded once the call has taken long enough, or has made another one
 */
struct request_answer {
	uint32_t magic;
	int32_t error;
	uint32_t nr_tasks;
	uint32_t holds_back;
	uint64_t complete_ns;
};

#endif
