/* Children that the program forked off and that have not reported themselves: they do so with their first record. */
#ifndef UTRAIL_CMDS_RECORD_ORPHANS_H
#define UTRAIL_CMDS_RECORD_ORPHANS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct control_page;
struct orphan;
struct recorder;

/* Those that are watched, newest first. Starts as { 0 }. */
struct orphans {
	struct orphan *first;
};

/*
 * Watch the children that @page, shared memory of those who forked them, tells of, if they are alive. @memory is that memory's
 * fstat(2): whatever numbers stand in the page, only a process that has it mapped can have something to report.
 */
void orphans_look(struct recorder *rec, struct control_page *page, const struct stat *memory);

/* Whether @pid has the file @memory mapped. Not so when we may not know. */
bool process_has_mapped(pid_t pid, const struct stat *memory);

/* Nobody waits for them any more. */
void orphans_forget(struct recorder *rec);

#endif
