# BUCKET=gs://my-bucket REGION=us-central1 IMAGE=host/goodgain:0.1.0 sh configs/deploy/dataflow-night.sh 2025-03-04
#
# One night by the Dataflow Flex Template of configs/dataflow/README.md: has the traces of a day
# (yesterday in UTC, where none is given) scored, waits for the end of that job, and lets `goodgain
# nightly` take what it made, compare, judge and publish it. configs/nightly.yaml must say
#   input: gs://my-bucket/traces/date={date}/*
#   scored: gs://my-bucket/goodgain/date={date}
# and neither run nor an engine; CONFIG names another file, RUN the options of `goodgain run` in the
# image. To do it every night, put this line where configs/deploy/crontab has its own.
# A job that fails makes the day fail: nightly finds no finished outputs, writes that into the
# history and tells webhook and command. Exit code: that of `goodgain nightly`; not 0 in any case
# when the job did not end well. A bucket that cannot be used ends the script at once, with gcloud's
# message. Needs gcloud, goodgain[gcp] and a login of Google Cloud. Not tried there.
set -eu
: "${BUCKET:?give gs://BUCKET}" "${REGION:?give a region}" "${IMAGE:?give the image of the workers}"
day=${1:-$(TZ=UTC+24 date +%Y-%m-%d)}
case $day in
  [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]) ;;
  *) echo "dataflow-night: '$day' is not a day; write it like 2025-03-04." >&2; exit 2 ;;
esac
output=$BUCKET/goodgain/date=$day

# What an earlier job made of the day must not pass for what this one makes. First the bucket itself,
# for a login that has expired must not look like a manifest that is not there.
gcloud storage ls "$BUCKET" >/dev/null
if gcloud storage ls "$output/manifest.json" >/dev/null 2>&1; then
  gcloud storage rm "$output/manifest.json"
fi

job=$(gcloud dataflow flex-template run "goodgain-$day" --region "$REGION" \
  --template-file-gcs-location "$BUCKET/templates/goodgain-run.json" \
  --parameters "command=run,config=${RUN:-/template/configs/run.yaml}" \
  --parameters "input=$BUCKET/traces/date=$day/*,output=$output,overwrite=true" \
  --parameters "sdk_container_image=$IMAGE" \
  --format 'value(job.id)') || job=

state="not started"
unanswered=0
while [ -n "$job" ]; do
  if state=$(gcloud dataflow jobs describe "$job" --region "$REGION" --format 'value(currentState)')
  then
    unanswered=0
  else
    state="unknown, for gcloud does not answer"
    unanswered=$((unanswered + 1))
    [ "$unanswered" -lt 10 ] || break
  fi
  case $state in
    JOB_STATE_DONE | JOB_STATE_FAILED | JOB_STATE_CANCELLED | JOB_STATE_DRAINED) break ;;
  esac
  sleep "${POLL_SECONDS:-30}"
done

[ "$state" = JOB_STATE_DONE ] || echo "dataflow-night: the job of $day ${job:+($job) }is $state." >&2
code=0
goodgain nightly --config "${CONFIG:-configs/nightly.yaml}" --date "$day" || code=$?
[ "$state" = JOB_STATE_DONE ] || [ "$code" -ne 0 ] || code=1
exit "$code"
