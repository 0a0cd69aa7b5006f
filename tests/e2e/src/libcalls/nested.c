/* A library whose constructor calls dlopen(3). */
#include <dlfcn.h>
#include <stddef.h>

__attribute__((constructor)) static void begin(void)
{
	dlopen(NULL, RTLD_NOW);
}
