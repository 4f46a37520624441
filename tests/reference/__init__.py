"""Brute-force reference of SPEC 3, 4 and 5, to test the fast implementation against.

It is written from the text of the SPEC alone and shares no code with the tested packages: JSON
dicts instead of typed records, strings instead of digests, and for every result a search of all
earlier occurrences instead of an index of keys. It is slow but simple enough to check by reading.

Where the SPEC is silent, this reference decides:

Keys and evidence
  * `subject`, `file_name` and `display_name` give a key from their whole normalised value; only
    `title` is cut at 100 characters. For a field with several values the set is the value.
    `start` and `end` give a key only together.
  * Fields (title, snippet and content are fields too) are compared as whole sets. Ids agree if
    they share a value; for `identical` their sets must be equal.
  * Attributes counted for "at least two": each named id, the generic id, the URL, each field.
  * An id or a field whose values are all blank is absent. A null inside such a list is blank.
  * Time values are trimmed before they are parsed.
  * The values of an identity parameter that is repeated in a URL are compared as a set.
  * After what looks like a scheme, digits up to `/`, `?`, `#` or the end are a port number.
Types
  * A blank type is absent. Unknown types are equal if their trimmed names are, ignoring case.
  * Two absent types count as the same type in the `identical` part of step 4.
Pairs
  * "Nothing comparable that differs" in step 4 includes all named ids and all fields, even those
    that the rules of the type do not list.
  * Occurrences with identical evidence and type are registered once, so a later copy adds no
    candidate and counts as none for `max_candidates`.
Records
  * A blank `record_id` is absent. A null timestamp is lower than any; one without an offset is UTC.
  * The canonical encoding has every field with its default, the timestamp in integer milliseconds,
    the score as a float, and a list of one id or field value as the plain string. `title`,
    `snippet` and `content` inside `fields` stay in it, though they are no evidence.
  * Redelivered: all deliveries of an identity except the winner. Conflicting: those of them
    whose canonical encoding differs from the winner's.
  * Attributes and the first and last timestamp come from all usable records of the conversation,
    of every turn. A blank attribute value is empty.
Numbers
  * Label conflict: a copy whose label differs from its first occurrence's, both not null.
  * With N = 0 the counts are 0 and every metric is null, including `iterations_after_last_good`.
"""

from tests.reference.evaluation import evaluate

__all__ = ["evaluate"]
