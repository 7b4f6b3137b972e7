/**
 * The explanation of a number as a tree: leaves are facts, and each inner node says how its value follows from its children. It is built by
 * the code that computes the score, for returned results only. `recompute` must give the same number from the leaves; a test checks this
 * for every ranking.
 */
export interface Explanation {
  readonly label: string
  readonly value: number
  /** How `value` follows from the children's values (sum, product, …); absent on leaves. */
  readonly formula?: 'sum' | 'product' | 'quotient' | 'max' | undefined
  readonly children?: readonly Explanation[] | undefined
  /** A remark on the number for readers, such as its unit, its source, or what was matched. */
  readonly note?: string | undefined
}

export function leaf(label: string, value: number, note?: string): Explanation {
  return note === undefined ? { label, value } : { label, value, note }
}

export function node(
  label: string,
  formula: NonNullable<Explanation['formula']>,
  children: readonly Explanation[],
  note?: string,
): Explanation {
  const value = combine(
    formula,
    children.map(child => child.value),
  )
  return note === undefined ? { label, value, formula, children } : { label, value, formula, children, note }
}

/** Computes the value of an explanation from its leaves alone. */
export function recompute(tree: Explanation): number {
  if (tree.formula === undefined || tree.children === undefined) return tree.value
  return combine(tree.formula, tree.children.map(recompute))
}

function combine(formula: NonNullable<Explanation['formula']>, values: readonly number[]): number {
  switch (formula) {
    case 'sum':
      return values.reduce((a, b) => a + b, 0)
    case 'product':
      return values.reduce((a, b) => a * b, 1)
    case 'quotient':
      return (values[0] ?? 0) / (values[1] ?? 1)
    case 'max':
      return Math.max(...values)
  }
}
