/* hdf5_writer.h - what the parts of the writer of HDF5 files share. */
#ifndef CMD_HDF5_WRITER_H
#define CMD_HDF5_WRITER_H
#include "files/contents.h"
#include "files/hdf5_put.h"

typedef struct cmd_hdf5_writer {
    const cmd_hdf5_api *h5;
    const char         *path;
    const cmd_contents *all;
    hid_t               file;
    hid_t              *set;   /* by places in the contents */
    hid_t              *scale; /* of dimensions; -1: there is none */
} cmd_hdf5_writer;

/* ---- hdf5_write.c ---------------------------------------------------------------------------- */
/* Ends the program with a sentence, if `status` is a failure. */
void cmd_hdf5_check(const cmd_hdf5_writer *w, const char *what, int64_t status);
/* A dataset without elements, with its attributes. */
hid_t cmd_hdf5_define(const cmd_hdf5_writer *w, const cmd_content *c);

/* ---- hdf5_scales.c --------------------------------------------------------------------------- */
/* Makes dimensions scales, and attaches these to all datasets. */
void cmd_hdf5_make_scales(const cmd_hdf5_writer *w);
#endif
