# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# argument-errors.sh FOLDER STAND-IN: each call that a step on memory of the
# device makes for its caller, made to fail; with @N from the N-th time on.
folder=$1 standin=$2
export CUTBACK_STAND_IN=$folder/host LD_LIBRARY_PATH=$standin
for fail in cuMemcpyDtoDAsync_v2=7 cuMemcpyDtoDAsync_v2=7@5 cuEventCreate=7@9 \
  cuEventRecord=7@4 cuEventRecord=7@13 cuStreamWaitEvent=7@4 \
  cuStreamWaitEvent=7@13 cuGraphInstantiateWithFlags=7@3 \
  cuGraphInstantiateWithFlags=7@5; do
  text=$(CUTBACK_STAND_IN_FAIL=$fail \
    cutback-step-test device "$folder/gpu" "$folder/in")
  echo "$fail: exit $?, $(sed -n 's/^message: //p' <<<"$text")"
done
