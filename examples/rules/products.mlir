pdl.pattern @mul_by_zero : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %number = pdl.attribute = 0.0 : f32
  %zero = pdl.operation "prim.constant" {"value" = %number} -> (%type : !pdl.type)
  %z = pdl.result 0 of %zero
  %function = pdl.attribute = #prim.function mul
  %product = pdl.operation "prim.elementwise" (%x, %z : !pdl.value, !pdl.value) {"function" = %function} -> (%type : !pdl.type)
  pdl.rewrite %product {
    pdl.replace %product with (%z : !pdl.value)
  }
}
