/* Names in the abstract name space of Unix sockets, which is outside the file system. */
#ifndef UTRAIL_BASE_UNIX_NAME_H
#define UTRAIL_BASE_UNIX_NAME_H

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Write the address of @name, which has @len bytes, to @addr. Returns the length of the address, or
 * 0 when the name is too long.
 */
static inline socklen_t unix_name_address(struct sockaddr_un *addr, const char *name, size_t len)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	/* The first byte of an abstract name is 0. The name has no NUL at its end. */
	if (len + 1 > sizeof(addr->sun_path))
		return 0;
	memcpy(addr->sun_path + 1, name, len);
	return offsetof(struct sockaddr_un, sun_path) + 1 + len;
}

#endif
