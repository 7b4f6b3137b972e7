/**
 * Explanation of a number: a tree whose inner nodes say how their children make their value, and whose leaves are facts. Built by the same
 * code that computes the score, for returned rows only. `recompute` must give the same number from the leaves; a test checks this for every
 * ranking.
 */
export interface Explanation {
  readonly label: string
  readonly value: number
  /** How `value` is computed from the children; absent on leaves. */
  readonly formula?: 'sum' | 'product' | 'quotient' | 'max' | undefined
  readonly children?: readonly Explanation[] | undefined
  /** A remark for readers: a unit, a source, what was matched. */
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

/** The value computed from the leaves alone. */
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
