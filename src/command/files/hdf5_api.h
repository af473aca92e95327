/* hdf5_api.h - libhdf5, loaded by dlopen() when the first HDF5 file is opened. */
#ifndef CMD_HDF5_API_H
#define CMD_HDF5_API_H
#include <hdf5.h>
#include <stdbool.h>

/* Functions with the same name and meaning in all releases. */
#define CMD_HDF5_CALLS(call)                                                                        \
    call(H5open) call(H5Eset_auto2) call(H5Fopen) call(H5Fcreate) call(H5Fclose) call(              \
        H5Fget_create_plist) call(H5Pget_userblock) call(H5Pget_layout) call(H5Pget_chunk)          \
        call(H5Pget_external_count) call(H5Pget_nfilters) call(H5Pget_filter2) call(H5Pclose)       \
            call(H5Oopen) call(H5Oclose) call(H5Oexists_by_name) call(H5Iget_type) call(            \
                H5Iget_name) call(H5Dopen2) call(H5Dclose) call(H5Dget_space) call(H5Dget_type)     \
                call(H5Dget_create_plist) call(H5Dget_offset) call(H5Dread) call(H5Dcreate2) call(  \
                    H5Dwrite) call(H5Dvlen_reclaim) call(H5Rdereference2) call(H5Rcreate)           \
                    call(H5Sget_simple_extent_ndims) call(H5Sget_simple_extent_dims) call(          \
                        H5Sget_simple_extent_type) call(H5Sclose) call(H5Screate)                   \
                        call(H5Screate_simple) call(H5Sselect_hyperslab) call(H5Tget_class) call(   \
                            H5Tget_size) call(H5Tget_sign) call(H5Tget_order) call(H5Tget_ebias)    \
                            call(H5Tclose) call(H5Tcopy) call(H5Tset_size) call(                    \
                                H5Tis_variable_str) call(H5Tget_nmembers) call(H5Tget_precision)    \
                                call(H5Tget_offset) call(H5Tget_norm) call(H5Tget_fields) call(     \
                                    H5Tget_super) call(H5Tget_member_name)                          \
                                    call(H5Tget_member_value) call(H5Tget_member_type) call(        \
                                        H5Tget_member_offset) call(H5Tset_order) call(H5Tcreate)    \
                                        call(H5Tinsert) call(H5Tenum_create) call(                  \
                                            H5Tenum_insert) call(H5Tvlen_create) call(H5Aopen)      \
                                            call(H5Aexists) call(H5Aread) call(H5Aget_type) call(   \
                                                H5Aget_space) call(H5Aclose) call(H5Acreate2)       \
                                                call(H5Awrite) call(H5free_memory) call(            \
                                                    H5Pcreate) call(H5Pset_alignment)               \
                                                    call(H5Pset_meta_block_size) call(              \
                                                        H5Dset_extent) call(H5Pset_chunk)           \
                                                        call(H5Pset_shuffle) call(                  \
                                                            H5Pset_deflate) call(H5Pset_fill_value) \
                                                            call(H5Pset_fill_time) call(            \
                                                                H5Pset_link_creation_order)         \
                                                                call(H5Pset_attr_creation_order)    \
                                                                    call(H5Tset_cset)               \
                                                                        call(H5Tset_strpad) call(   \
                                                                            H5Tget_strpad)          \
                                                                            call(H5Aiterate2)       \
                                                                                call(H5Aget_name)

#define CMD_HDF5_TYPES(type)                                                                       \
    type(NATIVE_INT8) type(NATIVE_UINT8) type(NATIVE_INT16) type(NATIVE_UINT16) type(NATIVE_INT32) \
        type(NATIVE_UINT32) type(NATIVE_INT64) type(NATIVE_UINT64) type(NATIVE_FLOAT)              \
            type(NATIVE_DOUBLE) type(C_S1) type(STD_REF_OBJ)

/* H5Dget_chunk_info_by_coord(), from HDF5 1.10.5 on: the filters that were skipped for a chunk, its
 * address and its size. */
typedef herr_t cmd_hdf5_chunk(hid_t set, const hsize_t *at, unsigned *filters, haddr_t *address,
                              hsize_t *bytes);

/* H5Literate(), which has other names in other releases. So has the struct of facts about a link,
 * which is not read here. */
typedef herr_t cmd_hdf5_link(hid_t group, const char *name, const void *facts, void *user);
typedef herr_t cmd_hdf5_links(hid_t group, H5_index_t by, H5_iter_order_t order, hsize_t *next,
                              cmd_hdf5_link *visit, void *user);
/* H5Oget_info(): in all releases its struct begins with these two fields. The address is a number,
 * or a token of the same bytes. */
typedef struct cmd_hdf5_facts {
    unsigned long file;
    uint64_t      address;
    uint64_t      rest[62];
} cmd_hdf5_facts;
typedef herr_t cmd_hdf5_get_facts(hid_t object, cmd_hdf5_facts *facts, unsigned what);
typedef herr_t cmd_hdf5_get_old_facts(hid_t object, cmd_hdf5_facts *facts);

/* H5Dwrite_chunk(), from HDF5 1.10.3 on. */
typedef herr_t cmd_hdf5_write_chunk(hid_t set, hid_t transfer, uint32_t filters, const hsize_t *at,
                                    size_t bytes, const void *from);

/* The functions and identifiers that are looked up. */
typedef struct cmd_hdf5_api {
#define CMD_MEMBER(name) __typeof__(name) *name;
    CMD_HDF5_CALLS(CMD_MEMBER)
#undef CMD_MEMBER
#define CMD_MEMBER(name) hid_t name;
    CMD_HDF5_TYPES(CMD_MEMBER)
#undef CMD_MEMBER
    hid_t                   file_access, file_create, set_create; /* classes of properties; 0: the
                                                                     library has another name */
    cmd_hdf5_chunk         *chunk;                                /* NULL in older libraries */
    cmd_hdf5_write_chunk   *write_chunk;                          /* likewise */
    cmd_hdf5_links         *each_link;
    cmd_hdf5_get_facts     *facts; /* NULL before HDF5 1.10.3, which has facts_of_old */
    cmd_hdf5_get_old_facts *facts_of_old;
} cmd_hdf5_api;

/* H5F_ACC_RDONLY, H5F_ACC_RDWR and H5F_ACC_TRUNC. As macros they would call the library. */
enum { CMD_HDF5_READ = 0x0000, CMD_HDF5_CHANGE = 0x0001, CMD_HDF5_TRUNCATE = 0x0002 };

/* The library's functions; NULL: it is not installed. */
const cmd_hdf5_api *cmd_hdf5_load(void);
#endif
