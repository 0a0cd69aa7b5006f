/* utrail dump: show what is in the files of a recording. */
#include "cmds/cmd.h"
#include "cmds/reader.h"
#include "utils/view/dump.h"

static int dump_data(const struct opts *opts, struct trace_data *data, struct uft_err *err)
{
	struct dump_config config = { .is_verbose = opts->msg.level > 0 };
	struct sink sink cleanup_sink = { 0 };
	struct uft_err broken = { 0 };

	reader_pipeline_config(opts, &config.stages);
	config.stages.stages.time_filter_ns = 0;
	config.stages.stages.show_outside = true;

	int ret = reader_open_sink(&sink, err);

	if (ret == 0)
		ret = dump_show(data, &config, &sink, &broken, err);
	return reader_finish(&sink, &broken, ret, err);
}

static int run(const struct opts *opts, struct uft_err *err)
{
	struct trace_data data;
	int ret = reader_open_records(&data, opts, err);

	if (ret)
		return ret;
	ret = dump_data(opts, &data, err);
	data_close(&data);
	return ret;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.help = "show what is in the files of a recording",
	.bit = CMD_DUMP,
	.uses_pager = true,
	.run = run,
};
