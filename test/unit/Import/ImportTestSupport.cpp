// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts that the tests of the import share.

#include "ImportTestSupport.h"

using namespace cutback::test;

std::string cutback::test::jointText(const std::string &body,
                                     const std::string &results) {
  return "class inner_f(torch.nn.Module):\n" // 1
         "    def forward(\n"
         "        self,\n"
         "        primals,\n"
         "        tangents,\n" // 5
         "    ):\n"
         "        primals_1: \"f32[8, 4][4, 1]cpu\"  # "
         "ParamAOTInput(target='fc.weight')\n"
         "        primals_2: \"f32[2, 4][4, 1]cpu\"  # PlainAOTInput(idx=0)\n"
         "        tangents_1: \"f32[2, 8][8, 1]cpu\"  # "
         "TangentAOTInput(output=PlainAOTOutput(idx=0))\n"
         "        primals_1, primals_2, tangents_1, = " // 10
         "fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)\n"
         "        # File: model.py:7 in forward, code: return self.fc(x)\n"
         "        t: \"f32[4, 8][1, 4]cpu\" = "
         "torch.ops.aten.permute.default(primals_1, [1, 0]);  primals_1 = "
         "None\n"
         "        mm: \"f32[2, 8][8, 1]cpu\" = "
         "torch.ops.aten.mm.default(primals_2, t);  t = None\n" +
         body + // from line 14 on
         "        return pytree.tree_unflatten([\n" + results +
         "        ], self._out_spec)\n";
}

std::string cutback::test::jointText(const std::string &body) {
  return jointText(body, "            mm,  # PlainAOTOutput(idx=0)\n"
                         "            None,  # None\n"
                         "            None,  # None\n");
}

std::string cutback::test::corpusText(const std::string &path) {
  auto file =
      llvm::MemoryBuffer::getFile(CUTBACK_SOURCE_DIR "/test/corpus/" + path);
  return file ? (*file)->getBuffer().str() : std::string();
}
