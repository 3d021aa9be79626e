# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run-gpu.sh FOLDER STAND-IN MODEL: the step in FOLDER/gpu under settings of the
# stand-in, and what is said then.
folder=$1 standin=$2 model=$3
export CUTBACK_STAND_IN=$folder/host LD_LIBRARY_PATH=$standin
run() {
  cutback run "$folder/gpu" --weights="$model/model.pt2" --check-memory \
    --inputs="$model/expected.safetensors" \
    --check="$model/expected.safetensors" "$@" 2>&1
}
# say NAME OPTION [VARIABLE=VALUE...]
say() {
  local name=$1 option=$2 text
  shift 2
  text=$(for setting in "$@"; do export "${setting?}"; done
    run ${option:+"$option"}; echo "$?")
  echo "$name: exit ${text##*$'\n'}"
  sed '$d' <<<"$text"
}

say "launches first" "" CUTBACK_STAND_IN_ORDER=launches
say "copies first" "" CUTBACK_STAND_IN_ORDER=copies
say "launches first, no events" "" CUTBACK_STAND_IN_DEAF=1
say "copies first, no events" "" CUTBACK_STAND_IN_DEAF=1 \
  CUTBACK_STAND_IN_ORDER=copies
say "calls" "" CUTBACK_STAND_IN_TRACE=1 | grep 'calls\|stream' | grep -v recording | uniq -c |
  sed 's/^ *//; s/^1 calls/calls/'
export NVTX_INJECTION64_PATH=$standin/products/libprofiler.so.1
say "ranges" ""
say "ranges of launches" --single-launches
