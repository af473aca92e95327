// peer_eigen.cpp - W13 in Eigen: products of a sparse matrix by rows.  Its threads are OpenMP's.
#include "peer.h"
#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <vector>
#include <omp.h>

namespace
{

template <class T> struct problem {
    using matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int32_t>;
    using dense  = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    matrix a, other, sampled, made;
    dense  columns, columns_out, rows;
    vector x, links, y;
};

template <class T> void spmv(void *self)
{
    auto *p        = static_cast<problem<T> *>(self);
    p->y.noalias() = p->a * p->x;
}

template <class T> void spmv_turned(void *self)
{
    auto *p        = static_cast<problem<T> *>(self);
    p->y.noalias() = p->a.transpose() * p->x;
}

template <class T> void spmm(void *self)
{
    auto *p                  = static_cast<problem<T> *>(self);
    p->columns_out.noalias() = p->a * p->columns;
}

template <class T> void sddmm(void *self)
{
    auto *p = static_cast<problem<T> *>(self);
#pragma omp parallel for schedule(dynamic, 256)
    for (Eigen::Index i = 0; i < p->a.outerSize(); i++) {
        typename problem<T>::matrix::InnerIterator to(p->sampled, i);
        for (typename problem<T>::matrix::InnerIterator e(p->a, i); e; ++e, ++to)
            to.valueRef() = e.value() * p->rows.row(i).dot(p->rows.row(e.col()));
    }
}

template <class T> void square(void *self)
{
    auto *p = static_cast<problem<T> *>(self);
    p->made = p->a * p->a;
}

template <class T> void times(void *self)
{
    auto *p = static_cast<problem<T> *>(self);
    p->made = p->a.cwiseProduct(p->other);
}

template <class T> void plus(void *self)
{
    auto *p = static_cast<problem<T> *>(self);
    p->made = p->a + p->other;
}

template <class T> typename problem<T>::matrix matrix_of(const bench_pattern *of, int which)
{
    std::vector<T> values(static_cast<size_t>(of->places));

    for (size_t e = 0; e < values.size(); e++)
        values[e] = static_cast<T>(peer_number(which, static_cast<int64_t>(e)));
    return Eigen::Map<const typename problem<T>::matrix>(of->rows, of->rows, of->places, of->pos,
                                                         of->crd, values.data());
}

// `other` is null where there is no second pattern.
template <class T>
void run_all(const char *pattern, const bench_pattern *of, const bench_pattern *other, int threads)
{
    problem<T>  p;
    const char *type = sizeof(T) == 4 ? "f32" : "f64";

    p.a           = matrix_of<T>(of, 0);
    p.sampled     = p.a;
    p.x           = problem<T>::vector::Random(of->rows);
    p.y           = p.x;
    p.columns     = problem<T>::dense::Random(of->rows, 16);
    p.columns_out = p.columns;
    p.rows        = problem<T>::dense::Random(of->rows, 64);
    peer_case("eigen", "spmv", pattern, type, threads, spmv<T>, &p);
    peer_case("eigen", "spmv.turned", pattern, type, threads, spmv_turned<T>, &p);
    peer_case("eigen", "spmm16", pattern, type, threads, spmm<T>, &p);
    peer_case("eigen", "sddmm64", pattern, type, threads, sddmm<T>, &p);
    if (other) {
        p.other = matrix_of<T>(other, 1);
        peer_case("eigen", "times.new", pattern, type, threads, times<T>, &p);
        peer_case("eigen", "plus.new", pattern, type, threads, plus<T>, &p);
    } else
        peer_case("eigen", "square.new", pattern, type, threads, square<T>, &p);
}

} // namespace

int main(int argc, char **argv)
{
    const int    threads = argc > 2 ? std::atoi(argv[2]) : 1;
    const double scale   = argc > 3 ? std::atof(argv[3]) : 1;

    omp_set_num_threads(threads);
    Eigen::setNbThreads(threads);
    for (const auto &one : peer_patterns)
        if (const bench_pattern *of = bench_pattern_of(one.kind, scale, argv[1])) {
            const bench_pattern *other =
                one.kind == PATTERN_RMAT ? bench_pattern_of(PATTERN_RMAT_OTHER, scale, argv[1]) : nullptr;
            run_all<float>(one.name, of, other, threads);
            run_all<double>(one.name, of, other, threads);
        }
}
