/* Decides which library calls are recorded. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_LIBCALLS_H
#define UTRAIL_CMDS_RECORD_PLAN_LIBCALLS_H

#include <stdbool.h>
#include <stdint.h>

/* True when calls of library function @name are recorded; @flags says how (enum plan_call bits). */
bool libcall_is_hooked(const char *name, uint32_t *flags);

/* True when the calls that library @path makes into others are recorded with --nest-libcall. */
bool libcall_is_nested_module(const char *path);

/*
 * The probe's own function that a program calls by that name, enum plan_hook; -1: none. @by_plt:
 * not through the GOT alone
 */
int libcall_hook_of(const char *name, bool by_plt);

#endif
