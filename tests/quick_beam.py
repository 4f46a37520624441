"""Caches what Beam computes anew for every pipeline, so that tests with short pipelines are fast.

The tests build hundreds of short pipelines. Half the time of each went into options: Beam builds a
parser of all options each time that it reads some of them, several times per transform. Half of the
rest went into the signatures of the methods of a DoFn, which Beam inspects dozens of times, into
reading their source to see whether they both yield and return, and into recording the call stack at
each type hint, which only Beam's own messages on wrong types show. A quarter of the remaining time
went into pickling each function twice, with the slowest compression, and into looking for IPython.
Each bundle also waited some milliseconds at its end for a thread that samples what it is doing, and
at its start for one that only builds its steps.
"""

from __future__ import annotations

import bz2
import threading
from argparse import Namespace
from concurrent.futures import Future, TimeoutError
from contextlib import nullcontext
from copy import deepcopy
from functools import lru_cache
from types import SimpleNamespace
from weakref import WeakKeyDictionary

from apache_beam.internal import cloudpickle_pickler, pickler
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.worker import bundle_processor, statesampler
from apache_beam.transforms import core, ptransform, userstate
from apache_beam.typehints import decorators
from apache_beam.utils import interactive_utils


def cache_beam_lookups():
    """Make Beam in this process cache views of options, and signatures of functions and DoFns."""
    PipelineOptions.view_as = _cache_views(PipelineOptions.view_as)
    PipelineOptions.__init__ = _parse_once(PipelineOptions.__init__)
    PipelineOptions.get_all_options = _read_once(PipelineOptions.get_all_options)
    PipelineOptions._visible_option_list = _by_class(PipelineOptions._visible_option_list)
    cached = _by_function(decorators.get_signature)
    for module in (decorators, core, ptransform):  # the others import the function itself
        module.get_signature = cached
    core.get_function_args_defaults = _cache_arguments(core.get_function_args_defaults)
    core._check_fn_use_yield_and_return = _by_function(core._check_fn_use_yield_and_return)
    decorators.IOTypeHints._make_origin = classmethod(lambda *_, **__: [])
    userstate.get_dofn_specs = _cache_specs(userstate.get_dofn_specs)
    interactive_utils.is_in_ipython = lambda: False
    # A transform pickles its function early to check that it can; the run pickles it again.
    ptransform.pickler = SimpleNamespace(**{**vars(pickler), "roundtrip": lambda it: it})
    cloudpickle_pickler.bz2 = SimpleNamespace(
        compress=_compress, decompress=lru_cache(1_000)(bz2.decompress)
    )
    statesampler.StateSampler.start = _start_without_sampling
    statesampler.StateSampler.stop = _stop_without_sampling
    futures = SimpleNamespace(ThreadPoolExecutor=_no_threads, TimeoutError=TimeoutError)
    bundle_processor.concurrent = SimpleNamespace(futures=futures)


def _no_threads(**_):
    def submit(function, *arguments):
        future = Future()
        future.set_result(function(*arguments))
        return future

    return nullcontext(SimpleNamespace(submit=submit))


@lru_cache(1_000)
def _compress(data, compresslevel):
    return bz2.compress(data, 1)


def _start_without_sampling(self):
    self.tracked_thread = threading.current_thread()
    statesampler.set_current_tracker(self)
    self.started = True


def _stop_without_sampling(self):
    statesampler.set_current_tracker(None)
    self.finished = True


def _parse_once(init):
    cached = {}

    def parse(self, flags=None, **kwargs):
        key = None if flags is None or isinstance(flags, str) else (type(self), tuple(flags))
        if key not in cached:
            init(self, flags, **kwargs)
            if key is not None:
                cached[key] = deepcopy(vars(self._visible_options))
            return
        options = deepcopy(cached[key])
        self._flags, self._visible_options = flags, Namespace(**options)
        self._all_options = {**options, **kwargs}

    return parse


def _read_once(get_all_options):
    cached = {}

    def read(self, *arguments, **named):
        state = (type(self), tuple(self._flags or ()), repr(sorted(self._all_options.items())))
        key = (*state, len(PipelineOptions.__subclasses__()), arguments, *sorted(named.items()))
        if key not in cached:
            cached[key] = get_all_options(self, *arguments, **named)
        return deepcopy(cached[key])

    return read


def _by_class(names_of):
    cached = WeakKeyDictionary()

    def names(self):
        if type(self) not in cached:
            cached[type(self)] = names_of(self)
        return cached[type(self)]

    return names


def _cache_views(view_as):
    # All views of some options share one dictionary; caching it keeps its id from being reused.
    cached = {}

    def view(self, kind):
        _, views = cached.setdefault(id(self._all_options), (self._all_options, {}))
        if kind not in views:
            views[kind] = view_as(self, kind)
        return views[kind]

    return view


def _by_function(find):
    """`find` cached by function; a method is one function, however often it is bound."""
    plain, bound = WeakKeyDictionary(), WeakKeyDictionary()

    def find_cached(function):
        cached = plain if not hasattr(function, "__func__") else bound
        key = getattr(function, "__func__", function)
        try:
            if key in cached:
                return cached[key]
        except TypeError:  # not every callable is hashable and weakly referenceable
            return find(function)
        result = cached[key] = find(function)
        return result

    return find_cached


def _cache_arguments(get_arguments):
    cached = _by_function(get_arguments)

    def arguments(function):
        names, defaults = cached(function)
        return list(names), list(defaults)  # Beam may change them

    return arguments


def _cache_specs(get_specs):
    by_class = WeakKeyDictionary()

    def specs(dofn):
        # The parameters are those of its class, or of the function that it wraps.
        if hasattr(dofn, "_inspect_process"):
            defaults = core.get_function_arguments(dofn, "process")[1]
            has_parameters = any(isinstance(default, core._DoFnParam) for default in defaults)
            return get_specs(dofn) if has_parameters else (set(), set())
        found = by_class.get(type(dofn))
        if found is None:
            found = by_class[type(dofn)] = get_specs(dofn)
        return found

    return specs
