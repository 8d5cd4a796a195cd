"""The parameters of every route that tells a list in pages."""

from typing import Annotated

from fastapi import Query

Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=1000)]
