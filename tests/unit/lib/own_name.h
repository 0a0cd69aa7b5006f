/*
 * Names for sockets in the abstract name space. A pid is not enough: processes of two pid
 * namespaces may have the same pid, and share the name space if they share the network.
 */
#ifndef UTRAIL_TESTS_UNIT_OWN_NAME_H
#define UTRAIL_TESTS_UNIT_OWN_NAME_H

#include <sys/random.h>

#include "tests/unit/lib/unit.h"

/* Write a name that no other process has to @name. Returns its length. */
static inline int own_name(char *name, size_t bytes)
{
	uint64_t number;
	int len;

	assert_int_equal(getrandom(&number, sizeof(number), 0), sizeof(number));
	len = snprintf(name, bytes, "utrail-unit-%016llx", (unsigned long long)number);
	assert_true(len > 0 && (size_t)len < bytes);
	return len;
}

#endif
