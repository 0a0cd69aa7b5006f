/* Changes of the program's text while threads may execute it. */
#ifndef UTRAIL_LIBMCOUNT_TEXT_H
#define UTRAIL_LIBMCOUNT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * COLD. Returns a descriptor for text_write(), or -1 on failure. The caller may pass -1 to
 * text_write() instead of a descriptor. The caller closes the descriptor with text_close().
 */
int text_open(void);
void text_close(int fd);

/*
 * COLD. Replaces the instructions at @addr by @bytes[@len], while threads may run there. If the new
 * bytes lie within one word, the whole word is written by one system call. Otherwise the first byte
 * is written last. If @fd (from text_open()) is -1, or the kernel refuses to write through @fd, the
 * bytes are stored one by one. Returns false when the instructions cannot be replaced.
 */
bool text_write(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len);

/*
 * COLD. Like text_write(), but writes the bytes in any order. No thread may execute the replaced
 * instructions during the call.
 */
bool text_write_unused(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len);

#endif
