import logging
import sys
import threading

import pytest

from goodgain.pipeline.run.stream.prism import engine_log


def print_error(text):
    sys.stderr.write(f"{text}\n")


def test_messages_of_engines_go_to_the_file_and_our_own_to_the_terminal(tmp_path, capsys):
    with engine_log(tmp_path / "log"):
        logging.getLogger("engine").warning("it splits")
        worker = threading.Thread(target=print_error, args=("it fails",))
        worker.start()
        worker.join()
        print_error("we go on")
    assert capsys.readouterr().err == "we go on\n"
    log = (tmp_path / "log").read_text()
    assert "WARNING engine: it splits" in log
    assert "it fails" in log


def test_logging_and_stderr_are_restored_afterwards(tmp_path):
    logger, stderr = logging.getLogger(), sys.stderr
    before = (logger.level, list(logger.handlers))
    with engine_log(tmp_path / "log"):
        assert sys.stderr is not stderr
    assert (logger.level, list(logger.handlers)) == before
    assert sys.stderr is stderr


def test_workers_of_a_failed_engine_still_write_to_the_file(tmp_path, monkeypatch, capsys):
    logger = logging.getLogger()
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    monkeypatch.setattr(logger, "handlers", list(logger.handlers))
    monkeypatch.setattr(logger, "level", logger.level)
    with pytest.raises(RuntimeError), engine_log(tmp_path / "log"):
        raise RuntimeError
    worker = threading.Thread(target=print_error, args=("it fails too",))
    worker.start()
    worker.join()
    assert capsys.readouterr().err == ""
    assert "it fails too" in (tmp_path / "log").read_text()
