"""The penalties: what it costs to believe that the words of a question mean this, and not what is nearer.

A reading of words costs what its name is away from them; a rule of the grammar adds what its construction is
less likely than the plain one. The plan with the lowest sum is run (`service.py`). The values were chosen
on the questions named `-dev` in `benchmarks/questions`: they order the readings of one question, and have no
unit.
"""

from typing import Final

# Readings: how far the words are from a name.
OTHER_LABEL: Final = 0.1  # a label of a class or property that is not the main one
OTHER_NAME: Final = 0.05  # a label of an entity that is not the main one
INFLECTED_LABEL: Final = 0.05  # a label without its verb or preposition: "part" for "has part"
OTHER_FORM: Final = 0.15  # another form of the verb or noun: "opens" for "opened"
LABEL_PART: Final = 0.75  # one word of a longer label
LIKE_LABEL: Final = 0.9  # begins or ends like a word of a label: "expert" for "expertise"
IN_DEFINITION: Final = 1.1  # a word of a property's definition
CLASS_RIVAL: Final = 0.15  # a property where a class has the same name: "suppliers" are things
TEXT_VALUE: Final = 0.1  # a text of the graph, which may only happen to be written like this
PLURAL_NAME: Final = 0.1  # a name in the plural
COMMON_NOUN: Final = 0.7  # and with a plain noun: "Brooklyn museums" are hardly the Brooklyn Museum
LOWER_CASE_NAME: Final = 0.25  # a name in lower case, where other names are written in capitals
TYPO: Final = 0.5  # a name with a letter wrong in every fifth
SHORT_NAME: Final = 0.2  # a part of a name
SHORT_NAME_LEFT_OUT: Final = 0.6  # times the share of the letters that are left out
NAMESAKES: Final = 0.3  # times the logarithm of how many have such a name
ON: Final = 0.3  # "on", which is rarely in
RARE_MEANING: Final = 0.05  # the rarer meaning of a function word (with a tilde in `english.toml`)
COMPARATIVE_ALONE: Final = 0.05  # "larger" without "than"
ADJECTIVE_ALONE: Final = 0.2  # "large"
CATEGORY_FOR_THINGS: Final = 0.5  # the name of a category for the things of it: "the cheapest oscillator"
RARE_CATEGORY: Final = 0.5  # times how much rarer the property is than the most used that gives the category

# Quantities and relations that the words do not name.
MEASURED: Final = 0.15  # a size that is measured, where no property states it
MEASURE_NAMED: Final = 0.1  # "area", which may be the name of a property
CHAINED: Final = 0.2  # a number of the thing that a property leads to
UNRECORDED: Final = 0.5  # a property without any statement of such things
UNSAID_PLACE: Final = 0.7  # "Brooklyn museums": they are in it
UNSAID_PROPERTY: Final = 1.1  # "Sensor expert": some property links them
UNSAID_OF_NAMES: Final = 0.3  # both ends are named: "Sabrina from Marketing"
UNSAID_OF_RESTRICTION: Final = 0.2  # "departments [with members] that are experts"

# What takes most of an unsaid relation back: other words say that there is one.
SAID_BY_WHICH: Final = 0.5  # "in which X is Y"
SAID_BY_NUMBER: Final = 0.3  # "with two X"
SAID_BY_COUNT: Final = 0.4  # "with the most X", "more X than Y", "without X"
SAID_BY_SAME: Final = 0.6  # "in the same X as Y"

# Restrictions that may belong to another noun.
FARTHER_NOUN: Final = 0.1  # "that border the neighborhood that contains": the nearest noun is meant
BEHIND_RANK: Final = 0.35  # what follows "the largest park" belongs to what it is chosen from
BEHIND_PAIR: Final = 0.2  # what follows "X and Y" belongs to Y
BEHIND_NAME: Final = 0.25  # "Queens larger than": a name needs no restriction
NEVER_TOUCH: Final = 0.3  # shared borders of things that are points
BEFORE_NOUN: Final = 0.1  # the restriction comes before the class
BEFORE_NAME: Final = 0.4  # or before a name
BEHIND_BOTH: Final = 0.05  # behind "and" or "or" instead of at the noun
RANK_OF_ALL: Final = 0.1  # "the largest in Queens": chosen from those in Queens

