// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-import

func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"}) {
  %y = nn.relu %x : tensor<4xf32> loc("/relu")
  return %y : tensor<4xf32>
}

// -----

// Weights and constants belong to no node; fused nodes name at least one.
nn.variable @w parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"}) {
  %w = nn.read @w : tensor<4xf32>
  %c = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.mul %x, %w : tensor<4xf32>, tensor<4xf32> loc("/mul")
  %1 = nn.mul %0, %c : tensor<4xf32>, tensor<f32> loc(fused["file.onnx":1:1, "/scale"])
  return %1 : tensor<4xf32>
}
