"""Names in any script reach the graph as the text writes them."""

from __future__ import annotations

from pyoxigraph import Literal

from research.empty_graph import empty_graph
from server.settings import Settings
from sparql.model.vocabulary import RDFS
from tests.support.scripted import ScriptedModel, reply, urban

NAMES = [
    ("Øksnehallen", "København"),
    ("Årstaparken", "Östersund"),
    ("Łazienki", "Łódź"),
    ("Île Saint-Louis", "Évry-Courcouronnes"),
    ("Ćwiklińska Hall", "İzmir"),
    ("L'Haÿ-les-Roses", "N’Djamena"),
    ("Galerie (Neue Welt)", "Frankfurt (Oder)"),
    ("Третьяковка", "Москва"),
    ("Ακρόπολη", "Αθήνα"),
    ("المتحف المصري", "القاهرة"),
    ("מוזיאון ישראל", "ירושלים"),
    ("故宫博物院", "北京"),
    ("東京国立博物館", "上野"),
    ("국립중앙박물관", "서울"),
    ("राष्ट्रीय संग्रहालय", "नई दिल्ली"),
    ("พิพิธภัณฑสถาน", "กรุงเทพ"),
    ("วัดสี", "ตลาดน้ำ"),
]


async def test_names_in_any_script_reach_the_graph_whole() -> None:
    rows = [
        reply([(hall, "is a", "museum"), (city, "is a", "city"), (hall, "located in", city)])
        for hall, city in NAMES
    ]
    async with empty_graph(Settings(language=""), ScriptedModel(*rows)) as services:
        for hall, city in NAMES:
            outcome = await services.intake.extract(f"The {hall} is a museum in {city}, a city by the sea.")
            located = [s for s in outcome.verdict.accepted if s.triple.predicate == urban("locatedIn")]
            refused = [violation.message for one in outcome.verdict.rejected for violation in one.violations]
            assert (hall, len(located), refused) == (hall, 1, [])
        found = {
            quad.object.value
            for quad in services.store.match_quads(None, RDFS.label, None)
            if isinstance(quad.object, Literal)
        }
    assert {name for pair in NAMES for name in pair} <= found
