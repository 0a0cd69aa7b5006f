/* Output of `utrail build` (see build_output.h). */
#include "cmds/build/build_output.h"

#include <string.h>

#include "cmds/reader.h"

int build_output_open(struct build_output *out, const char *name, mode_t mode, struct uft_err *err)
{
	int ret;

	*out = (struct build_output){
		.file = OUTFILE_CLOSED,
		.name = name,
		.is_stdout = strcmp(name, "-") == 0,
	};
	if (out->is_stdout)
		return reader_open_sink(&out->sink, err);
	ret = outfile_open(&out->file, name, mode, err);
	if (ret < 0)
		return ret;
	ret = sink_init_fd(&out->sink, out->file.fd);
	return ret < 0 ? err_set_errno(err, ret, "cannot write '%s'", name) : 0;
}

int build_output_publish(struct build_output *out, struct uft_err *err)
{
	int ret = sink_flush(&out->sink);

	if (ret < 0)
		return out->is_stdout ? err_set_errno(err, ret, "cannot write the output")
				      : err_set_errno(err, ret, "cannot write '%s'", out->name);
	return out->is_stdout ? 0 : outfile_publish(&out->file, err);
}

void build_output_deinit(struct build_output *out)
{
	sink_deinit(&out->sink);
	outfile_deinit(&out->file);
}
