/* Packets of the control channel: which are messages, and which are not. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/format/control.h"

static union {
	char bytes[CONTROL_MSG_MAX];
	struct control_header header;
	struct control_module module;
	struct control_crash crash;
} packet;

static void check(enum control_type type, size_t len, int expected)
{
	packet.header = control_header(type);
	assert_int_equal(control_check(&packet, len), expected);
}

/* Just as long as it is. */
static void lengths(void **state)
{
	static const struct {
		enum control_type type;
		size_t len;
	} messages[] = {
		{ CONTROL_HELLO, sizeof(struct control_hello) },
		{ CONTROL_READY, sizeof(struct control_ready) },
		{ CONTROL_WELCOME, sizeof(struct control_welcome) },
		{ CONTROL_PLAN, sizeof(struct control_plan) },
		{ CONTROL_CRASH, sizeof(struct control_crash) },
	};

	memset(&packet, 0, sizeof(packet));
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		for (size_t len = 0; len <= sizeof(packet); len++)
			check(messages[i].type, len, len == messages[i].len ? messages[i].type : 0);
	}
}

static void modules(void **state)
{
	memset(&packet, 0, sizeof(packet));
	strcpy(packet.module.path, "/bin/x");
	check(CONTROL_MODULE, sizeof(struct control_module), 0);
	check(CONTROL_MODULE, sizeof(struct control_module) + 1, 0);
	check(CONTROL_MODULE, sizeof(struct control_module) + 6, 0);
	check(CONTROL_MODULE, sizeof(struct control_module) + 7, CONTROL_MODULE);
	packet.module.path[0] = '\0';
	check(CONTROL_MODULE, sizeof(struct control_module) + 1, CONTROL_MODULE);
}

static void crashes(void **state)
{
	memset(&packet, 0, sizeof(packet));
	packet.crash.nr_frames = CONTROL_CRASH_FRAMES;
	check(CONTROL_CRASH, sizeof(packet.crash), CONTROL_CRASH);
	packet.crash.nr_frames = CONTROL_CRASH_FRAMES + 1;
	check(CONTROL_CRASH, sizeof(packet.crash), 0);
}

static void headers(void **state)
{
	const size_t len = sizeof(struct control_ready);

	memset(&packet, 0, sizeof(packet));
	packet.header = control_header(CONTROL_READY);
	packet.header.magic++;
	assert_int_equal(control_check(&packet, len), 0);
	packet.header = control_header(CONTROL_READY);
	packet.header.version++;
	assert_int_equal(control_check(&packet, len), 0);
	packet.header.version -= 2;
	assert_int_equal(control_check(&packet, len), 0);
	packet.header = control_header(0);
	assert_int_equal(control_check(&packet, len), 0);
	packet.header = control_header(1000);
	assert_int_equal(control_check(&packet, len), 0);
}

static size_t parse(const char *name, const char *hex, uint8_t secret[CONTROL_SECRET_BYTES])
{
	char address[512];

	snprintf(address, sizeof(address), "%s%s", name, hex);
	return control_address_parse(address, secret);
}

/* "name:secret", and nothing before, between or behind. */
static void addresses(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths), cmocka_unit_test(modules),	cmocka_unit_test(crashes),
		cmocka_unit_test(headers), cmocka_unit_test(addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
