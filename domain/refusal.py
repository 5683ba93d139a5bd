"""Why nothing is begun. Apart from the other values, so that saying it needs no library."""


class Refused(Exception):
    """A precondition does not hold. The message says what, what there is, and what to do next."""


class Busy(Exception):
    """Another run holds the target."""
