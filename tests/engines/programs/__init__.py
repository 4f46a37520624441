"""Small pipelines that show what an engine does with state, timers, watermarks and checkpoints.

Everything that workers run lies in modules they import; each program is one module with a `main`.
"""
