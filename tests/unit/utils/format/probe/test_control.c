/*
 * The codec of the control channel: packets that are messages, the table of handlers, and
 * addresses.
 */
#include "tests/unit/lib/unit.h"
#include "tests/lib/verdict.h"

#include "utils/base/compiler.h"
#include "utils/format/callables.h"
#include "utils/format/probe/control.h"

static union {
	char bytes[CONTROL_MSG_MAX + 1];
	struct control_header header;
	struct control_hello hello;
	struct control_module module;
	struct control_crash crash;
	struct control_error error;
} packet;

static const struct control_shape *const shapes[] = {
	&control_hello_shape,	&control_module_shape, &control_ready_shape,
	&control_welcome_shape, &control_plan_shape,   &control_crash_shape,
	&control_error_shape,	&control_status_shape, &control_status_is_shape,
	&control_working_shape,
};

static void make(const struct control_shape *shape, size_t len)
{
	memset(&packet, 0, sizeof(packet));
	control_stamp(&packet, shape->type, 0, len, 7);
}

/*
 * A message is at least as long as its type, and exactly as long as it states. Bytes after the
 * known members are ignored.
 */
TEST(lengths)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		assert_non_null(shapes[i]->name);
		for (size_t len = sizeof(struct control_header); len <= CONTROL_MSG_MAX; len++) {
			make(shapes[i], len);
			assert_int_equal(control_check(shapes[i], &packet, len),
					 len < shapes[i]->min_len ? CONTROL_MALFORMED
								  : CONTROL_TAKEN);
		}
		make(shapes[i], shapes[i]->min_len);
		for (size_t len = 0; len < shapes[i]->min_len; len++)
			assert_int_equal(control_check(shapes[i], &packet, len),
					 CONTROL_NO_MESSAGE);
		assert_int_equal(control_check(shapes[i], &packet, shapes[i]->min_len + 1),
				 CONTROL_NO_MESSAGE);
	}
}

TEST(types_differ)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(shapes); k++) {
			make(shapes[k], shapes[k]->min_len);
			assert_int_equal(control_check(shapes[i], &packet, shapes[k]->min_len),
					 i == k ? CONTROL_TAKEN : CONTROL_UNKNOWN_TYPE);
		}
	}
}

static enum control_verdict check_module(const char *bytes, size_t nr)
{
	size_t len = sizeof(struct control_module) + nr;

	make(&control_module_shape, len);
	memcpy(packet.module.path, bytes, nr);
	return control_check(&control_module_shape, &packet, len);
}

/* A path ends with a NUL, which is the last byte of the message. */
TEST(modules)
{
	assert_int_equal(check_module("", 0), CONTROL_MALFORMED);
	assert_int_equal(check_module("/", 1), CONTROL_MALFORMED);
	assert_int_equal(check_module("/bin/x", 6), CONTROL_MALFORMED);
	assert_int_equal(check_module("/bin/x", 7), CONTROL_TAKEN);
	assert_int_equal(check_module("", 1), CONTROL_TAKEN);
}

TEST(crashes)
{
	make(&control_crash_shape, sizeof(packet.crash));
	packet.crash.nr_frames = CONTROL_CRASH_FRAMES;
	assert_int_equal(control_check(&control_crash_shape, &packet, sizeof(packet.crash)),
			 CONTROL_TAKEN);
	packet.crash.nr_frames = CONTROL_CRASH_FRAMES + 1;
	assert_int_equal(control_check(&control_crash_shape, &packet, sizeof(packet.crash)),
			 CONTROL_MALFORMED);
}

static enum control_verdict check_declare(uint32_t has_common, const char *texts, size_t nr)
{
	struct control_declare *m = (struct control_declare *)&packet;

	make(&control_declare_shape, sizeof(*m) + nr);
	m->has_common = has_common;
	memcpy(m->texts, texts, nr);
	return control_check(&control_declare_shape, &packet, sizeof(*m) + nr);
}

/*
 * A declaration has an id, a format and an optional second one. Each ends with a NUL, and no byte
 * follows the last one.
 */
