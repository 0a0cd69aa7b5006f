/* Titles of recordings and programs (see titles.h). */
#include "utils/view/values/titles.h"

#include "utils/base/path.h"

const char *title_program(const struct session *session)
{
	return session ? path_base(session->exename) : "?";
}

const char *title_recording(const struct trace_data *data)
{
	if (data->info.exename)
		return path_base(data->info.exename);
	return title_program(data->nr_sessions ? data->sessions[0] : NULL);
}

const char *title_cmdline(const struct trace_data *data)
{
	return data->info.cmdline ? data->info.cmdline : "";
}

const char *title_date(const struct trace_data *data)
{
	return data->info.record_date ? data->info.record_date : "";
}
