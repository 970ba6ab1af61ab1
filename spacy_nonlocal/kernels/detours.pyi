# Nothing here can be called from Python: nbest.pyx uses it.
