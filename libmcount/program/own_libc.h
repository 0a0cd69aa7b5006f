/* The probe's calls of libc reach libc, even if the program defines functions of the same names. */
#ifndef UTRAIL_LIBMCOUNT_OWN_LIBC_H
#define UTRAIL_LIBMCOUNT_OWN_LIBC_H

/*
 * COLD, before the first hook does anything. A program may define functions of libc itself
 * (memcpy(3), mmap(2)), and a sanitizer defines many. The program is looked up before libraries, so
 * the probe's own calls go to these functions, too. They would be recorded as calls of the program,
 * and change the program's own counts. From here on the probe's calls go to the C library. If the C
 * library cannot be read, the probe's calls go where they went before.
 */
void own_libc_bind(void);

#endif
