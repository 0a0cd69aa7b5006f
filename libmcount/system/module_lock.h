/* One thread at a time tells the recorder of modules. */
#ifndef UTRAIL_LIBMCOUNT_MODULE_LOCK_H
#define UTRAIL_LIBMCOUNT_MODULE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

/* Only COLD code waits for it. */
extern pthread_mutex_t module_lock;

/*
 * SLOW. Keep other threads from telling the recorder of modules, and from adding them to the plan;
 * false when one is at it.
 */
bool module_try_lock(void);
void module_unlock(void);

#endif
