from .typedefs cimport key_t

cdef enum:
    MAX_PHRASE = 16           # tokens: longer ones hardly come twice

cdef struct Phrase:
    int start                 # where it stands in the text, once
    int length
    int first                 # its first place in the text

cdef struct Place:
    int phrase
    int start

cdef struct Phrases:
    const key_t* words        # [T]
    Py_ssize_t text_length
    key_t* prefix             # [T + 1] hashes of the text up to each token
    key_t* power              # [MAX_PHRASE + 1]
    Phrase* phrases           # [n]
    key_t* hashes             # [n]
    Py_ssize_t n, room, hash_room
    int* slots                # [mask + 1] numbers of phrases, -1: empty
    key_t mask
    Place* places             # [n_places] wherever a phrase stands, from front to back
    Py_ssize_t n_places, place_room
    int* first_place          # [T + 1] where the places that start at a token begin
    int longest               # of all phrases
    unsigned char* begins     # whether a phrase may begin with a word of this hash


cdef int begin_phrases(Phrases* self, const key_t* words, Py_ssize_t length) except -1 nogil
cdef int add_phrase(Phrases* self, Py_ssize_t start, Py_ssize_t length) except -2 nogil
cdef int find_places(Phrases* self) except -1 nogil
cdef void end_phrases(Phrases* self) noexcept nogil
