/** What a run under faults tried and received, and what a store must hold after it. */
import { QuerentError } from '../../../src/model/errors.ts'

/** Contents by id that a deed leaves behind; null for gone. */
export type Will = Readonly<Record<string, string | null>>

export interface Deed {
  readonly name: string
  readonly will: Will
  /** Done, or the code it was refused with; what is no `QuerentError` is a bug and is kept here whole. */
  readonly outcome: 'done' | 'refused' | 'broken'
  readonly message: string
  /** Ids that may be as before although the deed was done: it said so of each. */
  readonly excused: readonly string[]
}

/** Codes that a disk may be the reason of. */
const CODES: ReadonlySet<string> = new Set(['io_failed', 'store_corrupt', 'store_locked', 'store_readonly'])

export class Diary {
  readonly deeds: Deed[] = []

  /** Runs a deed and notes how it ended; never rejects. `run` may return the ids that it excuses. */
  async note<T>(
    name: string,
    will: Will,
    run: () => Promise<T>,
    excused?: (answer: T) => readonly string[],
  ): Promise<void> {
    try {
      const answer = await run()
      this.deeds.push({ name, will, outcome: 'done', message: '', excused: excused?.(answer) ?? [] })
    } catch (error) {
      const isTyped = isOfTheDisk(error)
      const message = isTyped ? `${error.code}: ${error.message}` : String((error as Error)?.stack ?? error)
      this.deeds.push({ name, will, outcome: isTyped ? 'refused' : 'broken', message, excused: [] })
    }
  }
}

/** Lenses tell it in an error of their own, which has the store's as its cause. */
function isOfTheDisk(error: unknown): error is QuerentError {
  return error instanceof QuerentError && (CODES.has(error.code) || isOfTheDisk(error.cause))
}

/** What is wrong with what is found after the deeds, where `before` was there. No id is in two deeds. */
export function judge(deeds: readonly Deed[], before: Contents, found: Contents): readonly string[] {
  const wrong = deeds.filter(({ outcome }) => outcome === 'broken').map(({ name, message }) => `${name}: ${message}`)
  const touched = new Set<string>()
  for (const { name, will, outcome, excused } of deeds) {
    const outcomes = new Set<'before' | 'after'>()
    for (const [id, after] of Object.entries(will)) {
      touched.add(id)
      const [was, now] = [before.get(id) ?? null, found.get(id) ?? null]
      if (now === after) outcomes.add('after')
      else if (now !== was) wrong.push(`${name}: ${id} is ${say(now)}, neither ${say(was)} nor ${say(after)}`)
      else if (outcome === 'done' && !excused.includes(id)) wrong.push(`${name} was done, but ${id} is ${say(now)}`)
      else if (!name.startsWith('add')) outcomes.add('before')
    }
    if (outcomes.size > 1) wrong.push(`${name}: half of it is there`)
  }
  for (const id of new Set([...before.keys(), ...found.keys()])) {
    if (touched.has(id) || before.get(id) === found.get(id)) continue
    wrong.push(
      `${id} is ${say(found.get(id) ?? null)} instead of ${say(before.get(id) ?? null)}, and nobody touched it`,
    )
  }
  return wrong
}

export type Contents = ReadonlyMap<string, string>

function say(content: string | null): string {
  return content === null ? 'nothing' : JSON.stringify(content)
}
