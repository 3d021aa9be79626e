# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a run over NCCL says when each of its calls fails.
#   nccl-errors.sh DIR STANDIN     DIR has a pipeline P and its batch
export LD_LIBRARY_PATH=$2:$2/nccl CUTBACK_STAND_IN=$1/P
export CUTBACK_STAND_IN_DEVICES=2
for call in ncclGetUniqueId=2 ncclCommInitRank=3 ncclGroupStart=1 ncclSend=1 \
    ncclRecv=1 ncclGroupEnd=6 ncclCommGetAsyncError=6 ncclSend=1@3 \
    cuEventQuery=2 cuStreamCreate=2 cuEventCreate=2 cuMemAlloc_v2=2 \
    cuEventRecord=2 cuMemcpyAsync=2 cuMemcpyAsync=2@6 \
    cuDevicePrimaryCtxRetain=2; do
  CUTBACK_STAND_IN_FAIL=$call timeout 60 cutback-run "$1/P" --ranks=2 \
    --transport=nccl --micro-batches=2 --inputs="$1/batch2" \
    --timeout=20 > "$1/said" 2>&1
  echo "${call%%=*}: exit $?, $(grep -m 1 -o "${call%%=*}: .*\|NCCL: .*" "$1/said")"
done
