/** The lens c64 alone, in memory unless a home is named, at a fixed time and without a model. */
import { SettableClock } from '../../src/base/clock.ts'
import { type OpenC64, type OpenC64Options, openC64 } from '../../src/openings/c64.ts'
import { countingBytes, TEST_NOW } from './engines.ts'

export function openTestC64(options: OpenC64Options = {}): Promise<OpenC64> {
  return openC64({
    ...(options.home === undefined ? { store: 'memory' } : {}),
    ...{ embedder: 'none', background: false, clock: new SettableClock(TEST_NOW), random: countingBytes() },
    ...options,
  })
}