TEST(declarations)
{
	assert_int_equal(check_declare(0, "A\0%d", 5), CONTROL_TAKEN);
	assert_int_equal(check_declare(1, "A\0%d\0%L", 8), CONTROL_TAKEN);
	assert_int_equal(check_declare(0, "A\0", 3), CONTROL_TAKEN);
	assert_int_equal(check_declare(0, "\0%d", 4), CONTROL_MALFORMED);
	assert_int_equal(check_declare(1, "A\0%d", 5), CONTROL_MALFORMED);
	assert_int_equal(check_declare(0, "A\0%d\0%L", 8), CONTROL_MALFORMED);
	assert_int_equal(check_declare(2, "A\0%d\0%L\0", 9), CONTROL_MALFORMED);
	assert_int_equal(check_declare(0, "A\0%dx", 5), CONTROL_MALFORMED);
}

static enum control_verdict check_callable(const char *texts, size_t nr)
{
	struct control_callable *m = (struct control_callable *)&packet;

	make(&control_callable_shape, sizeof(*m) + nr);
	memcpy(m->texts, texts, nr);
	return control_check(&control_callable_shape, &packet, sizeof(*m) + nr);
}

/* A function has a name and a file, which may be empty, and an address outside of all programs. */
TEST(callables)
{
	struct control_callable_is *m = (struct control_callable_is *)&packet;

	assert_int_equal(check_callable("f\0a.py", 7), CONTROL_TAKEN);
	assert_int_equal(check_callable("f\0", 3), CONTROL_TAKEN);
	assert_int_equal(check_callable("\0a", 3), CONTROL_MALFORMED);
	assert_int_equal(check_callable("f", 2), CONTROL_MALFORMED);
	assert_int_equal(check_callable("f\0a\0b", 6), CONTROL_MALFORMED);
	assert_int_equal(check_callable("f\0ab", 4), CONTROL_MALFORMED);
	make(&control_callable_is_shape, sizeof(*m));
	m->addr = CALLABLES_END - 1;
	assert_int_equal(control_check(&control_callable_is_shape, &packet, sizeof(*m)),
			 CONTROL_TAKEN);
	m->addr = CALLABLES_END;
	assert_int_equal(control_check(&control_callable_is_shape, &packet, sizeof(*m)),
			 CONTROL_MALFORMED);
}

