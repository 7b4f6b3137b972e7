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
/** The numbers of a query that has none. */
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

/**
 * A formula as a list of steps, each a node of the formula: parts come before the combination that contains them, and the formula itself
 * comes last. One pass over the list gives the values of all nodes, from which score, components, explanation and reasons are read.
 */
interface Program {
  readonly steps: readonly Step[]
  /** Place of each number in the array of numbers that the steps read, by name. */
  readonly slots: ReadonlyMap<string, number>
}

interface Step {
  readonly formula: Formula
  readonly kind: Formula['kind']
  /** Slot of a number; -1: the node is no number. */
  readonly slot: number
  /** Sign of a number, or value of a constant. */
  readonly factor: number
  /** Places of the parts in the list of steps. */
  readonly parts: readonly number[]
  /** Slots of the numbers named by `when` and `unless`; -1: there is none, or the part is never left out. */
  readonly when: number
  readonly unless: number
}

/** Absent number, and value of a part that is left out. Not `null`, since mixing it with numbers makes each score slower. */
const ABSENT = Number.NaN

/**
 * Whether a part of a combination may be left out because of its `when` or `unless`. The parts of a quotient, and the first part of a lift
 * (a product whose other factors apply only where the first is above 0), are never left out.
 */
function mayBeLeftOut(kind: Combination['kind'], at: number): boolean {
  return kind !== 'quotient' && !(kind === 'lift' && at === 0)
}

const programs = new WeakMap<Formula, Program>()

function programOf(formula: Formula): Program {
  const known = programs.get(formula)
  if (known !== undefined) return known
  const steps: Step[] = []
  const slots = new Map<string, number>()
  const slotOf = (name: string | undefined): number => {
    if (name === undefined) return -1
    const slot = slots.get(name) ?? slots.size
    slots.set(name, slot)
    return slot
  }
  const add = (node: Formula, isConditional: boolean): number => {
    const parts = 'of' in node ? node.of.map((part, at) => add(part, mayBeLeftOut(node.kind, at))) : []
    steps.push({
      formula: node,
      kind: node.kind,
      slot: slotOf(node.kind === 'number' ? node.name : undefined),
      factor: node.kind === 'number' ? node.sign : node.kind === 'constant' ? node.value : 1,
      parts,
      when: slotOf(isConditional ? node.when : undefined),
      unless: slotOf(isConditional ? node.unless : undefined),
    })
    return steps.length - 1
  }
  add(formula, false)
  const program = { steps, slots }
  programs.set(formula, program)
  return program
}

/** Puts the numbers that the program reads into their slots. */
function fill(numbers: Float64Array, given: Numbers, { slots }: Program): void {
  for (const name in given) {
    const slot = slots.get(name)
    const value = given[name]
    if (slot !== undefined && value !== undefined) numbers[slot] = value
  }
}

function numbersOf(query: Numbers, program: Program): Float64Array {
  const numbers = new Float64Array(program.slots.size).fill(ABSENT)
  fill(numbers, query, program)
  return numbers
}

/** Computes the values of all steps, in the order of the steps; `ABSENT` for parts that are left out. */
function compute(steps: readonly Step[], numbers: Float64Array, values: Float64Array): void {
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as Step
    if (isLeftOut(step, numbers)) values[at] = ABSENT
    // Numbers and constants, half of all steps, are read here, since the call would take longer than the reading.
    else if (step.slot >= 0) {
      const value = numbers[step.slot] as number
      values[at] = Number.isNaN(value) ? 0 : step.factor * value
    } else values[at] = step.kind === 'constant' ? step.factor : combined(step, values)
  }
}

function isLeftOut({ when, unless }: Step, numbers: Float64Array): boolean {
  return (when >= 0 && Number.isNaN(numbers[when])) || (unless >= 0 && !Number.isNaN(numbers[unless]))
}

