// RUN: weft-opt %s --verify-diagnostics --split-input-file

relay.func @a_key_of_nine_words(%k: tensor<9xui64>) -> tuple<tensor<10xui64>, tensor<3xui64>> {
  // expected-error@+1 {{a key is tensor<10xui64>, got tensor<9xui64>}}
  %0 = relay.random.threefry_generate %k {out_shape = array<i64: 3>} : (tensor<9xui64>) -> tuple<tensor<10xui64>, tensor<3xui64>>
  relay.return %0 : tuple<tensor<10xui64>, tensor<3xui64>>
}

// -----

relay.func @a_key_of_signed_words(%k: tensor<10xi64>) -> tuple<tensor<10xui64>, tensor<10xui64>> {
  // expected-error@+1 {{a key is tensor<10xui64>, got tensor<10xi64>}}
  %0 = relay.random.threefry_split %k : (tensor<10xi64>) -> tuple<tensor<10xui64>, tensor<10xui64>>
  relay.return %0 : tuple<tensor<10xui64>, tensor<10xui64>>
}

// -----

relay.func @bounds_that_do_not_broadcast(%k: tensor<10xui64>, %l: tensor<2xf32>, %h: tensor<f32>) -> tuple<tensor<10xui64>, tensor<3xf32>> {
  // expected-error@+1 {{a parameter must broadcast to tensor<3xf32>, got tensor<2xf32>}}
  %0 = relay.random.uniform %k, %l, %h {out_shape = array<i64: 3>} : (tensor<10xui64>, tensor<2xf32>, tensor<f32>) -> tuple<tensor<10xui64>, tensor<3xf32>>
  relay.return %0 : tuple<tensor<10xui64>, tensor<3xf32>>
}

// -----

relay.func @bounds_of_more_dimensions_than_the_result(%k: tensor<10xui64>, %l: tensor<1x3xf32>, %h: tensor<f32>) -> tuple<tensor<10xui64>, tensor<3xf32>> {
  // expected-error@+1 {{a parameter must broadcast to tensor<3xf32>, got tensor<1x3xf32>}}
  %0 = relay.random.uniform %k, %l, %h {out_shape = array<i64: 3>} : (tensor<10xui64>, tensor<1x3xf32>, tensor<f32>) -> tuple<tensor<10xui64>, tensor<3xf32>>
  relay.return %0 : tuple<tensor<10xui64>, tensor<3xf32>>
}

// -----

relay.func @an_extent_that_the_first_parameter_has_not(%k: tensor<10xui64>, %l: tensor<f32>) -> tuple<tensor<10xui64>, tensor<?xf32>> {
  // expected-error@+1 {{extents of [-1] are not those of a first parameter with 0 dimensions}}
  %0 = relay.random.uniform %k, %l, %l {out_shape = array<i64: -1>} : (tensor<10xui64>, tensor<f32>, tensor<f32>) -> tuple<tensor<10xui64>, tensor<?xf32>>
  relay.return %0 : tuple<tensor<10xui64>, tensor<?xf32>>
}

// -----

relay.func @normal_halves(%k: tensor<10xui64>, %m: tensor<f16>) -> tuple<tensor<10xui64>, tensor<3xf16>> {
  // expected-error@+1 {{'out_dtype' must be float32 or float64, got float16}}
  %0 = relay.random.normal %k, %m, %m {out_shape = array<i64: 3>, out_dtype = "float16"} : (tensor<10xui64>, tensor<f16>, tensor<f16>) -> tuple<tensor<10xui64>, tensor<3xf16>>
  relay.return %0 : tuple<tensor<10xui64>, tensor<3xf16>>
}

// -----

relay.func @nothing_to_draw_from(%k: tensor<10xui64>, %p: tensor<2x0xf32>) -> tuple<tensor<10xui64>, tensor<2x1xi64>> {
  // expected-error@+1 {{there is nothing to draw from}}
  %0 = relay.random.multinomial %k, %p : (tensor<10xui64>, tensor<2x0xf32>) -> tuple<tensor<10xui64>, tensor<2x1xi64>>
  relay.return %0 : tuple<tensor<10xui64>, tensor<2x1xi64>>
}

// -----

relay.func @as_many_elements_as_indices(%x: tensor<2x3xf32>, %w: tensor<3xf32>, %i: tensor<4xi32>, %p: tensor<3xi32>) -> tensor<2x2xf32> {
  // expected-error@+1 {{there are 3 elements and 4 indices}}
  %0 = relay.nn.sparse_dense %x, %w, %i, %p : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xi32>, tensor<3xi32>) -> tensor<2x2xf32>
  relay.return %0 : tensor<2x2xf32>
}

// -----

relay.func @columns_that_are_no_blocks(%x: tensor<2x3xf32>, %w: tensor<3x2x2xf32>, %i: tensor<3xi32>, %p: tensor<3xi32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{3 columns are no blocks of 2}}
  %0 = relay.nn.sparse_dense %x, %w, %i, %p : (tensor<2x3xf32>, tensor<3x2x2xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x4xf32>
  relay.return %0 : tensor<2x4xf32>
}

