"""Applications that share what the framework found out about their routes, and nothing else."""

from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Query
from fastapi.testclient import TestClient

from tests.support.known_endpoints import remember_endpoints


class Counted:
    """A dependency that belongs to one application."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, name: str = "") -> str:
        self.calls += 1
        return name


def application(answer: str, most: int, counted: Counted) -> FastAPI:
    routes = APIRouter(dependencies=[Depends(counted)])

    @routes.get("/answer")
    def get_answer(size: Annotated[int, Query(le=most)] = 1) -> str:
        return answer * size

    @routes.get("/name")
    def get_name(name: Annotated[str, Depends(counted)]) -> str:
        return name + answer

    app = FastAPI()
    app.include_router(routes)
    return app


def test_each_application_has_its_own_functions_dependencies_and_limits() -> None:
    remember_endpoints()
    mine, theirs = Counted(), Counted()
    one = TestClient(application("a", 5, mine))
    two = TestClient(application("b", 9, theirs))
    assert one.get("/answer").json() == "a"
    assert two.get("/answer", params={"size": 7}).json() == "bbbbbbb"
    assert one.get("/answer", params={"size": 7}).status_code == 422
    assert two.get("/name", params={"name": "x"}).json() == "xb"
    assert theirs.calls == 2
    assert mine.calls >= 1
    assert one.get("/openapi.json").json() != two.get("/openapi.json").json()
