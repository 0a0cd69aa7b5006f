/*
 * The lock of the list of modules: one thread at a time reports modules to the recorder.
 * libmcount/hot/probe.h explains COLD and SLOW.
 */
#ifndef UTRAIL_LIBMCOUNT_MODULE_LOCK_H
#define UTRAIL_LIBMCOUNT_MODULE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

/* Only COLD code waits for this lock. */
extern pthread_mutex_t module_lock;

/*
 * SLOW. Takes the lock. Until module_unlock(), no other thread reports modules to the recorder, or
 * adds modules to the plan. Returns false when another thread has the lock.
 */
bool module_try_lock(void);
void module_unlock(void);

#endif
