/*
 * Functions of a language that has no addresses, Python: in records they have numbers in the place
 * of addresses, and a module of their own in maps, where no program can have anything.
 */
#ifndef UTRAIL_FORMAT_CALLABLES_H
#define UTRAIL_FORMAT_CALLABLES_H

/* The module's name in maps and of its symbol file, as uftrace has it. */
#define CALLABLES_MODULE "python.fake"

/*
 * Numbers are from 1 on, and below this one: where programs begin that are not position
 * independent. The module lies at 0, so that numbers are addresses, too.
 */
#define CALLABLES_END 0x400000UL

#endif
