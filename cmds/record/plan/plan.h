/*
 * Makes plans. A plan tells the probe how the options apply to the functions, library calls and
 * events of modules.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_PLAN_H
#define UTRAIL_CMDS_RECORD_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cmds/record/base/settings.h"
#include "cmds/record/plan/names/callables.h"
#include "cmds/record/plan/declared.h"
#include "cmds/record/plan/modules.h"
#include "cmds/record/plan/patches.h"
#include "cmds/record/plan/points.h"
#include "cmds/record/plan/rules.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/control.h"
#include "utils/format/probe/plan.h"

/*
 * The content of a plan's memfd: one list of entries for each value of enum plan_kind. The struct
 * starts as { 0 }.
 */
struct plan_entries {
	struct strbuf lists[PLAN_KINDS];
};

/*
 * The rules, conditions and steps for the functions of all new process images. The plan of each new
 * image gets a copy of all these entries. The struct starts as { 0 }.
 */
struct plan_binder {
	struct rule_set rules;
	struct plan_entries entries;
};

/*
 * The data from which plans are made. Only the control thread uses the data. planner_init()
 * initializes the struct.
 *
 * @is_off: recording is switched off, so plans choose no function for recording
 */
struct planner {
	const struct record_settings *settings;
	bool is_off;
	struct known_modules modules;
	struct plan_binder binder;
	struct points points;
	struct declared declared;
	struct callables callables;
	struct patches patches;
};

/*
 * Make glibc return large freed arrays to the kernel at once. By default, glibc keeps up to 64 MB
 * of freed memory. Plans need large arrays only for a short time.
 */
void plan_give_memory_back(void);

/* Start @planner. The ids of events are written to events.txt of @store. */
static inline void planner_init(struct planner *planner, const struct record_settings *settings,
				struct store *store)
{
	plan_give_memory_back();
	*planner = (struct planner){ .settings = settings };
	points_init(&planner->points, settings->events, store);
	declared_init(&planner->declared, settings, &planner->points);
	callables_init(&planner->callables, settings, store);
}

void plan_entries_deinit(struct plan_entries *plan);
#define cleanup_plan_entries cleanup(plan_entries_deinit)

/*
 * Make the plan for the @nr modules in @modules from the options. If @has_program is set, the first
 * module is the program itself. A module that cannot be read gets no entries.
 */
void plan_make(struct planner *planner, struct control_module *const *modules, size_t nr,
	       bool has_program, struct plan_entries *out);

/*
 * Make a plan that has only the entries about functions. Call this function for a process that has
 * already had a full plan.
 */
void plan_make_functions(struct planner *planner, struct control_module *const *modules, size_t nr,
			 struct plan_entries *out);

/*
 * Forget the functions that options choose. Call this function after settings about functions have
 * changed. The next plan applies the options to all modules again.
 */
void planner_forget(struct planner *planner);

void plan_binder_deinit(struct plan_binder *binder);

/* True when calls from the module @path to functions of libraries are recorded. */
bool plan_has_calls(const struct record_settings *settings, const char *path, bool is_program);

/* Returns a memfd with the image of @plan, or -1 when there are no entries or memory is short. */
int plan_memfd(const struct plan_entries *plan);

/* Returns the number of entries of @kind. */
uint32_t plan_entries_nr(const struct plan_entries *plan, enum plan_kind kind);

/*
 * True when the probe holds back the ENTRY of some calls. The probe records such an ENTRY only
 * after the call has taken long enough, or has called a certain function.
 */
bool settings_hold_back(const struct record_settings *settings);

/* True when an option lets a program end the recording. */
bool settings_can_finish(const struct record_settings *settings);

/* Returns the size below which no function is ever recorded. */
uint64_t settings_smallest_size(const struct record_settings *settings);

/* True when the options may treat one call differently from another (PLAN_SELECTIVE). */
bool settings_are_selective(const struct record_settings *settings);

static inline void planner_deinit(struct planner *planner)
{
	plan_binder_deinit(&planner->binder);
	declared_deinit(&planner->declared);
	callables_deinit(&planner->callables);
	points_deinit(&planner->points);
	patches_deinit(&planner->patches);
	known_modules_deinit(&planner->modules);
}

#endif
