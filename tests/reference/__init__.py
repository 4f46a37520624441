"""Brute-force reference of SPEC 3, 4 and 5, to test the fast implementation against.

It is written from the text of the SPEC alone and shares no code with the packages it judges:
JSON dicts instead of typed records, strings instead of digests, and every earlier occurrence is
looked at for every result instead of an index of keys. It is slow and meant to be obviously right.

Where the SPEC is silent, this reference decides:

Keys and evidence
  * `subject`, `file_name` and `display_name` give a key from their whole normalised value; only
    `title` is cut at 100 characters. For a field with several values the set is the value.
    `start` and `end` give a key only together.
  * Fields (title, snippet and content are fields too) are compared as whole sets. Ids agree when
    they share a value; for `identical` their sets must be equal.
  * Attributes counted for "at least two": each named id, the generic id, the URL, each field.
  * An id or a field whose values are all blank is absent. A null inside such a list is blank.
  * Time values are trimmed before they are parsed.
  * The values of an identity parameter that is repeated in a URL are compared as a set.
  * A port number, after what looks like a scheme, is digits up to `/`, `?`, `#` or the end.
Types
  * A blank type is absent. Unknown types are the same when their trimmed names are, ignoring case.
  * Two absent types count as the same type in the `identical` part of step 4.
Pairs
  * "Nothing comparable that differs" in step 4 looks at all named ids and all fields, whatever the
    rules of the type list.
  * Occurrences with identical evidence and type are registered once, so a later copy adds no
    candidate and counts as none for `max_candidates`.
Records
  * A blank `record_id` is absent. A null timestamp is lower than any; one without an offset is UTC.
  * The canonical encoding has every field with its default, the timestamp in integer milliseconds,
    the score as a float, and a list of one id or field value as the plain string. `title`,
    `snippet` and `content` inside `fields` stay in it, though they are no evidence.
  * Redelivered: the deliveries of an identity beyond the one that wins. Conflicting: those of them
    whose canonical encoding differs from the winner's.
  * Attributes and the first and last timestamp come from all usable records of the conversation,
    of every turn. A blank attribute value is empty.
Numbers
  * Label conflict: a copy whose label differs from its first occurrence's, both not null.
  * With N = 0 the counts are 0 and every metric is null, `iterations_after_last_good` included.
"""

from tests.reference.evaluation import evaluate

__all__ = ["evaluate"]
