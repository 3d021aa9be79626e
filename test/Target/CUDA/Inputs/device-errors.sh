# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# device-errors.sh FOLDER STAND-IN MODEL: how steps on a GPU fail. FOLDER has
# the step for a GPU in `gpu`, and that for this machine in `host`.
folder=$1 standin=$2 model=$3
export CUTBACK_STAND_IN=$folder/host CUDA_HOME=/nowhere
run() {
  cutback run "$folder/gpu" --weights="$model/model.pt2" \
    --inputs="$model/expected.safetensors" 2>&1
}
# say NAME [VARIABLE=VALUE...]
say() {
  local name=$1 text
  shift
  text=$(for setting in "$@"; do export "${setting?}"; done; run; echo "$?")
  echo "$name: exit ${text##*$'\n'}"
  sed '$d' <<<"$text" | sed 's/^cutback run: //'
}

say "no driver" LD_LIBRARY_PATH=/nowhere
export LD_LIBRARY_PATH=$standin
say "old driver" CUTBACK_STAND_IN_VERSION=11080
say "no device" CUTBACK_STAND_IN_DEVICES=0
say "other device" CUTBACK_STAND_IN_ARCH=80
cp "$folder/gpu/manifest.json" "$folder/named"
sed -i '/fatbin/d' "$folder/gpu/manifest.json"
python3 -B "$(dirname "$0")/../../../../tools/dev/name-again" "$folder/gpu"
say "no code"
say "other nvrtc" LD_LIBRARY_PATH="$standin:$folder/lib"
cp "$folder/named" "$folder/gpu/manifest.json"
say "little memory" CUTBACK_STAND_IN_FREE=1000
for call in cuInit cuDeviceGetCount cuDeviceGet cuDeviceGetName \
  cuDeviceGetAttribute cuDevicePrimaryCtxRetain cuCtxSetCurrent \
  cuMemGetInfo_v2 cuMemAlloc_v2 cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 \
  cuMemsetD8Async cuModuleLoadData cuModuleGetFunction cuStreamCreate \
  cuStreamSynchronize cuStreamBeginCapture_v2 cuStreamEndCapture \
  cuGraphInstantiateWithFlags cuGraphLaunch cuMemAllocHost_v2 cuEventCreate \
  cuEventRecord cuStreamWaitEvent; do
  text=$(CUTBACK_STAND_IN_FAIL=$call=7 run)
  echo "$call: exit $?, $(sed -n 's/.*error: //p' <<<"$text")"
done
echo "launch: $(CUTBACK_STAND_IN_FAIL=cuLaunchKernel=7 run |
  sed -n 's/^cutback run: //p')"
