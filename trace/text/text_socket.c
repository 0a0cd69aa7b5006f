/* Network addresses as text: %a. */
#include "text/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PATH_AT offsetof(struct sockaddr_un, sun_path)

static void put_inet(struct fst_text *text, const void *address)
{
	struct sockaddr_in in;
	unsigned char octets[4];

	memcpy(&in, address, sizeof(in));
	memcpy(octets, &in.sin_addr, sizeof(octets));
	fst_put_word(text, "AF_INET`");
	for (int i = 0; i < 4; i++) {
		if (i)
			fst_put_char(text, '.');
		fst_put_unsigned(text, octets[i]);
	}
	fst_put_char(text, '`');
	fst_put_unsigned(text, ntohs(in.sin_port));
}

/* Finds the first of the longest runs of zero groups. Returns its length, which may be 0 or 1. */
static int find_zeros(const uint16_t *groups, int *begin)
{
	int longest = 0;

	for (int i = 0, run = 0; i < 8; i++) {
		run = groups[i] ? 0 : run + 1;
		if (run > longest) {
			longest = run;
			*begin = i - run + 1;
		}
	}
	return longest;
}

static void put_inet6(struct fst_text *text, const void *address)
{
	struct sockaddr_in6 in6;
	uint16_t groups[8];
	int begin = 8;

	memcpy(&in6, address, sizeof(in6));
	for (int i = 0; i < 8; i++)
		groups[i] = in6.sin6_addr.s6_addr[2 * i] << 8 | in6.sin6_addr.s6_addr[2 * i + 1];

	int nr_zeros = find_zeros(groups, &begin);

	fst_put_word(text, "AF_INET6`");
	for (int i = 0; i < 8; i++) {
		if (i == begin) {
			fst_put_word(text, "::");
			i += nr_zeros - 1;
			continue;
		}
		if (i && i != begin + nr_zeros)
			fst_put_char(text, ':');
		fst_put_hex(text, groups[i]);
	}
	fst_put_char(text, '`');
	fst_put_unsigned(text, ntohs(in6.sin6_port));
}

static void put_unix(struct fst_text *text, const char *path, size_t len)
{
	if (len == 0) {
		fst_put_word(text, "AF_UNIX`unnamed");
	} else if (!path[0]) {
		fst_put_word(text, "AF_UNIX`abstract`");
		fst_put_encoded(text, path + 1, len - 1);
	} else {
		/* A path without a NUL fills the whole address, and is shown as bad. */
		fst_put_word(text, memchr(path, '\0', len) ? "AF_UNIX`" : "AF_UNIX`bad`");
		fst_put_encoded(text, path, strnlen(path, len));
	}
}

void fst_put_address(struct fst_text *text, const void *address, size_t len)
{
	sa_family_t family = AF_UNSPEC;

	if (!address) {
		fst_put_char(text, '-');
		return;
	}
	if (len >= sizeof(family))
		memcpy(&family, (const char *)address + offsetof(struct sockaddr, sa_family),
		       sizeof(family));
	if (family == AF_INET && len >= sizeof(struct sockaddr_in)) {
		put_inet(text, address);
	} else if (family == AF_INET6 && len >= sizeof(struct sockaddr_in6)) {
		put_inet6(text, address);
	} else if (family == AF_UNIX && len >= PATH_AT) {
		put_unix(text, (const char *)address + PATH_AT, len - PATH_AT);
	} else {
		fst_put_word(text, "OTHER`");
		fst_put_octets(text, address, len);
	}
}
