"""The folders of the ontology and the shapes that ship with us: in force where no others are named."""

from pathlib import Path
from typing import Final

import ontology as ontology_package
import shapes as shapes_package

SHIPPED_ONTOLOGY: Final = Path(ontology_package.__file__).parent
SHIPPED_SHAPES: Final = Path(shapes_package.__file__).parent
