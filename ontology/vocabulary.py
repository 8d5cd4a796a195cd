"""The terms of the standard vocabularies that an ontology file is read by."""

from __future__ import annotations

from pyoxigraph import NamedNode

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
QUDT = "http://qudt.org/schema/qudt/"
SCHEMA_ORG = ("https://schema.org/", "http://schema.org/")

TYPE = NamedNode(RDF + "type")
FIRST = NamedNode(RDF + "first")
REST = NamedNode(RDF + "rest")
NIL = NamedNode(RDF + "nil")
RDF_PROPERTY = NamedNode(RDF + "Property")
LANG_STRING = NamedNode(RDF + "langString")

LABEL = NamedNode(RDFS + "label")
COMMENT = NamedNode(RDFS + "comment")
RDFS_CLASS = NamedNode(RDFS + "Class")
DATATYPE = NamedNode(RDFS + "Datatype")
LITERAL = NamedNode(RDFS + "Literal")
SUBCLASS_OF = NamedNode(RDFS + "subClassOf")
SUBPROPERTY_OF = NamedNode(RDFS + "subPropertyOf")
DOMAIN = NamedNode(RDFS + "domain")
RANGE = NamedNode(RDFS + "range")
DEFINED_BY = NamedNode(RDFS + "isDefinedBy")

ONTOLOGY = NamedNode(OWL + "Ontology")
IMPORTS = NamedNode(OWL + "imports")
VERSION_IRI = NamedNode(OWL + "versionIRI")
OWL_CLASS = NamedNode(OWL + "Class")
OBJECT_PROPERTY = NamedNode(OWL + "ObjectProperty")
DATATYPE_PROPERTY = NamedNode(OWL + "DatatypeProperty")
ANNOTATION_PROPERTY = NamedNode(OWL + "AnnotationProperty")
FUNCTIONAL = NamedNode(OWL + "FunctionalProperty")
SYMMETRIC = NamedNode(OWL + "SymmetricProperty")
TRANSITIVE = NamedNode(OWL + "TransitiveProperty")
IRREFLEXIVE = NamedNode(OWL + "IrreflexiveProperty")
ASYMMETRIC = NamedNode(OWL + "AsymmetricProperty")
INVERSE_OF = NamedNode(OWL + "inverseOf")
EQUIVALENT_CLASS = NamedNode(OWL + "equivalentClass")
EQUIVALENT_PROPERTY = NamedNode(OWL + "equivalentProperty")
UNION_OF = NamedNode(OWL + "unionOf")
INTERSECTION_OF = NamedNode(OWL + "intersectionOf")
DISJOINT_WITH = NamedNode(OWL + "disjointWith")
DISJOINT_UNION_OF = NamedNode(OWL + "disjointUnionOf")
ALL_DISJOINT_CLASSES = NamedNode(OWL + "AllDisjointClasses")
PROPERTY_DISJOINT_WITH = NamedNode(OWL + "propertyDisjointWith")
ALL_DISJOINT_PROPERTIES = NamedNode(OWL + "AllDisjointProperties")
MEMBERS = NamedNode(OWL + "members")
INVERSE_FUNCTIONAL = NamedNode(OWL + "InverseFunctionalProperty")
ON_PROPERTY = NamedNode(OWL + "onProperty")
HAS_KEY = NamedNode(OWL + "hasKey")
HAS_SELF = NamedNode(OWL + "hasSelf")
ON_CLASS = NamedNode(OWL + "onClass")
ON_DATA_RANGE = NamedNode(OWL + "onDataRange")
SOME_VALUES_FROM = NamedNode(OWL + "someValuesFrom")
ALL_VALUES_FROM = NamedNode(OWL + "allValuesFrom")
HAS_VALUE = NamedNode(OWL + "hasValue")
ONE_OF = NamedNode(OWL + "oneOf")
MIN_CARDINALITY = NamedNode(OWL + "minCardinality")
MAX_CARDINALITY = NamedNode(OWL + "maxCardinality")
CARDINALITY = NamedNode(OWL + "cardinality")
MIN_QUALIFIED = NamedNode(OWL + "minQualifiedCardinality")
MAX_QUALIFIED = NamedNode(OWL + "maxQualifiedCardinality")
QUALIFIED = NamedNode(OWL + "qualifiedCardinality")
ON_DATATYPE = NamedNode(OWL + "onDatatype")
WITH_RESTRICTIONS = NamedNode(OWL + "withRestrictions")
THING = NamedNode(OWL + "Thing")
NOTHING = NamedNode(OWL + "Nothing")
REPLACED_BY = NamedNode("http://purl.org/dc/terms/isReplacedBy")

DEPRECATED = NamedNode(OWL + "deprecated")
DEPRECATED_KINDS = frozenset(NamedNode(OWL + name) for name in ("DeprecatedClass", "DeprecatedProperty"))

PREFERRED_LABEL = NamedNode(SKOS + "prefLabel")
ALTERNATIVE_LABEL = NamedNode(SKOS + "altLabel")
HIDDEN_LABEL = NamedNode(SKOS + "hiddenLabel")
DEFINITION = NamedNode(SKOS + "definition")

DOMAIN_INCLUDES = tuple(NamedNode(base + "domainIncludes") for base in SCHEMA_ORG)
RANGE_INCLUDES = tuple(NamedNode(base + "rangeIncludes") for base in SCHEMA_ORG)
USUAL_DOMAIN = NamedNode("https://w3id.org/urbankg/system#usualDomain")
USUAL_RANGE = NamedNode("https://w3id.org/urbankg/system#usualRange")
VIEW = NamedNode("https://w3id.org/urbankg/system#view")
UNIT = (NamedNode(QUDT + "hasUnit"), NamedNode(QUDT + "unit"))
