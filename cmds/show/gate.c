/*
 * Decides which requests the server of `utrail show` answers (see gate.h, doc/internals/show.md).
 */
#include "cmds/show/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define TICKET_PATH "/open/"

static int make_secret(char secret[GATE_SECRET_BYTES], struct uft_err *err)
{
	unsigned char random[(GATE_SECRET_BYTES - 1) / 2];

	/* getrandom(2) fills a buffer of up to 256 bytes either completely or not at all. */
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_set_errno(err, errno ? -errno : -EIO, "cannot make a secret");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(secret + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int gate_init(struct gate *gate, struct uft_err *err)
{
	int ret = make_secret(gate->token, err);

	return ret < 0 ? ret : make_secret(gate->ticket, err);
}

/*
 * True when the text begins with the secret. The comparison takes the same time for all texts that
 * are long enough, so that its duration tells nothing about the secret.
 */
static bool begins_with_secret(const char *text, const char *secret)
{
	const size_t len = GATE_SECRET_BYTES - 1;
	unsigned char differs = 0;

	if (strnlen(text, len) < len)
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)text[i] ^ (unsigned char)secret[i];
	return differs == 0;
}

/*
 * True for "127.0.0.1:PORT" and "localhost:PORT". Other names are refused, even if DNS resolves
 * them to this machine.
 */
static bool is_our_host(const struct gate *gate, const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char ours[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(ours, sizeof(ours), "%s:%u", names[i], gate->port);
		/* Browsers leave out the default port of HTTP. */
		if (strcasecmp(host, ours) == 0 ||
		    (gate->port == 80 && strcasecmp(host, names[i]) == 0))
			return true;
	}
	return false;
}

/*
 * True for requests from the server's own pages. Requests from pages of other sites in the same
 * browser are refused.
 */
static bool comes_from_us(const struct gate *gate, const struct gate_request *request)
{
	static const char scheme[] = "http://";
	const char *site = request->site, *origin = request->origin;

	if (request->is_twice || !request->host || !is_our_host(gate, request->host))
		return false;
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return false;
	return !origin || (strncmp(origin, scheme, sizeof(scheme) - 1) == 0 &&
			   is_our_host(gate, origin + sizeof(scheme) - 1));
}

static bool may_use_ticket(struct gate *gate, const char *path)
{
	const size_t len = sizeof(TICKET_PATH) - 1;

	return strncmp(path, TICKET_PATH, len) == 0 &&
	       begins_with_secret(path + len, gate->ticket) && !path[len + GATE_SECRET_BYTES - 1] &&
	       !atomic_exchange(&gate->is_used, true);
}

enum gate_answer gate_judge(struct gate *gate, const struct gate_request *request,
			    const char **rest)
{
	const char *path = request->path;
	bool reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;

	if (!comes_from_us(gate, request) || path[0] != '/')
		return GATE_FORBIDDEN;
	if (strcmp(request->method, "GET") == 0 && may_use_ticket(gate, path))
		return GATE_TICKET;
	if (!begins_with_secret(path + 1, gate->token))
		return GATE_FORBIDDEN;
	*rest = path + GATE_SECRET_BYTES;
	if (**rest != '/')
		return GATE_FORBIDDEN;
	return reads ? GATE_OPEN : GATE_METHOD;
}
