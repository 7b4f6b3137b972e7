/**
 * Collects what is wrong with a request (BQ-186). Checks walk the request as it was written and go on after a fault, so
 * faults come in document order; a field that is missing comes after those that are there.
 */
import { type Fault, faulty, unauthorized } from '../errors.ts'

type FaultCode = Fault['code']

/** What the check of a value gives: undefined after a fault, which is told already. */
export type Check<T> = (value: unknown, at: Place) => T | undefined

/** What is found out about one request. */
interface Findings {
  readonly faults: Fault[]
  denied: boolean
}

/** A place in the request, and where its faults go. */
export class Place {
  /** `options.scope.local`, `filters[1].valid_at`; empty for the request itself. */
  readonly path: string
  readonly code: FaultCode
  readonly #findings: Findings

  constructor(path: string, code: FaultCode, findings: Findings) {
    this.path = path
    this.code = code
    this.#findings = findings
  }

  member(name: string): Place {
    const step = /^[A-Za-z_][\w-]*$/.test(name) ? name : `[${showValue(name)}]`
    return this.#moved(this.path === '' || step.startsWith('[') ? `${this.path}${step}` : `${this.path}.${step}`)
  }

  item(index: number): Place {
    return this.#moved(`${this.path}[${index}]`)
  }

  /** The same place; its faults, and those below it, have this code. */
  with(code: FaultCode): Place {
    return new Place(this.path, code, this.#findings)
  }

  /** Says what is wrong here, for the check to return. A missing value is shown as none. */
  fault(reason: string, constraint: string, value?: unknown): undefined {
    const { faults } = this.#findings
    if (faults.length >= MOST_FAULTS) return
    const shown = value === undefined ? null : showValue(value)
    faults.push({ code: this.code, path: this.path || 'input', constraint, reason, value: shown })
  }

  /** The request claims what it may not: it is refused without a word about why, once it is sound otherwise. */
  deny(): void {
    this.#findings.denied = true
  }

  #moved(path: string): Place {
    return new Place(path, this.code, this.#findings)
  }
}

/** What the check gives; throws all faults together where there is one, else UNAUTHORIZED where it was denied. */
export function checked<T>(input: unknown, check: Check<T>, path = ''): T {
  return checkedParts(input, bounded(check), path)
}

/** The same of what may be large as a whole: the check bounds its parts. */
export function checkedParts<T>(input: unknown, check: Check<T>, path = ''): T {
  const findings: Findings = { faults: [], denied: false }
  const at = new Place(path, 'INVALID_QUERY', findings)
  const value = check(input, at)
  const [first, ...rest] = findings.faults
  if (first !== undefined) throw faulty([first, ...rest])
  if (findings.denied) throw unauthorized()
  // The cast: a check that told no fault gives a value.
  return value as T
}

/** What is endless or too deep is not looked at further (BQ-191). */
export function bounded<T>(check: Check<T>): Check<T> {
  return (value, at) => (isBounded(value, at) ? check(value, at) : undefined)
}

/** Longest value that a message shows. */
const MOST_SHOWN = 80
const MOST_FAULTS = 20
/** Levels of nesting, and characters in all (BQ-191). */
const MOST_LEVELS = 16
const MOST_CHARACTERS = 256 * 1024

/** Before anything else looks at it: what is endless or too deep goes no further. */
function isBounded(input: unknown, at: Place): boolean {
  let characters = 0
  const walk = (value: unknown, levels: number, place: () => Place): boolean => {
    characters += typeof value === 'string' || Array.isArray(value) ? value.length : 1
    if (characters > MOST_CHARACTERS) {
      at.fault('too_complex', `a request of at most ${MOST_CHARACTERS} characters`)
      return false
    }
    if (typeof value !== 'object' || value === null) return true
    if (levels === 0) {
      place().fault('too_complex', `at most ${MOST_LEVELS} levels of nesting`)
      return false
    }
    if (Array.isArray(value)) return value.every((item, index) => walk(item, levels - 1, () => place().item(index)))
    return Object.entries(value).every(([name, member]) => {
      characters += name.length
      return walk(member, levels - 1, () => place().member(name))
    })
  }
  return walk(input, MOST_LEVELS, () => at)
}

/** As JSON as far as it is any, cut; never throws. */
function showValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'undefined') return String(value)
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, MOST_SHOWN + 1)) : asJson(value)
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN - 1).toWellFormed()}…` : text
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? `a ${typeof value}`
  } catch {
    return `a ${typeof value} that is not JSON`
  }
}
