/* rdim/arrays.hpp - element types, memory as leaves and outputs, in C++. */
#ifndef RDIM_ARRAYS_HPP
#define RDIM_ARRAYS_HPP
#include "arrays.h"

#include <complex>
#include <type_traits>

namespace rd {

/** The element type of T, as an rd_dtype; of an array, that of its elements: dtype<float[3][4]>()
 *  is RD_F32.  A type that rdim lacks does not compile.  Nor does char, whose sign depends on the
 *  machine. */
template <class T> constexpr rd_dtype dtype()
{
    using E = std::remove_cv_t<std::remove_all_extents_t<T>>;
    constexpr bool number = std::is_integral_v<E> && !std::is_same_v<E, char>
                            && !std::is_same_v<E, wchar_t> && !std::is_same_v<E, char16_t>
                            && !std::is_same_v<E, char32_t>;

    if constexpr (std::is_same_v<E, bool>)
        return RD_BOOL;
    else if constexpr (std::is_same_v<E, float>)
        return RD_F32;
    else if constexpr (std::is_same_v<E, double>)
        return RD_F64;
    else if constexpr (std::is_same_v<E, std::complex<float>>)
        return RD_C64;
    else if constexpr (std::is_same_v<E, std::complex<double>>)
        return RD_C128;
    else if constexpr (std::is_same_v<E, rd_f16>)
        return RD_F16;
    else if constexpr (std::is_same_v<E, rd_bf16>)
        return RD_BF16;
    else if constexpr (std::is_same_v<E, rd_f8>)
        return RD_F8;
    else {
        static_assert(number, "say a pointer to elements of a type that rdim has, such as float");
        constexpr int log2 = sizeof(E) == 1 ? 0 : sizeof(E) == 2 ? 1 : sizeof(E) == 4 ? 2 : 3;
        return static_cast<rd_dtype>((std::is_signed_v<E> ? RD_I8 : RD_U8) + log2);
    }
}

/** Keywords of wrap() and into(): layout().strides(RD_STRIDES(1, n)), layout().order(1),
 *  layout().device(RD_CUDA(0)).  A setter has the meaning of the field of rd_array. */
class layout {
public:
    layout &strides(const rd_strides &s) { array_.strides = s; return *this; }
    layout &order(int32_t o) { array_.order = o; return *this; }
    layout &device(int32_t k) { array_.device = k; return *this; }
    /** The descriptor of an array with this layout, without its address. */
    rd_array of(rd_dtype type, const rd_shape &shape) const
    {
        rd_array a = array_;
        a.type  = type;
        a.shape = shape;
        return a;
    }
private:
    rd_array array_ = rd_array();
};

/** Caller memory as a leaf, the macro rd_wrap: p is a pointer to elements, or an array of any
 *  dimensions.  Errors and ownership: see rd_leaf(). */
template <class T>
rd_expr *wrap(rd_ctx *ctx, const T *p, const rd_shape &shape, const layout &how = layout())
{
    rd_array a = how.of(dtype<T>(), shape);
    a.in = p;
    return rd_leaf(ctx, &a);
}

/** An output that into() makes.  It lives until the end of the call in which it is written. */
class output {
public:
    explicit output(const rd_array &a) : array_(a) {}
    operator rd_array *() { return &array_; }
private:
    rd_array array_;
};

/** Where a result goes, the macro RD_INTO: rd_eval(ctx, y, rd::into(p, RD_SHAPE(2, 3))). */
template <class T> output into(T *p, const rd_shape &shape, const layout &how = layout())
{
    rd_array a = how.of(dtype<T>(), shape);
    a.data = p;
    return output(a);
}

} // namespace rd
#endif
