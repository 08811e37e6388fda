//===- Main.cpp - The checker as a program --------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// partita-check FILE...
//
//===----------------------------------------------------------------------===//

#include "Run.h"

int main(int argc, char **argv) {
  return partita::check::runCheck("partita-check", {argv + 1, argv + argc});
}
