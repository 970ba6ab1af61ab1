from .typedefs cimport label_t, weight_t


cdef struct Chain:
    # A lattice as the decoders see it. Labels from n_labels to width are padding: their node scores are -inf.
    const weight_t* node      # [T, width]
    const weight_t* edge      # [1, L, width] or [T, L, width]: from label, to label; edge[0] of T is not used
    Py_ssize_t length         # T
    Py_ssize_t n_labels       # L
    Py_ssize_t width
    Py_ssize_t edge_step      # distance from edge[t] to edge[t + 1]; 0 if all positions share one table


cdef Chain chain_of(const weight_t[:, ::1] node, const weight_t[:, :, ::1] edge) except *

cdef void forward(
    const Chain* chain,
    weight_t* alpha,
    Py_ssize_t keep,
    label_t* back,
) noexcept nogil

cdef label_t best_label(const weight_t* scores, Py_ssize_t n) noexcept nogil

cdef double path_score(const Chain* chain, const label_t* path) noexcept nogil