TEST(numbers_of_events)
{
	static const struct {
		uint32_t event;
		enum control_verdict verdict;
	} cases[] = {
		{ 0, CONTROL_TAKEN },	       { 1, CONTROL_MALFORMED },
		{ 999999, CONTROL_MALFORMED }, { 1000000, CONTROL_TAKEN },
		{ 1998999, CONTROL_TAKEN },    { 1999000, CONTROL_MALFORMED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct control_declared *m = (struct control_declared *)&packet;

		make(&control_declared_shape, sizeof(*m));
		m->event = cases[i].event;
		assert_int_equal(control_check(&control_declared_shape, &packet, sizeof(*m)),
				 cases[i].verdict);
	}
}

static enum control_verdict check_ready(size_t len)
{
	return control_check(&control_ready_shape, &packet, len);
}

TEST(headers)
{
	const size_t len = sizeof(struct control_ready);

	make(&control_ready_shape, len);
	packet.header.magic++;
	assert_int_equal(check_ready(len), CONTROL_NO_MESSAGE);
	make(&control_ready_shape, len);
	packet.header.version++;
	assert_int_equal(check_ready(len), CONTROL_OTHER_VERSION);
	packet.header.version -= 2;
	assert_int_equal(check_ready(len), CONTROL_OTHER_VERSION);
	/* The message has another version, so only its first six bytes have a known meaning. */
	assert_int_equal(check_ready(6), CONTROL_OTHER_VERSION);
	assert_int_equal(check_ready(5), CONTROL_NO_MESSAGE);
	make(&control_ready_shape, len);
	packet.header.flags = 0xffff;
	packet.header.seq = UINT32_MAX;
	assert_int_equal(check_ready(len), CONTROL_TAKEN);
}

/* --- tables --- */

enum {
	FIRST = 1,
	SECOND
};

/* The handler of the messages: notes the length of the taken one. */
static unsigned take(void *context, const void *message, size_t len)
{
	*(size_t *)context = len;
	return SECOND;
}

static const struct control_row rows[] = {
	{ &control_ready_shape, CONTROL_IN(FIRST), take },
	{ &control_crash_shape, CONTROL_IN(FIRST) | CONTROL_IN(SECOND), take },
};
static const struct control_table table = { rows, ARRAY_SIZE(rows) };

static enum control_verdict take_from(unsigned *state, size_t len)
{
	size_t taken = 0;
	unsigned before = *state;
	enum control_verdict verdict = control_take(&table, state, &taken, &packet, len);

	/* Only for a message that is taken, the handler is called and the state changes. */
	assert_int_equal(taken, verdict == CONTROL_TAKEN ? len : 0);
	assert_int_equal(*state, verdict == CONTROL_TAKEN ? SECOND : before);
	return verdict;
}

TEST(tables)
{
	const size_t len = sizeof(struct control_ready);
	unsigned at = FIRST;

	make(&control_ready_shape, len);
	assert_int_equal(take_from(&at, len), CONTROL_TAKEN);
	assert_int_equal(take_from(&at, len), CONTROL_OUT_OF_PLACE);
	packet.header.version++;
	assert_int_equal(take_from(&at, len), CONTROL_OTHER_VERSION);
	make(&control_crash_shape, len);
	assert_int_equal(take_from(&at, len), CONTROL_MALFORMED);
	/* A known message is not skipped, even if it is optional. */
	packet.header.flags = CONTROL_OPTIONAL;
	assert_int_equal(take_from(&at, len), CONTROL_MALFORMED);
	make(&control_crash_shape, sizeof(packet.crash));
	assert_int_equal(take_from(&at, sizeof(packet.crash)), CONTROL_TAKEN);
	make(&control_plan_shape, len);
	assert_int_equal(take_from(&at, len), CONTROL_UNKNOWN_TYPE);
	packet.header.flags = CONTROL_ANSWER;
	assert_int_equal(take_from(&at, len), CONTROL_UNKNOWN_TYPE);
	packet.header.flags = CONTROL_OPTIONAL | CONTROL_ANSWER;
	assert_int_equal(take_from(&at, len), CONTROL_SKIPPED);
	/* Bytes that are not a message are not skipped, even if the header says "optional". */
	assert_int_equal(take_from(&at, len + 1), CONTROL_NO_MESSAGE);
	assert_int_equal(take_from(&at, len - 1), CONTROL_NO_MESSAGE);
}

TEST(errors_name_what_they_are_about)
{
	make(&control_plan_shape, 100);

	struct control_error error = control_error_about(&packet, CONTROL_UNKNOWN_TYPE);

	assert_int_equal(control_check(&control_error_shape, &error, sizeof(error)), CONTROL_TAKEN);
	assert_int_equal(error.h.seq, 7);
	assert_int_equal(error.h.flags, CONTROL_ANSWER);
	assert_int_equal(error.type, CONTROL_PLAN);
	assert_int_equal(error.verdict, CONTROL_UNKNOWN_TYPE);
}

/*
 * If a HELLO has another version, this version is believed only if the message has the secret. The
 * secret is at the same place in all versions.
 */
TEST(other_versions)
{
	static const uint8_t secret[CONTROL_SECRET_BYTES] = { 1, 2, 3 };
	const size_t len = offsetof(struct control_hello, token);

	make(&control_hello_shape, sizeof(packet.hello));
	memcpy(packet.hello.secret, secret, sizeof(secret));
	assert_int_equal(control_other_version(&packet, sizeof(packet.hello), secret), 0);
	packet.header.version = 5;
	packet.header.len = 0; /* version 5 had no length */
	assert_int_equal(control_other_version(&packet, 64, secret), 5);
	assert_int_equal(control_other_version(&packet, len, secret), 5);
	assert_int_equal(control_other_version(&packet, len - 1, secret), 0);
	packet.header.type = CONTROL_READY;
	assert_int_equal(control_other_version(&packet, len, secret), 0);
	packet.header.type = CONTROL_HELLO;
	packet.header.magic++;
	assert_int_equal(control_other_version(&packet, len, secret), 0);
	packet.header.magic--;
	packet.hello.secret[15] ^= 1;
	assert_int_equal(control_other_version(&packet, len, secret), 0);
}

static size_t parse(const char *name, const char *hex, uint8_t secret[CONTROL_SECRET_BYTES])
{
	char address[512];

	snprintf(address, sizeof(address), "%s%s", name, hex);
	return control_address_parse(address, secret);
}

/* An address is "name:secret", without any byte before, between or after these. */
TEST(addresses)
{
	char hex[2 * CONTROL_SECRET_BYTES + 2] = "";
	char longest[CONTROL_NAME_SIZE + 2] = "";
	uint8_t secret[CONTROL_SECRET_BYTES];
	uint8_t other[CONTROL_SECRET_BYTES];

	for (size_t i = 0; i < CONTROL_SECRET_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned)(0x9a + 0x11 * i) & 0xff);
	assert_int_equal(parse("utrail:", hex, secret), 6);
	for (size_t i = 0; i < CONTROL_SECRET_BYTES; i++)
		assert_int_equal(secret[i], (0x9a + 0x11 * i) & 0xff);
	memcpy(other, secret, sizeof(other));
	assert_true(control_secret_is(secret, other));
	for (size_t i = 0; i < CONTROL_SECRET_BYTES; i++) {
		other[i] ^= 1;
		assert_false(control_secret_is(secret, other));
		other[i] ^= 1;
	}

	assert_int_equal(parse("utrail", hex, secret), 0);
	assert_int_equal(parse("utrail:", "", secret), 0);
	assert_int_equal(parse("utrail:", hex + 1, secret), 0);
	for (size_t i = 0; i < 2 * CONTROL_SECRET_BYTES; i++) {
		char kept = hex[i];

		for (const char *wrong = "/:`g@G "; *wrong; wrong++) {
			hex[i] = *wrong;
			assert_int_equal(parse("utrail:", hex, secret), 0);
		}
		hex[i] = kept;
	}
	strcat(hex, "0");
	assert_int_equal(parse("utrail:", hex, secret), 0);
	hex[2 * CONTROL_SECRET_BYTES] = '\0';

	memset(longest, 'n', CONTROL_NAME_SIZE);
	longest[CONTROL_NAME_SIZE - 1] = ':';
	assert_int_equal(parse(longest, hex, secret), CONTROL_NAME_SIZE - 1);
	longest[CONTROL_NAME_SIZE - 1] = 'n';
	longest[CONTROL_NAME_SIZE] = ':';
	assert_int_equal(parse(longest, hex, secret), 0);
}

