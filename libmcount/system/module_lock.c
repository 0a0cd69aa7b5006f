/* One thread at a time reports modules to the recorder (see module_lock.h). */
#include "libmcount/system/module_lock.h"

pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;

bool module_try_lock(void)
{
	return pthread_mutex_trylock(&module_lock) == 0;
}

void module_unlock(void)
{
	pthread_mutex_unlock(&module_lock);
}
