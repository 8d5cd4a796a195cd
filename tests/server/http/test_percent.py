"""Percent-encoding is taken back as the standard library does it."""

from urllib.parse import quote_from_bytes, unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.http.percent import field_value


def by_the_library(field: bytes) -> bytes:
    return unquote_to_bytes(field.replace(b"+", b" "))


@pytest.mark.parametrize(
    "field",
    [
        b"",
        b"a+b%20c",
        b"a=b",
        b"%",
        b"%4",
        b"%zz=41",
        b"%3D%3d=3D",
        b"a =\r\nb",
        b"x%0A",
        b"=",
        b"==41 \n",
        b"_ \t",
    ],
)
def test_odd_fields_are_read_as_the_library_reads_them(field: bytes) -> None:
    assert field_value(field) == by_the_library(field)


@given(st.lists(st.sampled_from([b"%", b"=", b"4", b"1", b"F", b"f", b"\r", b"\n", b" ", b"+", b"\xc3"])))
def test_any_bytes_are(parts: list[bytes]) -> None:
    assert field_value(b"".join(parts)) == by_the_library(b"".join(parts))


@given(st.binary())
def test_what_was_encoded_comes_back(value: bytes) -> None:
    assert field_value(quote_from_bytes(value, safe="").encode()) == value
