/** What a child that will be killed says, and what a store must hold after it said so. */
import type { Engine } from '../../src/engine/engine.ts'

const QUESTIONS = ['quick fox', 'automobile', 'garden rain', 'tulip road dog', 'vixen']
/** The machine may be busy with other things; what is late is not wrong. */
const PATIENT = { timeout_ms: 120_000 } as const

/** By question, what an engine answers in each mode, explained, as long as nothing is written and its clock stays. */
export async function answersOf(engine: Engine): Promise<Readonly<Record<string, string>>> {
  const answers: Record<string, string> = {}
  for (const text of QUESTIONS) {
    for (const mode of ['hybrid', 'words', 'meaning'] as const) {
      const page = await engine.query({ text, mode, any: true, touch: false, explain: true, limit: 20, ...PATIENT })
      answers[`"${text}" by ${mode}`] = JSON.stringify(page)
    }
  }
  return answers
}

/** The questions that two engines answer differently, in lines. */
export function differentAnswers(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.keys(other)
    .filter(question => one[question] !== other[question])
    .map(question => `${question}: not what a rebuild answers`)
}

/** Contents by id that an act leaves behind; null for gone. */
export interface Will {
  readonly kind: 'put' | 'add' | 'import' | 'delete' | 'query'
  readonly contents: Readonly<Record<string, string | null>>
}

export type KillLine =
  | { readonly ready: true }
  /** Of a home that others work on too. */
  | { readonly stopped: true }
  /** All its uses are counted. */
  | { readonly settled: true }
  | { readonly answered: true }
  /** Snapshots are written, and the log is folded back. */
  | { readonly closing: true }
  | { readonly act: number; readonly will: Will }
  /** The ids it wrote or showed. */
  | { readonly act: number; readonly did: readonly string[] }

/** What was found in the store: contents and the number of uses; null: not counted. */
export type Found = ReadonlyMap<string, { readonly content: string; readonly uses: number | null }>

/**
 * A use that meets a paused write of its own process is counted when that has ended (`src/engine/uses.ts`), so that a kill may
 * lose the uses of the last queries; no others. Some 200 ms are at most so many acts.
 */
const RECENT_ACTS = 20

/** Follows what the children said, and holds what is found against it. */
export class Ledger {
  readonly #contents = new Map<string, string>()
  readonly #uses = new Map<string, number>()
  /** The ids that each of the last acts of this child has shown. */
  #recent: (readonly string[])[] = []
  #pending: Will | null = null
  acts = 0

  /** Takes the lines of one child in order; the last act may be without its end. */
  follow(lines: readonly string[]): void {
    this.#recent = []
    for (const text of lines) {
      const line = JSON.parse(text) as KillLine
      if ('will' in line) this.#pending = line.will
      else if ('did' in line) this.#finish(line.did)
    }
  }

  /** What is wrong with what was found, in lines. What was under way may have come through or not; after this it is known. */
  settle(found: Found): readonly string[] {
    const pending = this.#pending
    this.#pending = null
    const wrong: string[] = []
    const ids = new Set([...this.#contents.keys(), ...found.keys(), ...Object.keys(pending?.contents ?? {})])
    const outcomes = new Set<'before' | 'after'>()
    for (const id of ids) {
      const before = this.#contents.get(id) ?? null
      const now = found.get(id)?.content ?? null
      const after = pending !== null && id in pending.contents ? (pending.contents[id] ?? null) : before
      if (now !== before && now !== after)
        wrong.push(`${id}: ${say(now)} instead of ${say(before)}${pendingNote(pending)}`)
      if (before !== after) outcomes.add(now === after ? 'after' : 'before')
      this.#keep(id, now)
    }
    // A put, an import or a delete is one transaction; files are one each.
    if (outcomes.size > 1 && pending?.kind !== 'add') wrong.push(`half of a ${pending?.kind} came through`)
    for (const [id, { uses }] of found) if (uses !== null) wrong.push(...this.#settleUses(id, uses, pending))
    return wrong
  }

  #finish(did: readonly string[]): void {
    const will = this.#pending as Will
    this.#pending = null
    this.acts++
    const shown = will.kind === 'query' ? did : []
    for (const id of shown) this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1)
    this.#recent = [...this.#recent, shown].slice(-RECENT_ACTS)
    for (const [id, content] of Object.entries(will.contents)) this.#keep(id, content)
  }

  #keep(id: string, content: string | null): void {
    if (content !== null) this.#contents.set(id, content)
    else {
      this.#contents.delete(id)
      this.#uses.delete(id)
    }
  }

  #settleUses(id: string, uses: number, pending: Will | null): readonly string[] {
    const known = this.#uses.get(id) ?? 0
    this.#uses.set(id, uses)
    const max = pending?.kind === 'query' ? known + 1 : known
    const min = known - this.#recent.filter(shown => shown.includes(id)).length
    return uses < min || uses > max ? [`${id}: used ${uses} times instead of ${known}`] : []
  }
}

function say(content: string | null): string {
  return content === null ? 'nothing' : JSON.stringify(content)
}

function pendingNote(pending: Will | null): string {
  return pending === null ? '' : ` (while a ${pending.kind} was under way)`
}
