//===- OneDnn.cpp - The one place that knows oneDNN's versions ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Primitives of oneDNN 2.x and 3.x behind one interface, and sequences of them
// over a shared workspace.
//
//===----------------------------------------------------------------------===//

#include "OneDnn.h"

#include "KernelState.h"

using namespace partita;
using namespace partita::kernels;
using dnnl::memory;

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

const dnnl::engine &kernels::oneDnnEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Streams belong to a thread: ranks may be threads of one process.
static const dnnl::stream &oneDnnStream() {
  thread_local const dnnl::stream stream(oneDnnEngine());
  return stream;
}

memory::desc kernels::plainDesc(const Dims &shape) {
  return stridedDesc(shape, rowMajorStrides(shape));
}

memory::desc kernels::stridedDesc(const Dims &shape, const Dims &strides) {
  return memory::desc(shape, memory::data_type::f32, strides);
}

memory::desc kernels::anyDesc(const Dims &shape) {
  return memory::desc(shape, memory::data_type::f32, memory::format_tag::any);
}

static dnnl::primitive_attr callerScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// Makes the primitive descriptor of `Primitive` from the arguments that 2.x
/// gives to its operation descriptor and 3.x to the primitive descriptor.
template <typename Primitive, typename... Arguments>
static typename Primitive::primitive_desc
describe(const dnnl::primitive_attr &attributes,
         const typename dnnl::convolution_forward::primitive_desc *hint,
         Arguments &&...arguments) {
  using Desc = typename Primitive::primitive_desc;
  const dnnl::engine &engine = oneDnnEngine();
#if DNNL_VERSION_MAJOR < 3
  typename Primitive::desc operation(std::forward<Arguments>(arguments)...);
  if constexpr (std::is_same_v<Primitive, dnnl::convolution_forward> ||
                std::is_same_v<Primitive, dnnl::matmul>) {
    (void)hint;
    return Desc(operation, attributes, engine);
  } else {
    return Desc(operation, attributes, engine, *hint);
  }
#else
  if constexpr (std::is_same_v<Primitive, dnnl::convolution_forward> ||
                std::is_same_v<Primitive, dnnl::matmul>) {
    (void)hint;
    return Desc(engine, std::forward<Arguments>(arguments)..., attributes);
  } else {
    return Desc(engine, std::forward<Arguments>(arguments)..., *hint,
                attributes);
  }
#endif
}

static dnnl::convolution_forward::primitive_desc
describeForward(const OneDnnConv &conv) {
  auto training = dnnl::prop_kind::forward_training;
  auto direct = dnnl::algorithm::convolution_direct;
  if (conv.hasBias)
    return describe<dnnl::convolution_forward>(
        callerScratchpad(), nullptr, training, direct, conv.x, conv.w,
        conv.bias, conv.y, conv.strides, conv.dilations, conv.padLow,
        conv.padHigh);
  return describe<dnnl::convolution_forward>(
      callerScratchpad(), nullptr, training, direct, conv.x, conv.w, conv.y,
      conv.strides, conv.dilations, conv.padLow, conv.padHigh);
}

OneDnnPrimitive kernels::makeConvForward(const OneDnnConv &conv) {
  auto desc = describeForward(conv);
  return {dnnl::convolution_forward(desc),
          desc.src_desc(),
          desc.weights_desc(),
          desc.dst_desc(),
          desc.scratchpad_desc(),
          desc.impl_info_str()};
}

OneDnnPrimitive kernels::makeConvInputGrad(const OneDnnConv &conv) {
  auto hint = describeForward(conv);
  auto desc = describe<dnnl::convolution_backward_data>(
      callerScratchpad(), &hint, dnnl::algorithm::convolution_direct, conv.x,
      conv.w, conv.y, conv.strides, conv.dilations, conv.padLow, conv.padHigh);
  return {dnnl::convolution_backward_data(desc),
          desc.diff_src_desc(),
          desc.weights_desc(),
          desc.diff_dst_desc(),
          desc.scratchpad_desc(),
          desc.impl_info_str()};
}

