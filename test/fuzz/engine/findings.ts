/** What went wrong, once for each place and sort, with the fewest inputs and the smallest that show it again. */
import type { Json } from '../../../src/base/canonical.ts'
import { placeOf } from './coverage.ts'
import type { Target } from './target.ts'

export interface Finding {
  readonly target: string
  /** The same for the same fault. */
  readonly key: string
  readonly message: string
  readonly stack: string
  /** To be tried one after the other on a target that was just opened. */
  readonly inputs: readonly Json[]
}

const MAX_TRIES = 200

export function keyOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown ${typeof error}`
  const said = error.message.replace(/"[^"]*"|'[^']*'|\d+/g, '_').slice(0, 70)
  return `${error.name}: ${said} (${placeOf(error)})`
}

/** `inputs`: all that the target was given since it was opened, the one that failed last. */
export async function findingOf<Input>(
  target: Target<Input>,
  inputs: readonly Input[],
  thrown: unknown,
  before: (input: Input) => void = () => {},
): Promise<Finding> {
  const key = keyOf(thrown)
  let left = target.tries ?? MAX_TRIES
  const fails = async (tried: readonly Input[]): Promise<boolean> =>
    left-- > 0 && (await failureOf(target, tried, before)) === key
  let least = (await fails(inputs.slice(-1))) ? inputs.slice(-1) : [...inputs]
  for (let size = Math.floor(least.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at + size < least.length && left > 0; ) {
      const fewer = least.toSpliced(at, size)
      if (await fails(fewer)) least = fewer
      else at += size
    }
  }
  for (let at = least.length - 1; at >= 0; at--) {
    for (let found = true; found && left > 0; ) {
      found = false
      for (const smaller of target.kind.smaller(least[at] as Input)) {
        if (left <= 0) break
        if (!(await fails(least.with(at, smaller)))) continue
        least = least.with(at, smaller)
        found = true
        break
      }
    }
  }
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { message, stack = '' } = error
  return { target: target.name, key, message, stack, inputs: least.map(input => target.kind.write(input)) }
}

/** Null: nothing fails. */
export async function failureOf<Input>(
  target: Target<Input>,
  inputs: readonly Input[],
  before: (input: Input) => void = () => {},
): Promise<string | null> {
  const opened = await target.open()
  try {
    for (const input of inputs) {
      before(input)
      await opened.try(input)
    }
    return null
  } catch (error) {
    return keyOf(error)
  } finally {
    await closeQuietly(opened)
  }
}

/** What has failed may fail again when it is closed. */
export async function closeQuietly(opened: { close?(): void | Promise<void> }): Promise<void> {
  try {
    await opened.close?.()
  } catch {
    // The finding has been made.
  }
}
