/* netcdf_api.h - libnetcdf, loaded by dlopen() when the first NetCDF file is opened. A program of
 * one line that is linked with it takes 8 ms to start, and without it 1 ms. */
#ifndef CMD_NETCDF_API_H
#define CMD_NETCDF_API_H
#include <netcdf.h>
#include <rdim.h>

/* The functions that are looked up. Some are used by tests alone, which make files of all kinds. */
#define CMD_NETCDF_CALLS(call)                                                                     \
    call(open) call(create) call(close) call(strerror) call(inq) call(inq_format) call(inq_grps)   \
        call(inq_grpname) call(inq_grp_parent) call(inq_varids) call(inq_varid) call(inq_var)      \
            call(inq_var_chunking) call(inq_var_deflate) call(inq_var_endian) call(inq_dim)        \
                call(inq_unlimdims) call(inq_user_type) call(inq_compound_field) call(inq_att)     \
                    call(get_att_text) call(get_att_double) call(get_att_longlong)                 \
                        call(get_att_ulonglong) call(inq_var_fill) call(get_att_string)            \
                            call(free_string) call(get_vara) call(get_vara_double) call(def_dim)   \
                                call(def_var) call(put_att_text) call(put_att_double)              \
                                    call(put_att_float) call(set_fill) call(enddef) call(put_var)  \
                                        call(inq_natts) call(inq_varnatts) call(inq_attname)       \
                                            call(get_att) call(get_vara_string) call(put_att)      \
                                                call(put_att_string) call(put_vara_string)         \
                                                    call(def_enum) call(insert_enum) call(def_grp) \
                                                        call(inq_dimid) call(put_var_double)       \
                                                            call(put_vara) call(put_vara_double)   \
                                                                call(def_var_chunking)             \
                                                                    call(def_var_deflate)

/* The functions that are looked up. */
typedef struct cmd_netcdf_api {
#define CMD_MEMBER(name) __typeof__(nc_##name) *name;
    CMD_NETCDF_CALLS(CMD_MEMBER)
#undef CMD_MEMBER
    int (*set_alignment)(int threshold, int alignment); /* from 4.9 on, NULL before */
} cmd_netcdf_api;

/* The library's functions; ends the program where the library is not installed. */
const cmd_netcdf_api *cmd_netcdf_load(const char *path);
/* Ends the program with the library's sentence, if `status` is a failure. */
void cmd_netcdf_check(const char *path, const char *doing, int status);
/* Element type of a NetCDF type, and the reverse. RD_AUTO, NC_NAT: there is none. */
rd_dtype cmd_netcdf_element(nc_type type);
nc_type  cmd_netcdf_type(rd_dtype type);
#endif
