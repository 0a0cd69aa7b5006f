/*
 * Makes the probe's calls of libc functions reach libc, even if the program defines functions with
 * the same names.
 */
#ifndef UTRAIL_LIBMCOUNT_OWN_LIBC_H
#define UTRAIL_LIBMCOUNT_OWN_LIBC_H

/*
 * COLD, before the first hook. Binds the probe's calls of libc to libc. Programs and sanitizers may
 * define functions of libc (memcpy(3), mmap(2)). If the probe called those functions, the calls
 * would be recorded. If libc cannot be read, nothing changes.
 */
void own_libc_bind(void);

#endif
