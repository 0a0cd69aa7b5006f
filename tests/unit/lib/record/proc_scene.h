/*
 * Processes of a test that are traced by any tracer: their records, and checks that hold for each
 * tracer.
 */
#ifndef UTRAIL_TESTS_UNIT_PROC_SCENE_H
#define UTRAIL_TESTS_UNIT_PROC_SCENE_H

#include "cmds/record/proc/proc.h"
#include "tests/unit/lib/record/store_memory.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/proc_dat.h"

/*
 * @records: all records, when all processes have ended; those from @at on are not yet checked
 */
extern struct proc_scene {
	struct store_memory memory;
	struct record_settings settings;
	struct proc proc;
	pid_t pid;
	int go_fd;
	struct proc_record records[4096];
	size_t nr;
	size_t at;
} proc_scene;

/* The tracer that the test is about. */
extern const struct proc_way *const proc_scene_way;

/* Setup of each test; and setup of the group, which makes a folder. */
int proc_scene_begin(void **state);
int proc_scene_end(void **state);
int proc_scene_make_top(void **state);
int proc_scene_remove_top(void **state);

void proc_scene_prepare(void);
int proc_scene_start(pid_t pid, struct uft_err *err);
/*
 * Run @fn in a child that is traced from its first step on. The child's status is the result of
 * @fn. For a tracer that traces only programs, the child executes a program that calls @fn.
 */
void proc_scene_trace(int (*fn)(void));
/* Wait until all processes have ended. Returns the program's status. */
int proc_scene_finish(void);
/*
 * True when @text is the path of @name in the folder.
 */
bool proc_scene_is_below(const struct text *text, const char *name);

/*
 * Must be called first in main(). In a child of the test it does the child's work, and does not
 * return.
 */
void proc_scene_main(int argc, char *argv[]);

#define PROC_SCENE_TEST(name) \
	cmocka_unit_test_setup_teardown(name, proc_scene_begin, proc_scene_end)
void forks_are_told_before_what_their_children_do(void **state);
void a_thread_is_of_its_process(void **state);
void each_fork_of_many_has_an_end_behind_it(void **state);
void signals_come_as_without_us(void **state);
void the_end_by_a_signal_is_told_as_such(void **state);
void who_is_stopped_can_be_continued(void **state);
void a_program_is_told_with_what_it_was_given(void **state);
void of_a_thread_that_executes_no_end_is_told(void **state);
void the_environment_is_told_when_it_is_wanted(void **state);
void calls_that_have_done_something_are_told(void **state);
void what_a_program_finds_open_is_told(void **state);
void without_files_there_are_none(void **state);

#define PROC_SCENE_TESTS                                                    \
	PROC_SCENE_TEST(forks_are_told_before_what_their_children_do),      \
		PROC_SCENE_TEST(a_thread_is_of_its_process),                \
		PROC_SCENE_TEST(each_fork_of_many_has_an_end_behind_it),    \
		PROC_SCENE_TEST(signals_come_as_without_us),                \
		PROC_SCENE_TEST(the_end_by_a_signal_is_told_as_such),       \
		PROC_SCENE_TEST(who_is_stopped_can_be_continued),           \
		PROC_SCENE_TEST(a_program_is_told_with_what_it_was_given),  \
		PROC_SCENE_TEST(of_a_thread_that_executes_no_end_is_told),  \
		PROC_SCENE_TEST(the_environment_is_told_when_it_is_wanted), \
		PROC_SCENE_TEST(calls_that_have_done_something_are_told),   \
		PROC_SCENE_TEST(what_a_program_finds_open_is_told),         \
		PROC_SCENE_TEST(without_files_there_are_none)

#endif
