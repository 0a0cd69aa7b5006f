/* events.def: which events programs have declared; what is damaged in it is passed over, and nothing is made up. */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/format/event_data.h"
#include "utils/trace/declared.h"

static char dir[64];

static int setup(void **state)
{
	strcpy(dir, "/tmp/utrail-unit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	unlink(path);
	return rmdir(dir);
}

static void load(struct declared_events *declared, const char *text)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	close(fd);
	assert_int_equal(declared_events_load(declared, dir, NULL), 0);
}

static void names_and_fields(void **state)
{
	struct declared_events declared = { 0 };
	const struct declared_event *event;

	load(&declared, "CLOCK: -12\n"
			"DECLARED: 1000003 fstrace C C=%25d X=%25d\n"
			"DECLARED: 1000001 fstrace A+B %00 N=%25s+K=%25d\n"
			"DECLARED: 1000002 fstrace %41%6a%6A%2b %00 %\n"
			"DECLARED: 1000004 line L K1,K2\n");
	assert_int_equal(declared.nr, 4);
	assert_int_equal(declared.offset_ns, -12);
	event = declared_events_find(&declared, 1000001);
	assert_string_equal(event->name, "A B");
	assert_int_equal(event->nr_fields, 2);
	assert_string_equal(event->fields[1].name, "K");
	assert_null(event->common);
	event = declared_events_find(&declared, 1000002);
	assert_string_equal(event->name, "Ajj+");
	assert_int_equal(event->nr_fields, 0);
	event = declared_events_find(&declared, 1000003);
	assert_int_equal(event->nr_fields, 2);
	assert_string_equal(event->fields[0].name, "C");
	assert_true(declared_events_find(&declared, 1000004)->is_line);
	assert_null(declared_events_find(&declared, 1000005));
	declared_events_deinit(&declared);
}

/* One bad line at a time, between two that are good. */
static void what_is_no_event(void **state)
{
	static const char *const bad[] = {
		"DECLARED: 2 fstrace x%zz %00 X=%25d",
		"DECLARED: 2 fstrace x%4g %00 X=%25d",
		"DECLARED: 2 fstrace x%4 %00 X=%25d",
		"DECLARED: 2 fstrace x%00y %00 X=%25d",
		"DECLARED: 2 fstrace %00 %00 X=%25d",
		"DECLARED: 2 fstrace x %00 %00",
		"DECLARED: 2 fstrace x %00",
		"DECLARED: 2 fstrace  %00 X=%25d",
		"DECLARED: 2 another x %00 X=%25d",
		"DECLARED: x fstrace x %00 X=%25d",
		"DECLARED: 2 line x",
		"SOMETHING: 2",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct declared_events declared = { 0 };
		char text[256];

		snprintf(text, sizeof(text),
			 "DECLARED: 1 fstrace A %%00 X=%%25d\n%s\nDECLARED: 3 fstrace C %%00 X\n",
			 bad[i]);
		load(&declared, text);
		assert_non_null(declared_events_find(&declared, 1));
		assert_null(declared_events_find(&declared, 2));
		assert_non_null(declared_events_find(&declared, 3));
		declared_events_deinit(&declared);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_and_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_event, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
