/**
 * A score represented as a formula. From one formula are computed: the score, the components that add up to it, the explanation tree, the
 * line of reasons, bounds on what an item can score, and the weights at which two items change places; so none of these is coded twice.
 *
 *     const formula = sum('score', [
 *       product('words', [number('weight of words', 'w'), number('BM25', 'bm')], { component: 'words' }),
 *       number('bonus', 'bonus', { component: 'bonus', when: 'bonus' }),
 *     ])
 *     scoreBy(formula, { bm: 2 }, { w: 0.3 })   // 0.6
 */
import { type Explanation, leaf, node } from './explanation.ts'

/** Named numbers that a formula reads: those of one row (a candidate), or those that hold for the whole query. */
export type Numbers = Readonly<Record<string, number>>
/** The numbers of a query that has none. One shared object, since compiled scorers are cached by this object. */
export const NO_NUMBERS: Numbers = {}
/** Explanation trees by the name of a number: in an explanation, the tree is shown in place of that number. */
export type Expansions = Readonly<Record<string, Explanation>>

interface Options {
  /**
   * Name of the component of the score to which this part of the formula belongs. For a factor of a product, the component is the amount by
   * which the factor changes the product.
   */
  readonly component?: string
  /** Name of a number: where neither the row nor the query has it, this part is left out of its sum, product or maximum. */
  readonly when?: string
  /** Name of a number: where the row or the query has it, this part is left out. */
  readonly unless?: string
  /** Whether an explanation shows this part. Only parts without effect may be hidden: a summand of 0, a factor of 1. */
  readonly shown?: (row: Numbers, query: Numbers) => boolean
  readonly note?: string | ((row: Numbers, query: Numbers) => string | undefined)
  /** Text shown in brackets after the component in the line of reasons; for a factor, it replaces the factor's value there. */
  readonly detail?: (row: Numbers, expansions: Expansions, query: Numbers) => string | undefined
}

interface NumberNode extends Options {
  readonly kind: 'number'
  readonly label: string
  readonly name: string
  /** Sign of the number in the sum: 1 adds it, -1 subtracts it. */
  readonly sign: 1 | -1
}

interface Constant extends Options {
  readonly kind: 'constant'
  readonly label: string
  readonly value: number
}

interface Combination extends Options {
  readonly kind: 'sum' | 'product' | 'lift' | 'quotient' | 'max'
  readonly label: string
  readonly of: readonly Formula[]
}

export type Formula = NumberNode | Constant | Combination

/** A formula whose value is the number with this name: taken from the row, or from the query where the row does not have it, else 0. */
export function number(label: string, name: string, options: Options & { readonly negative?: boolean } = {}): Formula {
  const { negative = false, ...rest } = options
  return { kind: 'number', label, name, sign: negative ? -1 : 1, ...rest }
}

export function constant(label: string, value: number, options: Options = {}): Formula {
  return { kind: 'constant', label, value, ...options }
}

export function sum(label: string, of: readonly Formula[], options: Options = {}): Formula {
  return { kind: 'sum', label, of, ...options }
}

export function product(label: string, of: readonly Formula[], options: Options = {}): Formula {
  return { kind: 'product', label, of, ...options }
}

/**
 * A product in which the other factors apply only where the first one is above 0; otherwise the value is that of the first. So factors
 * cannot make an irrelevant item relevant.
 */
export function lift(label: string, of: readonly [Formula, ...Formula[]], options: Options = {}): Formula {
  return { kind: 'lift', label, of, ...options }
}

/** A quotient of two formulas; 0 where the divisor is 0 or negative. */
export function quotient(label: string, dividend: Formula, divisor: Formula, options: Options = {}): Formula {
  return { kind: 'quotient', label, of: [dividend, divisor], ...options }
}

/** The largest value of several formulas; 0 where all parts are left out. */
export function max(label: string, of: readonly Formula[], options: Options = {}): Formula {
  return { kind: 'max', label, of, ...options }
}

/**
 * The sum of `weight · part` over the given parts, where the number `weight_<part>` is the weight of a part. Most lenses use this formula.
 */
export function weightedSum(parts: Readonly<Record<string, Options['note']>>, options: Options = {}): Formula {
  const terms = Object.entries(parts).map(([part, note]) =>
    product(part, [number('weight', `weight_${part}`), number(part, part, note === undefined ? {} : { note })], {
      component: part,
    }),
  )
  return sum('score', terms, options)
}

