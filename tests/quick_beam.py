"""What Beam finds out again for every pipeline is found out once for all tests.

The tests build hundreds of short pipelines. Half the time of such a run went into options: Beam
makes a parser of all options for every look at some of them, several for each transform. Half of
the rest went into the signatures of all methods of a DoFn, which it inspects dozens of times, into
reading the source of each to see whether it both yields and returns, and into writing down the call
stack at each type hint, which only its own messages on wrong types show. A quarter of what was left
went into pickling each function twice, with the slowest compression, and into looking for IPython.
"""

from __future__ import annotations

import bz2
from argparse import Namespace
from copy import deepcopy
from types import SimpleNamespace
from weakref import WeakKeyDictionary

from apache_beam.internal import cloudpickle_pickler, pickler
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import core, ptransform, userstate
from apache_beam.typehints import decorators
from apache_beam.utils import interactive_utils


def remember():
    """Let Beam keep views of options, and what functions and DoFns ask for, in this process."""
    PipelineOptions.view_as = _kept_views(PipelineOptions.view_as)
    PipelineOptions.__init__ = _parsed_once(PipelineOptions.__init__)
    PipelineOptions._visible_option_list = _by_class(PipelineOptions._visible_option_list)
    kept = _by_function(decorators.get_signature)
    for module in (decorators, core, ptransform):  # the others imported it by its name
        module.get_signature = kept
    core.get_function_args_defaults = _kept_arguments(core.get_function_args_defaults)
    core._check_fn_use_yield_and_return = _by_function(core._check_fn_use_yield_and_return)
    decorators.IOTypeHints._make_origin = classmethod(lambda *_, **__: [])
    userstate.get_dofn_specs = _kept_specs(userstate.get_dofn_specs)
    interactive_utils.is_in_ipython = lambda: False
    # A transform makes sure early that its function can be pickled; the run pickles it anyway.
    ptransform.pickler = SimpleNamespace(**{**vars(pickler), "roundtrip": lambda it: it})
    cloudpickle_pickler.bz2 = SimpleNamespace(
        compress=lambda data, compresslevel: bz2.compress(data, 1), decompress=bz2.decompress
    )


def _parsed_once(init):
    kept = {}

    def parsed(self, flags=None, **kwargs):
        key = None if flags is None or isinstance(flags, str) else (type(self), tuple(flags))
        if key not in kept:
            init(self, flags, **kwargs)
            if key is not None:
                kept[key] = deepcopy(vars(self._visible_options))
            return
        options = deepcopy(kept[key])
        self._flags, self._visible_options = flags, Namespace(**options)
        self._all_options = {**options, **kwargs}

    return parsed


def _by_class(names_of):
    kept = WeakKeyDictionary()

    def names(self):
        if type(self) not in kept:
            kept[type(self)] = names_of(self)
        return kept[type(self)]

    return names


def _kept_views(view_as):
    # All views of some options share one dictionary. It is kept too, so that no other gets its id.
    kept = {}

    def view(self, kind):
        _, views = kept.setdefault(id(self._all_options), (self._all_options, {}))
        if kind not in views:
            views[kind] = view_as(self, kind)
        return views[kind]

    return view


def _by_function(find):
    """What `find` says of a function, or of a method however often it is bound."""
    plain, bound = WeakKeyDictionary(), WeakKeyDictionary()

    def found(function):
        kept = plain if not hasattr(function, "__func__") else bound
        key = getattr(function, "__func__", function)
        try:
            if key in kept:
                return kept[key]
        except TypeError:  # not everything that can be called can be a key
            return find(function)
        result = kept[key] = find(function)
        return result

    return found


def _kept_arguments(get_arguments):
    kept = _by_function(get_arguments)

    def arguments(function):
        names, defaults = kept(function)
        return list(names), list(defaults)  # Beam may change them

    return arguments


def _kept_specs(get_specs):
    by_class = WeakKeyDictionary()

    def specs(dofn):
        # What it asks for stands in its class, or in the function that it wraps.
        if hasattr(dofn, "_inspect_process"):
            defaults = core.get_function_arguments(dofn, "process")[1]
            asks = any(isinstance(default, core._DoFnParam) for default in defaults)
            return get_specs(dofn) if asks else (set(), set())
        found = by_class.get(type(dofn))
        if found is None:
            found = by_class[type(dofn)] = get_specs(dofn)
        return found

    return specs
