// The header as C++ reads it: it compiles, twice over, and shapes can be written in place.
#include <rdim.h>
#include <rdim.h>
#include <vector>

rd_shape shape();
rd_shape shape()
{
    return RD_SHAPE(2, 3);
}

rd_dims dims();
rd_dims dims()
{
    return RD_DIMS(0, -1);
}

// Sizes of containers, and none at all.
rd_shape sizes(const std::vector<float> &v);
rd_shape sizes(const std::vector<float> &v)
{
    return v.empty() ? RD_SCALAR : RD_SHAPE(v.size(), 3, 4u);
}

rd_dims all();
rd_dims all()
{
    return RD_ALL;
}
