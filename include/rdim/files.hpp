/* rdim/files.hpp - NumPy's .npy files in C++. */
#ifndef RDIM_FILES_HPP
#define RDIM_FILES_HPP
#include "files.h"

namespace rd {

/** Keywords of load().  A setter has the name and the meaning of the field of rd_load_opts. */
class load_opts {
public:
    load_opts &read(bool yes = true) { fields_.read = yes; return *this; }
    /** The struct that C functions take. */
    rd_load_opts of(const char *path) const
    {
        rd_load_opts o = fields_;
        o.size = sizeof o;
        o.path = path;
        return o;
    }
private:
    rd_load_opts fields_ = rd_load_opts();
};
/** A file as a leaf: rd_load_npy(). */
inline rd_expr *load(rd_ctx *ctx, const char *path, const load_opts &how = load_opts())
{
    const rd_load_opts o = how.of(path);
    return rd_load_npy(ctx, &o);
}

/** Keywords of save().  A setter has the name and the meaning of the field of rd_save_opts. */
class save_opts {
public:
    save_opts &order(int32_t o) { fields_.order = o; return *this; }
    save_opts &big_endian(bool yes = true) { fields_.big_endian = yes; return *this; }
    /** The struct that C functions take. */
    rd_save_opts to(const char *path) const
    {
        rd_save_opts o = fields_;
        o.size = sizeof o;
        o.path = path;
        return o;
    }
private:
    rd_save_opts fields_ = rd_save_opts();
};
/** Evaluates y and writes it to a file: rd_save_npy(). */
inline rd_status save(rd_ctx *ctx, rd_expr *y, const char *path,
                      const save_opts &how = save_opts())
{
    const rd_save_opts o = how.to(path);
    return rd_save_npy(ctx, y, &o);
}

} // namespace rd
#endif