/** A formula together with the numbers of one query. */
export interface BoundFormula {
  readonly formula: Formula
  readonly numbers: Numbers
}

/** Whether the row or the query has a number of this name. */
function has(name: string, row: Numbers, query: Numbers): boolean {
  return row[name] !== undefined || query[name] !== undefined
}

/**
 * Whether a part of a formula may be left out because of its `when` or `unless`. The parts of a quotient, and the first part of a lift (a
 * product whose other factors apply only where the first is above 0), are never left out.
 */
function isConditional({ kind, of }: Combination, at: number): boolean {
  const { when, unless } = of[at] as Formula
  return (when !== undefined || unless !== undefined) && kind !== 'quotient' && !(kind === 'lift' && at === 0)
}

function isThere({ when, unless }: Formula, row: Numbers, query: Numbers): boolean {
  return (when === undefined || has(when, row, query)) && (unless === undefined || !has(unless, row, query))
}

function partsOf(formula: Combination, row: Numbers, query: Numbers): readonly Formula[] {
  return formula.of.filter((part, at) => !isConditional(formula, at) || isThere(part, row, query))
}

export type Scorer = (row: Numbers) => number

export function scoreBy(formula: Formula, row: Numbers, query: Numbers): number {
  return scorerOf(formula, query)(row)
}

/**
 * Caches what `make` returns for a formula and a query's numbers, for as long as the numbers object exists; the object must not be changed.
 */
function keptBy<T>(make: (formula: Formula, query: Numbers) => T): (formula: Formula, query: Numbers) => T {
  const kept = new WeakMap<Numbers, Map<Formula, T>>()
  return (formula, query) => {
    const known = kept.get(query)?.get(formula)
    if (known !== undefined) return known
    const made = make(formula, query)
    const all = kept.get(query) ?? new Map<Formula, T>()
    kept.set(query, all.set(formula, made))
    return made
  }
}

/**
 * Compiles a formula to a function that scores rows. The query's numbers are looked up only once, since every candidate of a query is
 * scored.
 */
export const scorerOf: (formula: Formula, query: Numbers) => Scorer = keptBy(makeScorer)

function makeScorer(formula: Formula, query: Numbers): Scorer {
  if (formula.kind === 'constant') {
    const { value } = formula
    return () => value
  }
  if (formula.kind === 'number') {
    const { name, sign } = formula
    const ofQuery = query[name] ?? 0
    return row => sign * (row[name] ?? ofQuery)
  }
  const { kind, of } = formula
  const parts = of.map((part, at) => scorerWhere(formula, at, scorerOf(part, query), query))
  const [first = nothing, second = nothing] = parts
  switch (kind) {
    case 'sum':
      return row => {
        let value = 0
        for (const part of parts) value += part(row) ?? 0
        return value
      }
    case 'max':
      return row => {
        let value = Number.NEGATIVE_INFINITY
        for (const part of parts) value = Math.max(value, part(row) ?? value)
        return value === Number.NEGATIVE_INFINITY ? 0 : value
      }
    case 'quotient':
      return row => {
        const divisor = second(row) ?? 0
        return divisor > 0 ? (first(row) ?? 0) / divisor : 0
      }
    default:
      return row => {
        let value = 1
        for (let at = 0; at < parts.length; at++) {
          const factor = (parts[at] as Part)(row) ?? 1
          if (at === 0 && kind === 'lift' && factor <= 0) return factor
          value *= factor
        }
        return value
      }
  }
}

/** Computes the value of a part of a formula for a row; null where the part is left out. */
type Part = (row: Numbers) => number | null

function nothing(): null {
  return null
}

function scorerWhere(formula: Combination, at: number, scorer: Scorer, query: Numbers): Part {
  const part = formula.of[at] as Formula
  if (!isConditional(formula, at)) return scorer
  const { when, unless } = part
  if (unless !== undefined && query[unless] !== undefined) return nothing
  if (unless === undefined && when !== undefined && query[when] !== undefined) return scorer
  return row => (isThere(part, row, query) ? scorer(row) : null)
}

/**
 * The components of a row's score, by name. They add up to the score, except for rounding, if every term of the formula belongs to a
 * component.
 */
