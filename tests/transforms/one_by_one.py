"""An engine for one stateful DoFn, without bundles or threads; the test moves the watermark.

Timers fire as soon as the watermark reaches them, the earliest first over all keys, including
timers that they set. This follows the model of Beam, and runs thousands of streams in seconds.
"""

from collections import Counter, defaultdict
from inspect import signature

import apache_beam as beam
from apache_beam.transforms.userstate import BagStateSpec
from apache_beam.utils.timestamp import Timestamp

END_OF_TIME = 2**53


class Bag(list):
    def __init__(self, coder, requests):
        self._coder = coder
        self._requests = requests

    def add(self, value):
        self._requests["append"] += 1
        self.append(self._coder.encode(value))

    def read(self):
        self._requests["get"] += 1
        return [self._coder.decode(encoded) for encoded in self]

    def clear(self):
        self._requests["clear"] += 1
        super().clear()


class Cell:
    encoded = None

    def __init__(self, coder, requests):
        self._coder = coder
        self._requests = requests

    def read(self):
        self._requests["get"] += 1
        return None if self.encoded is None else self._coder.decode(self.encoded)

    def write(self, value):
        self._requests.update(["clear", "append"])
        self.encoded = self._coder.encode(value)

    def clear(self):
        self._requests["clear"] += 1
        self.encoded = None


class Timers:
    """The timers of a key, by tag."""

    def __init__(self):
        self.times = {}

    def set(self, timestamp, dynamic_timer_tag=""):
        self.times[dynamic_timer_tag] = timestamp.micros // 1000


class OneByOne:
    """Runs a DoFn with one family of timers.

    Attributes:
      given: its outputs in order, as (tag, timestamp, element).
      now: the watermark, in ms.
      requests: number of requests for state by kind, as Beam's workers send them to an engine if no
        two elements of a key share a bundle.
    """

    def __init__(self, dofn, on_timer):
        dofn.setup()
        self._dofn = dofn
        self._on_timer = on_timer
        self._specs = {
            parameter.name: parameter.default
            for method in (dofn.process, on_timer)
            for parameter in signature(method).parameters.values()
        }
        self._keys = defaultdict(self._new_key)
        self.requests = Counter()
        self.given = []
        self.now = -END_OF_TIME

    def arrive(self, key, value, time):
        self._call(self._dofn.process, key, time, (key, value))

    def watermark(self, now):
        self.now = max(self.now, now)
        while due := [
            (time, key, tag)
            for key, (_, timers) in self._keys.items()
            for tag, time in timers.times.items()
            if time <= self.now
        ]:
            time, key, tag = min(due)
            del self._keys[key][1].times[tag]
            self._call(self._on_timer, key, time)

    def end(self):
        self.watermark(END_OF_TIME)

    def of(self, tag):
        return [element for name, _, element in self.given if name == tag]

    def remaining(self):
        """Remaining state and timers by key."""
        return {
            key: held
            for key, (cells, timers) in self._keys.items()
            if (held := [cell.read() for cell in cells.values() if cell.read()]) or timers.times
        }

    def _new_key(self):
        cells = {
            name: (Bag if isinstance(spec.state_spec, BagStateSpec) else Cell)(
                spec.state_spec.coder, self.requests
            )
            for name, spec in self._specs.items()
            if isinstance(spec, beam.DoFn.StateParam)
        }
        return cells, Timers()

    def _call(self, method, key, time, *arguments):
        cells, timers = self._keys[key]
        values = {}
        for name, parameter in signature(method).parameters.items():
            default = parameter.default
            if name in cells:
                values[name] = cells[name]
            elif isinstance(default, beam.DoFn.TimerParam):
                values[name] = timers
            elif default is beam.DoFn.TimestampParam:
                values[name] = Timestamp(micros=time * 1000)
            elif default is beam.DoFn.KeyParam:
                values[name] = key
        for output in method(*arguments, **values) or ():
            tag, stamp = "main", time
            if isinstance(output, beam.pvalue.TaggedOutput):
                tag, output = output.tag, output.value
            if isinstance(output, beam.transforms.window.TimestampedValue):
                stamp, output = output.timestamp.micros // 1000, output.value
            self.given.append((tag, stamp, output))
