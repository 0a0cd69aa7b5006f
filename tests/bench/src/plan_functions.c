/*
 * plan_functions [-v] FILE...: tells which functions can be patched in files that were not compiled
 * for tracing, why the rest cannot, and the time that finding out took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmds/record/plan/unprepared.h"
#include "utils/object/names/symtab.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* @counts has a number for each enum unprepared_way. */
static void count(const struct unprepared *u, const struct unprepared_verdict *verdicts,
		  bool is_verbose, size_t *counts)
{
	for (size_t i = 0; i < u->functions.nr; i++) {
		const struct function *f = &u->functions.list[i];
		bool can = verdicts[i].way < UNPREPARED_CANNOT;

		counts[verdicts[i].way]++;
		if (is_verbose)
			printf("#%llx\t%s\t%s\n", (unsigned long long)f->start,
			       f->name ? f->name : "?",
			       can ? unprepared_way_text(verdicts[i].way) : verdicts[i].why_not);
	}
}

/* The verdicts, by function. */
struct verdicts {
	const struct function *functions;
	struct unprepared_verdict *list;
};

static void keep_verdict(const struct function *function, const struct unprepared_verdict *verdict,
			 const struct strbuf *found, void *arg)
{
	const struct verdicts *verdicts = arg;

	verdicts->list[function - verdicts->functions] = *verdict;
}

/* Prints a line with tabs (path, functions, patched, seconds), then a line for each reason. */
static int show_file(const char *path, bool is_verbose)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct unprepared u cleanup_unprepared = { 0 };
	struct symtab names cleanup_symtab = { 0 };
	struct unprepared_verdict *verdicts cleanup_free = NULL;
	size_t counts[UNPREPARED_WAYS] = { 0 };
	size_t patched = 0;
	struct uft_err err = { 0 };
	double start;

	if (elf_file_open(&file, path, &err) < 0 || object_symtab_load(path, &names, &err) < 0)
		goto failed;
	start = seconds();
	if (unprepared_open(&u, &file, path, &names, &err) < 0)
		goto failed;
	verdicts = calloc(u.functions.nr + 1, sizeof(*verdicts));
	if (!verdicts)
		return 1;
	struct verdicts all = { u.functions.list, verdicts };

	if (!u.why_not && unprepared_find_all(&u, keep_verdict, &all, &err) < 0)
		goto failed;
	count(&u, verdicts, is_verbose, counts);
	for (unsigned way = 0; way < UNPREPARED_CANNOT; way++)
		patched += counts[way];
	printf("%s\t%zu\t%zu\t%.4f\n", path, u.functions.nr, patched, seconds() - start);
	for (unsigned way = 0; way < UNPREPARED_WAYS; way++) {
		if (counts[way])
			printf("\t%zu\t%s\n", counts[way], unprepared_way_text(way));
	}
	return 0;
failed:
	fprintf(stderr, "plan_functions: %s\n", err.text);
	return 1;
}

int main(int argc, char **argv)
{
	bool is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	int failed = 0;

	for (int i = 1 + is_verbose; i < argc; i++)
		failed |= show_file(argv[i], is_verbose);
	return failed;
}
