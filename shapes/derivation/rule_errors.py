"""Why a rule is not run."""


class RuleUnsupported(Exception):
    """A rule needs what is unsupported here; the message goes on from its name."""
