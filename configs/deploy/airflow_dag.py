# cp airflow_dag.py "$AIRFLOW_HOME/dags/goodgain_nightly.py"
"""Runs Good Gain every night as a DAG of Airflow 2.4 or later, or 3.

Run the first line in the folder of this file. The worker needs `goodgain` on its PATH, installed in
a separate environment, since Airflow needs other versions of some libraries. For past days use
`airflow backfill create`, or `--backfill`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow import DAG
from airflow.timetables.interval import CronDataIntervalTimetable

try:
    from airflow.providers.standard.operators.bash import BashOperator  # Airflow 3
except ImportError:
    from airflow.operators.bash import BashOperator

FOLDER = "/opt/goodgain"  # contains nightly.yaml, whose paths are relative to this folder

with DAG(
    dag_id="goodgain_nightly",
    # An interval ends at 02:30 and began on the day whose traces are scored.
    schedule=CronDataIntervalTimetable("30 2 * * *", timezone="UTC"),
    start_date=datetime(2025, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,  # a second job on the same output would be refused
    tags=["evaluation"],
) as dag:
    BashOperator(
        task_id="nightly",
        bash_command=(
            "goodgain nightly --config nightly.yaml --date {{ data_interval_start | ds }}"
        ),
        cwd=FOLDER,
        append_env=True,
        # Running a day twice gives the same outputs, so a retry does no harm.
        retries=1,
        retry_delay=timedelta(minutes=10),
        execution_timeout=timedelta(hours=6),
    )