OneDnnPrimitive kernels::makeConvFilterGrad(const OneDnnConv &conv) {
  auto hint = describeForward(conv);
  auto desc = describe<dnnl::convolution_backward_weights>(
      callerScratchpad(), &hint, dnnl::algorithm::convolution_direct, conv.x,
      conv.w, conv.y, conv.strides, conv.dilations, conv.padLow, conv.padHigh);
  return {dnnl::convolution_backward_weights(desc),
          desc.src_desc(),
          desc.diff_weights_desc(),
          desc.diff_dst_desc(),
          desc.scratchpad_desc(),
          desc.impl_info_str()};
}

OneDnnPrimitive kernels::makeMatmul(const memory::desc &a,
                                    const memory::desc &b,
                                    const memory::desc &y, float alpha) {
  dnnl::primitive_attr attributes = callerScratchpad();
  if (alpha != 1.0f) {
    dnnl::post_ops scale;
#if DNNL_VERSION_MAJOR < 3
    scale.append_eltwise(/*scale=*/1.0f, dnnl::algorithm::eltwise_linear, alpha,
                         /*beta=*/0.0f);
#else
    scale.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, /*beta=*/0.0f);
#endif
    attributes.set_post_ops(scale);
  }
  auto desc = describe<dnnl::matmul>(attributes, nullptr, a, b, y);
  return {dnnl::matmul(desc), desc.src_desc(),        desc.weights_desc(),
          desc.dst_desc(),    desc.scratchpad_desc(), desc.impl_info_str()};
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

OneDnnSequence::Slot OneDnnSequence::addSlot(const memory::desc &desc,
                                             std::ptrdiff_t offset) {
  slots.push_back({memory(desc, oneDnnEngine(), DNNL_MEMORY_NONE), offset});
  return static_cast<Slot>(slots.size()) - 1;
}

OneDnnSequence::Slot OneDnnSequence::addTensor(const memory::desc &desc) {
  return addSlot(desc, -1 - tensorCount++);
}

OneDnnSequence::Slot OneDnnSequence::addIntermediate(const memory::desc &desc) {
  Slot slot = addSlot(desc, static_cast<std::ptrdiff_t>(bytes));
  bytes += cacheLines(desc.get_size());
  return slot;
}

OneDnnSequence::Slot OneDnnSequence::reordered(Slot slot,
                                               const memory::desc &desc) {
  Slot target = stagedFor(slot, desc);
  addReorder(slot, target);
  return target;
}

OneDnnSequence::Slot OneDnnSequence::stagedFor(Slot slot,
                                               const memory::desc &desc) {
  return slots[slot].memory.get_desc() == desc ? slot : addIntermediate(desc);
}

void OneDnnSequence::addReorder(Slot from, Slot to) {
  if (from == to)
    return;
  dnnl::reorder::primitive_desc desc(
      oneDnnEngine(), slots[from].memory.get_desc(), oneDnnEngine(),
      slots[to].memory.get_desc(), callerScratchpad());
  OneDnnPrimitive reorder;
  reorder.primitive = dnnl::reorder(desc);
  reorder.scratchpad = desc.scratchpad_desc();
  add(reorder, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void OneDnnSequence::add(const OneDnnPrimitive &primitive,
                         const std::vector<std::pair<int, Slot>> &arguments) {
  Step step{primitive.primitive, {}};
  for (auto [argument, slot] : arguments)
    step.arguments.push_back({argument, slots[slot].memory.get()});
  if (primitive.scratchpad.get_size() > 0) {
    Slot slot = addIntermediate(primitive.scratchpad);
    step.arguments.push_back({DNNL_ARG_SCRATCHPAD, slots[slot].memory.get()});
  }
  steps.push_back(std::move(step));
}

void OneDnnSequence::run(const void *const *tensors) const {
  char *base = bytes > 0 ? static_cast<char *>(workspace(bytes)) : nullptr;
  for (const Tensor &slot : slots) {
    void *data = slot.offset < 0 ? const_cast<void *>(tensors[-1 - slot.offset])
                                 : base + slot.offset;
    // Setting a pointer makes oneDNN zero the padding of a blocked layout.
    if (slot.memory.get_data_handle() != data)
      slot.memory.set_data_handle(data);
  }
  dnnl_stream_t stream = oneDnnStream().get();
  for (const Step &step : steps)
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(step.primitive.get(), stream,
                               static_cast<int>(step.arguments.size()),
                               step.arguments.data()),
        "cannot run a oneDNN primitive");
}