// -----

relay.func @as_many_rows_in_both(%x: tensor<4x3xf32>, %w: tensor<3xf32>, %i: tensor<3xi32>, %p: tensor<3xi32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{expected a matrix of f32 with 2 rows, got tensor<4x3xf32>}}
  %0 = relay.nn.sparse_add %x, %w, %i, %p : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<4x3xf32>
  relay.return %0 : tensor<4x3xf32>
}

// -----

relay.func @blocks_are_not_transposed(%w: tensor<3x2x2xf32>, %i: tensor<3xi32>, %p: tensor<3xi32>) -> tuple<tensor<3x2x2xf32>, tensor<3xi32>, tensor<3xi32>> {
  // expected-error@+1 {{the elements must be single numbers, got tensor<3x2x2xf32>}}
  %0 = relay.nn.sparse_transpose %w, %i, %p : (tensor<3x2x2xf32>, tensor<3xi32>, tensor<3xi32>) -> tuple<tensor<3x2x2xf32>, tensor<3xi32>, tensor<3xi32>>
  relay.return %0 : tuple<tensor<3x2x2xf32>, tensor<3xi32>, tensor<3xi32>>
}

// -----

relay.func @places_of_another_rank(%i: tensor<2x3xi32>, %v: tensor<2xf32>, %d: tensor<f32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{indices of 3 numbers do not name places in [3, 4]}}
  %0 = relay.sparse_to_dense %i, %v, %d {output_shape = array<i64: 3, 4>} : (tensor<2x3xi32>, tensor<2xf32>, tensor<f32>) -> tensor<3x4xf32>
  relay.return %0 : tensor<3x4xf32>
}

// -----

relay.func @indices_of_another_shape(%i: tensor<4x3xi32>, %p: tensor<2xi32>) -> tuple<tensor<4x2xi32>, tensor<2xi32>> {
  // expected-error@+1 {{indices of 3 numbers do not name places in 2 extents}}
  %0 = relay.sparse_reshape %i, %p, %p : (tensor<4x3xi32>, tensor<2xi32>, tensor<2xi32>) -> tuple<tensor<4x2xi32>, tensor<2xi32>>
  relay.return %0 : tuple<tensor<4x2xi32>, tensor<2xi32>>
}

// -----

relay.func @another_type_by_default(%i: tensor<2x2xi64>, %v: tensor<2xf32>, %s: tensor<2xi64>, %d: tensor<i32>) -> tuple<tensor<?x2xi64>, tensor<?xf32>, tensor<?xi1>> {
  // expected-error@+1 {{expected values [n], and one more of their type}}
  %0 = relay.sparse_fill_empty_rows %i, %v, %s, %d : (tensor<2x2xi64>, tensor<2xf32>, tensor<2xi64>, tensor<i32>) -> tuple<tensor<?x2xi64>, tensor<?xf32>, tensor<?xi1>>
  relay.return %0 : tuple<tensor<?x2xi64>, tensor<?xf32>, tensor<?xi1>>
}

// -----

relay.func @boxes_without_a_size(%x: tensor<1x3x2x4xf32>) -> tensor<1x0x4xf32> {
  // expected-error@+1 {{there must be a size and a ratio, and ratios above zero}}
  %0 = relay.vision.multibox_prior %x {sizes = array<f64>} : (tensor<1x3x2x4xf32>) -> tensor<1x0x4xf32>
  relay.return %0 : tensor<1x0x4xf32>
}

// -----

relay.func @as_many_moves_as_boxes(%p: tensor<1x3x4xf32>, %l: tensor<1x12xf32>, %a: tensor<1x4x4xf32>) -> tuple<tensor<1x4x6xf32>, tensor<1xi32>> {
  // expected-error@+1 {{expected [1, 16] for 4 boxes, got [1, 12]}}
  %0 = relay.vision.multibox_transform_loc %p, %l, %a : (tensor<1x3x4xf32>, tensor<1x12xf32>, tensor<1x4x4xf32>) -> tuple<tensor<1x4x6xf32>, tensor<1xi32>>
  relay.return %0 : tuple<tensor<1x4x6xf32>, tensor<1xi32>>
}

// -----

relay.func @a_sparse_convolution_has_as_many_rows_of_taps_as_columns(%x: tensor<1x5x5x3xf32>, %w: tensor<2x4xf32>, %i: tensor<2xi32>, %p: tensor<2xi32>) -> tensor<1x5x5x4xf32> {
  // expected-error@+1 {{'kernel_size' must be one odd number, twice, got [1, 3]}}
  %y = relay.nn.sparse_conv2d %x, %w, %i, %p {kernel_size = array<i64: 1, 3>} : (tensor<1x5x5x3xf32>, tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x5x5x4xf32>
  relay.return %y : tensor<1x5x5x4xf32>
}
