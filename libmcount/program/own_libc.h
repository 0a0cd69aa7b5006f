/* The probe's calls of libc reach libc, whatever the program puts in front of it. */
#ifndef UTRAIL_LIBMCOUNT_OWN_LIBC_H
#define UTRAIL_LIBMCOUNT_OWN_LIBC_H

/*
 * COLD, before the first hook does anything. A program may define functions of libc itself
 * (memcpy(3), mmap(2)), and a sanitizer does for many: by the order of loading the probe's own
 * calls go there, too. They would be recorded as calls that the program made, and count where it
 * counts. From here on they go to the C library. When it cannot be read they stay as they are.
 */
void own_libc_bind(void);

#endif
