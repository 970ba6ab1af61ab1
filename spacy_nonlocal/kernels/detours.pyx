"""Ways to leave best prefixes, the cheapest first: what the n best labellings are made of.

From a state (t, y), the best prefix goes to predecessor back[t, y]. Another predecessor p costs

    loss(t, y, p) = (α[t-1, back] + edge[t, back, y]) - (α[t-1, p] + edge[t, p, y])

with α the score of a state's best prefix (and, at the end, the best α[T-1, ·] less α[T-1, p]). All detours from the
best prefix of a state form a leftist heap: that of its predecessor with its own choices put in. Heaps are never
changed, only extended, so that they share nearly all of their parts, and are made only for states that are asked for
(Eppstein 1998).
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc

from .detours cimport Choice, Detour, Detours
from .memory cimport grown
from .typedefs cimport label_t, weight_t
from .viterbi cimport Chain, best_label, forward

cdef int NOT_MADE = -2
cdef int NOTHING = -1


cdef int add_detour(Detours* self, int first, int n, int position) except -2 nogil:
    self.detours = <Detour*> grown(
        self.detours, &self.detour_room, self.n_detours + 1, sizeof(Detour)
    )
    self.detours[self.n_detours] = Detour(first, n, position, NOTHING, NOTHING, 1)
    self.n_detours += 1
    return <int> (self.n_detours - 1)


cdef double loss_of(const Detours* self, int detour) noexcept nogil:
    return self.choices[self.detours[detour].first].loss


cdef int put_in(Detours* self, int new, int root) except -2 nogil:
    """RETURNS: The root of a heap that has one detour more; the old one stays as it is."""
    cdef int copy, right, left
    if root == NOTHING:
        return new
    if loss_of(self, new) <= loss_of(self, root):
        self.detours[new].left = root
        return new
    copy = add_detour(self, 0, 0, 0)
    self.detours[copy] = self.detours[root]
    right = put_in(self, new, self.detours[root].right)
    left = self.detours[copy].left
    if left == NOTHING or self.detours[left].rank < self.detours[right].rank:
        left, right = right, left
    self.detours[copy].left = left
    self.detours[copy].right = right
    self.detours[copy].rank = 1 + (self.detours[right].rank if right != NOTHING else 0)
    return copy


cdef int own_detour(Detours* self, Py_ssize_t t, label_t y, label_t best) except -2 nogil:
    """RETURNS: The choices of state (t, y), by what they cost, or NOTHING."""
    cdef Py_ssize_t width = self.chain.width, L = self.chain.n_labels
    cdef const double* prefix = &self.prefix[(t - 1) * width]
    cdef const weight_t* edge = &self.chain.edge[t * self.chain.edge_step + y] if t < self.chain.length else NULL
    cdef double here = prefix[best] + (edge[best * width] if edge != NULL else 0), exact, loss
    cdef Py_ssize_t first = self.n_choices, i
    cdef label_t p
    self.choices = <Choice*> grown(self.choices, &self.choice_room, first + L, sizeof(Choice))
    for p in range(<label_t> L):
        if p == best:
            continue
        exact = here - (prefix[p] + (edge[p * width] if edge != NULL else 0))
        if not exact < INFINITY:
            continue
        # Viterbi rounds: what it took for the best may be worse by a trifle.
        loss = exact if exact > 0 else 0
        i = self.n_choices
        while i > first and self.choices[i - 1].loss > loss:
            self.choices[i] = self.choices[i - 1]
            i -= 1
        self.choices[i] = Choice(loss, exact, p)
        self.n_choices += 1
    if self.n_choices == first:
        return NOTHING
    return add_detour(self, <int> first, <int> (self.n_choices - first), <int> (t - 1))


cdef int heap_of(Detours* self, Py_ssize_t t, label_t y) except -2 nogil:
    """RETURNS: All detours from the best prefix of state (t, y): the root of a heap, or NOTHING."""
    cdef Py_ssize_t width = self.chain.width, made = 0, state
    cdef int root, new
    cdef label_t best
    while self.heap[t * width + y] == NOT_MADE and t > 0:
        self.stack[made] = y
        made += 1
        y = self.last if t == self.chain.length else self.back[t * width + y]
        t -= 1
    state = t * width + y
    root = self.heap[state] if self.heap[state] != NOT_MADE else NOTHING
    while made > 0:
        made -= 1
        best, y = y, self.stack[made]
        t += 1
        new = own_detour(self, t, y, best)
        if new != NOTHING:
            root = put_in(self, new, root)
        self.heap[t * width + y] = root
    return root


cdef void set_prefixes(Detours* self) noexcept nogil:
    """The scores of all best prefixes, as Viterbi chose them, in double precision: paths are put in order by them."""
    cdef const Chain* chain = &self.chain
    cdef Py_ssize_t t, y, width = chain.width
    cdef label_t below
    for y in range(width):
        self.prefix[y] = chain.node[y]
    for t in range(1, chain.length):
        for y in range(width):
            below = self.back[t * width + y]
            self.prefix[t * width + y] = (
                self.prefix[(t - 1) * width + below] + chain.edge[t * chain.edge_step + below * width + y]
                + chain.node[t * width + y]
            )


cdef int begin(Detours* self, const Chain* chain) except -1 nogil:
    """Run Viterbi, and get ready; `end` has to be called, whatever happens here."""
    cdef Py_ssize_t T = chain.length, width = chain.width, i
    self.chain = chain[0]
    self.alpha = <weight_t*> malloc(2 * width * sizeof(weight_t))
    self.prefix = <double*> malloc(T * width * sizeof(double))
    self.back = <label_t*> malloc(T * width * sizeof(label_t))
    self.heap = <int*> malloc((T + 1) * width * sizeof(int))
    self.stack = <int*> malloc((T + 1) * sizeof(int))
    self.choices = NULL
    self.detours = NULL
    self.n_choices = self.choice_room = self.n_detours = self.detour_room = 0
    if self.alpha == NULL or self.prefix == NULL or self.back == NULL or self.heap == NULL or self.stack == NULL:
        with gil:
            raise MemoryError
    forward(&self.chain, self.alpha, 2, self.back)
    self.last = best_label(&self.alpha[((T - 1) % 2) * width], chain.n_labels)
    set_prefixes(self)
    for i in range((T + 1) * width):
        self.heap[i] = NOT_MADE
    return 0


cdef void end(Detours* self) noexcept nogil:
    free(self.alpha)
    free(self.prefix)
    free(self.back)
    free(self.heap)
    free(self.stack)
    free(self.choices)
    free(self.detours)
