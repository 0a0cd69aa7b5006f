/* The program's text: changed byte by byte, while threads may execute it. */
#ifndef UTRAIL_LIBMCOUNT_TEXT_H
#define UTRAIL_LIBMCOUNT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * COLD. Opens the descriptor for text_write(), which takes the -1 of a failure, too. The caller
 * closes it with text_close().
 */
int text_open(void);
void text_close(int fd);

/*
 * COLD. Replaces instructions at @addr by @bytes[@len], while threads may run there. Bytes within a
 * word are written at once; otherwise the first byte is written last. False when the text may not
 * be written.
 */
bool text_write(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len);

/* COLD. Write @bytes[@len] at @addr in any order: no thread may execute this text meanwhile. */
bool text_write_unused(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len);

#endif
