/* nvrtc.h - compiles CUDA C++ text to code for a GPU. */
#ifndef RD_KERNELS_CUDA_NVRTC_H
#define RD_KERNELS_CUDA_NVRTC_H
#include "kernels/cuda/api.h"

/* A text, and for which device it is compiled. */
typedef struct rd_nvrtc_text {
    const char        *text, *name;  /* the text; its name in messages */
    int                architecture; /* of the device: 90 is compute capability 9.0 */
    const char *const *options;      /* further ones, for trials                    */
    int                n_options;
} rd_nvrtc_text;

/* The code that NVRTC made of a text. */
typedef struct rd_nvrtc_image {
    char  *bytes; /* the image, as cuModuleLoadData takes it */
    size_t n;
    char  *log;          /* the compiler's messages; NULL: none                          */
    bool   ptx;          /* PTX, which the driver compiles, as NVRTC does not know the device */
    int    architecture; /* what it was made for                                         */
} rd_nvrtc_image;

/* The options of every text; NULL ends them. */
extern const char *const rd_nvrtc_options[];

/* True if the compiler's messages say that kernels spill registers. */
bool rd_nvrtc_spills(const rd_nvrtc_image *image);

/* Compiles a text.  If registers spill, it compiles once more with RD_FIT as 1, which lets a
 * kernel take all registers.  False on failure, with a sentence, and with the log if the text was
 * at fault.  The image must be freed either way.  From any thread. */
bool rd_nvrtc_compile(const rd_nvrtc_text *text, rd_nvrtc_image *image, char why[RD_CUDA_TEXT]);
void rd_nvrtc_free(rd_nvrtc_image *image);
#endif
