// One refused attribute per constraint, named after its label.
// RUN: partita-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{grid axis '2d' is no identifier}}
func.func private @grid_c1_identifier() attributes {a = #dist.grid<"2d" = 2>}

// -----

// expected-error @+1 {{grid axis 'data' is named twice}}
func.func private @grid_c1_twice() attributes {a = #dist.grid<data = 2, data = 4>}

// -----

// expected-error @+1 {{grid axis 'data' has size 0, expected a positive one}}
func.func private @grid_c2_size() attributes {a = #dist.grid<data = 0>}

// -----

// expected-error @+1 {{expected '='}}
func.func private @grid_text() attributes {a = #dist.grid<data>}

// -----

// expected-error @+1 {{split dimension 'n' is named twice}}
func.func private @split_c1_twice() attributes {a = #dist.split<n = [data], n = [model]>}

// -----

// expected-error @+1 {{split axis 'data' is named twice}}
func.func private @split_c2_axis_twice() attributes {a = #dist.split<n = [data], co = [data]>}

// -----

// expected-error @+1 {{split dimension 'n' has no axes; leave it out}}
func.func private @split_c3_empty() attributes {a = #dist.split<n = []>}

// -----

// expected-error @+1 {{split needs a positive block size per dimension}}
func.func private @split_c4_block() attributes {a = #dist.split<n = [data] by 0>}

// -----

// expected-error @+1 {{split needs a positive block size per dimension}}
func.func private @split_c4_negative_block() attributes {a = #dist.split<n = [data] by -2>}

// -----

// expected-error @+1 {{expected ':'}}
func.func private @split_c5_half_a_pair() attributes {a = #dist.split<n = [data] at [0:3, 3]>}

// -----

// expected-error @+1 {{expected integer value}}
func.func private @split_c5_no_end() attributes {a = #dist.split<n = [data] at [0:3, 3:]>}

// -----

// expected-error @+1 {{layout axis 'data' is named twice}}
func.func private @layout_c1_dimensions() attributes {a = #dist.layout<[[data], [data]]>}

// -----

// expected-error @+1 {{layout axis 'data' is named twice}}
func.func private @layout_c1_partial() attributes {a = #dist.layout<[[data]], partial sum [data]>}

// -----

// expected-error @+1 {{layout axis 'data' is named twice}}
func.func private @layout_c1_varying() attributes {a = #dist.layout<[[data]], varying [data]>}

// -----

// expected-error @+1 {{layout is partial by 'mean' over 1 axes; expected sum, max, min or prod and at least one axis, or neither}}
func.func private @layout_c2_kind() attributes {a = #dist.layout<[[]], partial mean [data]>}

// -----

// expected-error @+1 {{layout is partial by 'sum' over 0 axes; expected sum, max, min or prod and at least one axis, or neither}}
func.func private @layout_c2_no_axis() attributes {a = #dist.layout<[[]], partial sum []>}

// -----

// expected-error @+1 {{layout needs a positive block size per dimension}}
func.func private @layout_c3_block() attributes {a = #dist.layout<[[data] by 0]>}

// -----

// expected-error @+1 {{layout has a table of 4 numbers over 0 axes; expected a begin and an end per part}}
func.func private @layout_c4_no_axes() attributes {a = #dist.layout<[[] at [0:5, 3:8]]>}

// -----

// expected-error @+1 {{expected ':'}}
func.func private @layout_c4_half_a_pair() attributes {a = #dist.layout<[[data] at [0]]>}

// -----

// Parts are balanced or given: not both.
// expected-error @+1 {{expected ']'}}
func.func private @layout_block_and_table() attributes {a = #dist.layout<[[data] by 2 at [0:4, 4:8]]>}

// -----

// expected-error @+1 {{expected 'partial'}}
func.func private @layout_text() attributes {a = #dist.layout<[[data]], replicated [model]>}

// -----

// expected-error @+1 {{synchronisation axis 'data' is named twice}}
func.func private @sync_c1_twice() attributes {a = #dist.sync<all_reduce [data, data]>}

// -----

// expected-error @+1 {{unknown synchronisation 'gossip'}}
func.func private @sync_method() attributes {a = #dist.sync<gossip [data]>}

// -----

// expected-error @+1 {{unknown algorithm 'star'}}
func.func private @sync_algorithm() attributes {a = #dist.sync<all_reduce [data] by star>}

// -----

// expected-error @+1 {{a synchronisation by parameter_server has no algorithm, found 'ring'}}
func.func private @sync_c2_server() attributes {a = #dist.sync<parameter_server [data] by ring>}

// -----

// expected-error @+1 {{a synchronisation by factor_broadcast has no algorithm, found 'tree'}}
func.func private @sync_c2_factors() attributes {a = #dist.sync<factor_broadcast [data] by tree>}
