# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# random-strategies.sh GRAPH FOLDER: runs a step under three strategies on two
# targets, compares each with the interpreter, and counts different results.
set -e
graph=$1 out=$2
rm -rf $out && mkdir -p $out
for target in cpu cuda-host; do
  for strategy in min-cut eager recompute-all; do
    step=$out/$target-$strategy
    cutback compile $graph -o $step --target=$target --strategy=$strategy
    if [ ! -e $out/in.safetensors ]; then
      python3 -B $(dirname $0)/random-inputs.py $out/in.safetensors \
        --of $step/manifest.json 32
      cutback run $graph --reference --whole --seed=5 \
        --inputs=$out/in.safetensors --outputs=$out/whole.safetensors >/dev/null
    fi
    cutback run $step --seed=5 --inputs=$out/in.safetensors \
      --check=$out/whole.safetensors --outputs=$step.safetensors | tail -n 1
  done
done
echo $(md5sum $out/*-*.safetensors | cut -d ' ' -f 1 | sort -u | wc -l) result
