/* libmicrohttpd, loaded when the first server starts. */
#ifndef UTRAIL_CMDS_SHOW_MHD_H
#define UTRAIL_CMDS_SHOW_MHD_H

#include <microhttpd.h>

#include "utils/base/err.h"

/*
 * The functions of libmicrohttpd that we use, under their names without "MHD_". The library is not
 * linked: it needs GnuTLS and seven more libraries, and loading these would triple the instructions
 * of each start of utrail.
 */
struct mhd {
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_get_connection_info) *get_connection_info;
	__typeof__(MHD_get_connection_values) *get_connection_values;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
	__typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
	__typeof__(MHD_create_response_from_fd64) *create_response_from_fd64;
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_destroy_response) *destroy_response;
};

/* Valid after mhd_load() has returned 0. */
extern struct mhd mhd;

/*
 * Load the library. Only one thread at a time may call this function. Returns 0, or -ENOSYS with
 * @err when the library cannot be loaded.
 */
int mhd_load(struct uft_err *err);

#endif
