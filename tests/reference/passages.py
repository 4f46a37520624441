"""Labels of passages: what a document is worth from iteration to iteration (SPEC 5, 8)."""


def finds_of(occurrences, threshold, document_label):
    """A function of i: for each good document found then, its gain and whether it is new."""

    def by_first(i):
        good = [
            occurrence
            for occurrence in occurrences
            if occurrence.i == i and (occurrence.gain or 0) >= threshold
        ]
        return [(occurrence.gain, True) for occurrence in good if occurrence.is_first()]

    def by_best(i):
        finds = []
        for document in filter(lambda one: one.is_first(), occurrences):
            now, before = (best(occurrences, document, at, threshold) for at in (i, i - 1))
            if now > before:
                finds.append((now - before, before == 0))
        return finds

    return by_best if document_label == "best" else by_first


def best(occurrences, document, i, threshold):
    """b_i(d) of SPEC 5."""
    labels = own_labels(occurrences, document, i)
    return max((label for label in labels if label >= threshold), default=0)


def own_labels(occurrences, document, i):
    return [
        occurrence.gain
        for occurrence in occurrences
        if occurrence.first is document and occurrence.i <= i and occurrence.gain is not None
    ]


def best_list(occurrences, i=10**6):
    """The greatest label, or None, of each document in the order of first occurrences (SPEC 8)."""
    return [
        max(own_labels(occurrences, document, i), default=None)
        for document in occurrences
        if document.is_first() and document.i <= i
    ]