export function componentsBy(formula: Formula, row: Numbers, query: Numbers): Record<string, number> {
  const components: Record<string, number> = {}
  adderOf(formula, query)(row, 1, components)
  return components
}

/**
 * Function that adds to `components`, by name, the amounts that one part of a formula contributes to the score. `scale`: the number by
 * which the rest of the formula multiplies that part.
 */
type Adder = (row: Numbers, scale: number, components: Record<string, number>) => void

const adderOf = keptBy(makeAdder)

function makeAdder(formula: Formula, query: Numbers): Adder {
  const { component } = formula
  if (component !== undefined) {
    const score = scorerOf(formula, query)
    return (row, scale, components) => addTo(components, component, scale * score(row))
  }
  if (formula.kind === 'number' || formula.kind === 'constant') return () => {}
  const parts = formula.of.map((part, at) => ({
    component: part.component,
    /** Value of the part for a row of numbers; null where the part is left out. */
    score: scorerWhere(formula, at, scorerOf(part, query), query),
    add: adderOf(part, query),
  }))
  const [first, second] = parts
  if (first === undefined) return () => {}
  switch (formula.kind) {
    case 'sum':
      return (row, scale, components) => {
        for (const { score, add } of parts) if (score(row) !== null) add(row, scale, components)
      }
    case 'max':
      return (row, scale, components) => {
        const scores = parts.map(({ score }) => score(row) ?? Number.NEGATIVE_INFINITY)
        const best = scores.indexOf(Math.max(...scores))
        if (scores[best] !== Number.NEGATIVE_INFINITY) parts[best]?.add(row, scale, components)
      }
    case 'quotient':
      return (row, scale, components) => {
        const divisor = second?.score(row) ?? 0
        first.add(row, divisor > 0 ? scale / divisor : 0, components)
      }
    default: {
      const isLift = formula.kind === 'lift'
      return (row, scale, components) => {
        const scores = parts.map(({ score }) => score(row))
        const start = scores.findIndex(score => score !== null)
        let running = scores[start] ?? 0
        // A factor that has no component name of its own multiplies the components of the product's first part.
        let whole = scale
        const end = isLift && running <= 0 ? start + 1 : parts.length
        for (let at = start + 1; at < end; at++) if (parts[at]?.component === undefined) whole *= scores[at] ?? 1
        parts[start]?.add(row, whole, components)
        for (let at = start + 1; at < end; at++) {
          const named = parts[at]?.component
          const score = scores[at] ?? null
          if (named === undefined || score === null) continue
          addTo(components, named, whole * (running * score - running))
          running *= score
        }
      }
    }
  }
}

function addTo(components: Record<string, number>, name: string, value: number): void {
  components[name] = (components[name] ?? 0) + value
}

/**
 * The explanation tree of a row's score, from which `recompute` gives the score again. A combination that shows only one part is replaced
 * by that part, under the combination's label. An expansion replaces a number when both have equal values, except for rounding.
 */
export function explainBy(formula: Formula, row: Numbers, query: Numbers, expansions: Expansions = {}): Explanation {
  const note = typeof formula.note === 'function' ? formula.note(row, query) : formula.note
  const value = scoreBy(formula, row, query)
  if (formula.kind === 'number') {
    const expansion = expansions[formula.name]
    const isExpanded = expansion !== undefined && Math.abs(expansion.value - value) <= 1e-13 * Math.abs(value)
    return isExpanded ? { ...expansion, label: formula.label } : leaf(formula.label, value, note)
  }
  if (formula.kind === 'constant') return leaf(formula.label, value, note)
  const { kind, label } = formula
  const parts: Explanation[] = []
  for (let at = 0; at < formula.of.length; at++) {
    const part = formula.of[at] as Formula
    if (isConditional(formula, at) && !isThere(part, row, query)) continue
    if (part.shown?.(row, query) !== false) parts.push(explainBy(part, row, query, expansions))
    if (at === 0 && kind === 'lift' && scoreBy(part, row, query) <= 0) break
  }
  const [first, second] = parts
  if (first === undefined) return leaf(label, value, note)
  if (kind === 'quotient')
    return second !== undefined && second.value > 0 ? node(label, kind, parts, note) : leaf(label, 0, note)
  if (parts.length === 1) return note === undefined ? { ...first, label } : { ...first, label, note }
  return node(label, kind === 'lift' ? 'product' : kind, parts, note)
}

