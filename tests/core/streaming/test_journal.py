"""The journal of a source: whole lines are read back as written, and old entries are summed up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.streaming.journal import (
    Changed,
    FileReading,
    Journal,
    JournalError,
    JournalHead,
    Move,
    SourceTotals,
    Take,
    compacted,
    decode_journal,
    encoded,
)
from goodgain.transforms.core.streaming.watermark import WatermarkState

names = st.text(st.characters(codec="utf-8"))
counts = st.integers(0, 2**40)
known_times = st.integers(-(2**46), 2**48)
times = st.none() | known_times
watermark_states = st.builds(
    WatermarkState, times, times, times, st.lists(st.integers(), max_size=3).map(tuple), counts
)
readings = st.builds(FileReading, counts, counts, counts, times, times)
entries = st.one_of(
    st.builds(Take, names, counts, known_times),
    st.builds(Changed, names, counts, counts),
    st.builds(Move, watermark_states, st.lists(readings, max_size=3).map(tuple), counts),
)


@given(st.lists(entries, max_size=6), st.data())
def test_a_truncated_journal_gives_its_whole_lines(written, data):
    lines = [encoded(entry) for entry in written]
    text = b"".join(lines)
    end = data.draw(st.integers(0, len(text)))
    journal, length = decode_journal(text[:end], "journal")
    assert journal.entries == written[: len(journal.entries)]
    assert length == sum(map(len, lines[: len(journal.entries)]))
    assert end - length < len([*lines, b" "][len(journal.entries)])


@pytest.mark.parametrize("line", [b"", b"{}", b"\xff", b'{"type":"take","name":"a"}', b"[1]"])
def test_a_damaged_line_is_reported_with_its_number(line):
    data = encoded(Take("a", 1, 5)) + line + b"\n" + encoded(Take("b", 1, 5))
    with pytest.raises(JournalError, match=r"Line 2 of the journal here/journal is damaged"):
        decode_journal(data, "here/journal")


@pytest.fixture
def journal():
    written = Journal()
    for entry in (
        Take("a", 10, 120),
        Take("b", 20, 120),
        Move(
            WatermarkState(100),
            (FileReading(0, 5, 1, 90, 110), FileReading(1, 2, 2, None, None)),
            3,
        ),
        Changed("a", 10, 11),
        Take("c", 30, 120),
        Take("years ahead", 1, 120),
        Move(WatermarkState(100), (FileReading(5, 1, 0, 10**9, 10**9),)),
        Take("years behind", 1, 150),
        Move(WatermarkState(140), (FileReading(7, 1, 0, -(10**9), -(10**9)),)),
    ):
        written.add(entry)
    return written


def test_totals_sum_up_all_entries(journal):
    assert journal.totals() == SourceTotals(
        files=5, records=9, rejected=3, ahead=3, changed=1, watermark=140
    )
    assert journal.sizes == {"a": 11, "b": 20, "c": 30, "years ahead": 1, "years behind": 1}
    assert journal.uncovered == [4]
    journal.add(Move(WatermarkState(200, silent=1)))
    assert journal.uncovered == [4]
    assert journal.totals().watermark == 200


@pytest.mark.parametrize(
    ("position", "oldest", "needed"),
    [
        (0, None, True),
        (0, 110, True),
        (0, 111, False),
        # A file without times counts as being at the next watermark.
        (1, 100, True),
        (1, 101, False),
        # Not read yet.
        (4, 10**9, True),
        # A wrong clock neither keeps a file for ever nor drops it at once.
        (5, 120, True),
        (5, 121, False),
        (7, 140, True),
        (7, 141, False),
    ],
)
def test_a_file_is_needed_as_long_as_its_records(journal, position, oldest, needed):
    assert journal.is_needed(position, oldest) is needed


def reread(journal):
    """The journal as it is read from its file."""
    return decode_journal(b"".join(map(encoded, journal.entries)), "journal")[0]


def test_files_that_are_no_longer_needed_are_summed_up_and_the_rest_keeps_its_positions(journal):
    short = compacted(journal, 145, {"c", "years behind", "not taken"})
    assert short.entries == [
        JournalHead(
            WatermarkState(100),
            SourceTotals(files=2, records=7, rejected=3, ahead=3),
            {"c": 30, "years behind": 1},
            position=2,
            safe=2,
        ),
        *journal.entries[3:],  # "c" has not been read yet
    ]
    assert short.end == journal.end
    assert [short.at(position) for position in range(3, 9)] == journal.entries[3:]
    assert (short.uncovered, short.readings.keys()) == (journal.uncovered, {5, 7})


def test_files_that_moved_the_watermark_together_are_kept_together(journal):
    assert (
        compacted(journal, 110, set(journal.sizes)) is journal
    )  # "b" is no longer needed, but "a" is


def test_files_from_a_given_position_on_are_kept(journal):
    assert compacted(journal, 145, {"c"}, before=0) is journal
    assert compacted(journal, 145, {"c"}, before=2).first == 2


@pytest.mark.parametrize("silent", [0, 1, 3])
def test_a_source_that_has_read_all_files_can_resume_before_a_silence(silent):
    written = Journal([Take("a", 1, 5), Move(WatermarkState(6), (FileReading(0, 1, 0, 5, 5),))])
    for number in range(silent):
        written.add(Move(WatermarkState(7 + number, silent=number + 1)))
    short = compacted(compacted(written, 50, {"a"}), 50, {"a"})
    assert (short.first, short.safe, len(short.entries)) == (1 + silent, 1, 1)


def test_a_change_before_the_first_watermark_is_not_kept_forever():
    written = Journal(
        [Take("a", 1, 5), Move(WatermarkState(None), (FileReading(0, 0, 0, None, None),))]
    )
    written.add(Changed("a", 1, 2))
    written.add(Move(WatermarkState(6)))
    assert compacted(written, 5, {"a"}) is written
    short = compacted(written, 6, {"a"})
    assert (short.first, short.safe) == (3, 3)


def test_an_empty_folder_removes_no_files_from_the_journal(journal):
    """The folder may not be mounted yet."""
    (head, *_) = compacted(journal, 200, set()).entries
    assert head.sizes == journal.sizes


@given(st.data())
def test_compaction_keeps_everything_that_can_be_needed(data):
    whole = Journal()
    watermark, number = None, 0
    for _ in range(data.draw(st.integers(0, 12))):
        kind = data.draw(st.sampled_from(["take", "take", "move", "changed", "silence"]))
        if kind == "take":
            number += 1
            whole.add(Take(f"f{number}", number, data.draw(st.integers(0, 50))))
        elif kind == "changed" and whole.sizes:
            name = data.draw(st.sampled_from(sorted(whole.sizes)))
            whole.add(Changed(name, whole.sizes[name], whole.sizes[name] + 1))
        else:
            watermark = data.draw(st.none() | st.integers(watermark or 0, 60)) or watermark
            times = data.draw(st.lists(st.integers(0, 60), min_size=len(whole.uncovered)))
            taken = zip(whole.uncovered, times, strict=False) if kind == "move" else ()
            found = tuple(FileReading(at, 3, 1, time, time) for at, time in taken)
            whole.add(Move(WatermarkState(watermark, silent=number), found, number))
    oldest = data.draw(st.integers(0, 60))
    short = reread(compacted(whole, oldest, whole.sizes))
    short = reread(compacted(short, oldest, whole.sizes))  # a second time changes nothing
    assert (short.totals(), short.sizes) == (whole.totals(), whole.sizes)
    assert short.watermark_state == whole.watermark_state
    assert files_read_again(short, oldest) == files_read_again(whole, oldest)
    assert (short.uncovered, short.end) == (whole.uncovered, whole.end)
    hidden = [whole.at(position) for position in range(short.safe, short.first)]
    assert all(isinstance(entry, Move) for entry in hidden)
    assert short.uncovered_bytes == whole.uncovered_bytes


def files_read_again(journal, oldest):
    """The files that a restart reads, each with the watermark before it."""
    watermark, files = None, []
    for position, entry in enumerate(journal.entries, journal.first):
        if isinstance(entry, Move | JournalHead):
            watermark = entry.watermark_state.watermark
        elif isinstance(entry, Take) and journal.is_needed(position, oldest):
            files.append((entry, watermark))
    return files
