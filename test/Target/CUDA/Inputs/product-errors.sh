# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# product-errors.sh FOLDER STAND-IN MODEL: how a step fails whose products are
# cuBLASLt's. FOLDER has the step for a GPU in `gpu`, and that for this machine
# in `host`.
folder=$1 standin=$2 model=$3
export CUTBACK_STAND_IN=$folder/host CUDA_HOME=/nowhere
export LD_LIBRARY_PATH=$standin:$standin/products
run() {
  rm -f "$folder"/gpu/cublaslt-*
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

say "no library" LD_LIBRARY_PATH="$standin"
say "newer library" CUTBACK_STAND_IN_LT_VERSION=140000
say "library without calls" LD_LIBRARY_PATH="$standin:$folder/lib"
for call in cublasLtCreate cublasLtMatmulDescCreate \
  cublasLtMatmulDescSetAttribute cublasLtMatrixLayoutCreate \
  cublasLtMatmulPreferenceCreate cublasLtMatmulPreferenceSetAttribute \
  cublasLtMatmulAlgoGetHeuristic cublasLtMatmul; do
  text=$(CUTBACK_STAND_IN_FAIL=$call=7 run)
  echo "$call: exit $?, $(sed -n 's/.*error: //p' <<<"$text")"
done
