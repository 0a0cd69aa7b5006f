/*
 * Output of `utrail build`. A file appears only when it is complete, unless it must be written in
 * place (outfile_open()). The name "-" is standard output.
 */
#ifndef UTRAIL_CMDS_BUILD_OUTPUT_H
#define UTRAIL_CMDS_BUILD_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/outfile.h"
#include "utils/base/sink.h"

struct build_output {
	struct sink sink;
	struct outfile file;
	const char *name;
	bool is_stdout;
};

/*
 * Begin to write the file @name. A new file gets @mode without the bits of the umask. Returns 0, or
 * a negative error with @err. The caller must always call build_output_deinit(). If
 * build_output_publish() has not succeeded, build_output_deinit() removes the file, unless the file
 * is written in place.
 *
 * @name: must stay valid until build_output_deinit()
 */
int build_output_open(struct build_output *out, const char *name, mode_t mode, struct uft_err *err);

/*
 * Flush the complete output, and give the file its final name. Returns 0, or a negative error with
 * @err.
 */
int build_output_publish(struct build_output *out, struct uft_err *err);

void build_output_deinit(struct build_output *out);
#define cleanup_build_output cleanup(build_output_deinit)

#endif
