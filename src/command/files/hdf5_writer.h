/* hdf5_writer.h - the state that the parts of the HDF5 writer share. */
#ifndef CMD_HDF5_WRITER_H
#define CMD_HDF5_WRITER_H
#include "files/contents.h"
#include "files/hdf5_put.h"

/* A file that is being written. */
typedef struct cmd_hdf5_writer {
    const cmd_hdf5_api *h5;
    const char         *path;
    const cmd_contents *all;
    hid_t               file;
    hid_t              *set;   /* of each variable of the contents */
    hid_t              *scale; /* of each dimension; -1: it has none */
} cmd_hdf5_writer;

/* ---- hdf5_write.c ---------------------------------------------------------------------------- */
/* Ends the program with a sentence, if `status` is a failure. */
void cmd_hdf5_check(const cmd_hdf5_writer *w, const char *what, int64_t status);
/* Creates a dataset with its attributes, without elements. */
hid_t cmd_hdf5_define(const cmd_hdf5_writer *w, const cmd_content *c);

/* ---- hdf5_scales.c --------------------------------------------------------------------------- */
/* Makes dimension scales, and attaches them to all datasets. */
void cmd_hdf5_make_scales(const cmd_hdf5_writer *w);
#endif
