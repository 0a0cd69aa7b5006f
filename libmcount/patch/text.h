/* Changes of the program's text while threads may execute it. */
#ifndef UTRAIL_LIBMCOUNT_TEXT_H
#define UTRAIL_LIBMCOUNT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * COLD. Returns a descriptor for text_write(), or -1 on failure. text_write() accepts -1, too. The
 * caller closes the descriptor with text_close().
 */
int text_open(void);
void text_close(int fd);

/*
 * COLD. Replaces the instructions at @addr by @bytes[@len], while threads may run there. If the new
 * bytes lie within one word, they are written together with the rest of that word. Otherwise the
 * first byte is written last. If @fd is -1, or the kernel refuses to write through @fd, the bytes
 * are stored one by one. Returns false when the text cannot be written.
 */
bool text_write(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len);

/*
 * COLD. Writes @bytes[@len] at @addr in any order. No thread may execute this text during the call.
 */
bool text_write_unused(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len);

#endif
