"""One run of Good Gain: command line, configuration, graph, runners, sinks, manifest, report."""
