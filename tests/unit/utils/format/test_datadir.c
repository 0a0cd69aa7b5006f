/* The files that belong to a recording. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/format/datadir.h"
#include "utils/format/probe/request.h"

TEST(known)
{
	static const char *const names[] = {
		"info",
		"task.txt",
		"default.opts",
		"sid-0123456789abcdef.map",
		"p.sym",
		"libc.so.6.sym",
		"p-0a1b.sym",
		"libc.so.6.dbg",
		"1.dat",
		"4194304.dat",
		"17.cdat",
		"perf-cpu0.dat",
		"kernel-cpu127.dat",
		"kallsyms",
		"kernel_header",
		"events.txt",
		"left-out.txt",
		"extern.dat",
		"note.txt",
		".channel",
		".info.tmp",
		".task.txt.tmp",
		".17.dat.tmp",
		".default.opts.tmp",
		".libc.so.6.sym.tmp",
		"task",
		"\x1b[5m.sym",
		".hidden.sym",
		"events.def",
		"17.evt",
		"0.dat",
		"proc.dat",
		"sid-09azAZ0123456789.map",
		"a.dbg",
		".a.dbg.tmp",
		".0.dat.tmp",
		REQUEST_DOOR_NAME,
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(datadir_has_name(names[i]));
}

TEST(unknown)
{
	static const char *const names[] = {
		"",
		".",
		"..",
		".tmp",
		"..tmp",
		"precious",
		"info.bak",
		"infox",
		"xinfo",
		".info",
		"info.tmp",
		".sym",
		".dat",
		"a.dat",
		"a.cdat",
		"17.ccdat",
		"1a.dat",
		"-1.dat",
		"perf-cpu.dat",
		"perf-cpu0.dat~",
		"sid-0123456789abcde.map",
		"sid-0123456789abcdef0.map",
		"sid-0123456789abcde/.map",
		"task.txt.old",
		"p.map",
		".precious.tmp",
		"default.opts.orig",
		"p.c",
		"core",
		"sid-0123456789abcd-f.map",
		"sid--123456789abcdef.map",
		"sid-.map",
		"sid-0123456789abcdef",
		"kernel-cpu.dat",
		"kernel-cpu1",
		"kernel-cpux1.dat",
		"17.evt2",
		"x17.evt",
		"events.de",
		"vents.def",
		".a.tm",
		".a.tmp",
		"xinfo.tmp",
		".dbg",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_false(datadir_has_name(names[i]));
}

/* The files of a task are named by its number. */
TEST(numbers_of_tasks)
{
	static const struct {
		const char *name;
		int32_t records;
		int32_t compact;
	} cases[] = {
		{ "17.dat", 17, 0 },	    { "17.cdat", 0, 17 },
		{ "0.dat", 0, 0 },	    { "2147483647.dat", 2147483647, 0 },
		{ "2147483648.dat", 0, 0 }, { "-1.dat", 0, 0 },
		{ "+1.dat", 0, 0 },	    { " 1.dat", 0, 0 },
		{ "/1.dat", 0, 0 },	    { ":1.dat", 0, 0 },
		{ "9.dat", 9, 0 },	    { "17.dat.tmp", 0, 0 },
		{ "17.da", 0, 0 },	    { "17", 0, 0 },
		{ ".dat", 0, 0 },	    { "", 0, 0 },
		{ "017.cdat", 0, 17 },	    { "17x.dat", 0, 0 },
		{ "x17.dat", 0, 0 },	    { "17.cdatx", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(datadir_records_tid(cases[i].name), cases[i].records);
		assert_int_equal(datadir_compact_tid(cases[i].name), cases[i].compact);
	}
}

TEST(private_names)
{
	assert_true(datadir_is_private(REQUEST_DOOR_NAME));
	assert_false(datadir_is_private("info"));
	assert_false(datadir_is_private(""));
}
