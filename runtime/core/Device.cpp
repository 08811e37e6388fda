//===- Device.cpp - What all devices and streams share ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements partita/device.h: the parts that do not depend on a back end.
//
//===----------------------------------------------------------------------===//

#include "partita/device.h"

using namespace partita;

Event::State::~State() = default;
Stream::~Stream() = default;
Device::~Device() = default;

Event::Event(Device &device) : impl(device.makeEvent()) {}

void Stream::finish() noexcept {
  try {
    sync();
  } catch (const std::exception &) {
    // Who failed has been noted; here it only matters that the work is over.
  }
}

void Stream::enqueue(const char *name, std::function<void()>) {
  throw Error(std::string("'") + name +
              "' was queued on a stream that has no queue");
}
