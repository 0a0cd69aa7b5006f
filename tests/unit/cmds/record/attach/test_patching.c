/* Hooks that come and go in a simulated process: the messages, the writes, and the waits. */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>
#include <sys/syscall.h>

#define FOUND	     "open maps gadgets maps "
#define MEET	     "maps quiet make-room CHANGES read text-read"
#define MEET_NOTHING "maps quiet make-room CHANGES text-read"
#define MET	     " drop-room let-go"
#define BIAS	     0x40000

static const struct attach_how how = { .wait = scripted_wait, .wait_arg = &scripted };
static struct uft_err err;
static struct process_patches patches;
static struct attach_patches job;

/* The functions whose ends attach_patch() last asked to take out. */
static char ends_asked[128];
static int ends_result;

int __wrap_attaching_take_ends_out(struct attaching *a, const struct process_patches *of,
				   struct text *text, struct uft_err *why);
int __wrap_attaching_take_ends_out(struct attaching *a, const struct process_patches *of,
				   struct text *text, struct uft_err *why)
{
	size_t at = 1;

	assert_ptr_equal(of, &patches);
	strcpy(ends_asked, "*");
	for (size_t i = 0; i < text->nr; i++)
		at += sprintf(ends_asked + at, "%llx", (unsigned long long)text->changes[i].site);
	return ends_result;
}

static int setup(void **state)
{
	scripted_begin();
	scripted.has_probe = true;
	err_clear(&err);
	patches = (struct process_patches){ 0 };
	job = (struct attach_patches){ .patches = &patches, .nr_left = 99 };
	ends_asked[0] = '\0';
	ends_result = 0;
	return 0;
}

static int teardown(void **state)
{
	process_patches_deinit(&patches);
	return 0;
}

/* Adds a place that the probe knows; 'a' stands for the address 0xa. @flags: those of the change */
static void known(unsigned site, unsigned flags, bool is_in)
{
	scripted.changes[scripted.nr_changes] = (struct attach_change){ .site = site,
									.flags = flags };
	scripted.in |= (uint64_t)is_in << scripted.nr_changes;
	scripted.nr_changes++;
}

/* Adds a site that can be patched. */
static void possible(uint64_t site, unsigned flags, bool is_wanted)
{
	struct plan_patch patch = {
		.load_bias = BIAS,
		.site = site,
		.what = PATCH_ENTRY,
		.flags = flags,
		.bytes = PLAN_PATCH_JUMP,
	};

	strbuf_add(&patches.all, &patch, sizeof(patch));
	if (!plan_patch_has_no_text(flags))
		strbuf_add(&patches.sites, &site, sizeof(site));
	if (is_wanted)
		strbuf_add(&patches.wanted, &site, sizeof(site));
}

static void tells_end(uint64_t site, uint64_t func)
{
	struct patch_end end = { site, func };

	strbuf_add(&patches.ends, &end, sizeof(end));
}

static int patch(void)
{
	if (scripted.nr_changes)
		scripted_answer("CHANGES", 0, 0, scripted.nr_changes);
	return attach_patch(SCRIPTED_PID, &how, &job, &err);
}

TEST_WITH(all_is_as_it_should_be, setup, teardown)
{
	known(0xa, 0, true);
	known(0xb, 0, false);
	possible(0xa, 0, true);
	possible(0xb, 0, false);
	assert_int_equal(patch(), 0);
	assert_string_equal(scripted_log(), FOUND MEET MET " close");
	assert_int_equal(job.nr_left, 0);
	assert_string_equal(ends_asked, "*");
}

TEST_WITH(nothing_to_patch, setup, teardown)
{
	assert_int_equal(patch(), 0);
	assert_string_equal(scripted_log(), FOUND MEET_NOTHING MET " close");
	assert_int_equal(job.nr_left, 0);
}

/* Old hooks are taken out before new ones are put in, while all threads are stopped. */
TEST_WITH(some_come_and_some_go, setup, teardown)
{
	known(0xa, 0, false);
	known(0xb, 0, true);
	known(0xc, 0, true);
	known(0xd, 0, false);
	possible(0xa, 0, true);
	possible(0xb, 0, false);
	possible(0xc, 0, true);
	possible(0xd, 0, false);
	assert_int_equal(patch(), 0);
	assert_string_equal(scripted_log(),
			    FOUND MEET MET " stop maps take-out(b) put-in(a) let-go close");
	assert_int_equal(scripted.in, 5);
	assert_int_equal(job.nr_left, 0);
	assert_int_equal(scripted.waits, 0);
}

