/* utrail info: show what was recorded, where, and how the recording ended. */
#include "cmds/cmd.h"
#include "cmds/reader.h"
#include "cmds/record/run/sysinfo.h"
#include "utils/view/infotext.h"

static int show_data(const struct opts *opts, struct trace_data *data, struct uft_err *err)
{
	struct sink sink cleanup_sink = { 0 };
	int ret = reader_open_sink(&sink, err);

	if (ret < 0)
		return ret;
	if (opts->show_symbols)
		ret = info_show_symbols(data, &sink, err);
	else if (opts->by_task)
		ret = info_show_tasks(data, &sink, err);
	else
		ret = info_show(data, &sink, err);
	return reader_finish(&sink, NULL, ret, err);
}

static int show_machine(struct uft_err *err)
{
	struct info info cleanup_info = { 0 };
	struct sink sink cleanup_sink = { 0 };
	int ret = reader_open_sink(&sink, err);

	if (ret == 0)
		ret = sysinfo_add_machine(&info);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot look at this machine");
	info_show_machine(&info, &sink);
	return reader_finish(&sink, NULL, 0, err);
}

static int run_info(const struct opts *opts, struct uft_err *err)
{
	struct trace_data data;

	if (opts->show_system)
		return show_machine(err);

	int ret = reader_open_data(&data, opts, err);

	if (ret)
		return ret;
	ret = show_data(opts, &data, err);
	reader_close_data(&data, opts);
	return ret;
}

const struct cmd cmd_info = {
	.name = "info",
	.help = "show what was recorded, where and how it ended",
	.bit = CMD_INFO,
	.uses_pager = true,
	.reads_data = true,
	.run = run_info,
};
