/** Engines for tests: with a fixed clock, repeatable randomness, and no background work. */

import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import type { Lens } from '../../src/lenses/lens.ts'
import type { Page } from '../../src/model/page.ts'

export const TEST_NOW: number = Date.UTC(2026, 2, 1, 12)

/** In memory and words only unless `options` say otherwise. */
export function openTestEngine(options: EngineOptions = {}): Promise<Engine> {
  return openEngine({
    ...(options.home === undefined ? { store: 'memory' } : {}),
    embedder: 'none',
    background: false,
    clock: new SettableClock(TEST_NOW),
    random: countingBytes(),
    ...options,
  })
}

/** 1, 1, 1 …, then 2, 2, 2 …: every call gives other bytes, every run the same. */
export function countingBytes(): (bytes: number) => Uint8Array {
  let calls = 0
  return bytes => new Uint8Array(bytes).fill(++calls)
}

export function idsOf(page: Pick<Page, 'items'>): readonly string[] {
  return page.items.map(item => item.id)
}

export function noteCodes(page: Pick<Page, 'notes'>): readonly string[] {
  return page.notes.map(note => note.code)
}

/** With the default stages, which bring all that the legs find: the default lens leaves out what cannot reach the page. */
export const PLAIN_LENS: Lens = { name: 'plain', summary: 'the default stages' }
