"""Small pipelines to test how an engine handles state, timers, watermarks and checkpoints.

All code of workers is in modules that they import; each program is one module with a `main`.
"""
