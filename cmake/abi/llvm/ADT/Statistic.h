//===- Statistic.h - Statistics as the distribution's LLVM has them -------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Found before LLVM's header of this name. That one makes a statistic a counter
// in sources with assertions and an empty class in others, and passes hold
// statistics that libMLIR constructs, which is built without assertions.
// Sources with assertions must see the empty class, too: nobody would set the
// counter.
//
//===----------------------------------------------------------------------===//

#if !defined(NDEBUG)
#define NDEBUG
#include_next "llvm/ADT/Statistic.h"
#undef NDEBUG
#else
#include_next "llvm/ADT/Statistic.h"
#endif
