# BUCKET=gs://my-bucket REGION=us-central1 IMAGE=host/goodgain:0.1.0 sh dataflow-night.sh 2025-03-04
#
# Run it in the folder of nightly.yaml and of a copy of this file.
# One night by the Dataflow Flex Template, for which see configs/dataflow/README.md in the repository:
# scores the traces of a day (by default yesterday in UTC), waits until that job ends, and runs
# `goodgain nightly`, which fetches, compares, gates and publishes its outputs. nightly.yaml must say
#   input: gs://my-bucket/traces/date={date}/*
#   scored: gs://my-bucket/goodgain/date={date}
# and must not have run or an engine. CONFIG names another configuration, RUN the file with options
# of `goodgain run` in the image. For every night, use this line in the crontab beside this file.
# If the job fails, the day fails: nightly finds no finished outputs, records that in the history,
# and notifies webhook and command. The exit code is that of `goodgain nightly`, but never 0 if the
# job failed. If the bucket cannot be used, the script ends at once with gcloud's message. Needs
# gcloud, goodgain[gcp] and a login to Google Cloud. Not tried there.
set -eu
: "${BUCKET:?give gs://BUCKET}" "${REGION:?give a region}" "${IMAGE:?give the image of the workers}"
day=${1:-$(TZ=UTC+24 date +%Y-%m-%d)}
case $day in
  [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]) ;;
  *) echo "dataflow-night: '$day' is not a day; write it like 2025-03-04." >&2; exit 2 ;;
esac
output=$BUCKET/goodgain/date=$day

# Outputs of an earlier job must not be mistaken for this one's. The bucket is checked first, since
# an expired login must not look like a missing manifest.
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
    state="unknown, since gcloud does not answer"
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
goodgain nightly --config "${CONFIG:-nightly.yaml}" --date "$day" || code=$?
[ "$state" = JOB_STATE_DONE ] || [ "$code" -ne 0 ] || code=1
exit "$code"
