/* The program's text: changed byte by byte, while it may be executed. */
#ifndef UTRAIL_LIBMCOUNT_TEXT_H
#define UTRAIL_LIBMCOUNT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * COLD. Open the descriptor that text_write() goes through; -1 is fine, too. The caller closes it
 * with text_close().
 */
int text_open(void);
void text_close(int fd);

/*
 * COLD. Put @bytes[@len] in the place of instructions at @addr. In one piece where they lie within
 * a word; else the first byte, before which nothing has changed for a thread that comes by, is the
 * last. False when it may not be written.
 */
bool text_write(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len);

/* COLD. The same of any length and in any order: nobody may execute it meanwhile. */
bool text_write_unused(int fd, uint64_t addr, const uint8_t *bytes, uint64_t len);

#endif