function combined({ kind, parts }: Step, values: Float64Array): number {
  switch (kind) {
    case 'sum': {
      let sum = 0
      for (let at = 0; at < parts.length; at++) {
        const value = values[parts[at] as number] as number
        if (!Number.isNaN(value)) sum += value
      }
      return sum
    }
    case 'max': {
      let largest = Number.NEGATIVE_INFINITY
      for (let at = 0; at < parts.length; at++) {
        const value = values[parts[at] as number] as number
        if (value > largest) largest = value
      }
      return largest === Number.NEGATIVE_INFINITY ? 0 : largest
    }
    case 'quotient': {
      const divisor = values[parts[1] as number] as number
      return divisor > 0 ? (values[parts[0] as number] as number) / divisor : 0
    }
    default: {
      let product = 1
      for (let at = 0; at < parts.length; at++) {
        const value = values[parts[at] as number] as number
        if (at === 0 && kind === 'lift' && value <= 0) return value
        if (!Number.isNaN(value)) product *= value
      }
      return product
    }
  }
}

export type Scorer = (row: Numbers) => number

/** A function that scores rows; the numbers of the query are looked up only once. */
export function scorerOf(formula: Formula, query: Numbers): Scorer {
  const program = programOf(formula)
  const { steps } = program
  const ofQuery = numbersOf(query, program)
  const numbers = new Float64Array(ofQuery.length)
  const values = new Float64Array(steps.length)
  return row => {
    numbers.set(ofQuery)
    fill(numbers, row, program)
    compute(steps, numbers, values)
    return values[steps.length - 1] as number
  }
}

export function scoreBy(formula: Formula, row: Numbers, query: Numbers): number {
  return scorerOf(formula, query)(row)
}

/** A formula evaluated for one row: the values of all its nodes, from which score, components, explanation and reasons are read. */
export interface Evaluated {
  readonly steps: readonly Step[]
  readonly values: Float64Array
  /** Place of the formula itself in `steps`. */
  readonly root: number
  readonly row: Numbers
  readonly query: Numbers
}

/** Evaluates a formula for one row; the result serves for `componentsOf`, `explain` and `reasonsFor`. */
export function evaluate(formula: Formula, row: Numbers, query: Numbers): Evaluated {
  const program = programOf(formula)
  const { steps } = program
  const numbers = numbersOf(query, program)
  fill(numbers, row, program)
  const values = new Float64Array(steps.length)
  compute(steps, numbers, values)
  return { steps, values, root: steps.length - 1, row, query }
}

/** Places of the parts of a combination that are not left out. */
function partsOf({ steps, values }: Evaluated, at: number): readonly number[] {
  return (steps[at] as Step).parts.filter(part => !Number.isNaN(values[part]))
}

/** The first of the parts with the largest value. There must be one. */
function largestOf(parts: readonly number[], { values }: Evaluated): number {
  const valueAt = (part: number) => values[part] as number
  return parts.reduce((best, part) => (valueAt(part) > valueAt(best) ? part : best))
}

/**
 * The components of a row's score, by name. They add up to the score, except for rounding, if every term of the formula belongs to a
 * component.
 */
export function componentsOf(evaluated: Evaluated): Record<string, number> {
  const components: Record<string, number> = {}
  addComponents(evaluated, evaluated.root, 1, components)
  return components
}

/**
 * Adds to `components`, by name, the amounts that one part of a formula contributes to the score. `scale`: the number by which the rest of
 * the formula multiplies that part.
 */
