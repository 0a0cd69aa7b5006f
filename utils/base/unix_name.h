/* Names in the abstract name space of Unix sockets, which is outside the file system. */
#ifndef UTRAIL_BASE_UNIX_NAME_H
#define UTRAIL_BASE_UNIX_NAME_H

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Write the address of @name, which has @len bytes, to @addr, for bind(2) and connect(2). Returns
 * the address's length, or 0 when the name is too long.
 */
static inline socklen_t unix_name_address(struct sockaddr_un *addr, const char *name, size_t len)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	/* The first byte is 0; the name, which has no NUL at its end, follows it. */
	if (len + 1 > sizeof(addr->sun_path))
		return 0;
	memcpy(addr->sun_path + 1, name, len);
	return offsetof(struct sockaddr_un, sun_path) + 1 + len;
}

#endif
