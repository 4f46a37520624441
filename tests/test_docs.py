"""README and pages: links have targets, commands parse, code blocks are valid."""

import argparse
import ast
import json
import re
import shlex
from functools import cache
from pathlib import Path

import pytest
import yaml
from apache_beam.options.pipeline_options import PipelineOptions

from goodgain.pipeline.cli.commands import COMMANDS, load_command, parse_arguments
from goodgain.pipeline.run.engines.table import ENGINES
from goodgain.transforms.core.warnings.codes import CODES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Options of the program itself, and of Beam's job server, worker pool and workers.
OTHERS = {
    *("--version", "--spark-master-url", "--container_executable", "--extra_package"),
    "--savepoint_path",  # of the job server
    *("--defaultEnvironmentType", "--defaultEnvironmentConfig"),  # of the expansion service
}
READING = "goodgain reading"  # a line of a log
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(text):
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
        for heading in HEADING.findall(text)
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


@pytest.mark.parametrize("line", list(commands()))
def test_commands_parse(line):
    words = shlex.split(line, comments=True)[1:]
    words = [word for word in words if word != "..."]
    name = next(
        (command for command in COMMANDS if words[: len(command.split())] == command.split()), None
    )
    assert name is not None, line
    parse_arguments(load_command(name), words[len(name.split()) :])


def options_of(name):
    parser = argparse.ArgumentParser()
    load_command(name).add_arguments(parser)
    return {option for action in parser._actions for option in action.option_strings}


@cache
def of_beam():
    return {f"--{name}" for name in PipelineOptions([]).get_all_options()}


def in_text(page):
    """The code within the sentences of a page."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_sentences_exist_and_have_their_options(page):
    for code in in_text(page):
        if not re.match(r"goodgain [a-z]", code) or code.startswith(("goodgain help", READING)):
            continue
        words = code.split()[1:]
        name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
        groups = {command.split()[0] for command in COMMANDS}
        assert name in COMMANDS or (name in groups and len(words) == 1), code
        ours = options_of(name) if name in COMMANDS else set()
        assert {word for word in words if word.startswith("--")} <= {*ours, "--help"}, code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_sentences_exist(page):
    known = {option for name in COMMANDS for option in options_of(name)} | OTHERS
    for engine in ENGINES.values():
        options = (*engine.arguments, *engine.batch_arguments, *engine.stream_arguments)
        known |= {option.partition("=")[0] for option in options}
    for code in in_text(page):
        found = re.findall(r"(?<![\w-])--[a-z][\w-]*", code)
        assert set(found) <= known | of_beam(), code


def test_the_table_of_warnings_has_every_code():
    page = (ROOT / "docs" / "input.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(CODES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_are_valid_python_or_yaml(page):
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            ast.parse(block)
        if language == "yaml":
            yaml.safe_load(block)


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_commands_and_programs_fit_into_a_window(page):
    """What lies beyond its edge is an option that nobody sees."""
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in ("sh", "python"):
            assert [line for line in block.splitlines() if len(line) > 92] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_json_can_be_read_as_it_stands(page):
    """As one document, or as a line for each record: else the first trial of a reader fails."""
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "json":
            assert is_json(block) or all(is_json(line) for line in block.splitlines()), block


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_readme_has_at_most_150_lines_and_the_site_lists_every_page():
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= 150
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = [
        page
        for entry in nav
        for page in ([entry] if isinstance(entry, str) else next(iter(entry.values())))
    ]
    assert sorted(listed) == sorted(page.name for page in PAGES[1:])
    kinds = [next(iter(entry)) for entry in nav if isinstance(entry, dict)]
    assert kinds == ["Tutorial", "How to", "Reference", "Explanation"]


def named_pages(text):
    """(name of the file, text of the link) of each page in a list of pages."""
    return [
        (path.removeprefix("docs/"), name)
        for name, path in re.findall(r"\[([^\]]+)\]\(([\w/-]+\.md)\)", text)
    ]


def test_lists_of_pages_name_each_by_its_title():
    """Navigation takes the title, too."""
    titles = {page.name: HEADING.search(page.read_text(encoding="utf-8"))[1] for page in PAGES[1:]}
    del titles["index.md"]
    for page, heading in ((PAGES[0], "## Read on"), (ROOT / "docs" / "index.md", "## Pages")):
        _, listed = page.read_text(encoding="utf-8").split(heading)
        assert sorted(named_pages(listed)) == sorted(titles.items()), page.name


def test_the_index_begins_with_installation_and_the_first_run():
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert HEADING.findall(page)[1:3] == ["Install", "First run"]


def test_the_beam_yaml_of_the_page_is_what_init_writes():
    """`tests/pipeline/cli/test_init.py` runs it."""
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


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted((ROOT / "configs").rglob("*.md"))], ids=lambda page: page.parent.name
)
def test_tests_that_pages_name_exist(page):
    for named in re.findall(r"tests/[\w/]+\.py", page.read_text(encoding="utf-8")):
        assert (ROOT / named).is_file(), named


def test_pages_do_not_cite_internal_documents():
    for page in PAGES:
        assert not re.search(r"\bSPEC\b|\bDESIGN\b", page.read_text(encoding="utf-8")), page.name
