/** What must hold whatever was asked. */
import { ERROR_CODES, QuerentError } from '../../src/model/errors.ts'

/** A broken promise of the code under test. */
class Broken extends Error {
  override readonly name: string = 'Broken'
}

/** Values are cut to 80 characters; lists of known names make the longest messages. */
const LONGEST_MESSAGE = 4_000

/** The error, which must be one that a caller can do something about; anything else is thrown on as it is. */
export function assertRefusal(thrown: unknown): QuerentError {
  if (!(thrown instanceof QuerentError)) throw thrown
  const { code, kind, message } = thrown
  if (code === 'internal') throw thrown.cause ?? thrown
  if (kind === 'broken' && (!(code in ERROR_CODES) || code !== 'io_failed')) throw thrown
  if (message === '' || message.length > LONGEST_MESSAGE) throw new Broken(`a message of ${message.length} characters`)
  if (/\n\s+at /.test(message)) throw new Broken(`a stack in the message of ${code}`)
  if (!message.isWellFormed()) throw new Broken(`a message of ${code} with half a surrogate pair`)
  JSON.stringify(thrown)
  return thrown
}

/** The same failure, reported again. */
export function assertAlike(one: QuerentError, other: QuerentError): void {
  const [first, second] = [one, other].map(error => `${error.code}: ${error.message}`)
  if (first !== second) throw new Broken(`refused otherwise the second time: ${first}, then ${second}`)
}

/** Runs it; null when it was refused, as it may be. */
export function orRefused<T>(body: () => T): T | null {
  try {
    return body()
  } catch (thrown) {
    assertRefusal(thrown)
    return null
  }
}

export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Broken(what)
}

export function assertEqual(found: unknown, expected: unknown, what: string): void {
  const [one, other] = [found, expected].map(value => JSON.stringify(value))
  if (one !== other) throw new Broken(`${what}: ${one?.slice(0, 300)} is not ${other?.slice(0, 300)}`)
}