/** Share of the largest component below which a component is not named in the line of reasons. */
const MIN_SHARE = 0.01

/**
 * The part of a formula that remains when factors and divisors are taken away. The line of reasons lists the components of this part first,
 * and the factors separately.
 */
function baseOf(formula: Formula, row: Numbers, query: Numbers): Formula {
  if (formula.component !== undefined || formula.kind === 'number' || formula.kind === 'constant') return formula
  if (formula.kind === 'sum' || formula.kind === 'max') return formula
  const [first] = partsOf(formula, row, query)
  return first === undefined ? formula : baseOf(first, row, query)
}

/**
 * The main reasons for a score in one line: first the components before factors apply, largest first, then the factors. Example: `words
 * 0.46 (kiln) + meaning 0.33 (cosine 0.55), × speaker 1.20`.
 */
export function reasonsBy(formula: Formula, row: Numbers, query: Numbers, expansions: Expansions = {}): string {
  const components = componentsBy(baseOf(formula, row, query), row, query)
  const terms: [name: string, detail: string | undefined][] = []
  const factors: string[] = []
  const visit = (part: Formula, isFactor: boolean): void => {
    const detail = part.detail?.(row, expansions, query)
    if (isFactor) {
      const value = scoreBy(part, row, query)
      const isNamed = part.component !== undefined || part.kind === 'number'
      if (detail !== undefined) factors.push(detail)
      else if (isNamed && part.detail === undefined && value !== 1) factors.push(`× ${part.label} ${value.toFixed(2)}`)
      return
    }
    if (part.component !== undefined) {
      terms.push([part.component, detail])
      return
    }
    if (part.kind === 'number' || part.kind === 'constant') return
    const parts = partsOf(part, row, query)
    if (part.kind === 'max') {
      const best = parts.find(each => scoreBy(each, row, query) === scoreBy(part, row, query))
      if (best !== undefined) visit(best, false)
    } else if (part.kind === 'quotient') visit(parts[0] as Formula, false)
    else {
      const isLifted = part.kind !== 'lift' || scoreBy(parts[0] as Formula, row, query) > 0
      for (const [at, each] of parts.entries())
        if (part.kind === 'sum' || at === 0 || isLifted) visit(each, part.kind !== 'sum' && at > 0)
    }
  }
  visit(formula, false)
  const least = MIN_SHARE * Math.max(0, ...Object.values(components))
  const named = [...new Map(terms)]
    .map(([name, detail]) => ({ name, value: components[name] ?? 0, detail }))
    .filter(({ value }) => value > 0 && value >= least)
    .sort((a, b) => b.value - a.value)
    .map(({ name, value, detail }) => `${name} ${short(value)}${detail === undefined ? '' : ` (${detail})`}`)
  return [named.length === 0 ? 'there is little evidence for it' : named.join(' + '), ...factors].join(', ')
}

function short(value: number): string {
  return value >= 0.01 ? value.toFixed(2) : String(Number(value.toPrecision(1)))
}

/** The smallest and the largest value that a number may have. */
export type Range = readonly [min: number, max: number]
export type Ranges = Readonly<Record<string, Range>>

/** Ranges for the given numbers, each of which contains only the number itself. */
export function exactly(numbers: Numbers): Ranges {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, [value, value]]))
}

/** Smallest and largest score of all rows that have exactly the numbers named in `ranges`, each with a value in its range. */
export function boundsBy(formula: Formula, ranges: Ranges): Range {
  if (formula.kind === 'constant') return [formula.value, formula.value]
  if (formula.kind === 'number') {
    const [min, max] = ranges[formula.name] ?? [0, 0]
    return formula.sign > 0 ? [min, max] : [-max, -min]
  }
  const parts = partsWithin(formula, ranges).map(part => boundsBy(part, ranges))
  const [first = [0, 0]] = parts
  switch (formula.kind) {
    case 'sum':
      return parts.reduce(([min, max], [a, b]) => [min + a, max + b], [0, 0])
    case 'max':
      return parts.reduce(([min, max], [a, b]) => [Math.max(min, a), Math.max(max, b)], first)
    case 'quotient':
      return dividedBy(first, parts[1] as Range)
    case 'product':
      return parts.reduce<Range>(times, [1, 1])
    default: {
      if (first[1] <= 0) return first
      const lifted = parts.slice(1).reduce<Range>(times, [Math.max(0, first[0]), first[1]])
      return first[0] > 0 ? lifted : [Math.min(first[0], lifted[0]), Math.max(0, lifted[1])]
    }
  }
}

