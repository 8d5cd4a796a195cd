"""The relations of areas from their borders, compiled by numba, for very many pairs at once.

An area becomes an array of numbered vertices, equal vertices with equal numbers. Where two areas share
vertices, the order of the edges around each shared vertex decides the relation without a DE-9IM matrix;
undecided pairs go to GEOS. `borders` is the entry point, `border_reading` reads areas into arrays,
`border_boxes` finds the pairs whose boxes meet, `border_kernel` compares them. Imports no other package of
this program.
"""