function addComponents(evaluated: Evaluated, at: number, scale: number, components: Record<string, number>): void {
  const { steps, values } = evaluated
  const { formula, kind, parts: all } = steps[at] as Step
  const { component } = formula
  if (component !== undefined) {
    addTo(components, component, scale * (values[at] as number))
    return
  }
  if (kind === 'number' || kind === 'constant') return
  const parts = partsOf(evaluated, at)
  const [first] = parts
  if (first === undefined) return
  switch (kind) {
    case 'sum':
      for (const part of parts) addComponents(evaluated, part, scale, components)
      return
    case 'max':
      addComponents(evaluated, largestOf(parts, evaluated), scale, components)
      return
    case 'quotient': {
      const divisor = values[all[1] as number] as number
      addComponents(evaluated, first, divisor > 0 ? scale / divisor : 0, components)
      return
    }
    default: {
      const isLifted = kind !== 'lift' || (values[first] as number) > 0
      const factors = isLifted ? parts.slice(1) : []
      const namedBy = (part: number) => (steps[part] as Step).formula.component
      // A factor that has no component name of its own multiplies the components of the product's first part.
      let whole = scale
      for (const part of factors) if (namedBy(part) === undefined) whole *= values[part] as number
      addComponents(evaluated, first, whole, components)
      let running = values[first] as number
      for (const part of factors) {
        const named = namedBy(part)
        if (named === undefined) continue
        const value = values[part] as number
        addTo(components, named, whole * (running * value - running))
        running *= value
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
export function explain(evaluated: Evaluated, expansions: Expansions = {}): Explanation {
  return explainAt(evaluated, evaluated.root, expansions)
}

function explainAt(evaluated: Evaluated, at: number, expansions: Expansions): Explanation {
  const { steps, values, row, query } = evaluated
  const { formula } = steps[at] as Step
  const { kind, label } = formula
  const note = typeof formula.note === 'function' ? formula.note(row, query) : formula.note
  const value = values[at] as number
  if (kind === 'number') {
    const expansion = expansions[formula.name]
    const isExpanded = expansion !== undefined && Math.abs(expansion.value - value) <= 1e-13 * Math.abs(value)
    return isExpanded ? { ...expansion, label } : leaf(label, value, note)
  }
  if (kind === 'constant') return leaf(label, value, note)
  const all = partsOf(evaluated, at)
  const isLifted = kind !== 'lift' || (values[all[0] as number] as number) > 0
  const parts = (isLifted ? all : all.slice(0, 1))
    .filter(part => (steps[part] as Step).formula.shown?.(row, query) !== false)
    .map(part => explainAt(evaluated, part, expansions))
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
function baseOf(evaluated: Evaluated, at: number): number {
  const { formula, kind } = evaluated.steps[at] as Step
  const isBase = formula.component !== undefined || kind === 'sum' || kind === 'max'
  const [first] = isBase ? [] : partsOf(evaluated, at)
  return first === undefined ? at : baseOf(evaluated, first)
}

/**
 * The main reasons for a score in one line: first the components before factors apply, largest first, then the factors. Example: `words
 * 0.46 (kiln) + meaning 0.33 (cosine 0.55), × speaker 1.20`.
 */
export function reasonsFor(evaluated: Evaluated, expansions: Expansions = {}): string {
  const { steps, values, root, row, query } = evaluated
  const components: Record<string, number> = {}
  addComponents(evaluated, baseOf(evaluated, root), 1, components)
  const terms = new Map<string, string | undefined>()
  const factors: string[] = []
  const visitFactor = (at: number): void => {
    const { formula: factor, kind } = steps[at] as Step
    const detail = factor.detail?.(row, expansions, query)
    const value = values[at] as number
    const isNamed = factor.component !== undefined || kind === 'number'
    if (detail !== undefined) factors.push(detail)
    else if (isNamed && factor.detail === undefined && value !== 1)
      factors.push(`× ${factor.label} ${value.toFixed(2)}`)
  }
  const visit = (at: number): void => {
    const { formula: part, kind } = steps[at] as Step
    if (part.component !== undefined) {
      terms.set(part.component, part.detail?.(row, expansions, query))
      return
    }
    const parts = partsOf(evaluated, at)
    const [first, ...others] = parts
    if (first === undefined) return
    if (kind === 'sum') for (const each of parts) visit(each)
    else if (kind === 'max') visit(largestOf(parts, evaluated))
    else {
      visit(first)
      const isLifted = kind === 'product' || (kind === 'lift' && (values[first] as number) > 0)
      if (isLifted) for (const each of others) visitFactor(each)
    }
  }
  visit(root)
  const least = MIN_SHARE * Math.max(0, ...Object.values(components))
  const named = [...terms]
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
  return of.filter(
    ({ when, unless }, at) =>
      !mayBeLeftOut(kind, at) ||
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
