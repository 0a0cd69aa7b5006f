/* --signal: signals that switch recording on and off, or end it. */
#ifndef UTRAIL_LIBMCOUNT_SWITCHES_H
#define UTRAIL_LIBMCOUNT_SWITCHES_H

#include <stdbool.h>

/* COLD. From now on the plan's signals come to us; handlers of the program for them are called, too. */
void switches_begin(void);

/* Whether the plan says something about signal @sig. */
bool switches_have(int sig);

/* In a signal handler: do what the plan says. */
void switches_obey(int sig);

#endif
