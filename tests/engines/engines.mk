# Real engines on one machine, installed from package registries into .cache/engines and configured in
# configs/flink/engines.yaml.

.PHONY: prism flink flink-run flink-stop spark spark-run spark-stop kafka kafka-stop airflow test-engines bench-scale

prism: $(VENV)/installed  ## build Prism, Beam's local streaming engine, with Go
	$(VENV)/bin/goodgain prism

flink: $(VENV)/developed  ## start a Flink cluster with a job server and Python workers
	$(PYTHON) -m tests.engines flink start

flink-run: flink  ## run the main job on the Flink cluster
	$(PYTHON) -m tests.engines flink goodgain run --config configs/run.yaml --input configs/data/sample.avro --output $(OUT)/flink --overwrite

flink-stop: $(VENV)/developed  ## stop the Flink cluster
	$(PYTHON) -m tests.engines flink stop

spark: $(VENV)/developed  ## start a Spark cluster with a job server and Python workers
	$(PYTHON) -m tests.engines spark start

spark-run: spark  ## run the main job on the Spark cluster
	$(PYTHON) -m tests.engines spark goodgain run --config configs/run.yaml --input configs/data/sample.avro --output $(OUT)/spark --overwrite

spark-stop: $(VENV)/developed  ## stop the Spark cluster
	$(PYTHON) -m tests.engines spark stop

kafka: $(VENV)/developed  ## start a Kafka broker and the Java half of Beam's Kafka source
	$(PYTHON) -m tests.engines kafka start

kafka-stop: $(VENV)/developed  ## stop the Kafka broker
	$(PYTHON) -m tests.engines kafka stop

airflow: $(VENV)/developed  ## install Airflow into an environment of its own
	$(PYTHON) -m tests.engines airflow install

test-engines: $(VENV)/developed  ## run the tests that need the engines above
	$(PYTHON) -m pytest -m engines tests/engines

bench-scale: $(VENV)/developed  ## measure one and two workers, and a hot key; the table goes to out/bench
	$(PYTHON) -m tests.bench.scale
