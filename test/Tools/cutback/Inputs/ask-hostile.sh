# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Asks commands about each file that hostile-files.py wrote, with little memory
# and time: ask-hostile.sh FOLDER MODEL_FOLDER. Prints the file, the exit code,
# and the first line of the error; a signal, a defect, or an error without a next
# step would show there.
cd "$1" || exit 1
ask() {
  name=$1
  shift
  errors=$( (ulimit -v 1000000; timeout 60 "$@" 2>&1) )
  code=$?
  first=$(grep -m 1 'error: ' <<< "$errors" | cut -c 1-160)
  if [[ $code != 0 && $errors != *note:* ]]; then
    first="no next step: $first"
  fi
  echo "$name: exit $code $first"
}
run="cutback run --reference"
inputs=--inputs=$2/expected.safetensors
for file in *.txt *.pt2 *.mlir; do ask "$file" cutback report "$file"; done
for file in *.json; do
  ask "--device=$file" cutback report "$2/joint.txt" --device="$file"
  ask "--tolerances=$file" $run "$2/model.pt2" "$inputs" \
    --check="$2/expected.safetensors" --tolerances="$file"
done
for file in *.safetensors /dev/zero; do
  ask "--inputs=$file" $run "$2/model.pt2" --inputs="$file"
done
for file in weight honest less more; do
  ask "run $file.pt2" $run $file.pt2 "$inputs"
done
ln -s /dev/zero zero.json
ask "/dev/zero" cutback report /dev/zero
ask "--device=/dev/zero" cutback report "$2/joint.txt" --device=zero.json
ask "- < /dev/zero" cutback report - < /dev/zero
ask "- < yes" cutback report - < <(yes)
ask "--tolerances=/dev/zero" $run "$2/model.pt2" "$inputs" \
  --check="$2/expected.safetensors" --tolerances=zero.json
for file in deep.pt2 weight.pt2 text.pt2 list.txt size-symbols.txt; do
  ask "C: $file" cutback-c-test json $file
done
ask "C: --device=device.json" cutback-c-test json "$2/joint.txt" --device=device.json
