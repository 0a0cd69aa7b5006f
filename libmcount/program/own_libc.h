/* The probe's calls of libc reach libc, even if the program defines functions of the same names. */
#ifndef UTRAIL_LIBMCOUNT_OWN_LIBC_H
#define UTRAIL_LIBMCOUNT_OWN_LIBC_H

/*
 * COLD, before the first hook does anything. A program may define functions of libc itself
 * (memcpy(3), mmap(2)), and a sanitizer defines many. By the order of loading the probe's own calls
 * go to these functions, too. They would be recorded as calls of the program, and change the
 * program's own counts. From here on the probe's calls go to the C library. If that library cannot
 * be read, they stay as they are.
 */
void own_libc_bind(void);

#endif
