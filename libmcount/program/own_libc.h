/*
 * Makes the probe call the functions of libc itself, even if the program defines functions with the
 * same names.
 */
#ifndef UTRAIL_LIBMCOUNT_OWN_LIBC_H
#define UTRAIL_LIBMCOUNT_OWN_LIBC_H

/*
 * COLD, before the first hook. Makes the probe call the functions of libc itself. Programs and
 * sanitizers may define functions with the names of libc functions (memcpy(3), mmap(2)). If the
 * probe called the functions of a program or sanitizer, these calls would be recorded. If libc
 * cannot be read, the probe may still call functions of the program or sanitizer.
 */
void own_libc_bind(void);

#endif