function partsWithin({ kind, of }: Combination, ranges: Ranges): readonly Formula[] {
  if (kind === 'quotient') return of
  return of.filter(
    ({ when, unless }, at) =>
      (kind === 'lift' && at === 0) ||
      ((when === undefined || ranges[when] !== undefined) && (unless === undefined || ranges[unless] === undefined)),
  )
}

function times([a, b]: Range, [c, d]: Range): Range {
  // In bounds, 0 times infinity counts as 0: the bound is infinite only where a divisor may be 0, and then the quotient counts as 0.
  const products = [a * c, a * d, b * c, b * d].map(value => (Number.isNaN(value) ? 0 : value))
  return [Math.min(...products), Math.max(...products)]
}

function dividedBy([a, b]: Range, [min, max]: Range): Range {
  if (max <= 0) return [0, 0]
  if (min <= 0) return [a < 0 ? Number.NEGATIVE_INFINITY : 0, b > 0 ? Number.POSITIVE_INFINITY : 0]
  const quotients = [a / min, a / max, b / min, b / max]
  return [Math.min(...quotients), Math.max(...quotients)]
}

/**
 * Step widths in which the share of a weight (0 to 1) is tried: a thousandth (COARSE), then a millionth (FINE) where two rows have changed
 * places.
 */
const COARSE = 1_000
const FINE = 1_000_000

/**
 * The shares of a weight (0 to 1, in millionths) at which the rows `a` and `b` change places or have equal scores, nearest to `from` first.
 * Two changes within the same thousandth are missed. `numbersAt`: the query's numbers that depend on the share. Cost: at most 2,000
 * computations of a score, and 20 more for each share found.
 */
export function* crossings(
  { formula, numbers }: BoundFormula,
  [a, b]: readonly [Numbers, Numbers],
  numbersAt: (share: number) => Numbers,
  from: number,
): Generator<number> {
  const signAt = (step: number): number => {
    const query = { ...numbers, ...numbersAt(step / FINE) }
    return Math.sign(scoreBy(formula, a, query) - scoreBy(formula, b, query))
  }
  const start = from * FINE
  const coarse = Array.from({ length: COARSE + 1 }, (_, at) => (at * FINE) / COARSE)
  const halves = [coarse.filter(step => step > start), coarse.filter(step => step < start).reverse()]
  const changes = halves.map(steps => changesAlong(steps, start, signAt))
  // Merges the shares found above `from` with those found below it; both lists are ordered by distance from `from`.
  const next = changes.map(side => side.next())
  for (;;) {
    const distances = next.map(each => (each.done === true ? Number.POSITIVE_INFINITY : Math.abs(each.value - start)))
    const side = (distances[0] as number) <= (distances[1] as number) ? 0 : 1
    const found = next[side] as IteratorResult<number, undefined>
    if (found.done === true) return
    yield found.value / FINE
    next[side] = (changes[side] as Generator<number, undefined>).next()
  }
}

function* changesAlong(
  steps: readonly number[],
  start: number,
  signAt: (step: number) => number,
): Generator<number, undefined> {
  let [near, sign] = [start, signAt(start)]
  for (const step of steps) {
    const there = signAt(step)
    if (there !== sign) {
      const outward = Math.sign(step - near)
      // Bisection: `before` is always a step at which the old order of the rows holds, `after` one at which it does not.
      let [before, after] = [outward > 0 ? Math.floor(near) : Math.ceil(near), step]
      while (Math.abs(after - before) > 1) {
        const middle = Math.floor((before + after) / 2)
        if (signAt(middle) === sign) before = middle
        else after = middle
      }
      yield after
      // At an equal score, rows are ordered by id, so they may change places only at the next share, which is reported too.
      if (signAt(after) === 0 && after !== step) yield after + outward
    }
    near = step
    sign = there
  }
}
