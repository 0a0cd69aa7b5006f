/* Manages open sources, and their shares of --max-size (see sources.h). */
#include "cmds/record/sources/sources.h"

#include "utils/base/compiler.h"

void sources_add(struct sources *sources, struct source *source)
{
	struct source **last = &sources->first;

	while (*last)
		last = &(*last)->next;
	source->next = NULL;
	*last = source;
	sources->nr++;
}

int sources_save(struct sources *sources)
{
	int first = 0;

	for (struct source *s = sources->first; s; s = s->next) {
		int ret = s->save(s);

		if (first == 0)
			first = ret;
	}
	return first;
}

int sources_finish(struct sources *sources)
{
	int first = 0;

	while (sources->first) {
		struct source *source = sources->first;

		sources->first = source->next;

		int ret = source->finish(source);

		if (first == 0)
			first = ret;
	}
	return first;
}

/* Returns the share of --max-size that a source may use for all CPUs together. */
static uint64_t share_bytes(const struct record_settings *settings)
{
	return settings->max_bytes / 8;
}

uint64_t sources_kept_bytes(const struct record_settings *settings, unsigned nr_cpus)
{
	return MIN(share_bytes(settings) / nr_cpus, SOURCE_KEPT_BYTES_MAX);
}

uint64_t sources_left_bytes(const struct sources *sources)
{
	return sources->settings->max_bytes - sources->nr * share_bytes(sources->settings);
}