/* Events of the program are not changed, and neither are places that the job does not name. */
TEST_WITH(what_is_no_hook_of_ours, setup, teardown)
{
	known(0xa, ATTACH_CHANGE_EVENT, true);
	known(0xb, 0, true);
	known(0xc, ATTACH_CHANGE_EVENT, false);
	possible(0xd, PLAN_PATCH_INNER, false);
	assert_int_equal(patch(), 0);
	assert_string_equal(scripted_log(), FOUND MEET MET " close");
	assert_int_equal(scripted.in, 3);
}

/* A hook that was put on an earlier hook leads to it, and both come and go together. */
TEST_WITH(on_the_former, setup, teardown)
{
	known(0xa, 0, true);
	known(0xb, ATTACH_CHANGE_ON_FORMER, false);
	known(0xc, 0, false);
	known(0xd, ATTACH_CHANGE_ON_FORMER, false);
	possible(0xa, 0, true);
	possible(0xb, 0, true);
	possible(0xc, 0, true);
	possible(0xd, 0, true);
	assert_int_equal(patch(), 0);
	assert_string_equal(scripted_log(),
			    FOUND MEET MET " stop maps take-out() put-in(a,b,c,d) let-go close");
}

/*
 * Threads are in the way: the writes are tried fifty times, and the places that are left are
 * counted.
 */
TEST_WITH(threads_in_the_way, setup, teardown)
{
	known(0xa, 0, false);
	known(0xb, 0, true);
	possible(0xa, 0, true);
	possible(0xb, 0, false);
	scripted_answer("take-out(b)", 0, 0, 1);
	assert_int_equal(patch(), 0);
	assert_string_equal(scripted_log(),
			    FOUND MEET MET " stop maps take-out(b) put-in(a) let-go sleep-1000"
					   " stop maps take-out(b) put-in(a) let-go close");
	assert_int_equal(scripted.waits, 1);
	assert_int_equal(job.nr_left, 0);
	assert_string_equal(ends_asked, "*");
	scripted_check_over();
}

TEST_WITH(threads_that_stay, setup, teardown)
{
	known(0xa, 0, false);
	known(0xb, 0, true);
	known(0xc, 0, false);
	possible(0xa, 0, true);
	possible(0xb, 0, false);
	possible(0xc, 0, true);
	scripted_answer_always("take-out(b)", 0, 1);
	scripted_answer_always("put-in(a,c)", 0, 2);
	assert_int_equal(patch(), 0);
	assert_int_equal(scripted.waits, 50);
	assert_int_equal(job.nr_left, 3);
	/*
	 * Some hooks at entries are still in, so more calls may begin. The hooks at ends stay, too.
	 */
	assert_string_equal(ends_asked, "");
}

/* Hooks at the ends of calls are taken out last, when none of these calls is open. */
TEST_WITH(ends_go_last, setup, teardown)
{
	known(0xa, 0, true);
	known(0xb, 0, true);
	known(0xc, 0, true);
	possible(0xa, 0, false);
	possible(0xb, 0, false);
	possible(0xc, 0, true);
	tells_end(0xb, 0xa);
	tells_end(0xc, 0xa);
	assert_int_equal(patch(), 0);
	assert_string_equal(scripted_log(),
			    FOUND MEET MET " stop maps take-out(a) put-in() let-go close");
	assert_string_equal(ends_asked, "*b");
	ends_result = -EFAULT;
	assert_int_equal(patch(), -EFAULT);
}

/* --- patches that are new to the probe --- */

TEST_WITH(it_learns, setup, teardown)
{
	const struct plan_header *image = (const struct plan_header *)scripted.room;

	possible(0xa, 0, true);
	scripted_answer("syscall-9", 0, 0, SCRIPTED_ROOM);
	assert_int_equal(attach_patch(SCRIPTED_PID, &how, &job, &err), 0);
	assert_string_equal(scripted_log(), FOUND MEET_NOTHING
			    " syscall-9 write ADOPT syscall-11 CHANGES text-read" MET " close");
	assert_int_equal(image->magic, PLAN_MAGIC);
	scripted_check_over();
}

/* Patches that belong together are told together, up to the first one that is not silent. */
TEST_WITH(together, setup, teardown)
{
	struct plan_view view = { 0 };
	const struct plan_patch *list;

	known(0xa, 0, true);
	known(0xb, 0, true);
	known(0xd, 0, true);
	possible(0xa, PLAN_PATCH_SILENT, true);
	possible(0xb, 0, true);
	possible(0xc, PLAN_PATCH_SILENT, true);
	possible(0xd, 0, true);
	possible(0xe, PLAN_PATCH_INNER | PLAN_PATCH_SILENT, false);
	possible(0xf, 0, true);
	scripted_answer("syscall-9", 0, 0, SCRIPTED_ROOM);
	assert_int_equal(patch(), 0);
	assert_int_equal(plan_open(&view, scripted.room, sizeof(scripted.room), NULL), 0);
	assert_int_equal(view.lists[PLAN_PATCHES].nr, 4);
	list = view.lists[PLAN_PATCHES].entries;
	assert_int_equal(list[0].site, 0xc);
	assert_int_equal(list[1].site, 0xd);
	assert_int_equal(list[2].site, 0xe);
	assert_int_equal(list[3].site, 0xf);
}

