/* Makes the probe's calls of libc reach libc, even if the program defines the same names. */
#ifndef UTRAIL_LIBMCOUNT_OWN_LIBC_H
#define UTRAIL_LIBMCOUNT_OWN_LIBC_H

/*
 * COLD, before the first hook does anything. The program may define functions of libc (memcpy(3),
 * mmap(2)), and a sanitizer defines many. Symbols are looked up in the program before libraries, so
 * the probe's own calls go to those functions, too. Such calls would be recorded as calls of the
 * program, and change the program's own counts. From here on the probe's calls go to the C library.
 * If the C library cannot be read, nothing changes.
 */
void own_libc_bind(void);

#endif
