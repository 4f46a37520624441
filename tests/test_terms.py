"""Terms are explained where they first stand on a page: in words, or by a link to the words."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]

# What a term looks like, and what one of its explanations has. Options are no terms.
TERMS = {
    r"(?<!-)\biterations?\b": r"step|search|several|asks|round",
    r"\bturns?\b(?! (?:costs|outcomes))": r"request",
    r"\bat N\b|\bN (?:=|>=) ": r"number of iterations|N iterations|whole turn",
    r"\bCG\b": r"gain\b",
    r"\bSRE\b": r"good and new",
    r"\bSRR\b": r"repeated",
    r"\b(?:GR|UR)\b": r"good|first occurrences|distinct",
    r"\bfirst occurrences?\b": r"repeat|copies",
    r"\bredeliver\w+": r"delivered again",
    r"\bfingerprint\w*": r"digest",
    r"\bqrels\b": r"judgments|labels of documents",
    r"\bmet(?:_| )again": r"two documents",
    r"(?<!/)(?<!kafka )(?<!kafka's )\btopics?\b": r"query|question",
    r"(?<!worker )(?<!-)\bpools?\b": r"of several runs|judge each document once|distinct doc",
    r"\bown\s+ideal": r"run\s+itself\s+found",
    r"\beveryone\b": r"never searched|did\s+not\s+search",
    r"\bslices?\b": r"value of an attribute",
    r"--cluster\b|effective_clusters": r"repeat|share",
    r"\barms?\b": r"two runs|two parts|two values",
    r"\bGSB\b": r"got better",
    r"\bwatermark\b": r"time up to which",
    r"\bpanes?\b": r"later panes replace",
}
_NO_PROSE = re.compile(
    r"^```.*?^```|<!-- \w+ -->.*?<!-- end -->|^#+ .*?$", re.DOTALL | re.MULTILINE
)


def paragraphs(page):
    """Paragraphs, rows of tables and entries of lists, without code, headings, generated tables."""
    text = _NO_PROSE.sub("\n\n", page.read_text(encoding="utf-8"))
    return [
        " ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n|\n(?=\* |\||\d\. )", text)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_terms_are_explained_where_they_first_stand(page):
    unexplained = []
    for term, explanation in TERMS.items():
        word = re.compile(term, 0 if re.search("[A-Z]", term) else re.IGNORECASE)
        first = next((paragraph for paragraph in paragraphs(page) if word.search(paragraph)), "")
        links = re.findall(r"\[([^\]]+)\]\(", first)
        if first and not (any(map(word.search, links)) or re.search(explanation, first, re.I)):
            unexplained.append(f"{word.search(first)[0]}: {first}")
    assert not unexplained, "\n".join(unexplained)