TEST_WITH(it_is_busy, setup, teardown)
{
	possible(0xa, 0, true);
	scripted_answer("syscall-9", 0, 0, SCRIPTED_ROOM);
	scripted_answer("syscall-9", 0, 0, SCRIPTED_ROOM);
	scripted_answer("ADOPT", 0, 0, -EAGAIN);
	assert_int_equal(attach_patch(SCRIPTED_PID, &how, &job, &err), 0);
	assert_int_equal(scripted.waits, 1);
	scripted_check_over();

	scripted_answer_always("syscall-9", 0, SCRIPTED_ROOM);
	scripted_answer_always("ADOPT", 0, -EAGAIN);
	assert_int_equal(attach_patch(SCRIPTED_PID, &how, &job, &err), -EAGAIN);
	assert_string_equal(err.text, "process 4711 is busy loading libraries");
	assert_int_equal(scripted.waits, 50);
}

static int patch_anew(void)
{
	err_clear(&err);
	scripted_log();
	return attach_patch(SCRIPTED_PID, &how, &job, &err);
}

TEST_WITH(it_does_not_learn, setup, teardown)
{
	possible(0xa, 0, true);
	scripted_answer("syscall-9", 0, 0, -ENOMEM);
	assert_int_equal(patch_anew(), -ENOMEM);
	assert_string_equal(err.text,
			    "process 4711 cannot have more memory: Cannot allocate memory");
	assert_string_equal(scripted_log(), FOUND MEET_NOTHING " syscall-9" MET " close");

	scripted_answer("syscall-9", 0, -EAGAIN - 1000, 0);
	assert_int_equal(patch_anew(), -EAGAIN - 1000);

	/* The memory for messages is unmapped after a failure, too, unless a thread is lost. */
	scripted_answer("syscall-9", 0, 0, SCRIPTED_NOWHERE);
	assert_int_equal(patch_anew(), -EIO);
	assert_string_equal(err.text,
			    "cannot write to the memory of process 4711: Input/output error");
	assert_string_equal(scripted_log(),
			    FOUND MEET_NOTHING " syscall-9 write syscall-11" MET " close");
	scripted_answer("syscall-9", 0, 0, SCRIPTED_ROOM);
	scripted_answer("ADOPT", 0, 0, -ENOSPC);
	assert_int_equal(patch_anew(), -ENOSPC);
	assert_string_equal(err.text, "cannot patch process 4711: No space left on device");
	assert_string_equal(scripted_log(),
			    FOUND MEET_NOTHING " syscall-9 write ADOPT syscall-11" MET " close");
	scripted_answer("syscall-9", 0, 0, SCRIPTED_ROOM);
	scripted_answer("ADOPT", 0, -ETIMEDOUT, 0);
	assert_int_equal(patch_anew(), -ETIMEDOUT);
	assert_string_equal(scripted_log(),
			    FOUND MEET_NOTHING " syscall-9 write ADOPT let-go close");
	scripted_check_over();
}

TEST_WITH(failures, setup, teardown)
{
	known(0xa, 0, false);
	possible(0xa, 0, true);
	scripted_answer("open", 0, -EPERM, 0);
	assert_int_equal(patch(), -EPERM);
	assert_int_equal(job.nr_left, 0);
	scripted_log();

	/* Reading the maps fails before the threads are stopped, and while they are. */
	err_clear(&err);
	scripted_answer("maps", 2, -ESRCH, 0);
	assert_int_equal(attach_patch(SCRIPTED_PID, &how, &job, &err), -ESRCH);
	assert_string_equal(err.text, "cannot read the maps of process 4711: No such process");
	assert_string_equal(scripted_log(), FOUND "maps close");
	err_clear(&err);
	scripted_answer("maps", 3, -ESRCH, 0);
	assert_int_equal(attach_patch(SCRIPTED_PID, &how, &job, &err), -ESRCH);
	assert_string_equal(err.text, "cannot read the maps of process 4711: No such process");
	assert_string_equal(scripted_log(), FOUND MEET MET " stop maps let-go close");
	assert_int_equal(job.nr_left, 1);

	scripted_answer("stop", 0, -EBUSY, 0);
	assert_int_equal(patch(), -EBUSY);
	assert_string_equal(scripted_log(), FOUND MEET MET " stop close");
	assert_string_equal(ends_asked, "");

	err_clear(&err);
	scripted.has_probe = false;
	assert_int_equal(patch(), -ESRCH);
	assert_string_equal(err.text, "there is no probe in process 4711 any more");
}
