// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The translation unit that carries the precompiled header of the tests.
