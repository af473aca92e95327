/* grib_api.h - ecCodes, loaded by dlopen() when the first GRIB file is opened. */
#ifndef CMD_GRIB_API_H
#define CMD_GRIB_API_H
#include <eccodes.h>

#define CMD_GRIB_CALLS(call)                                                                      \
    call(codes_handle_new_from_file) call(codes_handle_delete) call(codes_get_long)               \
        call(codes_get_double) call(codes_get_string) call(codes_get_size)                        \
            call(codes_get_double_array) call(codes_set_double) call(codes_grib_multi_support_on) \
                call(codes_get_message_offset) call(codes_get_error_message)                      \
                    call(codes_grib_multi_support_reset_file) call(codes_context_get_default)     \
                        call(codes_context_set_logging_proc)

/* The functions that are looked up. */
typedef struct cmd_grib_api {
#define CMD_MEMBER(name) __typeof__(name) *name;
    CMD_GRIB_CALLS(CMD_MEMBER)
#undef CMD_MEMBER
} cmd_grib_api;

/* The library's functions; ends the program where the library is not installed. */
const cmd_grib_api *cmd_grib_load(const char *path);
#endif
