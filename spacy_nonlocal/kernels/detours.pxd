from .typedefs cimport label_t, weight_t
from .viterbi cimport Chain


cdef struct Choice:       # a predecessor that is not the best
    double loss           # never below zero
    double exact          # the same, where Viterbi has rounded in its disfavour
    label_t label

cdef struct Detour:       # a part of a heap: the choices of one state, the cheapest first
    int first             # in the list of all choices
    int n
    int position          # of the predecessors
    int left
    int right
    int rank              # leftist heap: the shortest way to an end is on the right


cdef struct Detours:
    Chain chain
    weight_t* alpha       # [2, width] scratch
    double* prefix        # [T, width] the score of each state's best prefix
    label_t* back         # [T, width]
    label_t last          # the best label at the end
    int* heap             # [T + 1, width] the root of each state's heap; the end is state (T, 0)
    int* stack            # [T + 1] states whose heaps are being made
    Choice* choices
    Detour* detours
    Py_ssize_t n_choices, choice_room, n_detours, detour_room


cdef int begin(Detours* self, const Chain* chain) except -1 nogil

cdef void end(Detours* self) noexcept nogil

cdef int heap_of(Detours* self, Py_ssize_t t, label_t y) except -2 nogil
