"""README and pages: links have targets, commands parse, code blocks are valid."""

import ast
import re
import shlex
from pathlib import Path

import pytest
import yaml

from goodgain.pipeline.cli.arguments import parse_arguments
from goodgain.pipeline.cli.commands import COMMANDS, load_command

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(text):
    return {
        re.sub(r"[^\w\- ]", "", one).strip().lower().replace(" ", "-")
        for one in HEADING.findall(text)
    }


def commands():
    for page in PAGES:
        for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            if language in ("sh", "bash", ""):
                for line in block.replace("\\\n", " ").splitlines():
                    if re.match(r"\s*goodgain \w", line):
                        yield pytest.param(line, id=f"{page.name}: {line.strip()[:60]}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_have_targets(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("line", commands())
def test_commands_parse(line):
    words = shlex.split(line, comments=True)[1:]
    words = [word for word in words if word != "..."]
    name = next((one for one in COMMANDS if words[: len(one.split())] == one.split()), None)
    assert name is not None, line
    parse_arguments(load_command(name), words[len(name.split()) :])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_are_valid_python_or_yaml(page):
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            ast.parse(block)
        if language == "yaml":
            yaml.safe_load(block)


def test_readme_has_at_most_150_lines_and_the_site_lists_every_page():
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= 150
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(nav) == sorted(page.name for page in PAGES[1:])


def test_the_beam_yaml_of_the_page_is_what_init_writes():
    """`tests/pipeline/test_init.py` runs it."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (block,) = (block for language, block in BLOCK.findall(page) if language == "yaml")
    shipped = (ROOT / "configs" / "beam" / "pipeline.yaml").read_text(encoding="utf-8")
    assert shipped.endswith(f"init beam` writes both.\n{block}")


CHECKOUT = re.compile(
    r"(?<!goodgain/)(?:configs|tests|transforms|pipeline|examples|native)/\w[\w/.-]*"
)


def test_pages_cite_files_of_the_repository_as_such():
    for page in PAGES:
        if page.name == "contributing.md":
            continue  # for people who have the repository
        text = " ".join(page.read_text(encoding="utf-8").split())
        for cited in CHECKOUT.finditer(text):
            around = text[max(0, cited.start() - 60) : cited.end() + 60]
            assert "repository" in around, (page.name, around)


def test_pages_do_not_cite_internal_documents():
    for page in PAGES:
        assert not re.search(r"\bSPEC\b|\bDESIGN\b", page.read_text(encoding="utf-8")), page.name
