/* Requests of other utrail commands to a running recorder, over a Unix SOCK_SEQPACKET socket. */
#ifndef UTRAIL_FORMAT_REQUEST_H
#define UTRAIL_FORMAT_REQUEST_H

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/*
 * The socket's name, in the abstract name space (unix(7)), has the data directory's device and
 * inode number. The recorder accepts requests of its own user, of root, of the recording's owner,
 * and of the user that has started the recorder by sudo.
 */
#define REQUEST_NAME_SIZE   64
#define REQUEST_NAME_PREFIX "utrail-dir-"

/*
 * The name of a file of the data directory. The file exists only if another process has taken the
 * socket's usual name. In this case the socket's name has random digits. The file has mode 0600 and
 * two lines: the name of the socket, and a secret of REQUEST_SECRET_CHARS hexadecimal digits.
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
	REQUEST_SAVE = 1, /* flight recording: save the rings' content to the data directory */
	/*
	 * While the program runs, the answer comes as soon as the recorder has finished other work,
	 * such as another request. After the program's end there is no answer: the connection is
	 * closed when the recorder ends
	 */
	REQUEST_IS_RUNNING = 2,
	/*
	 * The answer contains the time up to which the files are complete (complete_ns). After this
	 * request, the recorder flushes the files often
	 */
	REQUEST_PROGRESS = 3,
	REQUEST_CONTROL = 4, /* execute the requests in the text (utils/spec/steer.h) */
	/*
	 * The text of the request is the pid of a process. The @error of the answer is 0 if that
	 * process is recorded, or is this recorder. Otherwise, it is -ESRCH. The answer comes even
	 * while another answer is pending
	 */
	REQUEST_HAS_PID = 5,
	/*
	 * Tell the secret of REQUEST_DOOR_NAME as the text of the answer, even while another answer
	 * is pending. -ENOENT: there is no secret
	 */
	REQUEST_PROVE = 6,
};

/* The most bytes of text after a request, or after an answer. */
#define REQUEST_TEXT_MAX 65536

/*
 * A request. A text of @text_bytes follows. For CONTROL, the text has words, each with its
 * NUL. For HAS_PID, the text is a number with its NUL. Other types have no text.
 */
struct request {
	uint32_t magic;
	uint32_t version;
	uint32_t type; /* enum request_type */
	uint32_t text_bytes;
};

/*
 * An answer. A text without NUL follows, up to the end of the packet. The text is the answer to
 * CONTROL, or the reason of @error.
 *
 * @error: 0 or a negative errno. -EOPNOTSUPP means for SAVE that there is nothing to save, and for
 *         PROGRESS that records are kept in memory
 * @nr_tasks: SAVE: the number of saved tasks
 * @holds_back: PROGRESS: 1 if the ENTRY of some calls is held back until the call has taken long
 *              enough, or has called a certain function. Until then, the ENTRY is missing in the
 *              files, even if the time of the ENTRY is before @complete_ns
 * @complete_ns: PROGRESS: the files have all records up to this time of the recording's clock. The
 *               files also have the lines of task.txt, the maps and the symbols that readers need
 *               for these records; 0: the time is not known yet
 */
struct request_answer {
	uint32_t magic;
	int32_t error;
	uint32_t nr_tasks;
	uint32_t holds_back;
	uint64_t complete_ns;
};

#endif
