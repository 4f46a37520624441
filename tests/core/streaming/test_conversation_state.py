"""The state of a streamed conversation: what is kept, and how often the engine is asked."""

from itertools import permutations

from goodgain.transforms.core.streaming.closing import Conversation
from goodgain.transforms.core.streaming.conversation_state import (
    MOST_RECENT,
    MOST_RECENT_BYTES,
    ConversationState,
)


class Bag:
    """A bag that notes what was done with it.

    Attributes:
      done: the name of each operation, and the bytes of the payloads read by each read.
    """

    def __init__(self, elements=()):
        self.elements = list(elements)
        self.done = []
        self.bytes_read = []

    def read(self):
        self.done.append("read")
        self.bytes_read.append(
            sum(len(getattr(element, "payload", element)) for element in self.elements)
        )
        return list(self.elements)

    def add(self, value):
        self.done.append("add")
        self.elements.append(value)

    def clear(self):
        self.done.append("clear")
        self.elements.clear()


class Bags:
    """The state of one key, over the elements that change it."""

    def __init__(self):
        self.recent, self.older = Bag(), Bag()

    def state(self):
        return ConversationState(self.recent, self.older)

    def keep(self, *sizes):
        """Keep payloads of distinct bytes, one per element; returns them."""
        payloads = [bytes([number % 256]) * size for number, size in enumerate(sizes)]
        for number, payload in enumerate(payloads, start=1):
            self.state().change(Conversation(results=number), payload)
        return payloads


def test_an_unknown_conversation_has_no_state():
    state = Bags().state()
    assert state.conversation is None
    assert state.payloads() == []


def test_a_payload_costs_one_read_and_one_append():
    bags = Bags()
    bags.keep(*[8_000] * 8)
    assert bags.recent.done == ["read", "add"] * 8
    assert bags.older.done == []


def test_a_waiting_wake_up_costs_one_read_and_one_append():
    bags = Bags()
    kept = bags.keep(10)
    bags.recent.done.clear()
    bags.state().change(Conversation(wake=7))
    assert (bags.recent.done, bags.older.done) == (["read", "add"], [])
    assert bags.state().conversation == Conversation(wake=7)
    assert bags.state().payloads() == kept


def test_older_payloads_are_moved_so_that_reading_stays_cheap():
    """A payload of a long conversation is read a bounded number of times, and no state is lost."""
    bags = Bags()
    kept = bags.keep(*[9_000] * 100, *[1] * 300, 10 * MOST_RECENT_BYTES, *[9_000] * 10)
    assert max(bags.recent.bytes_read[:400]) <= MOST_RECENT_BYTES
    assert bags.recent.done.count("read") + bags.recent.done.count("add") == 2 * len(kept)
    assert bags.recent.done.count("clear") == bags.older.done.count("add") <= len(kept) / 7 + 2
    assert "read" not in bags.older.done
    assert len(bags.recent.elements) <= MOST_RECENT
    state = bags.state()
    assert state.conversation == Conversation(results=len(kept))
    assert b"".join(state.payloads()) == b"".join(kept)


def test_changes_without_payloads_are_bounded_too():
    bags = Bags()
    bags.keep(*[0] * 1_000)
    assert len(bags.recent.elements) <= MOST_RECENT
    assert bags.older.done == []
    assert bags.state().conversation == Conversation(results=1_000)


def test_the_order_in_which_an_engine_returns_changes_does_not_matter():
    bags = Bags()
    bags.keep(*[1] * 4)
    for elements in permutations(bags.recent.elements):
        state = ConversationState(Bag(elements), bags.older)
        assert state.conversation == Conversation(results=4)
        assert len(state.payloads()) == 4


def test_several_changes_at_once_are_seen():
    bags = Bags()
    state = bags.state()
    state.change(Conversation(results=1), b"a")
    state.change(Conversation(results=2))
    assert state.conversation == bags.state().conversation == Conversation(results=2)
    assert state.payloads() == bags.state().payloads() == [b"a"]


def test_clearing_removes_everything_and_a_closed_state_can_follow():
    bags = Bags()
    bags.keep(*[MOST_RECENT_BYTES] * 3)
    assert bags.older.elements
    state = bags.state()
    state.clear()
    assert (bags.recent.elements, bags.older.elements) == ([], [])
    assert state.conversation is None
    state.change(Conversation(closed=5))
    assert bags.state().conversation == Conversation(closed=5)
    assert bags.state().payloads() == []
    bags.older.done.clear()
    bags.state().clear()
    assert bags.older.done == []
    assert bags.state().conversation is None