#define SECRET "000102030405060708090a0b0c0d0e0f"

/* The number of filters at the end of an address has five digits. */
TEST(filters_of_addresses)
{
	static const struct {
		const char *address;
		size_t name_len;
		unsigned filters;
		const char *more;
	} cases[] = {
		{ "name:" SECRET, 4, 0, NULL },
		{ "name:" SECRET ":00000", 4, 0, "name:" SECRET ":00001" },
		{ "name:" SECRET ":00041", 4, 41, "name:" SECRET ":00042" },
		{ "name:" SECRET ":00109", 4, 109, "name:" SECRET ":00110" },
		{ "name:" SECRET ":09999", 4, 9999, "name:" SECRET ":10000" },
		{ "name:" SECRET ":12345", 4, 12345, "name:" SECRET ":12346" },
		{ "name:" SECRET ":89999", 4, 89999, "name:" SECRET ":90000" },
		{ "name:" SECRET ":99999", 4, 99999, "name:" SECRET ":00000" },
		{ "name:" SECRET ":0041", 0, 0, NULL },
		{ "name:" SECRET ":000041", 0, 0, NULL },
		{ "name:" SECRET ":0004/", 0, 0, NULL },
		{ "name:" SECRET ":0004:", 0, 0, NULL },
		{ "name:" SECRET ":x0041", 0, 0, NULL },
		{ "name:" SECRET ";00041", 0, 0, NULL },
		{ "name:" SECRET ":", 0, 0, NULL },
		{ "12345", 0, 0, NULL },
		{ ":12345", 0, 12345, ":12346" },
		{ "1234", 0, 0, NULL },
		{ "", 0, 0, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t secret[CONTROL_SECRET_BYTES];
		char *address = exact_copy(cases[i].address, strlen(cases[i].address) + 1);

		assert_int_equal(control_address_parse(address, secret), cases[i].name_len);
		assert_int_equal(control_address_filters(address), cases[i].filters);
		control_address_add_filter(address);
		assert_string_equal(address, cases[i].more ? cases[i].more : cases[i].address);
		free(address);
	}
}
