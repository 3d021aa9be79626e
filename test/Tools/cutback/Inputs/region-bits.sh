# Bits of a step with nested checkpoint regions against those of the same step
# with everything saved: region-bits.sh FOLDER PYTHON reference|TARGET...
set -e
inputs=$(dirname "$0")
folder=$1 python=$2
shift 2
$python "$inputs/region-chain.py" 2,2,3 --small > "$folder/small.mlir"
$python "$inputs/write-tensors.py" "$folder/in" param.w=8x8 buffer.k=8x8
for target in "$@"; do
  if [ "$target" = reference ]; then
    cutback run "$folder/small.mlir" --reference --strategy=save-all \
      --inputs="$folder/in" --outputs="$folder/all" > "$folder/log"
    for plan in --strategy=min-cut --strategy=eager --cost-model=pytorch \
      --strategy=recompute-all --minimize=peak; do
      cutback run "$folder/small.mlir" --reference $plan --inputs="$folder/in" \
        --check="$folder/all" --rtol=0 --atol=0 | grep -E "tensors agree"
    done
    cutback compile "$folder/small.mlir" -o "$folder/halves" --to=partition
    cutback run "$folder/halves" --reference --inputs="$folder/in" \
      --check="$folder/all" --rtol=0 --atol=0 | grep "tensors agree"
    continue
  fi
  for plan in save-all min-cut; do
    cutback compile "$folder/small.mlir" -o "$folder/$target-$plan" \
      --target="$target" --strategy=$plan > "$folder/log"
  done
  cutback run "$folder/$target-save-all" --inputs="$folder/in" \
    --outputs="$folder/$target" > "$folder/log"
  cutback run "$folder/$target-min-cut" --inputs="$folder/in" \
    --check="$folder/$target" --rtol=0 --atol=0 | grep "tensors agree"
done