# Nouns side by side.
KIND_OF_NAME: Final = 0.1  # "the borough of Queens"
THINGS_OF_NAME: Final = 0.3  # the same with the things of a category
CATEGORY_AND_CLASS: Final = 0.1  # a class and the things of a category
CLASS_AND_SUBCLASS: Final = 0.2  # "art museum building"
NAMED_AGAIN: Final = 0.1  # "larger than any other park"
CLASSES_JOINED: Final = 0.1  # "churches and synagogues"
RESTRICTED_JOINED: Final = 0.6  # "churches in X and synagogues": the restriction is of both
EITHER_OF_TWO: Final = 0.3  # "through X and Y" is through both

# The order of words, and words that add nothing.
OTHER_ORDER: Final = 0.05  # the value before the property, the class before its rank
VALUE_BEHIND: Final = 0.15  # "X's height" may be "X, height"
AGAINST_WORDS: Final = 0.3  # a property the other way round than its name is said
OWNER: Final = 0.15  # "X's manager": to what X has
OWNED: Final = 0.1  # "what did X design": to what has X
PLACE_BEHIND_NAME: Final = 0.1  # "which borough is X in"
PLACE_BEHIND: Final = 0.4  # the same of things that are not named
PREPOSITION: Final = 0.2  # "expertise in": the preposition is the property's
PLACE_IS_TEXT: Final = 0.1  # "in France", where the country is a text
CROSSED_NUMBER: Final = 0.2  # "over four museums" is a number of them
TWO_BOUNDS: Final = 0.2  # two bounds without "and"
ALL_SAID: Final = 0.05  # "all museums"
EVERY_AS_ALL: Final = 0.2  # "every museum" for all of them
NUMBER_WANTED: Final = 0.1  # "two museums" for any two
NUMBER_COUNTED: Final = 0.3  # "two museums" for exactly two
DISTANCE_ALONE: Final = 0.3  # "500 m from X" without "within"
BETWEEN_NAMES: Final = 0.1  # "between X and Y" for two things
VALUE_OF_RESTRICTION: Final = 0.2  # the value of what has no noun
ORDERED_BY: Final = 0.2  # "the boroughs by area" for their areas
IN_TOTAL: Final = 0.3  # "in total" inside of the question
FIRST_ALONE: Final = 0.2  # "first opened" for the date alone
NEIGHBOR_OF_ANY_KIND: Final = 0.2  # a neighbor that is of another kind
DATE_NAMED: Final = 0.05  # "that date from"
AREA_BY_UNIT: Final = 0.05  # "of 100 hectares" for the area
RANKED_BY_DATE: Final = 0.1  # "the first museum": by its date
RANKED_BY_AREA: Final = 0.1  # "the largest area": by the measure, not by a property
NEAREST_TO_KIND: Final = 0.1  # nearest to any thing of a class
RANKED_BEFORE: Final = 0.1  # the rank before its things

# Things that are left out.
OUT_OF_RANKED: Final = 0.1  # "the museum nearest to X that is not in Y": chosen from the others
OUT_BEHIND_RANK: Final = 0.35  # left out of what was chosen
OUT_OF_NAME: Final = 0.4  # left out of what is named
OUT_BY_SAME_LINK: Final = 0.2  # "that border X but not Y", where Y itself may be left out
OUT_BEFORE: Final = 0.3  # what is left out comes first
NOT_A_RESTRICTION: Final = 0.3  # "not X" leaves X itself out
WITHOUT_BY_NOT: Final = 0.1  # "do not have a zoo"

# Questions.
WHAT_IS_NAMED: Final = 0.3  # "which is X": its class
WHAT_IS_KIND: Final = 0.05  # "what type of building is X"
NO_NOUN_LISTED: Final = 0.2  # "which are in X", of anything
NO_NOUN_COUNTED: Final = 0.4  # "how many are in X", of anything
PLACE_OF_NAME: Final = 0.1  # "where X is": the place as a set
PLACE_BY_PROPERTY: Final = 0.1  # "where is the festival held"
LENGTH_OF: Final = 0.15  # "how long is X": the measured length
ASKED_AGAIN: Final = 0.1  # "what is the number of": the question is asked twice
EVERY_LISTED: Final = 0.1  # "list every museum"
YEARS_OF_BEGINNING: Final = 0.1  # "years between X and Y": since they began
THAN_VALUE: Final = 0.1  # subtracted: "before X opened" says the date of X
PHRASE_OF_CLASS: Final = 0.3  # no asking word: "museums in Queens"
PHRASE_OF_RESTRICTION: Final = 0.8  # no asking word and no noun: "in Queens"
PHRASE_OF_VALUE: Final = 0.1  # no asking word: "the height of X"
SKIPPED_WORD: Final = 0.3  # an idle word that names something which the plan does not use
