"""What Beam finds out again for every pipeline is found out once for all tests.

The tests build hundreds of short pipelines. Half the time of such a run went into options: Beam
makes a parser of all options for every look at some of them, several for each transform. Half of
the rest went into the signatures of all methods of a DoFn, which it inspects dozens of times.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import core, ptransform, userstate
from apache_beam.typehints import decorators


def remember():
    """Let Beam keep views of options, and what functions and DoFns ask for, in this process."""
    PipelineOptions.view_as = _kept_views(PipelineOptions.view_as)
    kept = _kept_signatures(decorators.get_signature)
    for module in (decorators, core, ptransform):  # the others imported it by its name
        module.get_signature = kept
    userstate.get_dofn_specs = _kept_specs(userstate.get_dofn_specs)


def _kept_views(view_as):
    # All views of some options share one dictionary. It is kept too, so that no other gets its id.
    kept = {}

    def view(self, kind):
        _, views = kept.setdefault(id(self._all_options), (self._all_options, {}))
        if kind not in views:
            views[kind] = view_as(self, kind)
        return views[kind]

    return view


def _kept_signatures(get_signature):
    plain, bound = WeakKeyDictionary(), WeakKeyDictionary()

    def signature(function):
        kept = plain if not hasattr(function, "__func__") else bound
        key = getattr(function, "__func__", function)
        try:
            found = kept.get(key)
        except TypeError:  # not everything that can be called can be a key
            return get_signature(function)
        if found is None:
            found = kept[key] = get_signature(function)
        return found

    return signature


def _kept_specs(get_specs):
    by_class, by_instance = WeakKeyDictionary(), WeakKeyDictionary()

    def specs(dofn):
        # What it asks for stands in its class, or in the function that it wraps.
        wraps = hasattr(dofn, "_inspect_process")
        kept, key = (by_instance, dofn) if wraps else (by_class, type(dofn))
        try:
            found = kept.get(key)
        except TypeError:  # as above
            return get_specs(dofn)
        if found is None:
            found = kept[key] = get_specs(dofn)
        return found

    return specs
