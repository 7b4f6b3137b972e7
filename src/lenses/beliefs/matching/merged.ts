/** Of runs that ascend and end here, one that ascends: two by two, until one is left. */
export function merged(values: Int32Array, ends: readonly number[]): Int32Array {
  if (ends.length <= 1) return values
  const into = new Int32Array(values.length)
  const left: number[] = []
  let from = 0
  for (let at = 0; at < ends.length; at += 2) {
    const middle = ends[at] as number
    const end = ends[at + 1] ?? middle
    merge(values, { from, middle, end }, into)
    left.push(end)
    from = end
  }
  return merged(into, left)
}

function merge(
  values: Int32Array,
  { from, middle, end }: { readonly from: number; readonly middle: number; readonly end: number },
  into: Int32Array,
): void {
  let one = from
  let other = middle
  for (let at = from; at < end; at++) {
    const isOne = one < middle && (other >= end || (values[one] as number) < (values[other] as number))
    into[at] = values[isOne ? one++ : other++] as number
  }
}
