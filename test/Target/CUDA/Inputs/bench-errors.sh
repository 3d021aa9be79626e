# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bench-errors.sh FOLDER STAND-IN: how measuring a step on a GPU fails. FOLDER has
# the step for a GPU in `gpu`, and that for this machine in `host`.
export CUTBACK_STAND_IN=$1/host LD_LIBRARY_PATH=$2
for call in cuEventCreate cuEventRecordWithFlags cuEventElapsedTime \
  cuMemcpyDtoDAsync_v2; do
  text=$(CUTBACK_STAND_IN_FAIL=$call=7 cutback bench "$1/gpu" --runs=1 2>&1)
  echo "$call: exit $?, $(sed -n 's/.*error: //p' <<<"$text")"
done
