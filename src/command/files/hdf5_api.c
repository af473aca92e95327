/* hdf5_api.c - loads libhdf5 and looks up its functions and types. */
#if RDIM_HDF5
#include "files/hdf5_api.h"
#include <dlfcn.h>

static cmd_hdf5_api api;
static bool         tried, loaded;

/* Finds a function that has other names in other releases, by the first name that exists; NULL:
 * none. The list of names ends with NULL. */
static void *find_first(void *file, const char *const *names)
{
    void *found = NULL;

    while (!found && *names)
        found = dlsym(file, *names++);
    return found;
}

/* Looks up all functions. False: one that each release must have is missing. Functions of newer
 * releases are NULL in older ones. */
static bool find_calls(void *file)
{
    static const char *const names[] = {
#define CMD_NAME(name) #name,
        CMD_HDF5_CALLS(CMD_NAME)
#undef CMD_NAME
    };
    void **const at = (void **)&api; /* pointers to functions come first, as POSIX has them */

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!(at[k] = dlsym(file, names[k])))
            return false;
    *(void **)&api.chunk       = dlsym(file, "H5Dget_chunk_info_by_coord");
    *(void **)&api.write_chunk = dlsym(file, "H5Dwrite_chunk");
    *(void **)&api.each_link =
        find_first(file, (const char *[]){ "H5Literate2", "H5Literate", NULL });
    *(void **)&api.facts =
        find_first(file, (const char *[]){ "H5Oget_info3", "H5Oget_info2", NULL });
    *(void **)&api.facts_of_old =
        find_first(file, (const char *[]){ "H5Oget_info", "H5Oget_info1", NULL });
    return api.each_link && (api.facts || api.facts_of_old);
}

/* The class of a property list, which is a variable of the library; 0: it has another name. */
static hid_t property_class(void *file, const char *name)
{
    const hid_t *at = dlsym(file, name);

    return at ? *at : 0;
}

/* Reads the identifiers of types and property classes, which are variables of the library that
 * H5open() sets. */
static bool find_types(void *file)
{
    const hid_t *at;

#define CMD_FIND(name)                          \
    if (!(at = dlsym(file, "H5T_" #name "_g"))) \
        return false;                           \
    api.name = *at;
    CMD_HDF5_TYPES(CMD_FIND)
#undef CMD_FIND
    api.file_access = property_class(file, "H5P_CLS_FILE_ACCESS_ID_g");
    api.file_create = property_class(file, "H5P_CLS_FILE_CREATE_ID_g");
    api.set_create  = property_class(file, "H5P_CLS_DATASET_CREATE_ID_g");
    return true;
}

/* Loads the library at the first call, and turns off the errors that it prints itself. NULL: it is
 * not installed, or lacks a function. */
const cmd_hdf5_api *cmd_hdf5_load(void)
{
    if (tried)
        return loaded ? &api : NULL;
    tried      = true;
    void *file = dlopen(RDIM_HDF5_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        file = dlopen(RDIM_HDF5_FILE, RTLD_NOW | RTLD_LOCAL);
    loaded = file && find_calls(file) && api.H5open() >= 0 && find_types(file);
    if (loaded) /* the library would print errors that this program reports */
        api.H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return loaded ? &api : NULL;
}
#else
typedef int cmd_no_hdf5;
#endif
