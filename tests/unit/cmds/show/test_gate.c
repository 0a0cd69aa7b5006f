/* cmds/show/gate.c: the requests that are let in. */
#include <stdio.h>
#include <string.h>

#include "cmds/show/gate.h"
#include "tests/unit/lib/unit.h"

static struct gate gate;
static char path[128];

static struct gate_request a_request(const char *rest)
{
	if (!gate.port) {
		assert_int_equal(gate_init(&gate, NULL), 0);
		gate.port = 4321;
	}
	snprintf(path, sizeof(path), "/%s%s", gate.token, rest);
	return (struct gate_request){ .method = "GET", .path = path, .host = "127.0.0.1:4321" };
}

static enum gate_answer answer(struct gate_request request)
{
	const char *rest = NULL;
	enum gate_answer answer = gate_judge(&gate, &request, &rest);

	assert_int_equal(rest && rest[0] == '/', answer == GATE_OPEN || answer == GATE_METHOD);
	return answer;
}

TEST(secrets_are_new_each_time)
{
	struct gate one = { 0 }, other = { 0 };

	assert_int_equal(gate_init(&one, NULL), 0);
	assert_int_equal(gate_init(&other, NULL), 0);
	assert_int_equal(strspn(one.token, "0123456789abcdef"), 32);
	assert_string_not_equal(one.token, one.ticket);
	assert_string_not_equal(one.token, other.token);
}

TEST(the_token_opens)
{
	struct gate_request request = a_request("/0/part");
	const char *rest;

	assert_int_equal(gate_judge(&gate, &request, &rest), GATE_OPEN);
	assert_string_equal(rest, "/0/part");
	request.method = "HEAD";
	assert_int_equal(answer(request), GATE_OPEN);
	request.host = "LocalHost:4321";
	assert_int_equal(answer(request), GATE_OPEN);
	request.origin = "http://localhost:4321";
	request.site = "same-origin";
	assert_int_equal(answer(request), GATE_OPEN);
	request.site = "none";
	assert_int_equal(answer(request), GATE_OPEN);
}

TEST(another_token_does_not)
{
	struct gate_request request = a_request("/0/");
	static const char *const wrong[] = {
		"", "/", "/0/", "//", "/00000000000000000000000000000000/0/", "/open/", "x",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		request.path = wrong[i];
		assert_int_equal(answer(request), GATE_FORBIDDEN);
	}
	/* Each digit of the token counts, and so does the slash after it. */
	for (size_t i = 1; i <= 33; i++) {
		request = a_request("/0/");
		path[i] ^= 1;
		assert_int_equal(answer(request), GATE_FORBIDDEN);
	}
	request = a_request("");
	assert_int_equal(answer(request), GATE_FORBIDDEN);
	request = a_request("/0/");
	path[20] = '\0';
	assert_int_equal(answer(request), GATE_FORBIDDEN);
}

TEST(names_that_lead_here_are_not_ours)
{
	static const char *const wrong[] = {
		"evil.example:4321",
		"127.0.0.1",
		"127.0.0.1:4322",
		"localhost",
		"",
		"127.0.0.1:4321 ",
		"127.0.0.1:04321",
		"127.0.0.1.evil.example:4321",
	};
	struct gate_request request = a_request("/0/");

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		request.host = wrong[i];
		assert_int_equal(answer(request), GATE_FORBIDDEN);
	}
	request.host = NULL;
	assert_int_equal(answer(request), GATE_FORBIDDEN);
}

TEST(of_the_port_of_http_nobody_writes_the_number)
{
	struct gate_request request = a_request("/0/");

	gate.port = 80;
	request.host = "localhost";
	assert_int_equal(answer(request), GATE_OPEN);
	gate.port = 4321;
}

TEST(other_pages_may_not_ask)
{
	static const char *const sites[] = { "cross-site", "same-site", "", "x" };
	static const char *const origins[] = {
		"null", "https://127.0.0.1:4321", "http://evil.example", "http://localhost:1", "",
	};

	for (size_t i = 0; i < ARRAY_SIZE(sites); i++) {
		struct gate_request request = a_request("/0/");

		request.site = sites[i];
		assert_int_equal(answer(request), GATE_FORBIDDEN);
	}
	for (size_t i = 0; i < ARRAY_SIZE(origins); i++) {
		struct gate_request request = a_request("/0/");

		request.origin = origins[i];
		assert_int_equal(answer(request), GATE_FORBIDDEN);
	}
}

TEST(two_hosts_are_none)
{
	struct gate_request request = a_request("/0/");

	request.is_twice = true;
	assert_int_equal(answer(request), GATE_FORBIDDEN);
}

TEST(nothing_is_written)
{
	static const char *const methods[] = {
		"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get"
	};

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		struct gate_request request = a_request("/0/");

		request.method = methods[i];
		assert_int_equal(answer(request), GATE_METHOD);
		/* Without a token, the answer does not reveal which methods are allowed. */
		request.path = "/";
		assert_int_equal(answer(request), GATE_FORBIDDEN);
	}
}

TEST(a_ticket_is_good_once)
{
	struct gate_request request = a_request("/0/");

	snprintf(path, sizeof(path), "/open/%sx", gate.ticket);
	assert_int_equal(answer(request), GATE_FORBIDDEN);
	snprintf(path, sizeof(path), "/open/%s", gate.ticket);
	request.method = "HEAD";
	assert_int_equal(answer(request), GATE_FORBIDDEN);
	request.method = "GET";
	request.host = "evil.example:4321";
	assert_int_equal(answer(request), GATE_FORBIDDEN);
	request.host = "localhost:4321";
	assert_int_equal(answer(request), GATE_TICKET);
	assert_int_equal(answer(request), GATE_FORBIDDEN);
	/* The ticket is not a token. */
	snprintf(path, sizeof(path), "/%s/0/", gate.ticket);
	assert_int_equal(answer(request), GATE_FORBIDDEN);
}
