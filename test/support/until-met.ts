/** Random tests that say something only where a case came up which a few runs may all miss. */
import fc from 'fast-check'

/** What has not come up in so many runs of a property was not missed by chance. */
const MAX_RUNS = 400

/**
 * Asserts the property `numRuns` times, and as often again and again while `isMet` throws. What it throws after 400 runs is
 * thrown: the generator does not bring up what the property is about, or not often enough.
 */
export function assertUntil<Ts>(
  property: fc.IRawProperty<Ts>,
  parameters: fc.Parameters<Ts> & { readonly numRuns: number },
  isMet: () => void,
): Promise<void> {
  const rounds = Math.ceil(MAX_RUNS / parameters.numRuns)
  // Each round draws other cases, although the seed of a test run is fixed.
  const { seed = Date.now() } = fc.readConfigureGlobal()
  const assertRound = (round: number) => fc.assert(property, { ...parameters, seed: seed + round - 1 })
  return repeatUntil(rounds, async round => assertRound(round), isMet)
}

/** Once, and again while `isMet` throws; what it throws after the last round is thrown. */
export async function repeatUntil(
  rounds: number,
  act: (round: number) => Promise<void>,
  isMet: () => void,
): Promise<void> {
  for (let round = 1; ; round++) {
    await act(round)
    try {
      isMet()
      return
    } catch (error) {
      if (round >= rounds) throw error
    }
  }
}
