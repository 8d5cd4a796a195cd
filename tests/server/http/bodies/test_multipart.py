"""Forms are cut into their documents, wherever blocks end, and refused where they are none."""

import io

import pytest

from server.errors import MalformedBody
from server.http.bodies.multipart import boundary_of, read_parts

FORM = (
    b'--x\r\nContent-Disposition: form-data; name="one"; filename="a b.ttl"\r\n'
    b"Content-Type: text/turtle\r\n\r\nfirst\r\n-- x is no delimiter\r\n"
    b"--x\r\nContent-Disposition: form-data; name=two\r\n\r\n\r\n--x--\r\n"
)


class Slow(io.BytesIO):
    """Returns a few bytes at a time, as a connection does."""

    def __init__(self, content: bytes, most: int) -> None:
        super().__init__(content)
        self._most = most

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._most)


@pytest.mark.parametrize("most", [1, 2, 3, 7, 50, 10_000])
def test_the_documents_are_the_same_in_blocks_of_any_size(most: int):
    found = [
        (part.name, part.content_type, part.filename, part.body.read())
        for part in read_parts(Slow(FORM, most), b"x")
    ]
    assert found == [
        ("one", "text/turtle", "a b.ttl", b"first\r\n-- x is no delimiter"),
        ("two", None, None, b""),
    ]


@pytest.mark.parametrize("end", range(len(FORM) - 4))
def test_a_form_that_is_cut_off_anywhere_is_refused(end: int):
    with pytest.raises(MalformedBody):
        list(read_parts(io.BytesIO(FORM[:end]), b"x"))


@pytest.mark.parametrize(
    "body",
    [
        b"no form at all",
        b"--other\r\n\r\n\r\n--other--\r\n",
        FORM.replace(b"form-data", b"x" * 2**20),
        FORM.replace(b"Content-Type", b"X: y\r\n" * 10_000 + b"Content-Type"),
    ],
)
def test_what_is_no_form_is_refused_with_the_reason(body: bytes):
    with pytest.raises(MalformedBody, match="no form"):
        list(read_parts(io.BytesIO(body), b"x"))


def test_a_form_needs_a_boundary_of_a_possible_length():
    with pytest.raises(MalformedBody, match="boundary"):
        boundary_of("multipart/form-data")
    with pytest.raises(MalformedBody, match="shorter"):
        list(read_parts(io.BytesIO(b""), b"x" * 1_000))
